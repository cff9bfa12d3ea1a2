// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/jobs.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/timeline_state.h"

#include <QTimer>
#include <QWidget>

#include <vector>

namespace warpline {

/// The whole recording in one strip: how busy the GPUs are (the threads, where there is no GPU) and the bytes
/// allocated, with the visible range as a window that can be moved and stretched.
class Overview : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kHeight = 46;

    explicit Overview(TimelineState* state, QWidget* parent = nullptr);
    /// What the strip shows, in words: "GPU busy, memory".
    [[nodiscard]] QString contents() const;

  signals:
    void contentsChanged();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    enum class Gesture { None, Move, Begin, End };
    [[nodiscard]] coordinates::Scale scale() const;
    [[nodiscard]] QRectF window() const;
    [[nodiscard]] Gesture gestureAt(double x) const;
    void refresh();
    void startBusy();
    void takeSession();

    TimelineState* m_state;
    LatestJob m_job{this};
    QTimer m_delay;
    std::vector<float> m_busy; ///< a share a column
    std::vector<StepSeries::Column> m_memory;
    double m_memoryMax = 0;
    const StepSeries* m_series = nullptr; ///< the bytes shown; the layout's, good for this session
    TimeNs m_seriesShift = 0;
    bool m_hasDevice = false;
    Gesture m_gesture = Gesture::None;
    TimeNs m_grabbed = 0; ///< from the window's begin to where it was taken
};

} // namespace warpline
