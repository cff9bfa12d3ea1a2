// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// From a trace to a flame graph on the screen, on the file that WARPLINE_BENCH_TRACE names:
//   gen_trace 3000000 /tmp/large.json --python && WARPLINE_BENCH_TRACE=/tmp/large.json bench_flame
// The first graph of a trace is stacksOfTrace and then one of the trees; a changed range is treeOfRange.
#include "model/analysis/flame.h"
#include "model/analysis/modules.h"
#include "model/analysis/stacks.h"
#include "model/import/import.h"
#include "model/query/flame_layout.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace warpline;

TracePtr loadTrace() {
    const char* path = std::getenv("WARPLINE_BENCH_TRACE");
    if (path == nullptr) {
        std::fputs("bench_flame: set WARPLINE_BENCH_TRACE to the path of a trace\n", stderr);
        std::exit(2);
    }
    Result<std::vector<TracePtr>> traces = openTraces(path);
    if (!traces.ok() || traces.value().empty()) {
        std::fprintf(stderr, "bench_flame: %s: %s\n", path,
                     traces.ok() ? "no trace in it" : traces.error().message.c_str());
        std::exit(2);
    }
    return traces.value().front();
}

const TracePtr& trace() {
    static const TracePtr loaded = loadTrace();
    return loaded;
}
const TraceStacks& stacks() {
    static const TraceStacksPtr built = TraceStacks::build(trace()).value();
    return *built;
}

void stacksOfTrace(benchmark::State& state) {
    std::size_t bytes = 0;
    for (auto _ : state)
        bytes = TraceStacks::build(trace()).value()->bytes();
    state.counters["slices"] = static_cast<double>(trace()->slices.size());
    state.counters["stacks"] = static_cast<double>(stacks().stacks().size());
    state.counters["bytes_a_slice"] =
        static_cast<double>(bytes) / static_cast<double>(trace()->slices.size());
}
BENCHMARK(stacksOfTrace)->Unit(benchmark::kMillisecond)->UseRealTime();

void tree(benchmark::State& state, const FlameQuery& query) {
    std::size_t nodes = 0;
    for (auto _ : state)
        nodes = flameTree(stacks(), query).value().nodes.size();
    state.counters["nodes"] = static_cast<double>(nodes);
}

FlameQuery queryOf(FlameWeight weight) {
    FlameQuery query;
    query.weight = weight;
    return query;
}
void treeOfAll(benchmark::State& state, FlameWeight weight) {
    tree(state, queryOf(weight));
}
BENCHMARK_CAPTURE(treeOfAll, gpu, FlameWeight::GpuTime)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(treeOfAll, cpu, FlameWeight::CpuTime)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(treeOfAll, calls, FlameWeight::Calls)->Unit(benchmark::kMillisecond)->UseRealTime();

void treeOfRange(benchmark::State& state, FlameWeight weight) {
    FlameQuery query = queryOf(weight);
    const TimeRange whole = trace()->extent;
    query.range = TimeRange{whole.begin + whole.duration() / 4, whole.end - whole.duration() / 4};
    tree(state, query);
}
BENCHMARK_CAPTURE(treeOfRange, gpu, FlameWeight::GpuTime)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(treeOfRange, cpu, FlameWeight::CpuTime)->Unit(benchmark::kMillisecond)->UseRealTime();

void treeOfShape(benchmark::State& state, int shape) {
    FlameQuery query = queryOf(FlameWeight::CpuTime);
    query.shape.bottomUp = shape == 0;
    query.shape.byThread = shape == 1;
    query.shape.mergeModules = query.shape.hidePlumbing = shape == 2;
    tree(state, query);
}
BENCHMARK_CAPTURE(treeOfShape, bottom_up, 0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(treeOfShape, by_thread, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(treeOfShape, merged, 2)->Unit(benchmark::kMillisecond)->UseRealTime();

void modules(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(moduleTree(stacks()).value().rows.size());
}
BENCHMARK(modules)->Unit(benchmark::kMillisecond)->UseRealTime();

void layout(benchmark::State& state) {
    const FlameTree built = flameTree(stacks(), queryOf(FlameWeight::CpuTime)).value();
    std::size_t boxes = 0;
    for (auto _ : state)
        boxes = FlameLayout(built, FlameTree::kRoot, 1920, 1).boxes().size();
    state.counters["boxes"] = static_cast<double>(boxes);
}
BENCHMARK(layout)->Unit(benchmark::kMicrosecond);

void search(benchmark::State& state) {
    const FlameTree built = flameTree(stacks(), queryOf(FlameWeight::CpuTime)).value();
    for (auto _ : state)
        benchmark::DoNotOptimize(flameMatches(built, "copy_").value().total);
}
BENCHMARK(search)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
