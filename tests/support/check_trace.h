// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <fmt/format.h>
#include <string>

namespace warpline::test {

/// What must hold for every trace, whatever file it came from; a sentence where it does not, or nothing.
inline std::string brokenPromise(const Trace& t) {
    const std::size_t rows = t.slices.size();
    const SliceTable& s = t.slices;
    if (s.duration.size() != rows || s.name.size() != rows || s.parent.size() != rows ||
        s.args.size() != rows || s.category.size() != rows || s.flags.size() != rows)
        return "the columns of the slice table differ in length";
    std::size_t inLanes = 0;
    for (std::size_t i = 0; i < t.tracks.size(); ++i) {
        const Track& track = t.tracks[i];
        if (track.process >= t.processes.size())
            return fmt::format("track {} is of no process", i);
        if (track.firstSlice > track.endSlice || track.endSlice > rows)
            return fmt::format("track {} has rows that are not there", i);
        if (track.firstLane + std::size_t{track.laneCount} > t.lanes.size())
            return fmt::format("track {} has lanes that are not there", i);
    }
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        const Lane& lane = t.lanes[i];
        if (!lane.track || lane.track.index() >= t.tracks.size() || lane.begin > lane.end || lane.end > rows)
            return fmt::format("lane {} is out of range", i);
        inLanes += lane.end - lane.begin;
        for (std::size_t row = lane.begin; row < lane.end; ++row) {
            if (s.duration[row] < 0)
                return fmt::format("slice {} has a negative duration", row);
            if (row > lane.begin && s.start[row] < s.end(row - 1))
                return fmt::format("slices {} and {} of lane {} overlap", row - 1, row, i);
        }
    }
    if (inLanes != rows)
        return fmt::format("{} of {} slices lie in lanes", inLanes, rows);
    for (std::size_t row = 0; row < rows; ++row) {
        if (s.category[row] >= t.categories.size() || s.name[row].value > t.strings.size())
            return fmt::format("slice {} has a name or category that is not there", row);
        if (const SliceId parent = s.parent[row]) {
            const std::size_t p = parent.index();
            if (p >= rows || p == row || s.start[p] > s.start[row] || s.end(p) < s.end(row))
                return fmt::format("the parent of slice {} does not hold it", row);
        }
    }
    for (const LinkTable* links : {&t.links.launch, &t.links.op, &t.links.forward, &t.links.flow}) {
        if (links->to.size() != links->size() || links->byTo.size() != links->size())
            return "the columns of a link table differ in length";
        for (std::size_t i = 0; i < links->size(); ++i)
            if (!links->from[i] || links->from[i].index() >= rows || !links->to[i] ||
                links->to[i].index() >= rows || links->byTo[i] >= links->size())
                return fmt::format("link {} leads to no slice", i);
    }
    for (const CounterTrack& c : t.counters) {
        if (c.time.size() != c.value.size() || c.process >= t.processes.size())
            return "a counter is out of shape";
        for (std::size_t i = 1; i < c.time.size(); ++i)
            if (c.time[i] < c.time[i - 1])
                return "a counter goes back in time";
    }
    for (std::size_t i = 1; i < t.memory.size(); ++i)
        if (t.memory.time[i] < t.memory.time[i - 1])
            return "the memory events go back in time";
    return {};
}

} // namespace warpline::test
