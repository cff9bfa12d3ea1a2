// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/wpl/tables.h"

#include <algorithm>

namespace warpline::wpl {

namespace {

template <class C, class F>
bool all(const C& rows, F&& holds) {
    return std::all_of(rows.begin(), rows.end(), holds);
}

bool tracksFit(const Trace& t) {
    std::uint32_t row = 0;
    std::size_t lane = 0;
    for (std::size_t i = 0; i < t.tracks.size(); ++i) {
        const Track& k = t.tracks[i];
        if (k.process >= t.processes.size() || k.firstLane > t.lanes.size() ||
            k.laneCount > t.lanes.size() - k.firstLane || k.firstSlice > k.endSlice ||
            k.endSlice > t.slices.size())
            return false;
        if (k.laneCount == 0)
            continue;
        // Lanes lie one behind the other, and so do their rows.
        if (k.firstLane != lane || k.firstSlice != row)
            return false;
        for (; lane < std::size_t{k.firstLane} + k.laneCount; ++lane) {
            const Lane& l = t.lanes[lane];
            if (l.track != TrackId::fromIndex(i) || l.begin != row || l.end < l.begin ||
                l.end > t.slices.size())
                return false;
            row = l.end;
        }
        if (k.endSlice != row)
            return false;
    }
    return lane == t.lanes.size() && row == t.slices.size();
}

bool slicesFit(const Trace& t) {
    const SliceTable& s = t.slices;
    constexpr TimeNs kMost = TimeNs{1} << 62;
    const auto strings = t.strings.size();
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (s.start[i] <= -kMost || s.start[i] >= kMost || s.duration[i] < 0 || s.duration[i] >= kMost ||
            s.name[i].value > strings || s.category[i] >= t.categories.size() ||
            (s.parent[i] && s.parent[i].index() >= i))
            return false;
        if (s.parent[i]) {
            const std::size_t parent = s.parent[i].index();
            if (s.start[parent] > s.start[i] || s.end(parent) < s.end(i))
                return false;
        }
    }
    return all(t.lanes, [&](const Lane& l) {
        for (std::size_t row = l.begin + std::size_t{1}; row < l.end; ++row)
            if (s.start[row] < s.end(row - 1) || s.start[row] < s.start[row - 1])
                return false;
        return true;
    });
}

bool linksFit(const LinkTable& l, std::size_t slices) {
    const std::size_t n = l.size();
    const auto valid = [&](SliceId id) { return id && id.index() < slices; };
    for (std::size_t i = 0; i < n; ++i) {
        if (!valid(l.from[i]) || !valid(l.to[i]) || l.byTo[i] >= n)
            return false;
        if (i > 0 && std::pair(l.from[i - 1], l.to[i - 1]) > std::pair(l.from[i], l.to[i]))
            return false;
    }
    for (std::size_t i = 1; i < n; ++i)
        if (l.to[l.byTo[i - 1]] > l.to[l.byTo[i]])
            return false;
    return true;
}

bool othersFit(const Trace& t) {
    const auto strings = t.strings.size();
    const auto& m = t.memory;
    const auto& f = t.flows;
    const auto text = [&](StringId id) { return id.value <= strings; };
    return all(t.rawTracks, [&](const RawTrack& r) { return r.thread.value <= t.tracks.size(); }) &&
           all(m.rawTrack, [&](std::uint32_t r) { return r < t.rawTracks.size(); }) && all(m.name, text) &&
           std::is_sorted(m.time.begin(), m.time.end()) &&
           all(f.track, [&](std::uint32_t r) { return r < t.rawTracks.size(); }) && all(f.name, text) &&
           all(f.category, [&](std::uint16_t c) { return c < t.categories.size(); }) &&
           all(t.counters,
               [&](const CounterTrack& c) {
                   return c.process < t.processes.size() && std::is_sorted(c.time.begin(), c.time.end());
               }) &&
           all(t.steps, [&](const Step& s) { return s.slice && s.slice.index() < t.slices.size(); });
}

} // namespace

bool tablesFit(const Trace& trace) {
    const std::size_t slices = trace.slices.size();
    return tracksFit(trace) && slicesFit(trace) && linksFit(trace.links.launch, slices) &&
           linksFit(trace.links.call, slices) && linksFit(trace.links.op, slices) &&
           linksFit(trace.links.forward, slices) && linksFit(trace.links.flow, slices) && othersFit(trace);
}

} // namespace warpline::wpl
