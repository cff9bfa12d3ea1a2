// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/memory_curve.h"
#include "model/query/memory_state.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace warpline {

/// A stretch of stacked bytes, [begin, end), 0 = the bottom of the plot.
struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Blocks over time, ready to paint: which block each device pixel shows. cells[row * columns + column],
/// row 0 on top; none where nothing lies. A pixel shows the block at its centre, in the fullest moment of its
/// column, so that a peak of one event shows at any zoom and each pixel is exact for its place, with two
/// exceptions. Where a column stands for hundreds of events, heights are exact to half of 1/1024 of the peak.
/// Where blocks are thinner than a pixel on average, two by two pixels show one of the blocks in them,
/// of the fuller of their two columns; whether they are that thin is judged by the middle column alone, for
/// the whole picture. Of eight neighbours that together do not fill half of what a pixel (or two) stands for,
/// the largest shows.
struct LayoutFrame {
    int columns = 0;
    int rows = 0;
    std::vector<BlockId> cells;
    std::vector<Moment> moments;      ///< of each column: the moment it shows
    std::vector<std::int64_t> totals; ///< of each column: bytes live at that moment
};

/// Where the whole name of a block fits: a rectangle of one block's pixels, whole columns and rows.
struct LabelSpot {
    BlockId block;
    int column = 0;
    int row = 0;
    int columns = 0;
    int rows = 0;
};

/// One block's band, per pixel column; [begin, end) is empty where it is not alive. In bytes, not clipped.
struct BlockBand {
    std::vector<ByteRange> columns;
    int first = 0; ///< columns [first, last) have it
    int last = 0;
};

/// The plot of all blocks of a device: every block a band as thick as its bytes, from birth to death, in the
/// order of MemoryBlockTable, the oldest at the bottom; what lies above a freed block comes down.
///
/// What makes it quick: the order of bands never changes, so that the bytes below a block are a sum over
/// lower rows that are alive. frame() walks from column to column, keeps sums over runs of rows, and finds
/// each pixel's block by skipping runs: it costs (moves in view) + pixels, not blocks. Where a column stands
/// for more than kEventsPerColumn events, columns made ready at loading are looked up instead: then it costs
/// pixels only. Memory about 20 bytes an event.
///
/// Built once a device, read from any thread.
class MemoryLayout {
  public:
    static constexpr std::uint32_t kEventsPerColumn = 256;
    static constexpr int kPreparedRows = 1024;

    /// `history` owns the device; a stopped build gives null.
    static std::shared_ptr<const MemoryLayout> build(MemoryHistoryPtr history, std::size_t device,
                                                     std::stop_token stop = {});

    /// What to paint; columns and rows in device pixels (at most 16384 each). Reuses `out`'s memory.
    void frame(const MemoryView& view, ByteRange bytes, int columns, int rows, LayoutFrame& out) const;

    /// The block at a moment and height; none above the top.
    [[nodiscard]] BlockId blockAt(Moment moment, std::int64_t byte) const;
    /// Where a block's band lies at a moment; nothing where it is not alive then.
    [[nodiscard]] std::optional<ByteRange> position(BlockId block, Moment moment) const;
    /// The band of one block, for an outline around the hovered and the selected one: at each column's moment
    /// (LayoutFrame::moments, or any ascending list). Costs the moves between the first and last moment.
    [[nodiscard]] BlockBand band(BlockId block, const std::vector<Moment>& moments) const;

    /// The highest sum of all time: what the whole plot needs.
    [[nodiscard]] std::int64_t peak() const { return m_peak; }
    [[nodiscard]] const MemoryDevice& device() const { return m_history->devices[m_device]; }
    [[nodiscard]] const MemoryHistoryPtr& history() const { return m_history; }
    [[nodiscard]] const LiveIndex& live() const { return *m_live; }
    [[nodiscard]] const CurveIndex& requested() const { return *m_requested; }
    [[nodiscard]] const CurveIndex& allocated() const { return *m_allocated; }
    [[nodiscard]] const CurveIndex& reserved() const { return *m_reserved; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    MemoryLayout() = default;
    void exactColumns(ByteRange bytes, LayoutFrame& out) const;
    void preparedColumns(ByteRange bytes, LayoutFrame& out) const;

    MemoryHistoryPtr m_history;
    std::size_t m_device = 0;
    std::int64_t m_peak = 0;
    std::unique_ptr<CurveIndex> m_requested, m_allocated, m_reserved;
    std::unique_ptr<LiveIndex> m_live;
    std::vector<std::pair<Moment, std::uint32_t>> m_implicit; ///< blocks closed by an allocation: when, row
    std::vector<std::uint32_t> m_largestFirst;                ///< LiveStack::largestFirst
    Column<Moment> m_preparedMoment;                          ///< a prepared column's moment, ascending
    Column<std::uint32_t> m_prepared; ///< kPreparedRows block ids a column, bottom up, for [0, m_peak)
};

/// Rectangles of at least minColumns by minRows pixels of one block each, one a block, the largest first, at
/// most `limit`: where names can be written.
std::vector<LabelSpot> labelSpots(const LayoutFrame& frame, int minColumns, int minRows, std::size_t limit);

} // namespace warpline
