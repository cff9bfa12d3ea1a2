// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/label_font.h"
#include "views/timeline/timeline_view.h"

#include <QPointer>
#include <QWidget>

#include <optional>

namespace warpline {

/// The names of the rows, beside the lanes and scrolling with them. A click folds; "pin" and "hide" show
/// under the pointer; dragging reorders.
class TrackList : public QWidget {
    Q_OBJECT

  public:
    /// `view` outlives the list.
    TrackList(TimelineState* state, TimelineView* view, QWidget* parent = nullptr);

    /// The row at a height of the widget.
    [[nodiscard]] const Row* rowAt(double y) const { return m_view->rowAtY(y); }
    /// Where "pin" and "hide" of a row stand.
    [[nodiscard]] QRectF pinRect(const Row& row) const;
    [[nodiscard]] QRectF hideRect(const Row& row) const;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    void paintPart(QPainter& painter, bool pinned);
    void paintRow(QPainter& painter, const Row& row, int top);
    void paintSeriesScale(QPainter& painter, const Row& row, int top);
    [[nodiscard]] QString detailOf(const Row& row) const;
    /// Before which row a dragged one would land; none = at the end.
    [[nodiscard]] std::optional<RowId> dropBefore(double y) const;

    TimelineState* m_state;
    TimelineView* m_view;
    LabelFont m_font;
    LabelFont m_bold;
    std::optional<QPointF> m_pointer;
    std::optional<QPointF> m_pressed;
    RowId m_dragged;
    bool m_dragging = false;
};

} // namespace warpline
