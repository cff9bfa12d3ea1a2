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

/// Whether the extent says when something was: a trace without any timed event has no place of its own.
bool hasTime(const Trace& trace) {
    return !trace.extent.empty() || trace.extent.begin != 0;
}

/// Whether two recordings can be on one clock. Dates and distances from an unknown zero never are, even
/// where their numbers happen to overlap.
bool shareClock(const Trace& a, const Trace& b) {
    return a.absoluteTime == b.absoluteTime && a.extent.begin <= b.extent.end &&
           b.extent.begin <= a.extent.end;
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
std::vector<std::size_t> groupByClock(const std::vector<Source>& sources) {
    std::vector<std::size_t> group(sources.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (group[i] == group[j] || !hasTime(*sources[i].trace) || !hasTime(*sources[j].trace) ||
                !shareClock(*sources[i].trace, *sources[j].trace))
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
    auto session = std::make_shared<Session>();
    session->sources.reserve(traces.size());
    for (TracePtr& trace : traces) {
        if (trace)
            session->sources.push_back({std::move(trace), 0});
    }
    std::vector<Source>& sources = session->sources;
    const std::vector<std::size_t> group = groupByClock(sources);

    const auto reference =
        std::find_if(sources.begin(), sources.end(), [](const Source& s) { return hasTime(*s.trace); });
    if (reference == sources.end())
        return session;
    const std::size_t first = static_cast<std::size_t>(reference - sources.begin());
    // A group begins where its earliest recording does.
    std::vector<std::optional<TimeNs>> begin(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        std::optional<TimeNs>& b = begin[group[i]];
        if (hasTime(*sources[i].trace))
            b = b ? std::min(*b, sources[i].trace->extent.begin) : sources[i].trace->extent.begin;
    }
    std::optional<TimeRange> extent;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        Source& source = sources[i];
        if (!hasTime(*source.trace))
            continue;
        if (group[i] != group[first]) {
            source.shift = saturatingDifference(*begin[group[first]], *begin[group[i]]);
            const char* why = source.trace->absoluteTime != sources[first].trace->absoluteTime
                                  ? "has another clock than"
                                  : "does not overlap";
            if (source.shift != 0)
                session->notes.push_back(
                    fmt::format("{} {} {} in time, so it was moved by {} and both begin together.",
                                fileName(source.trace->path), why, fileName(sources[first].trace->path),
                                formatDuration(source.shift)));
        }
        const TimeRange at{source.trace->extent.begin + source.shift,
                           source.trace->extent.end + source.shift};
        extent = extent ? TimeRange{std::min(extent->begin, at.begin), std::max(extent->end, at.end)} : at;
    }
    session->extent = *extent;
    return session;
}

} // namespace warpline
