// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/session.h"

#include "model/base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

namespace warpline {

namespace {

/// What a session needs of a recording of either kind.
struct Clock {
    TimeRange extent;
    bool absolute = false;
    bool timed = false; ///< the extent says when something was
    const std::string* path = nullptr;
};

Clock clockOf(const Source& source) {
    if (source.trace) {
        const Trace& t = *source.trace;
        // A trace without any timed event has no place of its own.
        return {t.extent, t.absoluteTime, !t.extent.empty() || t.extent.begin != 0, &t.path};
    }
    const MemoryHistory& m = *source.memory;
    return {m.extent, m.absoluteTime, !m.extent.empty() || m.extent.begin != 0, &m.path};
}

/// Whether two recordings can be on one clock. Dates and distances from an unknown zero never are, even
/// where their numbers happen to overlap.
bool shareClock(const Clock& a, const Clock& b) {
    return a.absolute == b.absolute && a.extent.begin <= b.extent.end && b.extent.begin <= a.extent.end;
}

TimeNs saturatingDifference(TimeNs a, TimeNs b) {
    TimeNs d = 0;
    if (__builtin_sub_overflow(a, b, &d))
        return 0;
    return d;
}

std::string fileName(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Groups of recordings that overlap, directly or through others: group[i] is the smallest index in i's.
std::vector<std::size_t> groupByClock(const std::vector<Clock>& sources) {
    std::vector<std::size_t> group(sources.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (group[i] == group[j] || !sources[i].timed || !sources[j].timed ||
                !shareClock(sources[i], sources[j]))
                continue;
            const std::size_t keep = std::min(group[i], group[j]);
            const std::size_t drop = std::max(group[i], group[j]);
            std::replace(group.begin(), group.end(), drop, keep);
        }
    }
    return group;
}

} // namespace

std::shared_ptr<const Session> Session::of(std::vector<TracePtr> traces) {
    return of(std::move(traces), {});
}

std::shared_ptr<const Session> Session::of(std::vector<TracePtr> traces,
                                           std::vector<MemoryHistoryPtr> memory) {
    auto session = std::make_shared<Session>();
    std::vector<Source>& sources = session->sources;
    sources.reserve(traces.size() + memory.size());
    for (TracePtr& trace : traces)
        if (trace)
            sources.push_back({std::move(trace), nullptr, 0});
    for (MemoryHistoryPtr& history : memory)
        if (history)
            sources.push_back({nullptr, std::move(history), 0});
    std::vector<Clock> clocks;
    for (const Source& source : sources)
        clocks.push_back(clockOf(source));
    const std::vector<std::size_t> group = groupByClock(clocks);

    const auto reference = std::find_if(clocks.begin(), clocks.end(), [](const Clock& c) { return c.timed; });
    const auto first = static_cast<std::size_t>(reference - clocks.begin());
    // A group begins where its earliest recording does.
    std::vector<std::optional<TimeNs>> begin(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        std::optional<TimeNs>& b = begin[group[i]];
        if (clocks[i].timed)
            b = b ? std::min(*b, clocks[i].extent.begin) : clocks[i].extent.begin;
    }
    std::optional<TimeRange> extent;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const Clock& clock = clocks[i];
        if (!clock.timed) {
            if (sources[i].memory && sources.size() > 1)
                session->notes.push_back(fmt::format(
                    "{} has no times, so it has no place on the time axis and is shown by its events.",
                    fileName(*clock.path)));
            continue;
        }
        if (group[i] != group[first]) {
            sources[i].shift = saturatingDifference(*begin[group[first]], *begin[group[i]]);
            const char* why =
                clock.absolute != clocks[first].absolute ? "has another clock than" : "does not overlap";
            if (sources[i].shift != 0)
                session->notes.push_back(fmt::format(
                    "{} {} {} in time, so it was moved by {} and both begin together.", fileName(*clock.path),
                    why, fileName(*clocks[first].path), formatDuration(sources[i].shift)));
        }
        const TimeRange at{clock.extent.begin + sources[i].shift, clock.extent.end + sources[i].shift};
        extent = extent ? TimeRange{std::min(extent->begin, at.begin), std::max(extent->end, at.end)} : at;
    }
    if (extent)
        session->extent = *extent;
    return session;
}

} // namespace warpline
