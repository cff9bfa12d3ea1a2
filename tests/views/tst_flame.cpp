// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"
#include "views/flame/flame_colors.h"
#include "views/flame/flame_details.h"
#include "views/flame/flame_panel.h"
#include "views/flame/flame_view.h"
#include "views/theme.h"

#include <QElapsedTimer>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>

#include <numeric>

using namespace warpline;

namespace {

/// The bundled sample's flame graph, 1200 pixels wide.
struct Window {
    Document document;
    std::unique_ptr<FlamePanel> panel;

    explicit Window(int copies = 1) {
        std::vector<TracePtr> traces;
        for (int i = 0; i < copies; ++i) {
            Result<std::vector<TracePtr>> opened =
                openTraces(WARPLINE_TEST_DATA "/../../resources/samples/gpt.json.gz");
            if (!opened.ok())
                qFatal("%s", opened.error().message.c_str());
            traces.push_back(opened.value().front());
        }
        panel = std::make_unique<FlamePanel>(&document);
        panel->resize(1480, 700);
        panel->show();
        if (!traces.empty())
            document.set(Document::prepare({std::move(traces), {}, {}}));
        settle();
    }
    void settle() const {
        QElapsedTimer clock;
        clock.start();
        int quiet = 0;
        while (quiet < 4 && clock.elapsed() < 20'000) {
            QCoreApplication::processEvents();
            bool busy = panel->job()->busy();
            for (const LatestJob* job : panel->findChildren<LatestJob*>())
                busy = busy || job->busy();
            quiet = busy ? 0 : quiet + 1;
            QTest::qWait(2);
        }
    }
    [[nodiscard]] FlameView& view() const { return *panel->view(); }
    [[nodiscard]] const FlameTree& tree() const { return *view().tree(); }
    /// The heaviest node of a name; the root if there is none.
    [[nodiscard]] std::uint32_t nodeOf(std::string_view name) const {
        std::uint32_t best = 0;
        for (std::uint32_t n = 1; n < tree().nodes.size(); ++n) {
            if (tree().label(n).find(name) != std::string::npos &&
                (best == 0 || tree().nodes[n].total > tree().nodes[best].total))
                best = n;
        }
        return best;
    }
    [[nodiscard]] std::int64_t deviceTime() const {
        const Trace& trace = *document.items().front().trace;
        std::int64_t sum = 0;
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            if (isDeviceWork(trace.kind(row)))
                sum += trace.slices.duration[row];
        }
        return sum;
    }
};

} // namespace

class FlameTest : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { Theme::setDark(false); }

    void nothingIsSaidPlainly() {
        Window w(0);
        QVERIFY(w.panel->message().contains(QStringLiteral("Nothing is open")));
        QTest::keyClick(&w.view(), Qt::Key_Down);
        QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, QPoint(20, 20));
    }

    void everyNanosecondOfTheGpuIsThere() {
        Window w;
        QCOMPARE(w.panel->message(), QString());
        QCOMPARE(w.tree().total(), w.deviceTime());
        QVERIFY(w.panel->summary().contains(QStringLiteral("GPU time")));
        QVERIFY(w.panel->summary().contains(QStringLiteral("under a line of the program")));
    }

    void boxesTileTheirCaller() {
        Window w;
        const FlameLayout& layout = w.view().layout();
        QVERIFY(layout.rows() > 8);
        // Widths of a row never overlap, and a box lies within the one above it.
        const FlameBox* last = nullptr;
        for (const FlameBox& box : layout.boxes()) {
            if (last != nullptr && last->row == box.row)
                QVERIFY(box.x >= last->x + last->width - 0.01);
            if (box.row > 0) {
                const FlameBox* above = layout.boxAt(box.x + box.width / 2, box.row - 1);
                QVERIFY(above != nullptr);
                QVERIFY(above->x <= box.x + 0.01 && above->x + above->width >= box.x + box.width - 0.01);
            }
            last = &box;
        }
    }

    void clickZoomsAndTheWayBackIsThere() {
        Window w;
        const std::uint32_t node = w.nodeOf("forward");
        QVERIFY(node != 0);
        const QRectF rect = w.view().rectOf(node).value_or(QRectF());
        QVERIFY(!rect.isEmpty());
        QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, rect.center().toPoint());
        QCOMPARE(w.view().zoomed(), node);
        QCOMPARE(w.view().selected(), node);
        const QRectF zoomed = w.view().rectOf(node).value_or(QRectF());
        QVERIFY(zoomed.width() > w.view().viewport()->width() - 40);
        QVERIFY(w.panel->details()->plainText().contains(QStringLiteral("Share of all")));
        QTest::keyClick(&w.view(), Qt::Key_Escape);
        QCOMPARE(w.view().zoomed(), w.tree().nodes[node].parent);
        QTest::keyClick(&w.view(), Qt::Key_Home);
        QCOMPARE(w.view().zoomed(), 0U);
    }

    void arrowsWalk() {
        Window w;
        QTest::keyClick(&w.view(), Qt::Key_Down);
        const std::uint32_t first = w.view().selected();
        QCOMPARE(w.tree().nodes[first].parent, 0U);
        QTest::keyClick(&w.view(), Qt::Key_Down);
        QCOMPARE(w.tree().nodes[w.view().selected()].parent, first);
        QTest::keyClick(&w.view(), Qt::Key_Up);
        QCOMPARE(w.view().selected(), first);
        for (int i = 0; i < 200; ++i) {
            QTest::keyClick(&w.view(), i % 7 == 0 ? Qt::Key_Right : Qt::Key_Down);
            QVERIFY(w.view().selected() < w.tree().nodes.size());
        }
        QVERIFY(w.view().rectOf(w.view().selected()).has_value());
    }

    void searchSumsWithoutCountingTwice() {
        Window w;
        w.panel->searchLine()->setText(QStringLiteral("aten::"));
        QVERIFY(w.view().matches().places > 0);
        QVERIFY(w.view().matches().total <= w.tree().total());
        QVERIFY(w.view().matches().total > 0);
        w.panel->searchLine()->setText(QStringLiteral("/(/"));
        QVERIFY(!w.view().searchError().isEmpty());
        w.panel->searchLine()->setText(QStringLiteral("no such frame"));
        QCOMPARE(w.view().matches().places, std::size_t{0});
    }

    void rangeAndWeightChangeTheTree() {
        Window w;
        const std::int64_t all = w.tree().total();
        const Trace& trace = *w.document.items().front().trace;
        QVERIFY(!trace.steps.empty());
        const TimeRange step = trace.steps.front().range;
        w.document.setRange(step, QStringLiteral("a step"));
        w.settle();
        std::int64_t expected = 0;
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            if (isDeviceWork(trace.kind(row)) && step.contains(trace.slices.start[row]))
                expected += trace.slices.duration[row];
        }
        QCOMPARE(w.tree().total(), expected);
        QVERIFY(expected < all);
        w.panel->setMeasure(FlameMeasure::Calls);
        w.settle();
        QCOMPARE(w.tree().unit, WeightUnit::Count);
        w.document.setRange(std::nullopt);
        w.panel->setMeasure(FlameMeasure::CpuTime);
        w.settle();
        QCOMPARE(w.tree().unit, WeightUnit::Nanoseconds);
        QVERIFY(w.tree().total() > 0);
    }

    void zoomStaysWhereTheSameFramesAre() {
        Window w;
        const std::uint32_t node = w.nodeOf("forward");
        w.view().zoomTo(node);
        const std::string name = w.tree().label(node);
        const TimeRange step = w.document.items().front().trace->steps.front().range;
        w.document.setRange(step, QStringLiteral("a step"));
        w.settle();
        QCOMPARE(w.tree().label(w.view().zoomed()), name);
    }

    void doubleClickGoesToTheTimeline() {
        Window w;
        QSignalSpy revealed(&w.document, &Document::revealRequested);
        const std::uint32_t node = w.nodeOf("aten::");
        QVERIFY(node != 0);
        emit w.view().activated(node);
        w.settle();
        QCOMPARE(revealed.count(), 1);
        QCOMPARE(w.document.sliceName(w.document.selected()).toStdString(),
                 std::string(w.tree().frames->name(w.tree().nodes[node].frame)));
    }

    void aFileAgainstItselfDiffersNowhere() {
        Window w(2);
        FlameRequest request = w.panel->request();
        QCOMPARE(request.against, -1);
        for (QToolButton* button : w.panel->findChildren<QToolButton*>()) {
            if (button->text().startsWith(QStringLiteral("against")))
                QTest::keyClick(button, Qt::Key_Down);
        }
        QCOMPARE(w.panel->request().against, 1);
        w.settle();
        QVERIFY(w.tree().difference);
        for (const FlameTree::Node& node : w.tree().nodes)
            QCOMPARE(node.total, node.baseTotal);
    }

    void paintsLabelsAndKindsInBothThemes() {
        Window w;
        for (const bool dark : {false, true}) {
            Theme::setDark(dark);
            QApplication::setPalette(Theme::current().palette());
            const QImage image = w.view().viewport()->grab().toImage();
            QSet<QRgb> colors;
            for (int y = 0; y < image.height(); y += 2) {
                for (int x = 0; x < image.width(); x += 2)
                    colors.insert(image.pixel(x, y));
            }
            QVERIFY(colors.size() > 20);
            QVERIFY(colors.contains(Theme::current().color(Family::Python).rgb()));
            QVERIFY(colors.contains(Theme::current().background.rgb()));
        }
        Theme::setDark(false);
        QApplication::setPalette(Theme::current().palette());
    }
};

QTEST_MAIN(FlameTest)
#include "tst_flame.moc"
