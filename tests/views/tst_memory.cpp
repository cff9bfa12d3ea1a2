// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"
#include "views/charts/curve_chart.h"
#include "views/memory/allocation_view.h"
#include "views/memory/block_details.h"
#include "views/memory/blocks_panel.h"
#include "views/memory/growth_panel.h"
#include "views/memory/holders_panel.h"
#include "views/memory/memory_panel.h"
#include "views/memory/oom_panel.h"
#include "views/memory/segments_view.h"
#include "views/theme.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>
#include <QWheelEvent>

#include <algorithm>
#include <numeric>
#include <set>

using namespace warpline;

namespace {

const std::string kSamples = WARPLINE_TEST_DATA "/../../resources/samples/";

Opened opened(const std::vector<std::string>& files) {
    Opened all;
    for (const std::string& file : files) {
        Result<Opened> one = openFile(kSamples + file);
        if (!one.ok())
            qFatal("%s", one.error().message.c_str());
        for (TracePtr& trace : one.value().traces)
            all.traces.push_back(std::move(trace));
        for (MemoryHistoryPtr& memory : one.value().memory)
            all.memory.push_back(std::move(memory));
    }
    return all;
}

/// A memory panel over files of the samples, wide enough for all of its parts.
struct Window {
    Document document;
    std::unique_ptr<MemoryPanel> panel;

    explicit Window(const std::vector<std::string>& files) {
        panel = std::make_unique<MemoryPanel>(&document);
        panel->resize(1400, 900);
        panel->show();
        if (!files.empty())
            document.set(Document::prepare(opened(files)));
        settle();
    }
    void settle() const {
        QElapsedTimer clock;
        clock.start();
        int quiet = 0;
        while (quiet < 3 && clock.elapsed() < 20'000) {
            QCoreApplication::processEvents();
            const auto jobs = panel->findChildren<LatestJob*>();
            const bool busy =
                std::any_of(jobs.begin(), jobs.end(), [](LatestJob* job) { return job->busy(); }) ||
                panel->holders()->job()->busy() || panel->blocks()->job()->busy() ||
                panel->growth()->job()->busy() || panel->segments()->job()->busy() ||
                panel->outOfMemory()->job()->busy();
            quiet = busy ? 0 : quiet + 1;
            QTest::qWait(2);
        }
    }
    [[nodiscard]] MemoryFocus& focus() const { return *panel->focus(); }
    [[nodiscard]] AllocationView& view() const { return *panel->allocation(); }
    [[nodiscard]] const MemoryDevice& device() const { return focus().device(); }
};

std::int64_t liveBytes(const MemoryDevice& device, Moment moment) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < device.blocks.count(); ++row) {
        if (device.blocks.aliveAt(row, moment))
            sum += device.blocks.size[row];
    }
    return sum;
}

} // namespace

class MemoryTest : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { Theme::setDark(false); }

    void nothingIsSaidPlainly() {
        Window w({});
        QVERIFY(w.panel->message().contains(QStringLiteral("Nothing is open")));
        QVERIFY(!w.focus().hasMemory());
        // No key or pointer does harm where there is nothing.
        QTest::keyClick(&w.view(), Qt::Key_P);
        QTest::mouseClick(&w.view(), Qt::LeftButton, {}, QPoint(100, 100));
    }

    void thePeakIsLookedAtFirst() {
        Window w({"gpt.snapshot.pickle.zst"});
        QCOMPARE(w.panel->message(), QString());
        QCOMPARE(w.focus().moment(), w.device().peakRequested.moment);
        QCOMPARE(w.focus().bytesAtMoment(), w.device().peakRequested.requested);
        const Holders& holders = w.panel->holders()->holdersModel()->holders();
        QCOMPARE(holders.bytes, w.device().peakRequested.requested);
        std::int64_t sum = 0;
        for (const Holder& row : holders.rows)
            sum += row.bytes;
        QCOMPARE(sum, holders.bytes);
        QVERIFY(w.panel->holders()->holdersModel()->rowCount() > 3);
    }

    void everyPixelIsTheBlockOfItsPlace() {
        Window w({"gpt.snapshot.pickle.zst"});
        const LayoutFrame& f = w.view().frame();
        QVERIFY(f.columns > 500 && f.rows > 100);
        const MemoryDevice& d = w.device();
        // In sampled columns: the stack of live blocks in the table's order, compared pixel by pixel.
        for (int c = 3; c < f.columns; c += 97) {
            const Moment moment = f.moments[static_cast<std::size_t>(c)];
            QCOMPARE(f.totals[static_cast<std::size_t>(c)], liveBytes(d, moment));
            std::vector<std::pair<std::int64_t, BlockId>> tops;
            std::int64_t sum = 0;
            for (std::size_t row = 0; row < d.blocks.count(); ++row) {
                if (d.blocks.aliveAt(row, moment))
                    tops.emplace_back(sum += d.blocks.size[row], BlockId::fromIndex(row));
            }
            for (int r = 0; r < f.rows; ++r) {
                const double byte = (f.rows - 1 - r + 0.5) / f.rows * static_cast<double>(w.view().top());
                const auto it = std::upper_bound(tops.begin(), tops.end(), byte, [](double b, const auto& t) {
                    return b < static_cast<double>(t.first);
                });
                const BlockId expected = it == tops.end() ? BlockId{} : it->second;
                const BlockId cell =
                    f.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(f.columns) +
                            static_cast<std::size_t>(c)];
                // A pixel's centre on the very edge may go either way.
                if (cell != expected) {
                    // A block that is thinner than a pixel may stand for its neighbours within two of them.
                    const double slack = 2.0 * static_cast<double>(w.view().top()) / f.rows + 2;
                    const bool edge = std::any_of(tops.begin(), tops.end(), [&](const auto& t) {
                        return (t.second == cell || (!cell && t.first == sum)) &&
                               byte >=
                                   static_cast<double>(t.first - d.blocks.size[t.second.index()]) - slack &&
                               byte < static_cast<double>(t.first) + slack;
                    });
                    QVERIFY2(edge, qPrintable(QStringLiteral("column %1 row %2").arg(c).arg(r)));
                }
            }
        }
    }

    void clickSelectsAndKeepsWhatHoverDoesNot() {
        Window w({"gpt.snapshot.pickle.zst"});
        const QPoint low(w.view().plot().left() + 40, w.view().plot().bottom() - 5);
        QTest::mouseClick(&w.view(), Qt::LeftButton, {}, low);
        const BlockId block = w.focus().selected();
        QVERIFY(block);
        QCOMPARE(block, w.view().blockAt(low));
        const QPoint other(w.view().plot().left() + 300, w.view().plot().bottom() - 60);
        QTest::mouseMove(&w.view(), other);
        QMouseEvent move(QEvent::MouseMove, other, w.view().mapToGlobal(QPointF(other)), Qt::NoButton,
                         Qt::NoButton, {});
        QApplication::sendEvent(&w.view(), &move);
        QCOMPARE(w.focus().selected(), block);
        QVERIFY(w.panel->details()->plainText().contains(QStringLiteral("Block of")));
        QTest::keyClick(&w.view(), Qt::Key_Escape);
        QVERIFY(!w.focus().selected());
    }

    void keysZoomPanAndStepPeaks() {
        Window w({"gpt.snapshot.pickle.zst"});
        const MemoryView whole = w.focus().view();
        QTest::keyClick(&w.view(), Qt::Key_W);
        const MemoryView closer = w.focus().view();
        QVERIFY(closer.end - closer.begin < whole.end - whole.begin);
        // The moment stays in view when zooming by key.
        QVERIFY(w.view().xOf(w.focus().moment()) >= w.view().plot().left());
        QTest::keyClick(&w.view(), Qt::Key_D);
        QVERIFY(w.focus().view().begin > closer.begin || w.focus().view().end == whole.end);
        QTest::keyClick(&w.view(), Qt::Key_F);
        QCOMPARE(w.focus().view().begin, whole.begin);
        QCOMPARE(w.focus().view().end, whole.end);
        const Moment peak = w.focus().moment();
        QTest::keyClick(&w.view(), Qt::Key_P);
        const Moment next = w.focus().moment();
        QVERIFY(next > peak);
        // A peak is where the curve is no lower right before and after.
        const auto& curve = w.device().curves.requested;
        QVERIFY(curve[next] >= curve[next - 1]);
        QTest::keyClick(&w.view(), Qt::Key_P, Qt::ShiftModifier);
        QCOMPARE(w.focus().moment(), peak);
        QTest::keyClick(&w.view(), Qt::Key_Right);
        QCOMPARE(w.focus().moment(), peak + 1);
    }

    void wheelZoomsAtThePointer() {
        Window w({"gpt.snapshot.pickle.zst"});
        const QPointF at(w.view().plot().center().x(), 100);
        const Moment under = w.view().momentAt(at.x());
        QWheelEvent event(at, w.view().mapToGlobal(at), {}, {0, 600}, Qt::NoButton, {}, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(&w.view(), &event);
        const auto length = w.focus().view().end - w.focus().view().begin;
        QVERIFY(std::abs(static_cast<std::int64_t>(w.view().momentAt(at.x())) -
                         static_cast<std::int64_t>(under)) <= std::max<std::int64_t>(2, length / 100));
    }

    void dragAsksWhatGrew() {
        Window w({"gpt.snapshot.pickle.zst"});
        const QRect plot = w.view().plot();
        QTest::mousePress(&w.view(), Qt::LeftButton, {}, plot.center() - QPoint(200, 0));
        for (int i = 1; i <= 5; ++i) {
            const QPointF at = plot.center() - QPoint(200, 0) + QPointF(60, 0) * i;
            QMouseEvent move(QEvent::MouseMove, at, w.view().mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                             {});
            QApplication::sendEvent(&w.view(), &move);
        }
        QTest::mouseRelease(&w.view(), Qt::LeftButton, {}, plot.center() + QPoint(100, 0));
        QVERIFY(w.focus().marks().both());
        w.settle();
        const Moment a = *w.focus().marks().first;
        const Moment b = *w.focus().marks().second;
        std::int64_t expected = 0;
        for (std::size_t row = 0; row < w.device().blocks.count(); ++row) {
            if (w.device().blocks.birth[row] > a && w.device().blocks.aliveAt(row, b))
                expected += w.device().blocks.size[row];
        }
        std::int64_t grown = 0;
        for (const Growth& row : w.panel->growth()->growthModel()->rows())
            grown += row.holder.bytes;
        QCOMPARE(grown, expected);
    }

    void blocksAreFilteredAndFollowTheSelection() {
        Window w({"gpt.snapshot.pickle.zst"});
        BlocksModel* model = w.panel->blocks()->blocksModel();
        const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        std::size_t alive = 0;
        for (std::size_t row = 0; row < w.device().blocks.count(); ++row)
            alive += w.device().blocks.aliveAt(row, w.focus().moment()) ? 1 : 0;
        QCOMPARE(static_cast<std::size_t>(model->rowCount()), alive);
        auto* query = w.panel->blocks()->findChildren<QLineEdit*>().last();
        for (QLineEdit* line : w.panel->blocks()->findChildren<QLineEdit*>()) {
            if (line->isVisibleTo(w.panel->blocks()))
                query = line;
        }
        query->setText(QStringLiteral("size>=16MiB"));
        w.settle();
        QVERIFY(model->rowCount() > 0 && static_cast<std::size_t>(model->rowCount()) < alive);
        for (int row = 0; row < model->rowCount(); ++row)
            QVERIFY(w.device().blocks.size[model->blockAt(row).index()] >= 16 << 20);
        query->setText(QStringLiteral("no_such_function_anywhere"));
        w.settle();
        QCOMPARE(model->rowCount(), 0);
        QVERIFY(w.panel->blocks()->message().contains(QStringLiteral("No block")));
    }

    void axisOfTimeKeepsWhatIsSeen() {
        Window w({"gpt.snapshot.pickle.zst"});
        w.focus().setView(2000, 3000);
        w.focus().setAxis(MemoryAxis::Time);
        QCOMPARE(w.focus().view().axis, MemoryAxis::Time);
        const Moment first = momentAtPosition(w.device(), MemoryAxis::Time, w.focus().view().begin);
        QVERIFY(first >= 1990 && first <= 2010);
        w.focus().setAxis(MemoryAxis::Events);
        QVERIFY(std::abs(w.focus().view().begin - 2000) <= 10);
    }

    void segmentsAddUp() {
        Window w({"gpt.snapshot.pickle.zst"});
        w.panel->showTab(MemoryPanel::Tab::Segments);
        w.settle();
        const MemoryState* state = w.panel->segments()->state();
        QVERIFY(state != nullptr);
        QCOMPARE(state->requested, w.focus().bytesAtMoment());
        QVERIFY(!w.panel->segments()->lines().empty());
        std::set<std::size_t> shown;
        for (const SegmentsView::Line& line : w.panel->segments()->lines()) {
            if (!line.heading)
                QVERIFY(shown.insert(line.segment).second);
        }
        QCOMPARE(shown.size(), state->segments.size());
        QVERIFY(w.panel->segments()->summary().contains(QStringLiteral("reserved")));
    }

    void outOfMemoryIsExplained() {
        Window w({"oom.snapshot.pickle.zst"});
        QVERIFY(!w.device().outOfMemory.empty());
        w.panel->showTab(MemoryPanel::Tab::OutOfMemory);
        w.settle();
        const QString text = w.panel->outOfMemory()->plainText();
        QVERIFY(text.contains(QStringLiteral("asked for")));
        QVERIFY(text.contains(QStringLiteral("Free on the device")));
    }

    void traceAndSnapshotShareTheAxis() {
        Window w({"gpt.json.gz", "gpt.snapshot.pickle.zst"});
        QVERIFY(!w.focus().item().history->fromTrace);
        QVERIFY(w.focus().item().join != nullptr);
        QCOMPARE(w.focus().item().joined, 0);
        // A moment within the trace whose event some op made.
        const MemoryJoin& join = *w.focus().item().join;
        Moment moment = 0;
        for (std::uint32_t event = 0; event < w.device().events.count() && moment == 0; ++event) {
            if (join.place(0, event).op)
                moment = event + 1;
        }
        QVERIFY(moment > 0);
        w.focus().setMoment(moment);
        // The moment's own event leads to an op of the trace, and the link goes there.
        QVERIFY(w.panel->details()->plainText().contains(QStringLiteral("Op")));
        QSignalSpy revealed(&w.document, &Document::revealRequested);
        const QString html = w.panel->details()->browser()->toHtml();
        const qsizetype at = html.indexOf(QStringLiteral("href=\"slice:"));
        QVERIFY(at > 0);
        const qsizetype begin = at + 6;
        emit w.panel->details()->browser()->anchorClicked(
            QUrl(html.mid(begin, html.indexOf(u'"', begin) - begin)));
        QCOMPARE(revealed.count(), 1);
        QVERIFY(w.document.selected());
        // A range of time chosen in the timeline is what grew here.
        const TimeRange extent = w.device().extent();
        w.document.setRange(
            TimeRange{extent.begin + extent.duration() / 4, extent.begin + extent.duration() / 2});
        QVERIFY(w.focus().marks().both());
        // What the trace itself tells is a place of its own.
        QCOMPARE(w.focus().places().size(), std::size_t{2});
        w.focus().setPlace(1);
        QVERIFY(w.focus().item().history->fromTrace);
        w.settle();
        QVERIFY(w.panel->holders()->holdersModel()->rowCount() > 0);
    }

    void curvesAreThinAndKeepTheirPeak() {
        Window w({"gpt.snapshot.pickle.zst"});
        const QList<Curve>& curves = w.panel->curves()->curves();
        QCOMPARE(curves.size(), 3);
        double most = 0;
        for (const QPointF& point : curves[0].points)
            most = std::max(most, point.y());
        QCOMPARE(static_cast<std::int64_t>(most), w.device().peakRequested.requested);
        QVERIFY(curves[0].points.size() <= 2 * w.panel->curves()->width());
        QSignalSpy chosen(w.panel->curves(), &CurveChart::momentChosen);
        QTest::mouseClick(w.panel->curves()->viewport(), Qt::LeftButton, {},
                          w.panel->curves()->plot().center().toPoint());
        QCOMPARE(chosen.count(), 1);
    }

    void paintsInBothThemes() {
        Window w({"gpt.snapshot.pickle.zst"});
        std::set<QRgb> grounds;
        for (const bool dark : {false, true}) {
            Theme::setDark(dark);
            QApplication::setPalette(Theme::current().palette());
            const QImage image = w.view().grab().toImage();
            grounds.insert(image.pixel(w.view().width() - 3, 3));
            // Some pixels of the most common category's colour.
            const QRgb color = w.view().colors().legend().front().color.rgb();
            int found = 0;
            for (int y = 0; y < image.height(); y += 3) {
                for (int x = 0; x < image.width(); x += 3)
                    found += image.pixel(x, y) == color ? 1 : 0;
            }
            QVERIFY(found > 50);
        }
        QCOMPARE(grounds.size(), std::size_t{2});
        Theme::setDark(false);
        QApplication::setPalette(Theme::current().palette());
    }
};

QTEST_MAIN(MemoryTest)
#include "tst_memory.moc"
