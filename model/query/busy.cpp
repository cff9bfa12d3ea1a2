// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/busy_union.h"
#include "model/query/range_stats.h"

#include <algorithm>

namespace warpline {

void LaneMerge::add(const Trace& trace, const Lane& lane, TimeRange range) {
    const auto [first, last] = rowsIn(trace, lane, range);
    if (first == last)
        return;
    m_heads.push_back({trace.slices.start[first], first, last});
    m_rows += last - first;
}

std::vector<Lane> streamLanes(const Trace& trace, std::uint32_t process) {
    std::vector<Lane> lanes;
    for (const Track& track : trace.tracks) {
        if (track.kind == TrackKind::Stream && track.process == process)
            lanes.insert(lanes.end(), trace.lanes.begin() + track.firstLane,
                         trace.lanes.begin() + track.firstLane + track.laneCount);
    }
    return lanes;
}

namespace {

/// The union of the lanes' slices inside the range.
TimeNs unionOf(const Trace& trace, const std::vector<Lane>& lanes, TimeRange range) {
    LaneMerge merge;
    for (const Lane& lane : lanes)
        merge.add(trace, lane, range);
    TimeNs busy = 0;
    TimeNs reached = range.begin;
    merge.forEach(trace, range, [&](TimeNs start, TimeNs end) {
        if (end > reached) {
            busy += end - std::max(start, reached);
            reached = end;
        }
    });
    return busy;
}

/// Edges of equal columns: column c is [edge(c), edge(c + 1)).
TimeNs columnEdge(TimeRange range, int columns, std::int64_t c) {
    const TimeNs length = range.duration();
    return range.begin + c * (length / columns) + c * (length % columns) / columns;
}

/// Fills in the exact shares from the intervals of all lanes, in one pass.
void exactColumns(const Trace& trace, const std::vector<Lane>& lanes, TimeRange range, int columns,
                  std::vector<float>& out) {
    LaneMerge merge;
    for (const Lane& lane : lanes)
        merge.add(trace, lane, range);
    std::int64_t column = 0;
    TimeNs begin = range.begin;
    TimeNs end = columnEdge(range, columns, 1);
    TimeNs inColumn = 0;
    const auto close = [&] {
        out[static_cast<std::size_t>(column)] =
            end > begin ? static_cast<float>(static_cast<double>(inColumn) / static_cast<double>(end - begin))
                        : 0.0F;
        inColumn = 0;
        ++column;
        begin = end;
        end = columnEdge(range, columns, column + 1);
    };
    TimeNs reached = range.begin;
    merge.forEach(trace, range, [&](TimeNs a, TimeNs b) {
        a = std::max(a, reached);
        if (b <= a)
            return;
        reached = b;
        while (a >= end && column < columns)
            close();
        while (b > end) {
            inColumn += end - a;
            a = end;
            close();
        }
        inColumn += b - a;
    });
    while (column < columns)
        close();
}

} // namespace

TimeNs busyTime(const SpanIndex& index, TrackId stream, TimeRange range) {
    const Trace& trace = index.trace();
    if (!stream || range.empty())
        return 0;
    const Track& track = trace.tracks[stream.index()];
    if (track.laneCount == 0)
        return 0;
    if (track.laneCount == 1)
        return index.covered(trace.lanes[track.firstLane], range);
    const auto first = trace.lanes.begin() + track.firstLane;
    return unionOf(trace, {first, first + track.laneCount}, range);
}

TimeNs deviceBusyTime(const Trace& trace, std::uint32_t process, TimeRange range) {
    return range.empty() ? 0 : unionOf(trace, streamLanes(trace, process), range);
}

std::vector<float> deviceBusyColumns(const SpanIndex& index, std::uint32_t process, TimeRange range,
                                     int columns) {
    const Trace& trace = index.trace();
    std::vector<float> out(static_cast<std::size_t>(std::max(columns, 0)), 0.0F);
    if (columns <= 0 || range.empty())
        return out;
    const std::vector<Lane> lanes = streamLanes(trace, process);
    std::size_t rows = 0;
    std::size_t used = 0;
    for (const Lane& lane : lanes) {
        const auto [first, last] = rowsIn(trace, lane, range);
        rows += last - first;
        used += first != last ? 1 : 0;
    }
    if (used > 1 && rows <= kExactBusyRows) {
        exactColumns(trace, lanes, range, columns, out);
        return out;
    }
    for (int c = 0; c < columns; ++c) {
        const TimeRange column{columnEdge(range, columns, c), columnEdge(range, columns, c + 1)};
        if (column.empty())
            continue;
        TimeNs most = 0;
        for (const Lane& lane : lanes)
            most = std::max(most, index.covered(lane, column));
        out[static_cast<std::size_t>(c)] =
            static_cast<float>(static_cast<double>(most) / static_cast<double>(column.duration()));
    }
    return out;
}

} // namespace warpline
