// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/options.h"

#include <QTest>

using namespace warpline;

namespace {

ParsedOptions parse(const QStringList& arguments) {
    return parseOptions(QStringList{QStringLiteral("warpline")} + arguments);
}

} // namespace

class TestOptions : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { QCoreApplication::setApplicationVersion(QStringLiteral("1.2.3")); }

    void filesAndNothing() {
        QVERIFY(parse({}).options->files.isEmpty());
        const ParsedOptions two = parse({QStringLiteral("a.json"), QStringLiteral("-")});
        QCOMPARE(two.options->files, (QStringList{QStringLiteral("a.json"), QStringLiteral("-")}));
        QVERIFY(two.options->screenshot.isEmpty());
    }

    void helpAndVersion() {
        const ParsedOptions help = parse({QStringLiteral("--help")});
        QVERIFY(!help.options);
        QCOMPARE(help.status, 0);
        for (const char* word :
             {"--screenshot", "--view", "--range", "--select", "--search", "--size", "--dark", "FILE"})
            QVERIFY2(help.text.contains(QLatin1String(word)), word);
        const ParsedOptions version = parse({QStringLiteral("--version")});
        QCOMPARE(version.text, QStringLiteral("warpline 1.2.3\n"));
        QCOMPARE(version.status, 0);
    }

    void everything() {
        const ParsedOptions p =
            parse({QStringLiteral("--screenshot"), QStringLiteral("o.png"), QStringLiteral("--view"),
                   QStringLiteral("kernels"), QStringLiteral("--range"), QStringLiteral("1ms:2.5ms"),
                   QStringLiteral("--select=void f()"), QStringLiteral("--search"), QStringLiteral("gemm"),
                   QStringLiteral("--size"), QStringLiteral("1280x800"), QStringLiteral("--dark"),
                   QStringLiteral("t.json")});
        QVERIFY2(p.options.has_value(), qPrintable(p.text));
        const Options& o = *p.options;
        QCOMPARE(o.screenshot, QStringLiteral("o.png"));
        QCOMPARE(o.view, Options::View::Kernels);
        QCOMPARE(o.range->in({1000, 10'000'000}), (TimeRange{1'001'000, 2'501'000}));
        QCOMPARE(o.select, QStringLiteral("void f()"));
        QCOMPARE(o.search, QStringLiteral("gemm"));
        QCOMPARE(o.size, QSize(1280, 800));
        QCOMPARE(o.appearance, Options::Appearance::Dark);
        QCOMPARE(o.files, QStringList{QStringLiteral("t.json")});
    }

    void wrongUsage_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("unknown option") << QStringList{QStringLiteral("--nonsense")};
        QTest::newRow("no value") << QStringList{QStringLiteral("--screenshot")};
        QTest::newRow("an option as the picture")
            << QStringList{QStringLiteral("--screenshot"), QStringLiteral("--dark")};
        QTest::newRow("view") << QStringList{QStringLiteral("--view"), QStringLiteral("sunburst")};
        QTest::newRow("range") << QStringList{QStringLiteral("--range"), QStringLiteral("5ms")};
        QTest::newRow("range backwards") << QStringList{QStringLiteral("--range"), QStringLiteral("5ms:1ms")};
        QTest::newRow("size") << QStringList{QStringLiteral("--size"), QStringLiteral("huge")};
        QTest::newRow("size too small") << QStringList{QStringLiteral("--size"), QStringLiteral("10x10")};
        QTest::newRow("both") << QStringList{QStringLiteral("--dark"), QStringLiteral("--light")};
    }
    void wrongUsage() {
        QFETCH(const QStringList, arguments);
        const ParsedOptions p = parse(arguments);
        QVERIFY(!p.options);
        QCOMPARE(p.status, 2);
        QVERIFY(!p.text.isEmpty());
    }

    void ranges() {
        const TimeRange extent{1'000'000'000, 2'000'000'000};
        QVERIFY(!RangeOption::parse(QStringLiteral(":")));
        QVERIFY(!RangeOption::parse(QStringLiteral("x:y")));
        QCOMPARE(RangeOption::parse(QStringLiteral("10ms:"))->in(extent),
                 (TimeRange{1'010'000'000, 2'000'000'000}));
        QCOMPARE(RangeOption::parse(QStringLiteral(":10ms"))->in(extent),
                 (TimeRange{1'000'000'000, 1'010'000'000}));
        QCOMPARE(RangeOption::parse(QStringLiteral("1500000000:1600000000"))->in(extent),
                 (TimeRange{1'500'000'000, 1'600'000'000}));
        // Beyond the ends there is nothing to select.
        QVERIFY(RangeOption::parse(QStringLiteral("5s:6s"))->in(extent).empty());
        QCOMPARE(RangeOption::parse(QStringLiteral("0:9223372036854775807"))->in(extent), extent);
    }
};

QTEST_GUILESS_MAIN(TestOptions)
#include "tst_window_options.moc"
