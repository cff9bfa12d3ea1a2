// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace warpline {

/// One allocator event as a file tells it.
struct RawMemoryEvent {
    MemoryAction action = MemoryAction::Other;
    std::uint64_t address = 0;
    std::int64_t size = 0;
    std::int64_t stream = 0;
    std::optional<TimeNs> time;
    StackId stack;
    std::optional<MemoryPool> pool;
    StringId compileContext;
    StringId userMetadata;
    StackId forwardStack;
    MemoryCategory category = MemoryCategory::Unknown; ///< where the file names it
    std::int64_t deviceFree = -1;                      ///< OutOfMemory
    std::int64_t reserved = -1;                        ///< bytes reserved after it, where the file says so
};

/// A block of a segment when the file was written.
struct RawMemoryBlock {
    std::optional<std::uint64_t> address; ///< none in the oldest files: after the block before it
    std::int64_t size = 0;
    std::int64_t requested = -1; ///< -1 = the file does not say
    bool active = false;         ///< in use, or its free is pending
    bool pending = false;
    StackId stack;
};

struct RawMemorySegment {
    std::int64_t device = 0;
    std::uint64_t address = 0;
    std::int64_t size = 0;
    std::int64_t allocated = 0;
    std::int64_t active = 0;
    std::int64_t requested = -1; ///< -1 = the file does not say
    std::int64_t stream = 0;
    std::uint8_t flags = 0; ///< SegmentFlag
    std::optional<MemoryPool> pool;
    StackId stack;
    std::vector<RawMemoryBlock> blocks;
};

/// How the allocator rounds sizes up: to 512 bytes, and where roundup_power2_divisions says so to a part of
/// a power of two. divisions[i] is for sizes from 1 MiB << i on (and below 1 MiB for i = 0).
struct RoundingRule {
    std::array<std::uint32_t, 16> divisions{};
    [[nodiscard]] std::int64_t round(std::int64_t size) const;
};

/// Collects the events and segments of one device and makes its tables of them: replays the events, takes
/// from the final segments what was there before, adds up the curves.
class MemoryDeviceBuilder {
  public:
    void addEvent(const RawMemoryEvent& event);
    /// Takes the events of another over, where this one has none; segments stay.
    void takeEvents(MemoryDeviceBuilder&& other);
    void addSegment(RawMemorySegment segment) { m_segments.push_back(std::move(segment)); }
    void takeSegments(std::vector<RawMemorySegment>&& segments) { m_segments = std::move(segments); }
    [[nodiscard]] bool noSegments() const { return m_segments.empty(); }
    [[nodiscard]] std::size_t eventCount() const { return m_rows; }
    [[nodiscard]] bool empty() const { return m_rows == 0 && m_segments.empty(); }
    /// The event that a file tells twice.
    [[nodiscard]] RawMemoryEvent event(std::size_t index) const;

    /// What was odd; the importer makes diagnostics of the sums.
    struct Oddities {
        std::uint64_t timesBack = 0; ///< events whose time lies before the one before
        std::uint64_t sizes = 0;     ///< sizes below 0 or beyond 16 TiB, cut to that
        std::uint64_t unknownActions = 0;
        std::uint64_t reservedShift = 0; ///< the reserved curve would go below zero by these bytes
        std::uint64_t segmentsWrong = 0; ///< segments whose blocks do not sum to their size
        std::uint64_t notInSegments = 0; ///< live at the end by the events, in no segment's blocks
        std::uint64_t poolsDropped = 0;
    };
    /// Makes the device; the builder is empty after it. `exactSizes`: sizes are the rounded ones already.
    MemoryDevice finish(std::int64_t ordinal, const RoundingRule& rounding, bool exactSizes, Oddities& odd);

  private:
    friend class MemoryReplay;
    std::uint32_t streamIndex(std::int64_t stream);
    std::uint16_t poolIndex(const std::optional<MemoryPool>& pool);

    void makeRoom();

    std::size_t m_rows = 0; ///< of the columns, which have room for more
    Column<TimeNs> m_time;
    Column<std::uint64_t> m_address;
    Column<std::int64_t> m_size;
    Column<StackId> m_stack;
    Column<std::uint32_t> m_stream;
    Column<std::uint16_t> m_pool;
    Column<MemoryAction> m_action;
    // Filled from the first event on that has one.
    std::vector<StringId> m_compileContext, m_userMetadata;
    std::vector<StackId> m_forwardStack;
    std::vector<MemoryCategory> m_category;
    std::vector<std::int64_t> m_reserved;

    std::vector<RawMemorySegment> m_segments;
    std::vector<OutOfMemoryEvent> m_outOfMemory;
    std::vector<std::int64_t> m_streams;
    std::unordered_map<std::int64_t, std::uint32_t> m_streamOf;
    std::uint32_t m_lastStream = 0;
    std::vector<MemoryPool> m_pools;
    std::uint64_t m_timed = 0;
    Oddities m_odd;
};

/// The pool of blocks of which nothing is known, while building.
inline constexpr std::uint16_t kPoolNotSaid = 0xFFFF;

} // namespace warpline
