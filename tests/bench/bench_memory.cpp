// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// What a memory snapshot costs: opening it and what the views ask, on the file that WARPLINE_BENCH_SNAPSHOT
// names. bytes_per_event counts the history and its layout.
#include "model/analysis/memory_holders.h"
#include "model/analysis/memory_peaks.h"
#include "model/import/import.h"
#include "model/query/memory_blocks.h"
#include "model/query/memory_layout.h"
#include "model/query/memory_state.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using namespace warpline;

/// Time this thread ran, without what other programs took; all of a frame's where one core is given.
double threadMs() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

const char* path() {
    const char* name = std::getenv("WARPLINE_BENCH_SNAPSHOT");
    if (name == nullptr) {
        std::fputs("bench_memory: set WARPLINE_BENCH_SNAPSHOT to the path of a memory snapshot\n", stderr);
        std::exit(2);
    }
    return name;
}

MemoryHistoryPtr open() {
    Result<Opened> opened = openFile(path());
    if (!opened.ok() || opened.value().memory.empty()) {
        std::fprintf(stderr, "bench_memory: %s\n",
                     opened.ok() ? "no snapshot in it" : opened.error().message.c_str());
        std::exit(2);
    }
    return opened.value().memory.front();
}

const MemoryHistoryPtr& history() {
    static const MemoryHistoryPtr opened = open();
    return opened;
}
const MemoryDevice& device() {
    return history()->devices.front();
}
const MemoryLayout& layout() {
    static const auto built = MemoryLayout::build(history(), 0);
    return *built;
}

void openSnapshot(benchmark::State& state) {
    for (auto _ : state) {
        const MemoryHistoryPtr h = open();
        const auto built = MemoryLayout::build(h, 0);
        state.counters["events"] = static_cast<double>(h->devices.front().events.count());
        state.counters["bytes_per_event"] = static_cast<double>(h->bytes() + built->bytes()) /
                                            static_cast<double>(h->devices.front().events.count());
    }
}
BENCHMARK(openSnapshot)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void buildLayout(benchmark::State& state) {
    history();
    for (auto _ : state)
        benchmark::DoNotOptimize(MemoryLayout::build(history(), 0)->bytes());
}
BENCHMARK(buildLayout)->Unit(benchmark::kMillisecond)->UseRealTime();

void stateAtMoment(benchmark::State& state) {
    layout();
    const Moment last = device().lastMoment();
    std::uint64_t at = 0;
    double worst = 0;
    for (auto _ : state) {
        at = (at * 6364136223846793005u + 1442695040888963407u);
        const auto begin = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(
            memoryState(device(), layout().live(), static_cast<Moment>((at >> 20) % last)).all.free);
        worst = std::max(
            worst,
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    state.counters["worst_ms"] = worst;
}
BENCHMARK(stateAtMoment)->Unit(benchmark::kMillisecond);

/// A tour: from all in view down to a few events and back, at four places of the history each; with all of
/// the height (0) or a sixth of it (1).
void layoutFrames(benchmark::State& state) {
    layout();
    const auto last = static_cast<std::int64_t>(device().lastMoment()) + 1;
    const ByteRange bytes = state.range(0) == 0 ? ByteRange{0, layout().peak()}
                                                : ByteRange{layout().peak() / 3, layout().peak() / 2};
    std::vector<double> times;
    std::vector<double> cpu;
    LayoutFrame frame;
    for (auto _ : state) {
        for (double length = static_cast<double>(last); length > 50; length /= 1.1) {
            for (const double at : {0.0, 0.3, 0.7, 1.0}) {
                const auto begin = static_cast<std::int64_t>((static_cast<double>(last) - length) * at);
                const auto start = std::chrono::steady_clock::now();
                const double cpuStart = threadMs();
                layout().frame({MemoryAxis::Events, begin, begin + static_cast<std::int64_t>(length)}, bytes,
                               kWidth, kHeight, frame);
                cpu.push_back(threadMs() - cpuStart);
                times.push_back(
                    std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                        .count());
            }
        }
    }
    std::sort(times.begin(), times.end());
    state.counters["median_ms"] = times[times.size() / 2];
    state.counters["p99_ms"] = times[times.size() * 99 / 100];
    state.counters["max_ms"] = times.back();
    std::sort(cpu.begin(), cpu.end());
    state.counters["cpu_p99_ms"] = cpu[cpu.size() * 99 / 100];
    state.counters["cpu_max_ms"] = cpu.back();
}
BENCHMARK(layoutFrames)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

void layoutWhole(benchmark::State& state) {
    layout();
    LayoutFrame frame;
    for (auto _ : state)
        layout().frame({MemoryAxis::Events, 0, static_cast<std::int64_t>(device().lastMoment()) + 1},
                       {0, layout().peak()}, kWidth, kHeight, frame);
}
BENCHMARK(layoutWhole)->Unit(benchmark::kMillisecond)->UseRealTime();

void bandOfBlock(benchmark::State& state) {
    LayoutFrame frame;
    layout().frame({MemoryAxis::Events, 0, static_cast<std::int64_t>(device().lastMoment()) + 1},
                   {0, layout().peak()}, kWidth, kHeight, frame);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < device().blocks.count(); ++i)
        if (device().blocks.birth[i] < device().blocks.birth[longest] + 1000 &&
            device().blocks.death[i] > device().blocks.death[longest])
            longest = i;
    for (auto _ : state)
        benchmark::DoNotOptimize(layout().band(BlockId::fromIndex(longest), frame.moments).last);
}
BENCHMARK(bandOfBlock)->Unit(benchmark::kMillisecond);

void holdersAtPeak(benchmark::State& state) {
    layout();
    HolderQuery query;
    query.group = static_cast<HolderGroup>(state.range(0));
    state.SetLabel(holderGroupName(query.group));
    for (auto _ : state)
        benchmark::DoNotOptimize(
            holdersAt(*history(), device(), layout().live(), device().peakRequested.moment, query)
                .rows.size());
}
BENCHMARK(holdersAtPeak)->DenseRange(0, kHolderGroupCount - 1)->Unit(benchmark::kMillisecond);

void growth(benchmark::State& state) {
    layout();
    const Moment last = device().lastMoment();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            growthBetween(*history(), device(), layout().live(), last / 4, last / 4 * 3, {}).size());
}
BENCHMARK(growth)->Unit(benchmark::kMillisecond);

void blocksOfText(benchmark::State& state) {
    history();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            listBlocks(*history(), device(), parseBlockFilter("size>1MiB attention"), BlockSort::Size, true)
                .size());
}
BENCHMARK(blocksOfText)->Unit(benchmark::kMillisecond);

void curveColumns(benchmark::State& state) {
    layout();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            layout()
                .requested()
                .columns(momentColumns(device(), {MemoryAxis::Events, 0, device().lastMoment()}, kWidth))
                .size());
}
BENCHMARK(curveColumns)->Unit(benchmark::kMillisecond);

void peaks(benchmark::State& state) {
    history();
    for (auto _ : state)
        benchmark::DoNotOptimize(localPeaks(device(), MemoryCurve::Requested).size());
}
BENCHMARK(peaks)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
