// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_builder.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <map>

namespace warpline {

/// Replays the events of a device once, forwards, and fills its blocks, segments, curves and peaks.
class MemoryReplay {
  public:
    MemoryReplay(MemoryDeviceBuilder& in, MemoryDevice& out, const RoundingRule& rounding, bool exactSizes)
        : m_in(in), m_out(out), m_rounding(rounding), m_exactSizes(exactSizes) {}
    void run();

  private:
    struct Block {
        std::uint64_t address = 0;
        std::int64_t size = 0;
        std::int64_t allocated = 0;
        Moment birth = kBeforeHistory;
        Moment death = kAliveAtEnd;
        Moment freeRequested = kNever;
        StackId stack;
        std::uint32_t stream = 0;
        std::uint16_t pool = kPoolNotSaid;
        MemoryCategory category = MemoryCategory::Unknown;
        std::uint8_t flags = 0;
    };
    struct Piece {
        std::int64_t size;
        std::uint32_t row;
    };

    /// What an event says of the block it is about; not when it was born or died.
    [[nodiscard]] Block blockOf(std::size_t event) const;
    void replayBlocks();
    void addFromSegments();
    void writeBlocks();
    void replaySegments();
    void totals();
    void curves();
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

    std::vector<Block> m_born;            ///< in the order of birth
    std::vector<Block> m_unmatched;       ///< known from their free, in that order
    std::vector<Block> m_kept;            ///< there before and after
    std::vector<std::uint32_t> m_blockOf; ///< of events: born k -> k + 1, unmatched u -> kUnmatched | u + 1
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_live;  ///< address -> number in m_born
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_asked; ///< free requested of what is not known
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
