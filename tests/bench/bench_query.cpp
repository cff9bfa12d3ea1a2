// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// What the views ask while someone looks at a trace, on the file that WARPLINE_BENCH_TRACE names:
//   gen_trace 2925000 /tmp/large.json && WARPLINE_BENCH_TRACE=/tmp/large.json bench_query
#include "model/analysis/families.h"
#include "model/analysis/ops.h"
#include "model/import/import.h"
#include "model/query/range_stats.h"
#include "model/query/search.h"
#include "model/query/spans.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace warpline;

constexpr int kWidth = 1920;

TracePtr loadTrace() {
    const char* path = std::getenv("WARPLINE_BENCH_TRACE");
    if (path == nullptr) {
        std::fputs("bench_query: set WARPLINE_BENCH_TRACE to the path of a trace\n", stderr);
        std::exit(2);
    }
    Result<std::vector<TracePtr>> traces = openTraces(path);
    if (!traces.ok() || traces.value().empty()) {
        std::fprintf(stderr, "bench_query: %s: %s\n", path,
                     traces.ok() ? "no trace in it" : traces.error().message.c_str());
        std::exit(2);
    }
    return traces.value().front();
}

const TracePtr& trace() {
    static const TracePtr loaded = loadTrace();
    return loaded;
}
const SpanIndex& index() {
    static const SpanIndex built(trace());
    return built;
}

/// The middle of the trace, so many times shorter than the whole.
TimeRange middle(std::int64_t times) {
    const TimeRange whole = trace()->extent;
    const TimeNs length = std::max<TimeNs>(1, whole.duration() / times);
    const TimeNs begin = whole.begin + (whole.duration() - length) / 2;
    return {begin, begin + length};
}

void buildSpanIndex(benchmark::State& state) {
    trace(); // loading is not measured here
    for (auto _ : state) {
        const SpanIndex built(trace());
        benchmark::DoNotOptimize(built.bytes());
    }
    state.counters["slices"] = static_cast<double>(trace()->slices.size());
}
BENCHMARK(buildSpanIndex)->Unit(benchmark::kMillisecond);

/// Every lane of the trace, zoomed in by the argument.
void spansOfAllLanes(benchmark::State& state) {
    const TimeRange range = middle(state.range(0));
    std::vector<Span> spans;
    for (auto _ : state) {
        spans.clear();
        for (std::size_t lane = 0; lane < trace()->lanes.size(); ++lane)
            index().spans(LaneId::fromIndex(lane), range, kWidth, spans);
        benchmark::DoNotOptimize(spans.data());
    }
    state.counters["lanes"] = static_cast<double>(trace()->lanes.size());
    state.counters["spans"] = static_cast<double>(spans.size());
}
BENCHMARK(spansOfAllLanes)->RangeMultiplier(10)->Range(1, 100'000)->Unit(benchmark::kMicrosecond);

void searchFor(benchmark::State& state, const char* text) {
    std::size_t hits = 0;
    for (auto _ : state) {
        const Result<std::vector<SliceId>> found = search(*trace(), {text});
        if (!found.ok()) {
            state.SkipWithError(found.error().message.c_str());
            return;
        }
        hits = found.value().size();
    }
    state.counters["hits"] = static_cast<double>(hits);
}
BENCHMARK_CAPTURE(searchFor, word, "gemm")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, most, "a")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, regex, "/^aten::(add)?mm$/")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, duration, "dur>1ms")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, argument, "stream=7")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, everywhere, "external_id=4711")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(searchFor, address, "0x7f3a00001000")->Unit(benchmark::kMillisecond)->UseRealTime();

void statisticsOfRange(benchmark::State& state) {
    const TimeRange range = middle(state.range(0));
    std::uint64_t slices = 0;
    for (auto _ : state)
        slices = rangeStats(*trace(), range).slices;
    state.counters["slices"] = static_cast<double>(slices);
}
BENCHMARK(statisticsOfRange)->RangeMultiplier(10)->Range(1, 1000)->Unit(benchmark::kMillisecond);

void busyColumnsOfDevices(benchmark::State& state) {
    for (auto _ : state) {
        for (std::uint32_t p = 0; p < trace()->processes.size(); ++p)
            benchmark::DoNotOptimize(deviceBusyColumns(index(), p, trace()->extent, kWidth).data());
    }
}
BENCHMARK(busyColumnsOfDevices)->Unit(benchmark::kMillisecond);

void tableOfKernels(benchmark::State& state) {
    for (auto _ : state) {
        const Result<KernelTable> table = kernelTable(*trace());
        benchmark::DoNotOptimize(table.ok());
    }
}
BENCHMARK(tableOfKernels)->Unit(benchmark::kMillisecond);

void buildFamilyIndex(benchmark::State& state) {
    for (auto _ : state) {
        const FamilyIndex built(*trace());
        benchmark::DoNotOptimize(&built);
    }
}
BENCHMARK(buildFamilyIndex)->Unit(benchmark::kMillisecond);

void nextOfRareName(benchmark::State& state) {
    // The longest slice of the last lane: what has no further one of its name is looked for to the end.
    const Lane& lane = trace()->lanes.back();
    const SliceId s = SliceId::fromIndex(index().longest(lane.begin, lane.end));
    for (auto _ : state)
        benchmark::DoNotOptimize(nextOfName(*trace(), s));
}
BENCHMARK(nextOfRareName)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
