// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// The panels over a trace whose numbers can be worked out.
#include "kineto_text.h"
#include "model/import/import.h"
#include "views/tables/choice_button.h"
#include "views/tables/details_panel.h"
#include "views/tables/hits_panel.h"
#include "views/tables/kernels_panel.h"
#include "views/tables/log_panel.h"
#include "views/tables/ops_panel.h"
#include "views/tables/stats_panel.h"
#include "views/text.h"
#include "views/window/search_controller.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>

using namespace warpline;
using warpline::test::KinetoText;

namespace {

TracePtr read(const QByteArray& text, const char* name = "test.json") {
    Result<std::vector<TracePtr>> traces =
        openTracesFromMemory(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), name);
    if (!traces.ok())
        qFatal("%s", traces.error().message.c_str());
    return traces.value().front();
}

QVariant cell(const TablePanel& panel, const QString& name, const QString& key) {
    const TableModel* model = panel.model();
    for (int row = 0; row < model->rowCount(); ++row) {
        if (model->index(row, 0).data().toString() == name)
            return model->index(row, model->columnOf(key)).data(TableModel::RawRole);
    }
    return {};
}

} // namespace

class TestPanels : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_window_panels"));
    }

    void opsOfAll() {
        Document document;
        OpsPanel panel(&document);
        const QAbstractItemModelTester tester(panel.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        panel.show();
        QTRY_VERIFY(panel.message().contains(QStringLiteral("Ctrl+O")));
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        QVERIFY(panel.message().isEmpty());
        const qlonglong calls = m_text.calls();
        QCOMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("count")).toLongLong(), calls);
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("cpu_total_ns")).toLongLong(),
                 calls * m_text.linear());
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("self_cpu_ns")).toLongLong(),
                 calls * (m_text.linear() - m_text.addmm()));
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("self_cuda_ns")).toLongLong(), 0);
        QCOMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("self_cuda_ns")).toLongLong(),
                 calls * m_text.kernel());
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("cuda_total_ns")).toLongLong(),
                 calls * m_text.kernel());
        QCOMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("self_cuda_share")).toDouble(),
                 1.0);
        QCOMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("cuda_mem_bytes")).toLongLong(),
                 calls * 1024);
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("cuda_mem_bytes")).toLongLong(),
                 0);
        QVERIFY(panel.footer().contains(durationText(calls * m_text.kernel())));
        // No shapes asked for: no column of them.
        QVERIFY(panel.view()->isColumnHidden(panel.model()->columnOf(QStringLiteral("input_shapes"))));
        QVERIFY(!panel.view()->isColumnHidden(panel.model()->columnOf(QStringLiteral("self_cuda_ns"))));
    }

    void opsFollowTheRange() {
        Document document;
        OpsPanel panel(&document);
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        const TimeNs first = document.items().front().trace->steps.front().range.begin;
        document.setRange(TimeRange{first, first + KinetoText::kStep - 1000},
                          QStringLiteral("ProfilerStep#1"));
        QVERIFY(panel.rangeChoice()->text().contains(QStringLiteral("ProfilerStep#1")));
        QTRY_COMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("count")).toLongLong(),
                     m_text.ops);
        panel.rangeChoice()->menu()->actions().at(1)->trigger(); // whole trace, whatever is selected
        QTRY_COMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("count")).toLongLong(),
                     m_text.calls());
        panel.rangeChoice()->menu()->actions().at(0)->trigger();
        document.setRange(TimeRange{first - 100'000, first - 50'000});
        QTRY_COMPARE(panel.model()->rowCount(), 0);
        QTRY_VERIFY2(panel.message().contains(QStringLiteral("range")), qPrintable(panel.message()));
        document.setRange(std::nullopt);
        QTRY_COMPARE(panel.model()->rowCount(), 2);
    }

    void opsChoices() {
        Document document;
        OpsPanel panel(&document);
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        panel.groupChoice()->menu()->actions().at(1)->trigger(); // by input shape: addmm has two
        QTRY_COMPARE(panel.model()->rowCount(), 3);
        QVERIFY(!panel.view()->isColumnHidden(panel.model()->columnOf(QStringLiteral("input_shapes"))));
        panel.groupChoice()->menu()->actions().at(0)->trigger();
        panel.rowsChoice()->menu()->actions().at(1)->trigger(); // annotations: only steps, and those are
                                                                // hidden
        QTRY_VERIFY2(panel.message().contains(QStringLiteral("Steps")), qPrintable(panel.message()));
        auto* steps = panel.findChild<QCheckBox*>();
        QVERIFY(steps->isVisible());
        steps->click();
        QTRY_COMPARE(cell(panel, QStringLiteral("ProfilerStep*"), QStringLiteral("count")).toLongLong(),
                     m_text.steps);
        panel.setRows(OpRows::Kernels);
        QTRY_COMPARE(panel.model()->rowCount(), 3);
        QVERIFY(panel.view()->isColumnHidden(panel.model()->columnOf(QStringLiteral("self_cpu_ns"))));
        panel.setRows(OpRows::Runtime);
        QTRY_COMPARE(cell(panel, QStringLiteral("cudaLaunchKernel"), QStringLiteral("count")).toLongLong(),
                     m_text.calls());
        panel.setRows(OpRows::Python);
        QTRY_VERIFY2(panel.message().contains(QStringLiteral("with_stack")), qPrintable(panel.message()));
        panel.setRows(OpRows::Ops);
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        panel.filterLine()->setText(QStringLiteral("addmm"));
        QCOMPARE(panel.model()->rowCount(), 1);
        panel.filterLine()->setText(QStringLiteral("nothing like it"));
        QVERIFY(panel.message().contains(QStringLiteral("nothing like it")));
    }

    void opsWithoutDeviceOrMemory() {
        Document document;
        OpsPanel panel(&document);
        panel.show();
        document.set(Document::prepare({{read(KinetoText{2, 4, false, false}.text())}, {}, {}}));
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        for (const char* key : {"self_cuda_ns", "gpu_busy_ns", "cpu_mem_bytes", "cuda_mem_bytes"})
            QVERIFY2(panel.view()->isColumnHidden(panel.model()->columnOf(QLatin1String(key))), key);
        panel.setRows(OpRows::Kernels);
        QTRY_VERIFY2(panel.message().contains(QStringLiteral("ProfilerActivity.CUDA")),
                     qPrintable(panel.message()));
    }

    void severalSourcesAreSummed() {
        Document document;
        OpsPanel panel(&document);
        panel.show();
        document.set(
            Document::prepare({{read(m_text.text(), "a.json"), read(m_text.text(), "b.json")}, {}, {}}));
        QTRY_COMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("count")).toLongLong(),
                     2 * m_text.calls());
        QVERIFY(panel.sourceChoice()->isVisible());
        panel.sourceChoice()->menu()->actions().at(2)->trigger();
        QTRY_COMPARE(cell(panel, QStringLiteral("aten::addmm"), QStringLiteral("count")).toLongLong(),
                     m_text.calls());
        QCOMPARE(panel.model()->sliceAt(0).source, 1);
    }

    void doubleClickGoesToTheLongest() {
        Document document;
        OpsPanel panel(&document);
        panel.resize(900, 300);
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        const QSignalSpy revealed(&document, &Document::revealRequested);
        const QPoint first = panel.view()->visualRect(panel.model()->index(0, 0)).center();
        QTest::mouseClick(panel.view()->viewport(), Qt::LeftButton, {}, first);
        QTest::mouseDClick(panel.view()->viewport(), Qt::LeftButton, {}, first);
        QCOMPARE(revealed.count(), 1);
        QCOMPARE(document.sliceName(document.selected()), panel.model()->index(0, 0).data().toString());
    }

    void kernels() {
        Document document;
        KernelsPanel panel(&document);
        const QAbstractItemModelTester tester(panel.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QTRY_COMPARE(panel.model()->rowCount(), 3);
        const QString name = QStringLiteral("void gemm_kernel<0>(float*)"); // two of five in a step
        QCOMPARE(cell(panel, name, QStringLiteral("count")).toLongLong(), 2 * m_text.steps);
        QCOMPARE(cell(panel, name, QStringLiteral("total_ns")).toLongLong(),
                 2 * m_text.steps * m_text.kernel());
        QCOMPARE(cell(panel, name, QStringLiteral("median_ns")).toLongLong(), m_text.kernel());
        QCOMPARE(cell(panel, name, QStringLiteral("share")).toDouble(), 0.4);
        QCOMPARE(cell(panel, name, QStringLiteral("registers")).toLongLong(), 36);
        QCOMPARE(cell(panel, name, QStringLiteral("occupancy")).toDouble(), 0.5);
        QCOMPARE(cell(panel, name, QStringLiteral("shared_memory_bytes")).toLongLong(), 128);
        document.set(Document::prepare({{read(KinetoText{2, 4, false, false}.text())}, {}, {}}));
        QTRY_VERIFY2(panel.message().contains(QStringLiteral("ProfilerActivity.CUDA")),
                     qPrintable(panel.message()));
    }

    void rangeStatistics() {
        Document document;
        StatsPanel panel(&document);
        const QAbstractItemModelTester tester(panel.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QTRY_VERIFY(panel.model()->rowCount() > 0);
        QVERIFY(panel.summary().contains(QStringLiteral("Whole trace")));
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("count")).toLongLong(),
                 m_text.calls());
        const TimeNs first = document.items().front().trace->steps.front().range.begin;
        document.setRange(TimeRange{first, first + KinetoText::kStep - 1000},
                          QStringLiteral("ProfilerStep#1"));
        QTRY_COMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("count")).toLongLong(),
                     m_text.ops);
        QCOMPARE(cell(panel, QStringLiteral("aten::linear"), QStringLiteral("p95_ns")).toLongLong(),
                 m_text.linear());
        QVERIFY(panel.summary().contains(QStringLiteral("ProfilerStep#1")));
        QVERIFY2(panel.summary().contains(durationText(m_text.ops * m_text.kernel())),
                 qPrintable(panel.summary()));
        QVERIFY2(panel.summary().contains(bytesText(1024 * m_text.ops)), qPrintable(panel.summary()));
    }

    void detailsOfAKernel() {
        Document document;
        DetailsPanel panel(&document);
        panel.resize(300, 700);
        panel.show();
        QVERIFY(panel.plainText().contains(QStringLiteral("Ctrl+O")));
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QVERIFY(panel.plainText().contains(QStringLiteral("Click")));
        const Trace& trace = *document.items().front().trace;
        SliceRef kernel;
        for (std::size_t row = 0; row < trace.slices.size() && !kernel; ++row) {
            if (trace.kind(row) == SliceKind::Kernel)
                kernel = {0, SliceId::fromIndex(row)};
        }
        document.select(kernel);
        const QString text = panel.plainText();
        for (const QString& part : {QStringLiteral("void gemm_kernel<0>(float*)"),
                                    durationText(m_text.kernel()), QStringLiteral("4096 × 1 × 1"),
                                    QStringLiteral("aten::addmm"), QStringLiteral("cudaLaunchKernel"),
                                    QStringLiteral("registers per thread"), QStringLiteral("ProfilerStep#1")})
            QVERIFY2(text.contains(part), qPrintable(part + QStringLiteral(" in ") + text));
        QTRY_VERIFY(panel.plainText().contains(QStringLiteral("Same name")));

        // A link goes to what launched it.
        const QSignalSpy revealed(&document, &Document::revealRequested);
        const QString html = panel.browser()->toHtml();
        const qsizetype at = html.indexOf(QStringLiteral("href=\"slice:")) + 6;
        emit panel.browser()->anchorClicked(QUrl(html.mid(at, html.indexOf(u'"', at) - at)));
        QCOMPARE(revealed.count(), 1);
        QVERIFY(document.selected() != kernel);

        document.select(kernel);
        panel.copyJson();
        const QJsonObject json =
            QJsonDocument::fromJson(QGuiApplication::clipboard()->text().toUtf8()).object();
        QCOMPARE(json.value(QStringLiteral("duration_ns")).toInteger(), m_text.kernel());
        QCOMPARE(json.value(QStringLiteral("args")).toObject().value(QStringLiteral("stream")).toInt(), 7);
        QVERIFY(!json.value(QStringLiteral("links")).toArray().isEmpty());
        panel.copyText();
        QVERIFY(QGuiApplication::clipboard()->text().contains(exactDurationText(m_text.kernel())));
    }

    void searchAndHits() {
        Document document;
        HitsPanel panel(&document);
        const QAbstractItemModelTester tester(panel.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        SearchController search(&document);
        QObject::connect(&search, &SearchController::finished, &panel,
                         [&] { panel.setQuery(search.text(), search.error()); });
        panel.show();
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QVERIFY(panel.message().contains(QStringLiteral("Ctrl+F")));
        search.setText(QStringLiteral("addmm"));
        QCOMPARE(search.status(), QStringLiteral("searching…"));
        QTRY_COMPARE(panel.model()->rowCount(), m_text.calls());
        QCOMPARE(search.status(), QStringLiteral("15 hits"));
        search.next();
        QCOMPARE(search.status(), QStringLiteral("1 of 15"));
        search.previous();
        QCOMPARE(search.status(), QStringLiteral("15 of 15"));
        search.next();
        search.next();
        QCOMPARE(search.status(), QStringLiteral("2 of 15"));
        QCOMPARE(document.selected(), document.hits()[1]);

        // Typed and stepped before the answer is there: goes to the first when it is.
        document.select({});
        search.setText(QStringLiteral("cat:kernel"));
        search.next();
        QTRY_COMPARE(search.status(), QStringLiteral("1 of 15"));
        QCOMPARE(document.selected(), document.hits().front());

        search.setText(QStringLiteral("/(/"));
        QTRY_VERIFY(!search.error().isEmpty());
        QCOMPARE(panel.message(), search.error());
        QVERIFY(document.hits().empty());
        search.setText(QStringLiteral("no such thing"));
        QTRY_COMPARE(search.status(), QStringLiteral("no hits"));
        QVERIFY(panel.message().contains(QStringLiteral("no such thing")));
        search.setText(QString());
        QTRY_VERIFY(search.status().isEmpty());
        document.clear();
        QCOMPARE(panel.model()->rowCount(), 0);
    }

    void logTellsAndGoes() {
        Document document;
        LogPanel panel(&document);
        panel.resize(800, 300);
        const QAbstractItemModelTester tester(panel.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        panel.show();
        QByteArray cut = m_text.text();
        cut.truncate(cut.size() * 2 / 3);
        document.set(Document::prepare({{read(cut)}, {}, {}}));
        QVERIFY(panel.model()->rowCount() > 0);
        // Losses come first, in words.
        QCOMPARE(
            panel.model()->index(0, panel.model()->columnOf(QStringLiteral("severity"))).data().toString(),
            QString::fromLatin1(severityName(Diagnostic::Severity::DataLoss)));
        QVERIFY(!panel.model()->index(0, 0).data().toString().isEmpty());
        for (int row = 0; row < panel.model()->rowCount(); ++row) {
            const auto time = panel.logModel()->at(row).time;
            if (!time)
                continue;
            emit panel.view()->rowActivated(row);
            QVERIFY(document.visible().contains(*time));
        }
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        if (panel.model()->rowCount() == 0)
            QVERIFY(panel.message().contains(QStringLiteral("Nothing to report")));
    }

    void hiddenPanelsCostNothing() {
        Document document;
        OpsPanel panel(&document);
        document.set(Document::prepare({{read(m_text.text())}, {}, {}}));
        QVERIFY(!panel.job()->busy());
        QTest::qWait(20);
        QCOMPARE(panel.model()->rowCount(), 0);
        panel.show();
        QTRY_COMPARE(panel.model()->rowCount(), 2);
        // A session that goes takes its rows with it at once, seen or not.
        panel.hide();
        document.set(Document::prepare({{read(KinetoText{1, 1}.text())}, {}, {}}));
        QCOMPARE(panel.model()->rowCount(), 0);
    }

  private:
    QTemporaryDir m_settings;
    KinetoText m_text;
};

QTEST_MAIN(TestPanels)
#include "tst_window_panels.moc"
