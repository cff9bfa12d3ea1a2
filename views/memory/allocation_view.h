// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/memory/memory_colors.h"
#include "views/memory/memory_focus.h"
#include "views/timeline/label_font.h"

#include <QImage>
#include <QPolygonF>
#include <QWidget>

#include <optional>
#include <string>
#include <vector>

namespace warpline {

/// Allocation over time: each block a band as thick as its bytes, from birth to death, the oldest at the
/// bottom; above them what the allocator has reserved; the moment, the marks, the hovered and the selected
/// block. Draws every block of the history: what a pixel shows is exact for its place (MemoryLayout).
class AllocationView : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kLeft = 72;
    static constexpr int kRight = 16;
    static constexpr int kTop = 22;
    static constexpr int kBottom = 26;

    explicit AllocationView(MemoryFocus* focus, QWidget* parent = nullptr);

    /// Where the bands are drawn.
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] BlockId blockAt(const QPointF& position);
    [[nodiscard]] Moment momentAt(double x) const;
    [[nodiscard]] double xOf(Moment moment) const;
    [[nodiscard]] double yOf(std::int64_t bytes) const;
    /// What the plot's height stands for.
    [[nodiscard]] std::int64_t top() const { return m_top; }
    [[nodiscard]] const BlockColors& colors() const { return m_colors; }
    /// The bands as they are painted, at the widget's size.
    [[nodiscard]] const LayoutFrame& frame();
    [[nodiscard]] BlockId hovered() const { return m_hovered; }

    void zoom(double factor, std::optional<double> x = {});
    void pan(double pixels);

  signals:
    void colorsChanged();
    /// A block was double-clicked, or Enter pressed on the selected one.
    void blockActivated(warpline::BlockId block);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void takePlace();
    void takeColours();
    void describe();
    void invalidate();
    void render();
    void paintAxes(QPainter& painter);
    [[nodiscard]] QPolygonF lineOf(const CurveIndex& curve) const;
    void paintBand(QPainter& painter, BlockId block, const QPen& pen);
    void paintMoment(QPainter& painter);
    void paintMarks(QPainter& painter);
    void paintLabels(QPainter& painter);
    [[nodiscard]] QString toolTip(BlockId block) const;
    [[nodiscard]] QString labelOf(BlockId block) const;
    void stepBlock(int direction);

    MemoryFocus* m_focus;
    BlockColors m_colors;
    LayoutFrame m_frame;
    QImage m_image;
    QPolygonF m_requested; ///< in the widget; made with the image, as the labels are
    QPolygonF m_reserved;
    struct Label {
        QRectF rect;
        std::string text;
    };
    std::vector<Label> m_labels;
    bool m_stale = true;
    std::int64_t m_top = 1;
    LabelFont m_font;
    BlockId m_hovered;
    enum class Drag { None, Press, Range, Pan };
    Drag m_drag = Drag::None;
    QPointF m_pressed;
    QPointF m_last;
    double m_panRest = 0;
};

} // namespace warpline
