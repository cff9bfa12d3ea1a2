// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace warpline {

/// Answers which blocks are alive at a moment without walking the events: for runs of rows the last death,
/// so that runs that are dead by then are skipped. Built once a device.
class LiveIndex {
  public:
    explicit LiveIndex(const MemoryDevice& device);
    /// Rows of the live blocks, ascending (bottom up in the layout). Appends to `out`.
    void live(Moment moment, std::vector<std::uint32_t>& out) const;
    [[nodiscard]] std::size_t bytes() const { return m_lastDeath.bytes(); }

  private:
    const MemoryDevice& m_device;
    Column<Moment> m_lastDeath; ///< of runs of 256 rows
};

/// A stretch of a segment: a block in use, a block whose free is pending, or free.
struct SegmentPiece {
    enum class Kind : std::uint8_t { Used, Pending, Free };
    Kind kind = Kind::Free;
    std::uint64_t address = 0;
    std::int64_t size = 0;      ///< as allocated (rounded)
    std::int64_t requested = 0; ///< Used, Pending
    BlockId block;              ///< Used, Pending
};

/// A segment as it stood at a moment; touching pieces of an expandable segment are one.
struct SegmentState {
    std::uint64_t address = 0;
    std::int64_t size = 0;
    std::int64_t used = 0;    ///< allocated bytes of blocks in use
    std::int64_t pending = 0; ///< of blocks whose free is pending
    std::int64_t requested = 0;
    std::int64_t largestFree = 0;
    StackId stack;
    std::uint32_t stream = 0;
    std::uint16_t pool = 0;
    std::uint8_t flags = 0;       ///< SegmentFlag
    std::uint32_t firstPiece = 0; ///< pieces [firstPiece, endPiece) of MemoryState::pieces
    std::uint32_t endPiece = 0;
    [[nodiscard]] std::int64_t free() const { return size - used - pending; }
};

/// The same summed up, for a pool, small or large segments, or all.
struct Fragmentation {
    std::int64_t reserved = 0;
    std::int64_t used = 0;
    std::int64_t pending = 0;
    std::int64_t requested = 0;
    std::int64_t free = 0;        ///< reserved, in no block
    std::int64_t largestFree = 0; ///< the largest single stretch: no larger block fits without the driver
    std::uint64_t freePieces = 0;
    std::uint64_t segments = 0;
    /// 0 = all free memory in one stretch, near 1 = in crumbs: 1 - largest / free.
    [[nodiscard]] double index() const {
        return free > 0 ? 1.0 - static_cast<double>(largestFree) / static_cast<double>(free) : 0.0;
    }
    /// Lost to rounding: allocated, never asked for.
    [[nodiscard]] std::int64_t rounding() const { return used + pending - requested; }
};

/// The allocator at a moment: everything alive and where it lies.
struct MemoryState {
    Moment moment = 0;
    std::vector<std::uint32_t> blocks; ///< rows, ascending
    std::int64_t requested = 0;
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
    std::vector<SegmentState> segments; ///< by address
    std::vector<SegmentPiece> pieces;   ///< by address, whole segments
    Fragmentation all;
    struct Pool {
        std::uint16_t pool = 0;
        bool small = false;
        Fragmentation sum;
    };
    std::vector<Pool> pools; ///< by pool, large before small
    /// Live blocks that lie in no known segment (the history began after them, or the file has no segments).
    std::vector<std::uint32_t> homeless;
};

/// Rebuilds the state at any moment; within 20 ms on a million events. moment <= device.lastMoment().
MemoryState memoryState(const MemoryDevice& device, const LiveIndex& index, Moment moment);

} // namespace warpline
