// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "tests/views/sample_document.h"
#include "views/theme.h"
#include "views/timeline/overview.h"
#include "views/timeline/ruler.h"
#include "views/timeline/slice_tooltip.h"
#include "views/timeline/timeline_commands.h"
#include "views/timeline/timeline_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/timeline/track_list.h"

#include <QAction>
#include <QLineEdit>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include <memory>

using namespace warpline;
using namespace warpline::test;

namespace {

constexpr TimeNs kMs = SampleTrace::kMs;
constexpr TimeNs kStart = SampleTrace::kStart;

/// A panel over the sample, its lanes 1000 pixels wide.
struct Window {
    SampleTrace sample = SampleTrace::make();
    Document document;
    std::unique_ptr<TimelinePanel> panel;

    explicit Window(bool open = true) {
        if (open)
            document.set(preparedOf({sample.trace}));
        panel = std::make_unique<TimelinePanel>(&document);
        panel->setAnimated(false);
        panel->resize(1216, 600);
        panel->show();
        // The lanes at a width that makes a millisecond ten pixels.
        for (int i = 0; i < 3; ++i)
            panel->resize(panel->width() + 1000 - port()->width(), 600);
        panel->activateWindow();
        view()->setFocus();
        (void)QTest::qWaitForWindowActive(panel.get());
    }
    [[nodiscard]] TimelineView* view() const { return panel->view(); }
    [[nodiscard]] QWidget* port() const { return panel->view()->viewport(); }
    [[nodiscard]] SliceRef ref(SliceId id) const { return {0, id}; }
    [[nodiscard]] QPoint middleOf(SliceId id) const {
        return view()->scene().rectOf(ref(id)).value_or(QRectF(-1, -1, 0, 0)).center().toPoint();
    }
    void click(SliceId id) const { QTest::mouseClick(port(), Qt::LeftButton, {}, middleOf(id)); }
    void key(Qt::Key k, Qt::KeyboardModifiers m = {}) const { QTest::keyClick(view(), k, m); }
    void move(QPoint p) const { QTest::mouseMove(port(), p); }
    void drag(Qt::MouseButton button, QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) const {
        QTest::mousePress(port(), button, modifiers, from);
        for (int i = 1; i <= 4; ++i) {
            const QPointF at = from + QPointF(to - from) * i / 4;
            QMouseEvent event(QEvent::MouseMove, at, port()->mapToGlobal(at), Qt::NoButton, button,
                              modifiers);
            QApplication::sendEvent(port(), &event);
        }
        QTest::mouseRelease(port(), button, modifiers, to);
    }
    void wheel(QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers = {}) const {
        QWheelEvent event(at, port()->mapToGlobal(QPointF(at)), {}, angle, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(port(), &event);
    }
    [[nodiscard]] QImage picture(double dpr = 1) const {
        QImage image(port()->size() * dpr, QImage::Format_RGB32);
        image.setDevicePixelRatio(dpr);
        image.fill(Qt::magenta);
        port()->render(&image);
        return image;
    }
};

int colorsIn(const QImage& image, const QRect& where) {
    QSet<QRgb> colors;
    for (int y = where.top(); y <= where.bottom(); ++y) {
        for (int x = where.left(); x <= where.right(); ++x)
            colors.insert(image.pixel(x, y));
    }
    return static_cast<int>(colors.size());
}

} // namespace

class TimelineViewTest : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { Theme::setDark(false); }
    void cleanup() { Theme::setDark(false); }

    void actionsAreNamedAndHaveKeys() {
        Window w;
        QSet<QString> names;
        QSet<QString> keys;
        for (const QAction* action : w.panel->timelineActions()) {
            QVERIFY(action->objectName().startsWith(QLatin1String("timeline.")));
            QVERIFY(!action->text().isEmpty());
            QVERIFY(!action->shortcuts().isEmpty());
            QVERIFY(!names.contains(action->objectName()));
            names.insert(action->objectName());
            for (const QKeySequence& key : action->shortcuts()) {
                QVERIFY2(!keys.contains(key.toString()), qPrintable(key.toString()));
                keys.insert(key.toString());
            }
        }
        QCOMPARE(w.panel->actions(), w.panel->timelineActions());
        QVERIFY(names.size() > 20);
    }

    void barsArePaintedWhereTheyAre_data() {
        QTest::addColumn<double>("dpr");
        QTest::addColumn<bool>("dark");
        QTest::newRow("1, light") << 1.0 << false;
        QTest::newRow("2, light") << 2.0 << false;
        QTest::newRow("1, dark") << 1.0 << true;
    }
    void barsArePaintedWhereTheyAre() {
        QFETCH(double, dpr);
        QFETCH(bool, dark);
        Theme::setDark(dark);
        Window w;
        // Painted through the painter itself: a widget's own ratio is the screen's.
        Scene scene = w.view()->scene();
        scene.dpr = dpr;
        QImage image(scene.size * dpr, QImage::Format_RGB32);
        image.setDevicePixelRatio(dpr);
        LanePainter painter;
        GeometryCache cache;
        QPainter p(&image);
        painter.paint(p, scene, cache);
        p.end();
        const QRectF mm = scene.rectOf(w.ref(w.sample.mm)).value();
        const QRectF kernel = scene.rectOf(w.ref(w.sample.kernel)).value();
        const auto at = [&](double x, double y) {
            return QColor(image.pixel(static_cast<int>(x * dpr), static_cast<int>(y * dpr)));
        };
        const Theme& theme = Theme::current();
        QCOMPARE(mm.left(), 20.0);
        QCOMPARE(mm.width(), 100.0);
        QCOMPARE(at(mm.left() + 1, mm.top() + 1), theme.color(Family::Aten));
        QCOMPARE(at(mm.right() - 3, mm.bottom() - 2), theme.color(Family::Aten));
        QVERIFY(at(mm.right() + 2, mm.center().y()) != theme.color(Family::Aten));
        QVERIFY(at(mm.left() - 2, mm.center().y()) != theme.color(Family::Aten));
        QCOMPARE(at(kernel.left() + 1, kernel.top() + 1), theme.color(Family::Matmul));
        // The label: dark or light pixels on the bar.
        const QRect label(static_cast<int>((mm.left() + 2) * dpr), static_cast<int>((mm.top() + 1) * dpr),
                          static_cast<int>(50 * dpr), static_cast<int>(14 * dpr));
        QVERIFY(colorsIn(image, label) > 4);
    }

    void paintingTwiceBuildsOnce() {
        Window w;
        (void)w.picture();
        const std::uint64_t builds = w.view()->cache().builds();
        QVERIFY(builds > 0);
        w.move(w.middleOf(w.sample.add));
        w.document.select(w.ref(w.sample.add));
        (void)w.picture();
        QCOMPARE(w.view()->cache().builds(), builds);
        w.document.setVisible({kStart, kStart + 50 * kMs});
        (void)w.picture();
        QVERIFY(w.view()->cache().builds() > builds);
    }

    void emptyViewsSayWhy() {
        Window closed(false);
        QVERIFY(colorsIn(closed.picture(), closed.port()->rect()) > 4);
        for (int k = Qt::Key_A; k <= Qt::Key_Z; ++k)
            closed.key(static_cast<Qt::Key>(k)); // nothing to do, nothing to crash
        QTest::mouseClick(closed.port(), Qt::LeftButton, {}, QPoint(50, 50));
        closed.wheel({50, 50}, {0, 120}, Qt::ControlModifier);

        Window w;
        auto* filter = w.panel->findChild<QLineEdit*>(QStringLiteral("timelineFilter"));
        filter->setText(QStringLiteral("no such track"));
        QVERIFY(w.panel->state()->layout().rows().empty());
        QVERIFY(colorsIn(w.picture(), w.port()->rect()) > 4);
        filter->clear();
        QVERIFY(!w.panel->state()->layout().rows().empty());

        TraceBuilder b;
        const TracePtr nothing = b.finish();
        w.document.set(preparedOf({nothing}));
        QVERIFY(colorsIn(w.picture(), w.port()->rect()) > 4);
    }

    void clickSelects() {
        Window w;
        QSignalSpy spy(&w.document, &Document::selectionChanged);
        w.click(w.sample.add);
        QCOMPARE(w.document.selected(), w.ref(w.sample.add));
        QCOMPARE(spy.count(), 1);
        QVERIFY(w.view()->accessibleDescription().contains(QLatin1String("aten::add")));
        const QRectF add = w.view()->scene().rectOf(w.ref(w.sample.add)).value();
        QTest::mouseClick(w.port(), Qt::LeftButton, {}, add.center().toPoint() + QPoint(100, 0));
        QVERIFY(!w.document.selected());
    }

    void selectionOutlinesAndDims() {
        Window w;
        const QImage before = w.picture();
        w.document.select(w.ref(w.sample.kernel));
        const QImage after = w.picture();
        const QRectF kernel = w.view()->scene().rectOf(w.ref(w.sample.kernel)).value();
        const QRectF other = w.view()->scene().rectOf(w.ref(w.sample.add)).value();
        const auto at = [](const QImage& image, QPointF p) { return image.pixel(p.toPoint()); };
        // Inside it keeps its colour, at its edge stands the outline, the rest is paler.
        const QPointF inside = kernel.bottomRight() + QPointF(-6, -4);
        QCOMPARE(at(after, inside), at(before, inside));
        QCOMPARE(QColor(at(after, kernel.topLeft() + QPointF(20, 0))), Theme::current().selection);
        const QPointF elsewhere = other.bottomRight() + QPointF(-6, -3);
        QVERIFY(qGray(at(after, elsewhere)) > qGray(at(before, elsewhere)));
        // Its launch is outlined too.
        const QRectF launch = w.view()->scene().rectOf(w.ref(w.sample.launch)).value();
        QCOMPARE(QColor(at(after, launch.topLeft() + QPointF(8, 0))), Theme::current().selection);
    }

    void doubleClickZooms() {
        Window w;
        QTest::mouseDClick(w.port(), Qt::LeftButton, {}, w.middleOf(w.sample.add));
        QCOMPARE(w.document.visible(), (TimeRange{kStart + 20 * kMs - kMs / 2, kStart + 25 * kMs + kMs / 2}));
    }

    void dragSelectsARangeThatSnaps() {
        Window w;
        const QRectF add = w.view()->scene().rectOf(w.ref(w.sample.add)).value(); // 20 to 25 ms
        const QPoint from(static_cast<int>(add.left()) + 3, static_cast<int>(add.center().y()));
        const QPoint to(static_cast<int>(add.right()) - 2, static_cast<int>(add.center().y()));
        QSignalSpy spy(&w.document, &Document::rangeChanged);
        w.drag(Qt::LeftButton, from, to);
        QCOMPARE(w.document.range().value(), (TimeRange{kStart + 20 * kMs, kStart + 25 * kMs}));
        QCOMPARE(w.document.rangeName(), QStringLiteral("5.00 ms"));
        QCOMPARE(spy.count(), 1);
        QVERIFY(!w.document.selected());
        // Alt measures freely.
        w.drag(Qt::LeftButton, from + QPoint(20, 0), to, Qt::AltModifier);
        QCOMPARE(w.document.range()->begin, kStart + 22 * kMs + 3 * kMs / 10);
        // An edge can be taken and moved.
        w.document.setRange(TimeRange{kStart + 30 * kMs, kStart + 70 * kMs});
        w.drag(Qt::LeftButton, QPoint(701, 300), QPoint(801, 300), Qt::AltModifier);
        QCOMPARE(w.document.range()->begin, kStart + 30 * kMs);
        QCOMPARE(w.document.range()->end, kStart + 80 * kMs + kMs / 10);
    }

    void escapeCallsOffADrag() {
        Window w;
        QTest::mousePress(w.port(), Qt::LeftButton, {}, QPoint(300, 300));
        QMouseEvent event(QEvent::MouseMove, QPointF(400, 300), w.port()->mapToGlobal(QPointF(400, 300)),
                          Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(w.port(), &event);
        QVERIFY(w.view()->measuring());
        w.key(Qt::Key_Escape);
        QVERIFY(!w.view()->measuring());
        QTest::mouseRelease(w.port(), Qt::LeftButton, {}, QPoint(400, 300));
        QVERIFY(!w.document.range());
    }

    void wheelAndMiddleButton() {
        Window w;
        w.wheel({500, 100}, {0, 120}, Qt::ControlModifier);
        const TimeRange zoomed = w.document.visible();
        QCOMPARE(zoomed.duration(), 80 * kMs);
        QVERIFY(std::abs(zoomed.begin - (kStart + 10 * kMs)) <= 2);
        w.wheel({500, 100}, {0, -120}, Qt::ShiftModifier);
        QVERIFY(w.document.visible().begin > zoomed.begin);
        QCOMPARE(w.document.visible().duration(), zoomed.duration());
        const TimeRange before = w.document.visible();
        w.drag(Qt::MiddleButton, QPoint(500, 100), QPoint(600, 100));
        QCOMPARE(w.document.visible().begin, before.begin - 8 * kMs);

        w.panel->resize(w.panel->width(), 220);
        QVERIFY(w.view()->verticalScrollBar()->maximum() > 0);
        const TimeRange still = w.document.visible();
        w.wheel({500, 100}, {0, -120});
        QVERIFY(w.view()->verticalScrollBar()->value() > 0);
        QCOMPARE(w.document.visible(), still);
    }

    void pinching() {
        Window w;
        const TimeRange before = w.document.visible();
        const TimeNs anchor = w.view()->timeAt(400);
        QNativeGestureEvent spread(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2,
                                   QPointF(400, 60), QPointF(400, 60),
                                   w.port()->mapToGlobal(QPointF(400, 60)), 0.5, QPointF());
        QApplication::sendEvent(w.port(), &spread);
        QVERIFY(w.document.visible().duration() < before.duration());
        // What lies between the fingers stays there.
        QVERIFY(std::abs(w.view()->timeAt(400) - anchor) <= before.duration() / 500);
        QNativeGestureEvent close(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2,
                                  QPointF(400, 60), QPointF(400, 60), w.port()->mapToGlobal(QPointF(400, 60)),
                                  -0.5, QPointF());
        QApplication::sendEvent(w.port(), &close);
        QVERIFY(std::abs(w.document.visible().duration() - before.duration()) <= before.duration() / 100);
    }

    void zoomAndPanKeys() {
        Window w;
        w.move({250, 200});
        const TimeRange whole = w.document.visible();
        w.key(Qt::Key_W);
        TimeRange now = w.document.visible();
        QVERIFY(now.duration() < whole.duration());
        // What is under the pointer stays there.
        const double share =
            static_cast<double>(kStart + 25 * kMs - now.begin) / static_cast<double>(now.duration());
        QVERIFY2(std::abs(share - 0.25) < 0.003, qPrintable(QString::number(share)));
        w.key(Qt::Key_S);
        QVERIFY(std::abs(w.document.visible().duration() - whole.duration()) <= 1);
        w.key(Qt::Key_Plus);
        now = w.document.visible();
        w.key(Qt::Key_D);
        QVERIFY(w.document.visible().begin > now.begin);
        w.key(Qt::Key_A);
        QCOMPARE(w.document.visible(), now);
        w.key(Qt::Key_End);
        QCOMPARE(w.document.visible().end, kStart + 100 * kMs);
        w.key(Qt::Key_Home);
        QCOMPARE(w.document.visible().begin, kStart);
    }

    void fitSelectionThenAll() {
        Window w;
        w.document.select(w.ref(w.sample.add));
        w.key(Qt::Key_F);
        QCOMPARE(w.document.visible().duration(), 5 * kMs + kMs / 2);
        w.key(Qt::Key_F);
        QCOMPARE(w.document.visible(), w.document.extent());
        w.document.select({});
        w.document.setRange(TimeRange{kStart + 10 * kMs, kStart + 20 * kMs});
        w.key(Qt::Key_F);
        QCOMPARE(w.document.visible().duration(), 11 * kMs);
    }

    void arrowsWalkLanes() {
        Window w;
        w.click(w.sample.mm);
        w.key(Qt::Key_Right);
        QCOMPARE(w.document.selected(), w.ref(w.sample.add));
        w.key(Qt::Key_Left);
        QCOMPARE(w.document.selected(), w.ref(w.sample.mm));
        w.key(Qt::Key_Left); // nothing before it
        QCOMPARE(w.document.selected(), w.ref(w.sample.mm));
        w.key(Qt::Key_Down);
        QCOMPARE(w.document.selected(), w.ref(w.sample.launch));
        w.key(Qt::Key_Up);
        QCOMPARE(w.document.selected(), w.ref(w.sample.mm));
        w.key(Qt::Key_Up);
        QCOMPARE(w.document.selected(), w.ref(w.sample.forward));
        // Below the last lane of the thread come the folded frames, then the stream.
        w.click(w.sample.launch);
        w.key(Qt::Key_Down);
        QCOMPARE(w.document.sliceName(w.document.selected()), QStringLiteral("train.py(1): <module>"));
        w.key(Qt::Key_Down);
        QCOMPARE(w.document.selected(), w.ref(w.sample.kernel));
    }

    void linksAndNames() {
        Window w;
        w.click(w.sample.kernel);
        w.key(Qt::Key_BracketLeft);
        QCOMPARE(w.document.selected(), w.ref(w.sample.launch));
        w.key(Qt::Key_BracketRight);
        QCOMPARE(w.document.selected(), w.ref(w.sample.kernel));
        w.click(w.sample.mm);
        w.key(Qt::Key_BracketRight);
        QCOMPARE(w.document.selected(), w.ref(w.sample.kernel));
        w.click(w.sample.mm);
        w.key(Qt::Key_Period);
        QCOMPARE(w.document.selected(), w.ref(w.sample.relu));
        w.key(Qt::Key_Comma);
        QCOMPARE(w.document.selected(), w.ref(w.sample.mm));
    }

    void marksRangesAndEscape() {
        Window w;
        w.move({500, 300});
        w.key(Qt::Key_M);
        QCOMPARE(w.panel->state()->marks().size(), std::size_t{1});
        QVERIFY(std::abs(w.panel->state()->marks().front().time - (kStart + 50 * kMs)) <= kMs / 10);
        w.document.select(w.ref(w.sample.add));
        w.key(Qt::Key_R);
        QCOMPARE(w.document.range().value(), (TimeRange{kStart + 20 * kMs, kStart + 25 * kMs}));
        QCOMPARE(w.document.rangeName(), QStringLiteral("aten::add"));
        w.document.setHits({w.ref(w.sample.mm)});
        w.key(Qt::Key_Escape);
        QVERIFY(!w.document.selected());
        QVERIFY(w.document.range());
        w.key(Qt::Key_Escape);
        QVERIFY(!w.document.range());
        w.key(Qt::Key_Escape);
        QVERIFY(w.document.hits().empty());
        w.key(Qt::Key_Escape);
        QVERIFY(w.panel->state()->marks().empty());
        w.key(Qt::Key_M);
        w.key(Qt::Key_M); // at the same place: taken away
        QVERIFY(w.panel->state()->marks().empty());
    }

    void goToTime() {
        Window w;
        auto* commands = w.view()->findChild<TimelineCommands*>();
        QVERIFY(commands->goToTime(QStringLiteral("60 ms")));
        const TimeRange visible = w.document.visible();
        QCOMPARE(visible.begin + visible.duration() / 2, kStart + 60 * kMs);
        QVERIFY(!commands->goToTime(QStringLiteral("soon")));
        QCOMPARE(w.document.visible(), visible);
    }

    void keysBelongToTheTimeline() {
        Window w;
        auto* filter = w.panel->findChild<QLineEdit*>(QStringLiteral("timelineFilter"));
        filter->setFocus();
        const TimeRange before = w.document.visible();
        QTest::keyClicks(filter, QStringLiteral("wasd"));
        QCOMPARE(filter->text(), QStringLiteral("wasd"));
        QCOMPARE(w.document.visible(), before);
    }

    void revealUncoversZoomsAndSelects() {
        Window w;
        const Trace& trace = *w.sample.trace;
        SliceId frame;
        for (std::size_t i = 0; i < trace.slices.size(); ++i) {
            if (trace.name(SliceId::fromIndex(i)) == "nn.Module: Linear_0")
                frame = SliceId::fromIndex(i);
        }
        w.document.setVisible({kStart + 90 * kMs, kStart + 91 * kMs});
        w.document.reveal(w.ref(frame));
        QCOMPARE(w.document.selected(), w.ref(frame));
        bool folded = true;
        const auto rect = w.view()->scene().rectOf(w.ref(frame), &folded);
        QVERIFY(rect);
        QVERIFY(!folded);
        QVERIFY(w.port()->rect().contains(rect->center().toPoint()));
        // One that would be narrower than can be seen is zoomed to.
        w.document.setVisible(w.document.extent());
        TraceBuilder b;
        const TrackId t = b.track(b.process(1, false), TrackKind::Thread, 1);
        b.add(t, "cpu_op", "long", kStart, 1'000'000'000);
        const auto tiny = b.add(t, "cpu_op", "tiny", kStart + 500'000'000, 100);
        const TracePtr other = b.finish();
        w.document.set(preparedOf({other}));
        w.document.reveal({0, b.id(tiny)});
        QVERIFY(w.view()->scene().rectOf({0, b.id(tiny)})->width() >= 8);
    }

    void tracksAreFoldedPinnedHiddenByMouse() {
        Window w;
        auto* list = w.panel->findChild<TrackList*>();
        const auto rowOf = [&](TrackId track) { return w.panel->state()->layout().rowOf(0, track); };
        const auto clickAt = [&](QPointF p) {
            QTest::mouseMove(list, p.toPoint());
            QTest::mouseClick(list, Qt::LeftButton, {}, p.toPoint());
        };
        QCOMPARE(rowOf(w.sample.python)->lanes, 1);
        clickAt(QPointF(30, w.view()->scene().rowTop(*rowOf(w.sample.python)) + 8));
        QCOMPARE(rowOf(w.sample.python)->lanes, 3);
        clickAt(list->pinRect(*rowOf(w.sample.stream)).center());
        QVERIFY(rowOf(w.sample.stream)->pinned);
        QVERIFY(colorsIn(w.picture(), w.port()->rect()) > 4);
        clickAt(list->hideRect(*rowOf(w.sample.python)).center());
        QVERIFY(rowOf(w.sample.python) == nullptr);
        auto* show = w.panel->findChild<QToolButton*>(QStringLiteral("timelineShowAll"));
        QVERIFY(!show->isHidden());
        show->click();
        QVERIFY(rowOf(w.sample.python) != nullptr);
        QVERIFY(show->isHidden());
        // And by keys, on the selection's row.
        QTest::mouseMove(list, QPoint(5, 5));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(w.port(), &leave);
        w.document.select(w.ref(w.sample.kernel));
        w.key(Qt::Key_P, Qt::ShiftModifier);
        QVERIFY(!rowOf(w.sample.stream)->pinned);
        w.key(Qt::Key_H, Qt::ShiftModifier);
        QVERIFY(rowOf(w.sample.stream) == nullptr);
        w.key(Qt::Key_U, Qt::ShiftModifier);
        QVERIFY(rowOf(w.sample.stream) != nullptr);
    }

    void tracksAreReorderedByDrag() {
        Window w;
        auto* list = w.panel->findChild<TrackList*>();
        const auto top = [&](const QString& name) {
            for (const Row& row : w.panel->state()->layout().rows()) {
                if (row.name == name)
                    return w.view()->scene().rowTop(row);
            }
            return -1;
        };
        const QPoint from(60, top(QStringLiteral("queue")) + 10);
        const QPoint to(60, top(QStringLiteral("main thread")) + 2);
        QTest::mousePress(list, Qt::LeftButton, {}, from);
        QMouseEvent event(QEvent::MouseMove, QPointF(to), list->mapToGlobal(QPointF(to)), Qt::NoButton,
                          Qt::LeftButton, {});
        QApplication::sendEvent(list, &event);
        QTest::mouseRelease(list, Qt::LeftButton, {}, to);
        QVERIFY(top(QStringLiteral("queue")) < top(QStringLiteral("main thread")));
    }

    void overviewMovesAndStretches() {
        Window w;
        auto* overview = w.panel->findChild<Overview*>();
        QCOMPARE(overview->contents(), QStringLiteral("GPU busy, memory"));
        w.document.setVisible({kStart + 20 * kMs, kStart + 40 * kMs});
        const auto x = [&](double ms) { return static_cast<int>(overview->width() * ms / 100); };
        const auto drag = [&](int from, int to) {
            QTest::mousePress(overview, Qt::LeftButton, {}, QPoint(from, 20));
            QMouseEvent event(QEvent::MouseMove, QPointF(to, 20), overview->mapToGlobal(QPointF(to, 20)),
                              Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(overview, &event);
            QTest::mouseRelease(overview, Qt::LeftButton, {}, QPoint(to, 20));
        };
        const auto near = [](TimeNs a, TimeNs b) { return std::abs(a - b) <= kMs / 2; };
        drag(x(30), x(60));
        QVERIFY(near(w.document.visible().begin, kStart + 50 * kMs));
        QVERIFY(near(w.document.visible().end, kStart + 70 * kMs));
        drag(x(70), x(90));
        QVERIFY(near(w.document.visible().begin, kStart + 50 * kMs));
        QVERIFY(near(w.document.visible().end, kStart + 90 * kMs));
        QTest::mouseClick(overview, Qt::LeftButton, {}, QPoint(x(21), 20));
        QVERIFY(near(w.document.visible().begin + w.document.visible().duration() / 2, kStart + 21 * kMs));
    }

    void rulerSelectsSteps() {
        Window w;
        auto* ruler = w.panel->findChild<Ruler*>();
        QCOMPARE(ruler->height(), Ruler::kScaleHeight + Ruler::kStepsHeight);
        QTest::mouseClick(ruler, Qt::LeftButton, {},
                          QPoint(static_cast<int>(ruler->width() * 0.7), Ruler::kScaleHeight + 8));
        QCOMPARE(w.document.range().value(), (TimeRange{kStart + 55 * kMs, kStart + 100 * kMs}));
        QCOMPARE(w.panel->state()->origin(), kStart + 55 * kMs);
    }

    void rulerStandsOverTheLanes() {
        // A scroll bar takes room from the lanes, and the ruler follows.
        Window w;
        w.panel->resize(w.panel->width(), 220);
        QTRY_VERIFY(w.view()->verticalScrollBar()->isVisible());
        auto* ruler = w.panel->findChild<Ruler*>();
        const QPoint at(w.port()->width() / 2, 10);
        QTest::mouseMove(ruler, at);
        QMouseEvent event(QEvent::MouseMove, QPointF(at), ruler->mapToGlobal(QPointF(at)), Qt::NoButton,
                          Qt::NoButton, {});
        QApplication::sendEvent(ruler, &event);
        QCOMPARE(w.panel->state()->pointer().value(), w.view()->timeAt(at.x()));
    }

    void busyShareComes() {
        Window w;
        const Row stream = *w.panel->state()->layout().rowOf(0, w.sample.stream);
        QTRY_VERIFY(w.panel->state()->busyShare(stream.id).has_value());
        QVERIFY(std::abs(w.panel->state()->busyShare(stream.id).value() - 0.25) < 1e-9);
        QSignalSpy spy(w.panel->state(), &TimelineState::busyChanged);
        w.document.setVisible({kStart + 10 * kMs, kStart + 30 * kMs});
        QTRY_VERIFY(spy.count() > 0);
        QVERIFY(std::abs(w.panel->state()->busyShare(stream.id).value() - 1.0) < 1e-9);
    }

    void toolTipSaysWhatMatters() {
        Window w;
        const QString tip = sliceToolTip(w.document, w.ref(w.sample.kernel), kStart);
        for (const char* part :
             {"gemm_kernel&lt;float&gt;", "20.0 ms", "10.0 ms", "GPU 0 · NVIDIA H200, stream 7",
              "[4096, 1, 1]", "cudaLaunchKernel", "aten::mm", "6.00 ms"})
            QVERIFY2(tip.contains(QString::fromUtf8(part)), part);
        QVERIFY(sliceToolTip(w.document, w.ref(w.sample.mm), kStart).contains(QLatin1String("[[64, 64]")));
    }

    void motionEnds() {
        Window w;
        w.panel->setAnimated(true);
        w.document.select(w.ref(w.sample.add));
        w.key(Qt::Key_F);
        QTRY_COMPARE_WITH_TIMEOUT(w.document.visible().duration(), 5 * kMs + kMs / 2, 2000);
    }
};

QTEST_MAIN(TimelineViewTest)
#include "tst_timeline_view.moc"
