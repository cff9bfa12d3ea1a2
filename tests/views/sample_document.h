// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "tests/unit/trace_builder.h"
#include "views/document.h"
#include "views/timeline/row_series.h"

#include <memory>

namespace warpline::test {

/// A small training step by hand: a process with a main thread (ops two deep, a Python track three deep), a
/// GPU with one stream, links from launch to kernel, an allocator, a counter and two steps. Times begin at a
/// date, as real ones do.
struct SampleTrace {
    static constexpr TimeNs kStart = 1'790'857'026'000'000'000;
    static constexpr TimeNs kMs = 1'000'000;

    TracePtr trace;
    TrackId thread, python, stream;
    SliceId forward, mm, add, launch, kernel, kernel2, relu;

    static SampleTrace make() {
        TraceBuilder b;
        SampleTrace s;
        const std::uint32_t host = b.process(455, false, "python3");
        const std::uint32_t gpu = b.process(0, true, "NVIDIA H200");
        s.thread = b.track(host, TrackKind::Thread, 455);
        s.python = b.track(host, TrackKind::Python, 455);
        s.stream = b.track(gpu, TrackKind::Stream, 7);
        const auto at = [](double ms) { return kStart + static_cast<TimeNs>(ms * kMs); };
        const auto forward = b.add(s.thread, "user_annotation", "forward", at(0), 50 * kMs);
        const auto mm = b.add(s.thread, "cpu_op", "aten::mm", at(2), 10 * kMs,
                              {TraceBuilder::raw("Input Dims", "[[64, 64], [64, 64]]")});
        const auto launch = b.add(s.thread, "cuda_runtime", "cudaLaunchKernel", at(4), 2 * kMs);
        const auto add = b.add(s.thread, "cpu_op", "aten::add", at(20), 5 * kMs);
        const auto relu = b.add(s.thread, "cpu_op", "aten::mm", at(40), 5 * kMs);
        b.add(s.thread, "user_annotation", "backward", at(60), 40 * kMs);
        b.add(s.python, "python_function", "train.py(1): <module>", at(0), 100 * kMs);
        b.add(s.python, "python_function", "train.py(9): step", at(1), 60 * kMs);
        b.add(s.python, "python_function", "nn.Module: Linear_0", at(2), 20 * kMs);
        const auto kernel = b.add(s.stream, "kernel", "void at::native::gemm_kernel<float>(float*)", at(10),
                                  20 * kMs, {TraceBuilder::raw("grid", "[4096, 1, 1]")});
        const auto kernel2 = b.add(s.stream, "kernel", "elementwise_kernel", at(60), 5 * kMs);
        b.launch(launch, kernel);
        b.op(mm, kernel);
        b.memory(at(0), 1 << 20, 0, s.thread);
        b.memory(at(30), 3 << 20, 0, s.thread);
        b.memory(at(80), -(2 << 20), 0, s.thread);
        CounterTrack counter;
        counter.process = host;
        counter.name = b.trace().strings.intern("queue");
        counter.series = b.trace().strings.intern("length");
        counter.time.reset(2);
        counter.value.reset(2);
        counter.time[0] = at(10);
        counter.time[1] = at(50);
        counter.value[0] = 1;
        counter.value[1] = 4;
        b.trace().counters.push_back(std::move(counter));
        s.trace = b.finish();
        s.forward = b.id(forward);
        s.mm = b.id(mm);
        s.add = b.id(add);
        s.launch = b.id(launch);
        s.kernel = b.id(kernel);
        s.kernel2 = b.id(kernel2);
        s.relu = b.id(relu);
        b.trace().steps.push_back({5, s.forward, {at(0), at(55)}});
        b.trace().steps.push_back({6, s.forward, {at(55), at(100)}});
        return s;
    }
};

/// A document's item without what the timeline does not read.
inline Document::Item itemOf(const TracePtr& trace, TimeNs shift = 0) {
    Document::Item item;
    item.trace = trace;
    item.shift = shift;
    item.spans = std::make_shared<const SpanIndex>(trace);
    item.families = std::make_shared<const FamilyIndex>(*trace);
    item.series = SourceSeries::of(trace);
    return item;
}

inline Document::Prepared preparedOf(const std::vector<TracePtr>& traces) {
    Document::Prepared prepared;
    prepared.session = Session::of(traces);
    for (const Source& source : prepared.session->sources)
        prepared.items.push_back(itemOf(source.trace, source.shift));
    return prepared;
}

} // namespace warpline::test
