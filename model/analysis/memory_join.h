// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/memory_history.h"
#include "model/store/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace warpline {

/// Where an allocator event happened in a trace.
struct EventPlace {
    SliceId op;             ///< the innermost op, annotation or runtime call open then on its thread
    SliceId python;         ///< the innermost Python frame open then on its thread
    std::int64_t step = -1; ///< index into Trace::steps; -1 = in none
    TrackId thread;
    /// How the thread is known.
    enum class By : std::uint8_t {
        Nothing, ///< outside of the trace, or several threads could have done it
        Record,  ///< a [memory] instant has the same address and bytes at that time
        OnlyOne, ///< one thread alone had an op open then
    };
    By by = By::Nothing;
};

/// Bytes that an op moved.
struct OpBytes {
    StringId name; ///< in the trace's strings; none = no op
    std::int64_t allocated = 0;
    std::int64_t freed = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    SliceId largest; ///< the op with the largest single allocation
};

/// A memory history and a trace of the same run on one clock: snapshot time_us and the trace's
/// baseTimeNanoseconds + ts are the same Unix clock, so there is nothing to shift. A history made from the
/// trace itself (memoryOfTrace) joins it too.
///
/// An allocation is matched to the [memory] instant of the same address, device and bytes nearest in time
/// (the instant's bytes may be the rounded ones), within a millisecond, in order; the instant's thread is the
/// allocation's. Where no instant matches, an event belongs to the only thread that has an op open then, else
/// to none. Built once a pair of history and trace.
class MemoryJoin {
  public:
    /// An error says why the two cannot be joined: no times, no overlap, different clocks.
    static Result<std::shared_ptr<const MemoryJoin>> build(MemoryHistoryPtr history, TracePtr trace,
                                                           std::stop_token stop = {});

    /// `device` counts MemoryHistory::devices.
    [[nodiscard]] EventPlace place(std::size_t device, std::uint32_t event) const;
    /// The allocation of a block; nothing for one that was there before.
    [[nodiscard]] EventPlace allocationOf(std::size_t device, BlockId block) const;
    /// Allocations (events) made while a slice was open on its thread, in order; on any device:
    /// (device, event).
    [[nodiscard]] std::vector<std::pair<std::size_t, std::uint32_t>> allocationsOf(SliceId slice) const;
    /// Allocated and freed by the innermost op, in a range of time, all devices or one (-1 = all); by bytes
    /// allocated, descending.
    [[nodiscard]] std::vector<OpBytes> bytesByOp(TimeRange range, std::int64_t device = -1) const;
    /// The op itself, passing over the runtime calls that it makes; the annotation where there is no op.
    [[nodiscard]] SliceId opOf(const EventPlace& place) const;
    /// Names of an op ("aten::mm") and of the nn.Module around a place; empty where not known.
    [[nodiscard]] std::string_view opName(const EventPlace& place) const;
    [[nodiscard]] std::string_view moduleName(const EventPlace& place) const;

    /// What the join rests on, for people: "3,927 of 3,927 allocations matched by address and bytes".
    [[nodiscard]] std::string evidence() const;
    [[nodiscard]] std::uint64_t matched() const { return m_matched; }
    [[nodiscard]] std::uint64_t allocations() const { return m_allocations; }
    [[nodiscard]] const Trace& trace() const { return *m_trace; }
    [[nodiscard]] const MemoryHistory& history() const { return *m_history; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    MemoryJoin() = default;
    MemoryHistoryPtr m_history;
    TracePtr m_trace;
    /// The thread of an event, and when by that thread's own record.
    struct Where {
        TrackId thread;
        TimeNs time = 0;
        bool recorded = false;
    };
    [[nodiscard]] Where where(std::size_t device, std::uint32_t event) const;
    /// Of each device and event: the row of its [memory] instant with the highest bit set, or the track of
    /// the only thread; 0 = neither.
    std::vector<Column<std::uint32_t>> m_of;
    std::vector<TrackId> m_pythonOf; ///< by thread track
    std::uint64_t m_matched = 0;
    std::uint64_t m_allocations = 0;
};

using MemoryJoinPtr = std::shared_ptr<const MemoryJoin>;

} // namespace warpline
