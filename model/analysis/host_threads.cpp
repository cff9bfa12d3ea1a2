// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/host_threads.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace warpline {

namespace {

bool before(const HostSpan& a, const HostSpan& b) {
    if (a.start != b.start)
        return a.start < b.start;
    if (a.end != b.end)
        return a.end > b.end;
    if (a.rank != b.rank)
        return a.rank < b.rank;
    return a.row < b.row; // the outer lane first
}

/// Of two spans with the same times a Python line calls an op, an annotation holds an op, an op makes a call.
std::uint8_t rankOf(SliceKind kind) {
    switch (kind) {
    case SliceKind::Python:
        return 0;
    case SliceKind::Annotation:
        return 1;
    case SliceKind::Runtime:
    case SliceKind::Driver:
        return 3;
    default:
        return 2;
    }
}

/// Merges sorted runs two by two; runs[i] is where the i-th begins, the last entry the end.
void mergeRuns(std::vector<HostSpan>& spans, std::vector<std::size_t> runs) {
    std::vector<HostSpan> other(spans.size());
    while (runs.size() > 2) {
        std::vector<std::size_t> merged;
        const auto at = [](std::vector<HostSpan>& v, std::size_t i) {
            return v.begin() + static_cast<std::ptrdiff_t>(i);
        };
        std::size_t i = 0;
        for (; i + 2 < runs.size(); i += 2) {
            merged.push_back(runs[i]);
            std::merge(at(spans, runs[i]), at(spans, runs[i + 1]), at(spans, runs[i + 1]),
                       at(spans, runs[i + 2]), at(other, runs[i]), before);
        }
        if (i + 1 < runs.size()) {
            merged.push_back(runs[i]);
            std::copy(at(spans, runs[i]), spans.end(), at(other, runs[i]));
        }
        merged.push_back(spans.size());
        spans.swap(other);
        runs = std::move(merged);
    }
}

} // namespace

std::vector<HostThread> hostThreads(const Trace& trace) {
    std::vector<HostThread> threads;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::size_t> byId;
    for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        if (track.kind != TrackKind::Thread && track.kind != TrackKind::Python)
            continue;
        const auto [it, fresh] =
            byId.try_emplace({track.process, track.tid, track.tidText.value}, threads.size());
        if (fresh)
            threads.push_back({track.process, {}});
        threads[it->second].tracks.push_back(TrackId::fromIndex(t));
    }
    return threads;
}

std::vector<HostSpan> spansOf(const Trace& trace, const HostThread& thread) {
    std::vector<std::int8_t> rank(trace.categories.size());
    for (std::size_t c = 0; c < rank.size(); ++c) {
        // A whole recording as one span, on a line of its own, is nobody's work.
        const bool recording = trace.strings.view(trace.categories[c].name) == "Trace";
        rank[c] = recording ? std::int8_t{-1} : static_cast<std::int8_t>(rankOf(trace.categories[c].kind));
    }
    std::vector<HostSpan> spans;
    std::vector<std::size_t> runs;
    for (const TrackId id : thread.tracks) {
        const Track& track = trace.tracks[id.index()];
        spans.reserve(spans.size() + (track.endSlice - track.firstSlice));
        for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
            runs.push_back(spans.size());
            for (std::uint32_t row = trace.lanes[l].begin; row < trace.lanes[l].end; ++row) {
                const std::int8_t r = rank[trace.slices.category[row]];
                if (r < 0 || (trace.slices.flags[row] & SliceFlag::Instant) != 0)
                    continue;
                spans.push_back(
                    {trace.slices.start[row], trace.slices.end(row), row, static_cast<std::uint8_t>(r)});
            }
            // Spans of one lane and start may stand with the empty one first.
            const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(runs.back());
            if (!std::is_sorted(begin, spans.end(), before))
                std::sort(begin, spans.end(), before);
        }
    }
    runs.push_back(spans.size());
    mergeRuns(spans, std::move(runs));
    return spans;
}

} // namespace warpline
