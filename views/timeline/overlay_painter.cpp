// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/overlay_painter.h"

#include "views/text.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace warpline {

using coordinates::Scale;

namespace {

QColor withAlpha(QColor color, int alpha) {
    color.setAlpha(alpha);
    return color;
}

/// A rectangle kept in the part of the viewport that its row belongs to.
QRectF grown(QRectF rect, double by) {
    return rect.adjusted(-by, -by, by, by);
}

} // namespace

void drawOutline(QPainter& painter, const QRectF& rect, const QColor& color, double width) {
    painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), width), color);
    painter.fillRect(QRectF(rect.left(), rect.bottom() - width, rect.width(), width), color);
    painter.fillRect(QRectF(rect.left(), rect.top(), width, rect.height()), color);
    painter.fillRect(QRectF(rect.right() - width, rect.top(), width, rect.height()), color);
}

void OverlayPainter::paint(QPainter& painter, const Scene& scene, const Overlay& overlay,
                           LanePainter& lanes) {
    const Theme& theme = Theme::current();
    paintVeils(painter, scene, overlay);
    lanes.paintHeadings(painter, scene);
    if (overlay.range)
        paintRange(painter, scene, overlay, lanes.font());
    if (overlay.selected)
        paintSelection(painter, scene, overlay, lanes);
    if (overlay.hovered && overlay.hovered != overlay.selected) {
        if (const auto rect = scene.rectOf(overlay.hovered))
            drawOutline(painter, *rect, withAlpha(theme.text, 150), 1);
    }
    const Scale scale = scene.scale();
    for (const TimeMark& mark : scene.state->marks()) {
        const double x = scale.x(mark.time);
        if (x >= 0 && x <= scene.size.width())
            painter.fillRect(QRectF(std::round(x), 0, 1, scene.size.height()), theme.warn);
    }
    if (const auto pointer = scene.state->pointer(); pointer && !overlay.measuring) {
        const double x = scale.x(*pointer);
        painter.fillRect(QRectF(std::round(x), 0, 1, scene.size.height()), withAlpha(theme.mute, 90));
    }
}

void OverlayPainter::paintVeils(QPainter& painter, const Scene& scene, const Overlay& overlay) {
    const QColor ground = Theme::current().background;
    if (overlay.range) {
        const Scale scale = scene.scale();
        const int width = scene.size.width();
        const double left = std::clamp(std::round(scale.x(overlay.range->begin)), 0.0, width + 0.0);
        const double right = std::clamp(std::round(scale.x(overlay.range->end)), 0.0, width + 0.0);
        painter.fillRect(QRectF(0, 0, left, scene.size.height()), withAlpha(ground, 140));
        painter.fillRect(QRectF(right, 0, width - right, scene.size.height()), withAlpha(ground, 140));
    }
    if (overlay.selected)
        painter.fillRect(QRect(QPoint(0, 0), scene.size), withAlpha(ground, 76));
}

void OverlayPainter::paintRange(QPainter& painter, const Scene& scene, const Overlay& overlay,
                                LabelFont& font) {
    const Theme& theme = Theme::current();
    const Scale scale = scene.scale();
    const int width = scene.size.width();
    const int height = scene.size.height();
    const double left = std::clamp(std::round(scale.x(overlay.range->begin)), -2.0, width + 2.0);
    const double right = std::clamp(std::round(scale.x(overlay.range->end)), -2.0, width + 2.0);
    painter.fillRect(QRectF(left - 1, 0, 1, height), theme.accent);
    painter.fillRect(QRectF(right, 0, 1, height), theme.accent);
    if (!overlay.measuring)
        return;
    // The length, as large as it is wanted while one measures.
    const std::string text = formatDuration(overlay.range->duration());
    const double textWidth = font.width(text);
    const double middle = (std::max(left, 0.0) + std::min(right, static_cast<double>(width))) / 2;
    const QRectF chip(std::clamp(middle - textWidth / 2 - 8, 2.0, std::max(2.0, width - textWidth - 18)), 6,
                      textWidth + 16, 20);
    const double lineY = 16;
    painter.fillRect(QRectF(left, lineY, std::max(0.0, right - left), 1), theme.accent);
    painter.fillRect(chip, theme.accent);
    painter.setPen(theme.dark ? theme.background : QColor(Qt::white));
    font.draw(painter, chip.left() + 8, font.baseline(chip.top(), chip.height()), textWidth + 2, text);
}

void OverlayPainter::paintLink(QPainter& painter, const Scene& scene, const QRectF& from, const QRectF& to) {
    const QPointF a(
        std::clamp(from.left() + std::min(from.width(), 3.0) / 2, -50.0, scene.size.width() + 50.0),
        to.top() >= from.top() ? from.bottom() : from.top());
    const QPointF b(std::clamp(to.left() + std::min(to.width(), 3.0) / 2, -50.0, scene.size.width() + 50.0),
                    to.top() >= from.top() ? to.top() : to.bottom());
    const double bend = std::clamp((b.y() - a.y()) / 2, -80.0, 80.0);
    QPainterPath path(a);
    path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
    painter.drawPath(path);
}

void OverlayPainter::paintSelection(QPainter& painter, const Scene& scene, const Overlay& overlay,
                                    LanePainter& lanes) {
    const Theme& theme = Theme::current();
    const auto selected = scene.rectOf(overlay.selected);
    const auto inPart = [&](SliceRef ref) {
        // What scrolls must not be painted over what is pinned.
        const Trace& trace = *scene.state->document().items()[static_cast<std::size_t>(ref.source)].trace;
        const Row* row = scene.state->layout().rowOf(ref.source, trace.trackOf(ref.slice));
        const int top = row != nullptr && row->pinned ? 0 : scene.pinnedHeight();
        return QRect(0, top, scene.size.width(), scene.size.height() - top);
    };
    const auto paintOne = [&](SliceRef ref, double line) {
        bool folded = false;
        const auto found = scene.rectOf(ref, &folded);
        if (!found)
            return;
        const QRectF rect = *found;
        if (rect.right() < -1 || rect.left() > scene.size.width() + 1)
            return;
        painter.setClipRect(inPart(ref));
        if (folded) {
            painter.fillRect(QRectF(rect.left(), rect.bottom() - 2, std::max(rect.width(), 2.0), 3),
                             theme.selection);
        } else {
            QRectF bar = rect;
            bar.setWidth(std::max(bar.width(), 2.0));
            lanes.paintBar(painter, scene, ref, bar);
            drawOutline(painter, line > 1 ? grown(bar, 1) : bar, theme.selection, line);
        }
        painter.setClipping(false);
    };
    for (const std::vector<SliceRef>* list : {&overlay.outgoing, &overlay.incoming}) {
        for (const SliceRef& ref : *list)
            paintOne(ref, 1);
    }
    if (selected) {
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(Qt::NoBrush);
        const bool many = overlay.outgoing.size() + overlay.incoming.size() > 8;
        painter.setPen(QPen(withAlpha(theme.selection, many ? 110 : 200), many ? 1 : 1.5));
        for (const SliceRef& ref : overlay.outgoing) {
            if (const auto rect = scene.rectOf(ref))
                paintLink(painter, scene, *selected, *rect);
        }
        for (const SliceRef& ref : overlay.incoming) {
            if (const auto rect = scene.rectOf(ref))
                paintLink(painter, scene, *rect, *selected);
        }
        painter.restore();
    }
    paintOne(overlay.selected, 2);
}

} // namespace warpline
