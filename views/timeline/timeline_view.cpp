// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/timeline_view.h"

#include "model/query/spans.h"
#include "views/text.h"
#include "views/timeline/slice_tooltip.h"

#include <QAccessible>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace warpline {

using coordinates::Scale;

namespace {

constexpr double kSnapPixels = 6;
constexpr double kHitPixels = 3;
constexpr int kToolTipDelayMs = 350;
/// A revealed slice narrower than this is zoomed to.
constexpr double kTellApartPixels = 8;

} // namespace

TimelineView::TimelineView(TimelineState* state, QWidget* parent)
    : QAbstractScrollArea(parent), m_state(state) {
    setObjectName(QStringLiteral("timelineView"));
    setAccessibleName(tr("Timeline"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    viewport()->grabGesture(Qt::PinchGesture);
    verticalScrollBar()->setSingleStep(TrackLayout::kLaneHeight);
    m_toolTipDelay.setSingleShot(true);
    m_toolTipDelay.setInterval(kToolTipDelayMs);
    connect(&m_toolTipDelay, &QTimer::timeout, this, &TimelineView::showToolTip);

    const auto repaint = [this] { viewport()->update(); };
    Document& document = state->document();
    connect(state, &TimelineState::layoutChanged, this, [this] {
        m_overlay.hovered = {};
        updateScrollBar();
        viewport()->update();
    });
    connect(state, &TimelineState::marksChanged, this, repaint);
    connect(state, &TimelineState::pointerChanged, this, repaint);
    connect(state, &TimelineState::busyChanged, this, repaint);
    connect(&document, &Document::visibleChanged, this, [this] {
        if (m_pointer)
            m_state->setPointer(timeAt(m_pointer->x()));
        viewport()->update();
    });
    connect(&document, &Document::sessionChanged, this, [this] {
        cancelGesture();
        m_overlay = {};
        verticalScrollBar()->setValue(0);
        viewport()->update();
    });
    connect(&document, &Document::selectionChanged, this, &TimelineView::takeSelection);
    connect(&document, &Document::rangeChanged, this, repaint);
    connect(state, &TimelineState::hitsChanged, this, repaint);
    connect(&document, &Document::revealRequested, this, [this](SliceRef slice) { bringIntoView(slice); });
    takeSelection();
}

TimelineView::~TimelineView() = default;

Scene TimelineView::scene() const {
    return {m_state, viewport()->size(), verticalScrollBar()->value(), devicePixelRatioF()};
}

void TimelineView::updateScrollBar() {
    const int room = viewport()->height() - scene().pinnedHeight();
    verticalScrollBar()->setPageStep(std::max(1, room));
    verticalScrollBar()->setRange(0, std::max(0, m_state->layout().height() - room));
}

void TimelineView::takeSelection() {
    Document& document = m_state->document();
    m_overlay.selected = document.selected();
    m_overlay.outgoing.clear();
    m_overlay.incoming.clear();
    if (m_overlay.selected) {
        const int source = m_overlay.selected.source;
        const Trace& trace = *document.items()[static_cast<std::size_t>(source)].trace;
        for (const LinkedSlice& link : linkedSlices(trace, m_overlay.selected.slice))
            (link.outgoing ? m_overlay.outgoing : m_overlay.incoming).push_back({source, link.slice});
        setAccessibleDescription(sliceSentence(document, m_overlay.selected, m_state->origin()));
    } else {
        setAccessibleDescription(tr("Nothing selected"));
    }
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    viewport()->update();
}

// Painting

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Document& document = m_state->document();
    if (document.empty()) {
        painter.fillRect(viewport()->rect(), Theme::current().background);
        paintMessage(painter, tr("Nothing is open."), tr("Open a trace to see it on the time axis."));
        return;
    }
    if (document.items().empty()) {
        painter.fillRect(viewport()->rect(), Theme::current().background);
        paintMessage(painter, tr("No trace is open."),
                     tr("Open the trace of the same run beside what is open to see both on one axis."));
        return;
    }
    const Scene view = scene();
    const int filled = m_lanes.paint(painter, view, m_cache);
    if (m_gesture != Gesture::Range && m_gesture != Gesture::ResizeBegin && m_gesture != Gesture::ResizeEnd)
        m_overlay.range = document.range();
    m_overlay.measuring =
        m_gesture == Gesture::Range || m_gesture == Gesture::ResizeBegin || m_gesture == Gesture::ResizeEnd;
    m_overlays.paint(painter, view, m_overlay, m_lanes);
    paintEmptiness(painter, filled);
}

void TimelineView::paintMessage(QPainter& painter, const QString& title, const QString& hint) {
    QFont font = applicationFont();
    font.setPixelSize(14);
    painter.setFont(font);
    painter.setPen(Theme::current().text);
    const QRect area = viewport()->rect().adjusted(24, 0, -24, 0);
    painter.drawText(area.adjusted(0, 0, 0, -24), Qt::AlignCenter | Qt::TextWordWrap, title);
    font.setPixelSize(12);
    painter.setFont(font);
    painter.setPen(Theme::current().mute);
    painter.drawText(area.adjusted(0, 24, 0, 0), Qt::AlignCenter | Qt::TextWordWrap, hint);
}

void TimelineView::paintEmptiness(QPainter& painter, int filled) {
    const TrackLayout& layout = m_state->layout();
    if (layout.total() == 0) {
        paintMessage(painter, tr("This recording holds no events that have a time."),
                     tr("The log tells what was in the file."));
    } else if (layout.rows().empty() && layout.pinnedRows().empty()) {
        if (!layout.filter().isEmpty())
            paintMessage(painter, tr("No track is called “%1”.").arg(layout.filter()),
                         tr("Clear the filter to see all tracks."));
        else
            paintMessage(painter, tr("All tracks are hidden."), tr("Show them again with Shift+U."));
    } else if (filled == 0) {
        const bool anyLane = std::any_of(layout.rows().begin(), layout.rows().end(),
                                         [](const Row& row) { return row.lanes > 0; });
        if (anyLane)
            paintMessage(painter, tr("Nothing happened here in the stretch of time in view."),
                         tr("F shows the whole recording; arrow keys go to the nearest event."));
    }
}

void TimelineView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
    emit scrolled();
}

void TimelineView::scrollContentsBy(int, int) {
    if (m_pointer)
        hover(*m_pointer);
    viewport()->update();
    emit scrolled();
}

void TimelineView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        viewport()->update();
}

// Places

TimeNs TimelineView::timeAt(double x) const {
    return scene().scale().at(x);
}

const Row* TimelineView::rowAtY(double y) const {
    const Scene view = scene();
    const int at = static_cast<int>(std::floor(y));
    if (at < view.pinnedHeight())
        return m_state->layout().rowAt(at, true);
    return m_state->layout().rowAt(at - view.pinnedHeight() + view.scroll, false);
}

SliceRef TimelineView::sliceAt(const QPointF& position) const {
    const Row* row = rowAtY(position.y());
    if (row == nullptr || row->lanes == 0)
        return {};
    const Scene view = scene();
    const int lane =
        static_cast<int>(std::floor((position.y() - view.rowTop(*row) - Row::kPadding) / row->laneHeight));
    if (lane < 0 || lane >= row->lanes)
        return {};
    const Document::Item& item = m_state->document().items()[static_cast<std::size_t>(row->id.source)];
    const TimeNs slack = coordinates::rounded(kHitPixels * view.scale().nsPerPixel());
    const SliceId slice =
        hitTest(*item.trace, LaneId::fromIndex(row->firstLane + static_cast<std::uint32_t>(lane)),
                coordinates::subtract(timeAt(position.x()), item.shift), slack);
    return slice ? SliceRef{row->id.source, slice} : SliceRef{};
}

TimeNs TimelineView::snapped(const QPointF& position) const {
    const Scale scale = scene().scale();
    const TimeNs time = scale.at(position.x());
    TimeNs best = time;
    double distance = kSnapPixels;
    const auto offer = [&](TimeNs edge) {
        const double d = std::abs(scale.x(edge) - position.x());
        if (d <= distance) {
            distance = d;
            best = edge;
        }
    };
    for (const TimeMark& mark : m_state->marks())
        offer(mark.time);
    for (const StepBand& step : m_state->steps()) {
        offer(step.range.begin);
        offer(step.range.end);
    }
    const Row* row = rowAtY(position.y());
    if (row != nullptr && row->lanes > 0) {
        const Document::Item& item = m_state->document().items()[static_cast<std::size_t>(row->id.source)];
        const int lane = std::clamp(
            static_cast<int>((position.y() - scene().rowTop(*row) - Row::kPadding) / row->laneHeight), 0,
            row->lanes - 1);
        const TimeNs own = coordinates::subtract(time, item.shift);
        const TimeNs slack = coordinates::rounded(kSnapPixels * scale.nsPerPixel());
        const LaneId id = LaneId::fromIndex(row->firstLane + static_cast<std::uint32_t>(lane));
        // The slice here and those whose edges are just out of reach on either side.
        for (const TimeNs at : {own, coordinates::subtract(own, slack), coordinates::add(own, slack)}) {
            if (const SliceId near = hitTest(*item.trace, id, at, slack)) {
                const TimeRange range = m_state->document().sliceRange({row->id.source, near});
                offer(range.begin);
                offer(range.end);
            }
        }
    }
    return best;
}

TimeNs TimelineView::anchor() const {
    const TimeRange visible = m_state->target();
    if (m_pointer) {
        // While a motion runs, the pointer's place counts where the motion will end.
        return Scale{visible, static_cast<double>(viewport()->width())}.at(m_pointer->x());
    }
    const SliceRef selected = m_state->document().selected();
    if (selected) {
        const TimeRange range = m_state->document().sliceRange(selected).intersected(visible);
        if (range.end >= range.begin)
            return range.begin + range.duration() / 2;
    }
    return visible.begin + visible.duration() / 2;
}

const Row* TimelineView::currentRow() const {
    if (m_pointer) {
        if (const Row* row = rowAtY(m_pointer->y()))
            return row;
    }
    const SliceRef selected = m_state->document().selected();
    if (!selected)
        return nullptr;
    const Trace& trace = *m_state->document().items()[static_cast<std::size_t>(selected.source)].trace;
    return m_state->layout().rowOf(selected.source, trace.trackOf(selected.slice));
}

void TimelineView::bringIntoView(SliceRef slice, bool animated) {
    const Document& document = m_state->document();
    if (!slice || static_cast<std::size_t>(slice.source) >= document.items().size())
        return;
    const Trace& trace = *document.items()[static_cast<std::size_t>(slice.source)].trace;
    const LaneId laneId = trace.laneOf(slice.slice);
    m_state->changeLayout([&](TrackLayout& layout) { layout.uncover(slice.source, trace, laneId); });
    const Lane& lane = trace.lanes[laneId.index()];
    if (const Row* row = m_state->layout().rowOf(slice.source, lane.track); row != nullptr && !row->pinned) {
        const int top = row->laneTop(lane.depth);
        const int room = viewport()->height() - scene().pinnedHeight();
        const int margin = std::min(2 * row->laneHeight, room / 3);
        QScrollBar* bar = verticalScrollBar();
        if (top - margin < bar->value())
            bar->setValue(top - margin);
        else if (top + row->laneHeight + margin > bar->value() + room)
            bar->setValue(top + row->laneHeight + margin - room);
    }
    const TimeRange range = document.sliceRange(slice);
    const TimeRange visible = m_state->target();
    const Scale scale{visible, static_cast<double>(viewport()->width())};
    const TimeNs duration = std::max<TimeNs>(1, range.duration());
    const double pixels = static_cast<double>(duration) / scale.nsPerPixel();
    const bool seen = range.begin >= visible.begin && range.end <= visible.end;
    TimeRange goal = visible;
    if (pixels < kTellApartPixels)
        goal = coordinates::widened(range.empty() ? TimeRange{range.begin, range.begin + 1} : range, 8);
    else if (duration > visible.duration())
        goal = coordinates::widened(range, 0.1);
    else if (!seen)
        goal = coordinates::panned(
            {range.begin, range.begin + visible.duration()},
            (static_cast<double>(duration) / static_cast<double>(visible.duration()) - 1) / 2);
    if (goal == visible)
        return;
    if (animated)
        m_state->moveTo(goal);
    else
        m_state->jumpTo(goal);
}

bool TimelineView::cancelGesture() {
    const bool active = m_gesture != Gesture::None;
    m_gesture = Gesture::None;
    viewport()->unsetCursor();
    viewport()->update();
    return active;
}

void TimelineView::setContextActions(const QList<QAction*>& onSlice, const QList<QAction*>& onRow) {
    m_sliceActions = onSlice;
    m_rowActions = onRow;
}

void TimelineView::hover(const QPointF& position) {
    m_pointer = position;
    if (m_state->document().empty())
        return;
    m_state->setPointer(timeAt(position.x()));
    const SliceRef slice = sliceAt(position);
    if (slice != m_overlay.hovered) {
        m_overlay.hovered = slice;
        QToolTip::hideText();
        viewport()->update();
    }
    if (slice && m_gesture == Gesture::None)
        m_toolTipDelay.start();
    else
        m_toolTipDelay.stop();
}

void TimelineView::leave() {
    m_pointer.reset();
    m_overlay.hovered = {};
    m_toolTipDelay.stop();
    m_state->setPointer(std::nullopt);
    viewport()->update();
}

void TimelineView::showToolTip() {
    if (!m_overlay.hovered || !m_pointer || m_gesture != Gesture::None || !isVisible())
        return;
    const QPoint at = viewport()->mapToGlobal(m_pointer->toPoint());
    QToolTip::showText(at, sliceToolTip(m_state->document(), m_overlay.hovered, m_state->origin()),
                       viewport());
}

} // namespace warpline
