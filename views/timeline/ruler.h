// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/coordinates.h"
#include "views/timeline/label_font.h"
#include "views/timeline/timeline_state.h"

#include <QWidget>

#include <optional>

namespace warpline {

/// "5 ms", "1.25 µs": a tick's text with as many decimals as the distance between ticks needs, in the unit
/// that fits the largest time in view.
QString tickText(TimeNs time, TimeNs step, TimeNs largest);

/// The scale of time above the lanes, with marks, the selected range and, where there are steps, a line of
/// them. Dragging selects a range; a click on a step selects its time.
class Ruler : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kScaleHeight = 24;
    static constexpr int kStepsHeight = 18;

    explicit Ruler(TimelineState* state, QWidget* parent = nullptr);
    /// Rises and falls with whether there are steps.
    [[nodiscard]] int wantedHeight() const;
    /// How many pixels the visible range takes: the lanes' width, which a scroll bar narrows.
    void setScaleWidth(int width);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    [[nodiscard]] coordinates::Scale scale() const;
    [[nodiscard]] const StepBand* stepAt(const QPointF& position) const;
    void selectStep(const StepBand& step);
    void paintTicks(QPainter& painter);
    void paintSteps(QPainter& painter);
    void paintMarks(QPainter& painter);

    TimelineState* m_state;
    LabelFont m_font;
    int m_scaleWidth = 1;
    std::optional<double> m_pressed;
    bool m_dragging = false;
};

} // namespace warpline
