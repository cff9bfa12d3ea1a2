// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
// The mouse, the wheel and gestures of the timeline.
#include "views/text.h"
#include "views/timeline/timeline_view.h"

#include <QAction>
#include <QApplication>
#include <QGestureEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPinchGesture>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr double kEdgePixels = 4;
constexpr double kWheelNotch = 120;
constexpr double kZoomPerNotch = 1.25;

} // namespace

TimelineView::Gesture TimelineView::edgeAt(double x) const {
    const auto range = m_state->document().range();
    if (!range)
        return Gesture::None;
    const coordinates::Scale scale = scene().scale();
    const double toBegin = std::abs(scale.x(range->begin) - x);
    const double toEnd = std::abs(scale.x(range->end) - x);
    if (std::min(toBegin, toEnd) > kEdgePixels)
        return Gesture::None;
    return toBegin < toEnd ? Gesture::ResizeBegin : Gesture::ResizeEnd;
}

void TimelineView::zoomAt(double x, double factor) {
    const TimeRange visible = m_state->target();
    const TimeNs time = coordinates::Scale{visible, static_cast<double>(viewport()->width())}.at(x);
    m_state->jumpTo(coordinates::zoomed(visible, time, factor));
}

bool TimelineView::viewportEvent(QEvent* event) {
    switch (event->type()) {
    case QEvent::Leave:
        leave();
        break;
    case QEvent::ToolTip:
        return true; // shown by our own, shorter delay
    case QEvent::NativeGesture: {
        auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            zoomAt(gesture->position().x(), std::exp(gesture->value()));
            return true;
        }
        break;
    }
    case QEvent::Gesture: {
        auto* gestures = static_cast<QGestureEvent*>(event);
        if (auto* pinch = static_cast<QPinchGesture*>(gestures->gesture(Qt::PinchGesture))) {
            if ((pinch->changeFlags() & QPinchGesture::ScaleFactorChanged) != 0 && pinch->scaleFactor() > 0) {
                const QPointF center = viewport()->mapFromGlobal(pinch->centerPoint());
                zoomAt(center.x(), pinch->scaleFactor());
            }
            gestures->accept(pinch);
            return true;
        }
        break;
    }
    default:
        break;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    QToolTip::hideText();
    m_toolTipDelay.stop();
    if (m_state->document().empty() || m_gesture != Gesture::None)
        return;
    m_pressed = event->position();
    m_last = m_pressed;
    if (event->button() == Qt::MiddleButton) {
        m_gesture = Gesture::Pan;
        m_panRest = 0;
        viewport()->setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        m_gesture = edgeAt(m_pressed.x());
        if (m_gesture == Gesture::None) {
            m_gesture = Gesture::Press;
        } else {
            m_overlay.range = m_state->document().range();
            m_anchorTime = m_gesture == Gesture::ResizeBegin ? m_overlay.range->end : m_overlay.range->begin;
        }
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    switch (m_gesture) {
    case Gesture::None:
        viewport()->setCursor(edgeAt(at.x()) != Gesture::None ? Qt::SplitHCursor : Qt::ArrowCursor);
        break;
    case Gesture::Press:
        if (std::abs(at.x() - m_pressed.x()) >= QApplication::startDragDistance()) {
            m_gesture = Gesture::Range;
            m_anchorTime =
                (event->modifiers() & Qt::AltModifier) != 0 ? timeAt(m_pressed.x()) : snapped(m_pressed);
        }
        break;
    case Gesture::Pan: {
        const double nsPerPixel = scene().scale().nsPerPixel();
        const double moved = (m_last.x() - at.x()) * nsPerPixel + m_panRest;
        const TimeNs whole = coordinates::rounded(moved);
        m_panRest = moved - static_cast<double>(whole);
        const TimeRange visible = m_state->document().visible();
        m_state->jumpTo({coordinates::add(visible.begin, whole), coordinates::add(visible.end, whole)});
        verticalScrollBar()->setValue(verticalScrollBar()->value() +
                                      static_cast<int>(std::lround(m_last.y() - at.y())));
        break;
    }
    default:
        break;
    }
    if (m_gesture == Gesture::Range || m_gesture == Gesture::ResizeBegin || m_gesture == Gesture::ResizeEnd) {
        const TimeNs other = (event->modifiers() & Qt::AltModifier) != 0 ? timeAt(at.x()) : snapped(at);
        m_overlay.range = TimeRange{std::min(m_anchorTime, other), std::max(m_anchorTime, other)};
        viewport()->update();
    }
    m_last = at;
    hover(at);
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    const Gesture gesture = std::exchange(m_gesture, Gesture::None);
    viewport()->unsetCursor();
    Document& document = m_state->document();
    switch (gesture) {
    case Gesture::Press: {
        const Row* row = rowAtY(event->position().y());
        if (row != nullptr && row->foldable && row->lanes == 0) {
            const RowId id = row->id;
            const bool folded = row->folded;
            m_state->changeLayout([&](TrackLayout& layout) { layout.setFolded(id, !folded); });
        } else {
            document.select(sliceAt(event->position()));
        }
        break;
    }
    case Gesture::Range:
    case Gesture::ResizeBegin:
    case Gesture::ResizeEnd:
        if (m_overlay.range && !m_overlay.range->empty())
            document.setRange(m_overlay.range, durationText(m_overlay.range->duration()));
        break;
    default:
        break;
    }
    viewport()->update();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    const SliceRef slice = sliceAt(event->position());
    if (!slice)
        return;
    m_state->document().select(slice);
    const TimeRange range = m_state->document().sliceRange(slice);
    m_state->moveTo(
        coordinates::widened(range.empty() ? TimeRange{range.begin, range.begin + 1} : range, 0.1));
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (m_state->document().empty())
        return;
    const QPointF degrees = event->angleDelta();
    // Some platforms turn Shift or Alt and the wheel into a horizontal wheel themselves.
    const double notches = (degrees.y() != 0 ? degrees.y() : degrees.x()) / kWheelNotch;
    if ((event->modifiers() & Qt::ControlModifier) != 0) {
        zoomAt(event->position().x(), std::pow(kZoomPerNotch, notches));
        return;
    }
    const bool sideways = std::abs(degrees.x()) > std::abs(degrees.y());
    if ((event->modifiers() & Qt::ShiftModifier) != 0 || sideways) {
        const double pixels = event->pixelDelta().x() != 0 ? event->pixelDelta().x() : notches * 80;
        m_state->jumpTo(coordinates::panned(m_state->target(), -pixels / std::max(1, viewport()->width())));
        return;
    }
    const double pixels = event->pixelDelta().y() != 0 ? event->pixelDelta().y()
                                                       : notches * 3 * verticalScrollBar()->singleStep();
    verticalScrollBar()->setValue(verticalScrollBar()->value() - static_cast<int>(std::lround(pixels)));
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
    if (m_state->document().empty())
        return;
    QMenu menu(this);
    const SliceRef slice = sliceAt(event->pos());
    if (slice) {
        m_state->document().select(slice);
        menu.addActions(m_sliceActions);
        menu.addSeparator();
    }
    menu.addActions(m_rowActions);
    menu.exec(event->globalPos());
}

} // namespace warpline
