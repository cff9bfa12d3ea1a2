// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/format.h"

#include <QTest>

#include <limits>

using namespace warpline;

class TestFormat : public QObject {
    Q_OBJECT

  private slots:
    void durations_data();
    void durations();
    void bytes_data();
    void bytes();
    void counts();
    void percents();
};

void TestFormat::durations_data() {
    QTest::addColumn<qint64>("ns");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 ns, const char* text) {
        QTest::addRow("%lld", static_cast<long long>(ns)) << ns << QString(text);
    };
    row(0, "0 ns");
    row(1, "1 ns");
    row(999, "999 ns");
    row(1000, "1.00 µs");
    row(1234, "1.23 µs");
    row(1235, "1.24 µs"); // half up, which doubles would get wrong by chance
    row(9994, "9.99 µs");
    row(9995, "10.0 µs"); // rounding up takes a digit less behind the point
    row(12345, "12.3 µs");
    row(99949, "99.9 µs");
    row(99950, "100 µs");
    row(999499, "999 µs");
    row(999500, "1.00 ms"); // and the next unit where it would say 1000
    row(1'310'000, "1.31 ms");
    row(12'100'000'000, "12.1 s");
    row(999'499'999'999, "999 s");
    row(1'234'567'000'000'000, "1,234,567 s");
    row(-1310, "-1.31 µs");
    row(-1, "-1 ns");
    row(std::numeric_limits<qint64>::max(), "9,223,372,037 s");
    row(std::numeric_limits<qint64>::min(), "-9,223,372,037 s");
}

void TestFormat::durations() {
    QFETCH(qint64, ns);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatDuration(ns)), text);
}

void TestFormat::bytes_data() {
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 n, const char* text) {
        QTest::addRow("%lld", static_cast<long long>(n)) << n << QString(text);
    };
    row(0, "0 B");
    row(512, "512 B");
    row(1023, "1,023 B");
    row(1024, "1.00 KiB");
    row(32'870, "32.1 KiB");
    row(1023 * 1024, "1,023 KiB");
    row(1024 * 1024 - 1, "1.00 MiB");
    row(1'406'602'000, "1.31 GiB");
    row(qint64{3} << 40, "3.00 TiB");
    row(qint64{5} << 50, "5.00 PiB");
    row(std::numeric_limits<qint64>::max(), "8,192 PiB");
    row(-2048, "-2.00 KiB");
}

void TestFormat::bytes() {
    QFETCH(qint64, bytes);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatBytes(bytes)), text);
}

void TestFormat::counts() {
    QCOMPARE(formatCount(0), std::string("0"));
    QCOMPARE(formatCount(999), std::string("999"));
    QCOMPARE(formatCount(1000), std::string("1,000"));
    QCOMPARE(formatCount(1234567), std::string("1,234,567"));
    QCOMPARE(formatCount(-1234), std::string("-1,234"));
    QCOMPARE(formatCount(std::numeric_limits<std::int64_t>::min()),
             std::string("-9,223,372,036,854,775,808"));
    QCOMPARE(formatExactDuration(1234567), std::string("1,234,567 ns"));
}

void TestFormat::percents() {
    QCOMPARE(formatPercent(0.163), std::string("16.3%"));
    QCOMPARE(formatPercent(1.0), std::string("100.0%"));
    QCOMPARE(formatPercent(0), std::string("0.0%"));
    QCOMPARE(formatPercent(std::numeric_limits<double>::quiet_NaN()), std::string("n/a"));
}

QTEST_APPLESS_MAIN(TestFormat)
#include "tst_format.moc"
