// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_builder.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <map>
#include <utility>
#include <vector>

namespace warpline {

/// Replays the events of a device once, forwards, and fills its blocks, segments, curves and peaks.
class MemoryReplay {
  public:
    MemoryReplay(MemoryDeviceBuilder& in, MemoryDevice& out, const RoundingRule& rounding, bool exactSizes)
        : m_in(in), m_out(out), m_rounding(rounding), m_exactSizes(exactSizes) {}
    void run();

  private:
    /// A block that was there before the history and stayed; the segments at its end tell of it.
    struct Kept {
        const RawMemoryBlock* block;
        std::uint32_t stream;
        std::uint16_t pool;
        Moment freeRequested;
    };
    /// A block that only its free tells of.
    struct Unmatched {
        std::uint32_t freed; ///< event
        Moment freeRequested = kNever;
    };
    /// What the segments at the end say of a block that the history saw born.
    struct AtEnd {
        std::uint32_t number; ///< in the order of birth
        const RawMemoryBlock* block;
    };
    struct Piece {
        std::int64_t size;
        std::uint32_t row;
    };

    void matchBlocks();
    void matchSegments();
    void startBlocks();
    void writeHistory();
    void overrideReserved();
    [[nodiscard]] std::int64_t allocatedOf(std::int64_t size) const {
        return m_exactSizes ? size : m_rounding.round(size);
    }
    void replaySegments();
    void totals();
    void addPiece(std::uint64_t address, std::int64_t size, std::uint32_t event);
    void dropPieces(std::uint64_t address, std::int64_t size, std::uint32_t event, bool makeUp);
    std::uint32_t newPiece(std::uint64_t address, std::int64_t size, Moment birth, Moment death,
                           StackId stack, std::uint32_t stream, std::uint16_t pool, std::uint8_t flags);
    [[nodiscard]] const RawMemorySegment* segmentAt(std::uint64_t address) const;
    [[nodiscard]] std::uint16_t poolOf(std::uint64_t address, std::uint16_t said);

    MemoryDeviceBuilder& m_in;
    MemoryDevice& m_out;
    const RoundingRule& m_rounding;
    bool m_exactSizes;

    // Until rows are known, events name their block by its number among the born or the unmatched ones.
    std::uint32_t m_born = 0;
    std::vector<Unmatched> m_unmatched; ///< by event
    std::vector<Kept> m_kept;
    std::vector<AtEnd> m_atEnd; ///< by number
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        m_implicit; ///< (event, number of the block it closes)
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_live;  ///< address -> number of a born one
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_asked; ///< free requested of what is not known
    std::int64_t m_reservedNet = 0;                                  ///< by all events of segments
    std::int64_t m_reservedLowest = 0;                               ///< the lowest that their sum came to
    struct PieceRow {
        std::uint64_t address;
        std::int64_t size;
        Moment birth, death;
        StackId stack;
        std::uint32_t stream;
        std::uint16_t pool;
        std::uint8_t flags;
    };
    std::vector<PieceRow> m_pieces;
    std::map<std::uint64_t, Piece> m_mapped; ///< live pieces by address
    std::uint16_t m_unknownPool = kPoolNotSaid;
};

} // namespace warpline
