// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/builder.h"

#include "model/base/parallel.h"
#include "model/import/chrome/build_links.h"
#include "model/import/chrome/build_slices.h"
#include "model/import/chrome/build_tables.h"
#include "model/import/chrome/build_tracks.h"
#include "model/import/chrome/diagnose.h"

#include <algorithm>
#include <thread>

namespace warpline::chrome {

namespace {

/// Kernels that a range profiler writes with time 0 would stretch the trace over years: they keep their rows,
/// but no say in where the trace begins.
void markUntimed(std::vector<Batch>& batches) {
    TimeNs least = INT64_MAX;
    for (const Batch& b : batches)
        least = std::min(least, b.leastStart);
    constexpr TimeNs kDay = 86'400'000'000'000;
    if (least == INT64_MAX || least < kDay)
        return;
    for (Batch& b : batches)
        for (ParsedSpan& s : b.anyAtZero ? b.spans : std::span<ParsedSpan>())
            if (s.start == 0 && s.duration == 0)
                s.flags |= SliceFlag::Untimed;
}

TimeNs latestEnd(const std::vector<Batch>& batches) {
    TimeNs end = INT64_MIN;
    for (const Batch& b : batches)
        end = std::max(end, b.latestEnd);
    return end;
}

TimeRange extentOf(const Trace& trace) {
    TimeRange all;
    for (const Track& t : trace.tracks)
        all = all.united(t.extent);
    const auto add = [&](TimeNs first, TimeNs last) { all = all.united({first, last + 1}); };
    for (const CounterTrack& c : trace.counters)
        if (!c.time.empty())
            add(c.time[0], c.time[c.time.size() - 1]);
    if (trace.memory.size() > 0)
        add(trace.memory.time[0], trace.memory.time[trace.memory.size() - 1]);
    return all;
}

} // namespace

Result<Done> build(Trace& trace, BuildInput input) {
    std::vector<Batch>& batches = input.batches;
    const std::stop_token& stop = input.options.stop;
    const unsigned threads = input.options.threads != 0 ? input.options.threads
                                                        : std::max(1u, std::thread::hardware_concurrency());
    if (input.options.progress != nullptr)
        input.options.progress->stage = Progress::Stage::Arranging;

    readProperties(trace);
    Tallies tallies;
    for (const Batch& b : batches) {
        trace.eventCount += b.events;
        for (std::size_t i = 0; i < tallies.size(); ++i)
            tallies[i].merge(b.tallies[i]);
    }
    collectMetadata(trace, batches);
    markUntimed(batches);
    PairReport pairs;
    const TimeNs end = latestEnd(batches);
    pairAsync(trace, batches, end, pairs);
    if (stop.stop_requested())
        return Error::cancelled();

    // Before the spans: their room goes together.
    parallelFor(2, threads, [&](std::size_t part) {
        if (part == 0)
            collectFlows(trace, batches);
        else
            collectMemory(trace, batches);
    });
    const std::size_t trackCount = input.registry.tracks().size();
    SortedSpans sorted = sortSpans(trace, batches, trackCount, end, threads, pairs);
    if (stop.stop_requested())
        return Error::cancelled();
    std::vector<bool> used(trackCount);
    for (std::size_t i = 0; i < trackCount; ++i)
        used[i] = sorted.begin[i + 1] > sorted.begin[i];
    const std::vector<std::uint32_t> order = arrangeTracks(trace, input.registry, used);
    layOut(trace, sorted, order, trace.baseTime, threads);
    if (stop.stop_requested())
        return Error::cancelled();

    CounterReport counters;
    collectCounters(trace, batches, counters);
    LinkReport links;
    buildLinks(trace, sorted, threads, links);
    findSteps(trace);
    (void)trace.strings.intern("ProfilerStep*"); // what the op table calls all of them
    if (stop.stop_requested())
        return Error::cancelled();

    trace.extent = extentOf(trace);
    // A clock that counts from the start of the machine or the program stays far below a date.
    constexpr TimeNs kYear2001 = 978'307'200'000'000'000;
    trace.absoluteTime = trace.extent.begin > kYear2001;
    const auto isKineto = [](const Category& c) { return c.kind != SliceKind::Other; };
    trace.format = std::any_of(trace.categories.begin(), trace.categories.end(), isKineto) ? "Kineto trace"
                                                                                           : "Chrome trace";
    diagnose(trace, input.frame, tallies, pairs, links, counters);
    return Done{};
}

} // namespace warpline::chrome
