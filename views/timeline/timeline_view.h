// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/geometry.h"
#include "views/timeline/lane_painter.h"
#include "views/timeline/overlay_painter.h"
#include "views/timeline/timeline_state.h"

#include <QAbstractScrollArea>
#include <QTimer>

#include <optional>

namespace warpline {

/// The lanes: paints them and takes the mouse. Keys are commands (TimelineCommands).
class TimelineView : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit TimelineView(TimelineState* state, QWidget* parent = nullptr);
    ~TimelineView() override;

    [[nodiscard]] TimelineState& state() const { return *m_state; }
    [[nodiscard]] Scene scene() const;
    [[nodiscard]] const GeometryCache& cache() const { return m_cache; }

    /// The slice at a place of the viewport; one that is too narrow to hit is found a few pixels around.
    [[nodiscard]] SliceRef sliceAt(const QPointF& position) const;
    [[nodiscard]] const Row* rowAtY(double y) const;
    [[nodiscard]] TimeNs timeAt(double x) const;
    /// The time of the nearest edge (of the slice there, a step, a mark) within a few pixels, else the time
    /// itself.
    [[nodiscard]] TimeNs snapped(const QPointF& position) const;
    /// What zooming keeps in place: the time under the pointer, or else of the selection, or of the middle.
    [[nodiscard]] TimeNs anchor() const;
    /// The row that commands on rows mean: under the pointer, or else the selection's.
    [[nodiscard]] const Row* currentRow() const;

    /// Scrolls and pans, and zooms where it must, until a slice can be seen and told apart.
    void bringIntoView(SliceRef slice, bool animated = true);
    /// Calls off what the mouse is in the middle of; false where there is nothing.
    bool cancelGesture();
    [[nodiscard]] bool measuring() const { return m_gesture == Gesture::Range; }
    /// The menu of a slice or a row.
    void setContextActions(const QList<QAction*>& onSlice, const QList<QAction*>& onRow);

  signals:
    void scrolled();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    enum class Gesture { None, Press, Range, ResizeBegin, ResizeEnd, Pan };
    void updateScrollBar();
    void takeSelection();
    void hover(const QPointF& position);
    void showToolTip();
    void leave();
    [[nodiscard]] Gesture edgeAt(double x) const;
    void zoomAt(double x, double factor);
    void paintMessage(QPainter& painter, const QString& title, const QString& hint);
    void paintEmptiness(QPainter& painter, int filled);

    TimelineState* m_state;
    GeometryCache m_cache;
    LanePainter m_lanes;
    OverlayPainter m_overlays;
    Overlay m_overlay;
    Gesture m_gesture = Gesture::None;
    QPointF m_pressed;
    QPointF m_last;
    TimeNs m_anchorTime = 0;
    std::optional<QPointF> m_pointer; ///< in the viewport; none when it is elsewhere
    double m_panRest = 0;
    QTimer m_toolTipDelay;
    QList<QAction*> m_sliceActions;
    QList<QAction*> m_rowActions;
};

} // namespace warpline
