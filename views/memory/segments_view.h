// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/jobs.h"
#include "views/memory/memory_focus.h"
#include "views/timeline/label_font.h"

#include <QAbstractScrollArea>

#include <memory>
#include <optional>
#include <vector>

namespace warpline {

/// The memory map at the moment: each segment a bar as long as its bytes, its blocks where they lie, what is
/// free left empty. Segments stand under the pool and the kind they belong to; on top the sums say how much
/// is lost to fragmentation.
class SegmentsView : public QAbstractScrollArea {
    Q_OBJECT

  public:
    static constexpr int kBarHeight = 18;
    static constexpr int kRowHeight = 24;
    static constexpr int kHeadingHeight = 28;
    static constexpr int kSide = 168; ///< pixels left of the bars, for a segment's own words

    explicit SegmentsView(MemoryFocus* focus, QWidget* parent = nullptr);

    /// One line of the map: a heading of a pool, or a segment (or a part of one that is longer than a line).
    struct Line {
        int top = 0;
        int height = 0;
        bool heading = false;
        std::size_t pool = 0;    ///< heading: index into MemoryState::pools
        std::size_t segment = 0; ///< index into MemoryState::segments
    };
    [[nodiscard]] const std::vector<Line>& lines() const { return m_lines; }
    [[nodiscard]] const MemoryState* state() const { return m_state.get(); }
    [[nodiscard]] LatestJob* job() { return &m_job; }
    /// The piece at a place of the viewport.
    [[nodiscard]] const SegmentPiece* pieceAt(const QPointF& position) const;
    [[nodiscard]] QRectF rectOf(const Line& line, const SegmentPiece& piece) const;
    /// "5.00 GiB reserved · 1.16 GiB in use ..." of everything.
    [[nodiscard]] QString summary() const;
    /// Computes what was put off while the view could not be seen.
    void catchUp();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void scheduleRefresh();
    void refresh();
    void layOut();
    void paintSegment(QPainter& painter, const Line& line);
    void paintHeading(QPainter& painter, const Line& line);
    [[nodiscard]] QString sumText(const Fragmentation& sum) const;
    [[nodiscard]] QString toolTip(const SegmentState& segment, const SegmentPiece& piece) const;

    MemoryFocus* m_focus;
    std::shared_ptr<const MemoryState> m_state;
    std::vector<Line> m_lines;
    std::int64_t m_longest = 1; ///< bytes that a full bar stands for
    LabelFont m_font;
    bool m_stale = true;
    LatestJob m_job{this};
};

} // namespace warpline
