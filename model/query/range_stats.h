// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/spans.h"
#include "model/store/trace.h"

#include <stop_token>
#include <vector>

namespace warpline {

/// Time that at least one kernel, copy or set ran: the union of the intervals, not their sum.
/// Over one Stream track.
TimeNs busyTime(const SpanIndex& index, TrackId stream, TimeRange range);
/// Over all Stream tracks of a device (index into Trace::processes).
TimeNs deviceBusyTime(const Trace& trace, std::uint32_t process, TimeRange range);
/// Up to how many slices deviceBusyColumns() counts exactly where several lanes hold them.
inline constexpr std::size_t kExactBusyRows = 1'000'000;
/// How much of each of `columns` equal parts of the range a device is busy, 0 to 1: the union, exactly, as
/// long as one lane holds all the work or up to kExactBusyRows slices show. Beyond that the cost follows
/// columns, not slices, and a column's value is that of its busiest lane: a lower bound where streams take
/// turns.
std::vector<float> deviceBusyColumns(const SpanIndex& index, std::uint32_t process, TimeRange range,
                                     int columns);

/// Statistics of one name in a range.
struct NameStats {
    StringId name;
    SliceKind kind = SliceKind::Other;
    std::uint64_t count = 0;
    TimeNs sum = 0;  ///< of the durations, whole even where a slice reaches beyond the range
    TimeNs self = 0; ///< sum less what its children in the track took
    TimeNs min = 0, median = 0, p95 = 0, max = 0;
};

struct DeviceStats {
    std::uint32_t process = 0;
    TimeNs busy = 0;
    TimeNs idle = 0;
    std::uint64_t gaps = 0; ///< stretches without work between two pieces of work
    TimeNs largestGap = 0;
    TimeNs largestGapStart = 0;
};

struct RangeStats {
    TimeRange range;
    std::vector<NameStats> names; ///< by sum, descending
    std::vector<DeviceStats> devices;
    std::int64_t bytesAllocated = 0; ///< on devices, from [memory] records
    std::int64_t bytesFreed = 0;
    std::uint64_t slices = 0;
};

/// What lies in a range: slices that start in it, of the given tracks (all where none is given). Medians and
/// percentiles are by nearest rank. Devices are those that a given track is a stream of, with all their
/// streams; their times are cut at the range. Memory is that of all devices. When stopped, the result is
/// empty.
RangeStats rangeStats(const Trace& trace, TimeRange range, const std::vector<TrackId>& tracks = {},
                      std::stop_token stop = {});

} // namespace warpline
