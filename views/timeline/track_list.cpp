// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/track_list.h"

#include "views/text.h"
#include "views/theme.h"

#include <QApplication>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>
#include <string>

namespace warpline {

namespace {

constexpr int kIndent = 12;
constexpr int kTwoLines = 36; ///< rows this high have their detail under the name
constexpr int kRightMargin = 10;
constexpr int kButtonWidth = 32;

QFont boldFont() {
    QFont font = laneFont();
    font.setWeight(QFont::DemiBold);
    return font;
}

} // namespace

TrackList::TrackList(TimelineState* state, TimelineView* view, QWidget* parent)
    : QWidget(parent), m_state(state), m_view(view), m_font(laneFont()), m_bold(boldFont()) {
    setObjectName(QStringLiteral("timelineTracks"));
    setAccessibleName(tr("Tracks"));
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    const auto repaint = [this] { update(); };
    connect(state, &TimelineState::layoutChanged, this, repaint);
    connect(state, &TimelineState::busyChanged, this, repaint);
    connect(&state->document(), &Document::selectionChanged, this, repaint);
    connect(view, &TimelineView::scrolled, this, repaint);
}

QRectF TrackList::hideRect(const Row& row) const {
    const int top = m_view->scene().rowTop(row);
    return QRectF(width() - kButtonWidth - 6, top + 1, kButtonWidth, std::min(row.height, 20) - 2);
}

QRectF TrackList::pinRect(const Row& row) const {
    const bool heading = row.id.kind == RowKind::Group || row.id.kind == RowKind::Source;
    return heading ? QRectF() : hideRect(row).translated(-kButtonWidth - 2, 0);
}

QString TrackList::detailOf(const Row& row) const {
    QString detail = row.detail;
    const bool heading = row.id.kind == RowKind::Group || row.id.kind == RowKind::Source;
    if (heading)
        return {}; // said in the lanes' part of the heading, where there is room
    if (row.pinned)
        detail = row.where % (detail.isEmpty() ? QString() : QString(QStringLiteral(" · ") % detail));
    if (row.folded)
        detail += tr(" · folded");
    if (const auto busy = m_state->busyShare(row.id))
        detail = tr("busy %1").arg(percentText(*busy));
    return detail;
}

void TrackList::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.pane);
    if (!m_state->document().empty()) {
        paintPart(painter, false);
        if (m_view->scene().pinnedHeight() > 0)
            paintPart(painter, true);
        if (m_dragging && m_pointer) {
            const auto before = dropBefore(m_pointer->y());
            const Row* row = before ? m_state->layout().find(*before) : nullptr;
            const Row* dragged = m_state->layout().find(m_dragged);
            if (row != nullptr && dragged != nullptr)
                painter.fillRect(QRect(0, m_view->scene().rowTop(*row) - 1, width(), 2), theme.accent);
        }
    }
    painter.fillRect(QRect(width() - 1, 0, 1, height()), theme.line);
}

void TrackList::paintPart(QPainter& painter, bool pinned) {
    const Scene scene = m_view->scene();
    const int partTop = pinned ? 0 : scene.pinnedHeight();
    const int partBottom = pinned ? scene.pinnedHeight() : height();
    painter.save();
    painter.setClipRect(QRect(0, partTop, width(), partBottom - partTop));
    const TrackLayout& layout = m_state->layout();
    for (const Row& row : pinned ? layout.pinnedRows() : layout.rows()) {
        const int top = scene.rowTop(row);
        if (top + row.height > partTop && top < partBottom)
            paintRow(painter, row, top);
    }
    if (pinned)
        painter.fillRect(QRect(0, partBottom - 2, width(), 2), Theme::current().line);
    painter.restore();
}

void TrackList::paintRow(QPainter& painter, const Row& row, int top) {
    const Theme& theme = Theme::current();
    const bool heading = row.id.kind == RowKind::Group || row.id.kind == RowKind::Source;
    const QRect area(0, top, width(), row.height);
    if (heading)
        painter.fillRect(area, row.id.kind == RowKind::Source ? theme.chip : theme.head);
    else if (m_dragging && row.id == m_dragged)
        painter.fillRect(area, theme.chip);
    if (!heading)
        painter.fillRect(QRect(0, top + row.height - 1, width(), 1), theme.line);

    const int arrowX = 8 + row.depth * kIndent;
    const int lineHeight = std::min(row.height, heading ? row.height : 20);
    if (row.foldable) {
        // Down = open, right = folded.
        const double cx = arrowX + 3.5;
        const double cy = top + lineHeight / 2.0;
        QPolygonF arrow;
        if (row.folded)
            arrow << QPointF(cx - 2, cy - 4) << QPointF(cx + 3, cy) << QPointF(cx - 2, cy + 4);
        else
            arrow << QPointF(cx - 4, cy - 2) << QPointF(cx + 4, cy - 2) << QPointF(cx, cy + 3);
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(heading ? theme.text : theme.mute);
        painter.drawPolygon(arrow);
        painter.restore();
    }

    const bool hovered =
        m_pointer && !m_dragging && m_pointer->y() >= top && m_pointer->y() < top + row.height;
    const double nameX = arrowX + kIndent;
    double right = width() - kRightMargin;
    if (hovered)
        right = (heading ? hideRect(row).left() : pinRect(row).left()) - 4;
    LabelFont& font = heading ? m_bold : m_font;
    const std::string detail = detailOf(row).toStdString();
    const bool below = row.height >= kTwoLines;
    const double detailWidth = detail.empty() || below || hovered ? 0 : m_font.width(detail);
    const double nameBaseline = font.baseline(top, lineHeight);
    painter.setPen(theme.text);
    const std::string name = row.name.toStdString();
    const double used = font.draw(painter, nameX, nameBaseline, right - nameX, name);
    if (hovered) {
        const auto button = [&](const QRectF& place, const QString& text) {
            painter.setPen(place.contains(*m_pointer) ? theme.accent : theme.mute);
            const std::string utf8 = text.toStdString();
            m_font.draw(painter, place.center().x() - m_font.width(utf8) / 2, nameBaseline, place.width(),
                        utf8);
        };
        if (!heading)
            button(pinRect(row), row.pinned ? tr("unpin") : tr("pin"));
        button(hideRect(row), tr("hide"));
    }
    painter.setPen(theme.mute);
    if (below) {
        m_font.draw(painter, nameX, m_font.baseline(top + 14, 20), width() - kRightMargin - nameX, detail);
    } else if (detailWidth > 0) {
        const double room = right - nameX - used - 10;
        const double x = detailWidth <= room ? right - detailWidth : nameX + used + 10;
        m_font.draw(painter, x, nameBaseline, std::min(detailWidth + 1, room), detail);
    }
    if (row.id.kind == RowKind::Memory || row.id.kind == RowKind::Counter)
        paintSeriesScale(painter, row, top);
}

void TrackList::paintSeriesScale(QPainter& painter, const Row& row, int top) {
    const auto& series = m_state->layout().seriesOf(row);
    double highest = 0;
    double lowest = 0;
    for (const RowSeries& s : series) {
        highest = std::max(highest, s.values.max());
        lowest = std::min(lowest, s.values.min());
    }
    const auto textOf = [&](double value) {
        return row.id.kind == RowKind::Memory ? formatBytes(static_cast<std::int64_t>(value))
                                              : QString::number(value, 'g', 4).toStdString();
    };
    painter.setPen(Theme::current().mute);
    const auto drawRight = [&](const std::string& text, double baseline) {
        m_font.draw(painter, width() - kRightMargin - m_font.width(text), baseline, 200, text);
    };
    const bool hovered = m_pointer && m_pointer->y() >= top && m_pointer->y() < top + row.height;
    if (!hovered)
        drawRight(textOf(highest), m_font.baseline(top, 20));
    drawRight(lowest == 0 ? std::string("0") : textOf(lowest), top + row.height - 5);
}

std::optional<RowId> TrackList::dropBefore(double y) const {
    const Row* row = rowAt(y);
    if (row == nullptr)
        return std::nullopt;
    // The lower half of a row means: behind it.
    const int top = m_view->scene().rowTop(*row);
    if (y < top + row->height / 2.0)
        return row->id;
    const Row* next = rowAt(top + row->height + 1);
    return next != nullptr ? std::optional(next->id) : std::nullopt;
}

void TrackList::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = event->position();
    m_dragging = false;
    if (const Row* row = rowAt(event->position().y()))
        m_dragged = row->id;
    else
        m_pressed.reset();
}

void TrackList::mouseMoveEvent(QMouseEvent* event) {
    m_pointer = event->position();
    if (m_pressed && std::abs(event->position().y() - m_pressed->y()) >= QApplication::startDragDistance())
        m_dragging = true;
    const Row* row = rowAt(event->position().y());
    setCursor(m_dragging                        ? Qt::ClosedHandCursor
              : row != nullptr && row->foldable ? Qt::PointingHandCursor
                                                : Qt::ArrowCursor);
    update();
}

void TrackList::mouseReleaseEvent(QMouseEvent* event) {
    const bool pressed = m_pressed.has_value();
    const bool dragged = std::exchange(m_dragging, false);
    m_pressed.reset();
    setCursor(Qt::ArrowCursor);
    update();
    if (!pressed || event->button() != Qt::LeftButton)
        return;
    if (dragged) {
        // A heading below stands for the end of the group above it.
        std::optional<RowId> before = dropBefore(event->position().y());
        const RowId id = m_dragged;
        const bool heading = id.kind == RowKind::Group || id.kind == RowKind::Source;
        if (before && !heading && (before->kind == RowKind::Group || before->kind == RowKind::Source))
            before.reset();
        m_state->changeLayout([&](TrackLayout& layout) { layout.move(id, before); });
        return;
    }
    const Row* at = rowAt(event->position().y());
    if (at == nullptr || at->id != m_dragged)
        return;
    const Row row = *at;
    m_state->changeLayout([&](TrackLayout& layout) {
        if (hideRect(row).contains(event->position()))
            layout.setHidden(row.id, true);
        else if (pinRect(row).contains(event->position()))
            layout.setPinned(row.id, !row.pinned);
        else if (row.foldable)
            layout.setFolded(row.id, !row.folded);
    });
}

void TrackList::leaveEvent(QEvent*) {
    m_pointer.reset();
    update();
}

void TrackList::wheelEvent(QWheelEvent* event) {
    // As over the lanes.
    QCoreApplication::sendEvent(m_view->viewport(), event);
    event->accept();
}

void TrackList::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    if (const Row* at = rowAt(event->pos().y())) {
        const Row row = *at;
        const auto change = [this](auto&& what) {
            return [this, what] { m_state->changeLayout([&](TrackLayout& layout) { what(layout); }); };
        };
        if (row.foldable)
            menu.addAction(row.folded ? tr("Unfold") : tr("Fold"), this,
                           change([row](TrackLayout& l) { l.setFolded(row.id, !row.folded); }));
        if (row.id.kind != RowKind::Group && row.id.kind != RowKind::Source)
            menu.addAction(row.pinned ? tr("Unpin") : tr("Pin to the top"), this,
                           change([row](TrackLayout& l) { l.setPinned(row.id, !row.pinned); }));
        menu.addAction(tr("Hide"), this, change([row](TrackLayout& l) { l.setHidden(row.id, true); }));
        menu.addSeparator();
        menu.addAction(tr("Move up"), this, change([row](TrackLayout& l) { l.moveBy(row.id, -1); }));
        menu.addAction(tr("Move down"), this, change([row](TrackLayout& l) { l.moveBy(row.id, 1); }));
        menu.addSeparator();
    }
    QAction* all = menu.addAction(tr("Show all tracks"), this, [this] {
        m_state->changeLayout([](TrackLayout& layout) { layout.showAll(); });
    });
    all->setEnabled(m_state->layout().hiddenCount() > 0 || !m_state->layout().filter().isEmpty());
    menu.exec(event->globalPos());
}

} // namespace warpline
