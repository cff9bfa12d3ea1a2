// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "tests/bench/gen/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

// What happens when the program runs, and what a profiler records of it.
namespace gen {

/// One event, written once its end is known: a parent stands before its children in the file.
struct Event {
    enum class Type : std::uint8_t {
        Op,
        Annotation,
        Python,
        Memory,
        Flow,
        Kernel,
        Copy,
        Call,
        GpuAnnotation
    } type;
    std::int64_t thread = 0;
    Time start = 0;
    Time end = 0;
    const Op* op = nullptr;
    std::string text;          ///< names that are no constant
    std::string_view constant; ///< names that are
    std::int64_t external = 0; ///< External id; of Python its own id; of flows their id
    std::int64_t index = 0;    ///< Ev Idx; of device work and calls the correlation
    std::int64_t record = 0;   ///< Record function id; of Python its parent
    std::int64_t sequence = -1;
    std::int64_t forwardThread = 0;
    std::int64_t bytes = 0;
    std::int64_t address = 0;
    std::int64_t total = 0;
    std::uint32_t grid = 0;
    std::uint16_t block = 0;
    std::uint16_t registers = 0;
    std::uint32_t variant = 0; ///< of Op its dims; of Kernel the shared memory; of Call the callback id
    char phase = 'X';

    explicit Event(Type t) : type(t) {}
};

/// Everything that goes on from step to step; a copy of it takes a step back.
struct State {
    Random random;
    std::int64_t external = 1, correlation = 100'000, sequence = 5000, flow = 1, record = 0, python = 1,
                 index = 0;
    std::int64_t allocated = std::int64_t{5} << 30;
    std::array<Time, 3> streamEnd{};
    Time now = kBegin;
};

class Trainer {
  public:
    Trainer(std::uint64_t seed, bool python) : state{Random(seed)}, m_python(python) {}

    std::vector<Event> host;
    std::vector<Event> device;
    State state;

    [[nodiscard]] std::size_t events() const { return host.size() + device.size(); }

    void step(int number, int layers) {
        const Time begin = state.now;
        const std::size_t slot = annotation(fmt::format("ProfilerStep#{}", number), kMainThread, begin);
        const std::int64_t external = host[slot].external;
        const Time deviceBegin = std::max(streamEnd(kCompute), begin);
        Time t = begin + 20'000;
        const std::int64_t root = openPython("train.py(118): train_step", t, 0);
        for (int i = 0; i < 2; ++i)
            t += copy(t + 500, state.external++) + 2'000;

        std::vector<std::pair<std::int64_t, std::int64_t>> recorded; // sequence number, arrow
        for (int layer = 0; layer < layers; ++layer)
            t = forward(layer, t, root, recorded);
        closePython(root, t += 500);
        t = std::max(t, backward(recorded, t + 30'000));
        t = optimiser(layers, t + 5'000, external);

        host[slot].end = t;
        Event shadow(Event::Type::GpuAnnotation);
        shadow.thread = kCompute;
        shadow.text = host[slot].text;
        shadow.start = deviceBegin + 100;
        shadow.end = std::max(shadow.start + 1'000, streamEnd(kCompute));
        shadow.external = external;
        device.push_back(std::move(shadow));
        state.now = t + 10'000;
    }

    /// One event that calls and launches nothing.
    void leaf() { state.now = run(kAsStrided, kMainThread, state.now) + 500; }

  private:
    Time& streamEnd(std::int64_t stream) {
        return state.streamEnd[stream == kCompute ? 0 : stream == kCollectives ? 1 : 2];
    }
    std::int64_t below(std::int64_t n) { return state.random.below(n); }

    /// Runs an op and what it calls from `start` on; gives its end.
    Time run(const Op& op, std::int64_t thread, Time start, std::int64_t sequence = -1,
             const Op* alsoCalls = nullptr) {
        const std::size_t slot = host.size();
        Event e(Event::Type::Op);
        e.thread = thread;
        e.start = start;
        e.op = &op;
        e.external = state.external++;
        e.index = state.index++;
        e.record = state.record++;
        e.sequence = sequence;
        e.forwardThread = thread == kBackwardThread ? 1 : 0;
        e.variant = static_cast<std::uint32_t>(below(static_cast<std::int64_t>(op.dims.size())));
        const std::int64_t external = e.external;
        host.push_back(std::move(e));
        Time t = start + 600 + below(1'500);
        for (const Op* call : op.calls)
            t = run(*call, thread, t) + 150 + below(700);
        if (alsoCalls != nullptr)
            t = run(*alsoCalls, thread, t) + 150 + below(700);
        if (op.allocates && below(2) == 0) {
            memory(thread, t);
            t += 80;
        }
        if (op.work != Work::None)
            t += launch(op.work, thread, t, external) + 300;
        const Time end = t + 300 + below(900);
        host[slot].end = end;
        return end;
    }

    Time forward(int layer, Time t, std::int64_t root,
                 std::vector<std::pair<std::int64_t, std::int64_t>>& recorded) {
        const std::int64_t block =
            openPython(fmt::format("nn.Module: TransformerBlock_{}", layer), t += 500, root);
        const std::int64_t call = openPython("torch/nn/modules/module.py(1553): _call_impl", t += 500, block);
        const std::int64_t body =
            openPython(fmt::format("model.py({}): forward", 200 + layer % 3), t += 500, call);
        for (const Module& module : blockModules()) {
            const bool named = !module.name.empty();
            const std::int64_t outer =
                named ? openPython(fmt::format("nn.Module: {}_{}", module.name, layer), t += 400, body) : 0;
            const std::int64_t inner =
                named ? openPython(fmt::format("torch/nn/modules/{}.py(125): forward", module.name), t += 400,
                                   outer)
                      : 0;
            for (const Op* op : module.ops) {
                const std::int64_t sequence = state.sequence++;
                const Time start = t + 300;
                t = run(*op, kMainThread, start, sequence) + 1'000;
                const std::int64_t arrow = state.flow++;
                flow(host, 's', arrow, kMainThread, start + 10, "fwdbwd");
                recorded.emplace_back(sequence, arrow);
            }
            closePython(inner, t += 200);
            closePython(outer, t += 200);
        }
        closePython(body, t += 200);
        closePython(call, t += 200);
        closePython(block, t += 200);
        return t;
    }

    Time backward(const std::vector<std::pair<std::int64_t, std::int64_t>>& recorded, Time t) {
        std::size_t done = 0;
        for (auto it = recorded.rbegin(); it != recorded.rend(); ++it) {
            const Backward& node = backwardNodes()[done++ % backwardNodes().size()];
            const Time start = t;
            t = run(node.outer, kBackwardThread, start, it->first, &node.inner) + 900;
            flow(host, 'f', it->second, kBackwardThread, start + 10, "fwdbwd");
            if (done % 24 == 0) {
                const std::size_t slot = annotation("nccl:all_reduce", kBackwardThread, t);
                t += launch(Work::Collective, kBackwardThread, t + 500, host[slot].external) + 4'000;
                host[slot].end = t;
                t += 800;
            }
        }
        return t;
    }

    Time optimiser(int layers, Time t, std::int64_t external) {
        const std::size_t slot = annotation("Optimizer.step#AdamW.step", kMainThread, t);
        t += 1'000;
        for (int layer = 0; layer < layers; ++layer)
            t = run(kFusedAdam, kMainThread, t) + 900;
        host[slot].end = t;
        const Time wait = std::max<Time>(5'000, streamEnd(kCompute) - t);
        this->call("cudaDeviceSynchronize", 165, kMainThread, t + 1'000, wait, external,
                   state.correlation += 3);
        return t + wait + 3'000;
    }

    std::size_t annotation(std::string name, std::int64_t thread, Time start) {
        Event e(Event::Type::Annotation);
        e.thread = thread;
        e.start = start;
        e.text = std::move(name);
        e.external = state.external++;
        e.index = state.index++;
        host.push_back(std::move(e));
        return host.size() - 1;
    }

    /// Gives the frame's id, 0 where Python is not recorded.
    std::int64_t openPython(std::string name, Time start, std::int64_t parent) {
        if (!m_python)
            return 0;
        Event e(Event::Type::Python);
        e.thread = kMainThread;
        e.start = start;
        e.text = std::move(name);
        e.external = state.python++;
        e.index = state.index++;
        e.record = parent;
        m_frames.push_back({e.external, host.size()});
        host.push_back(std::move(e));
        return host.back().external;
    }
    void closePython(std::int64_t frame, Time end) {
        if (frame == 0)
            return;
        host[m_frames.back().second].end = end;
        m_frames.pop_back();
    }

    void memory(std::int64_t thread, Time t) {
        Event e(Event::Type::Memory);
        e.thread = thread;
        e.start = t;
        e.bytes = (std::int64_t{512} << below(16)) * (below(100) < 48 ? -1 : 1);
        state.allocated = std::max(std::int64_t{1} << 30, state.allocated + e.bytes);
        e.total = state.allocated;
        e.address = 0x7f3a00000000 + below(std::int64_t{1} << 25) * 512;
        e.index = state.index++;
        host.push_back(std::move(e));
    }

    static void flow(std::vector<Event>& to, char phase, std::int64_t id, std::int64_t thread, Time t,
                     std::string_view category) {
        Event e(Event::Type::Flow);
        e.thread = thread;
        e.start = t;
        e.constant = category;
        e.external = id;
        e.phase = phase;
        to.push_back(std::move(e));
    }

    void call(std::string_view name, std::uint32_t callback, std::int64_t thread, Time start, Time duration,
              std::int64_t external, std::int64_t correlation) {
        Event e(Event::Type::Call);
        e.thread = thread;
        e.start = start;
        e.end = start + duration;
        e.constant = name;
        e.external = external;
        e.index = correlation;
        e.variant = callback;
        device.push_back(std::move(e));
    }

    void deviceWork(Event e, std::int64_t thread, Time callStart, Time callDuration,
                    std::string_view callName, std::uint32_t callback) {
        const std::int64_t stream = e.thread;
        const std::int64_t correlation = e.index;
        const std::int64_t external = e.external;
        const Time start = e.start;
        device.push_back(std::move(e));
        flow(device, 'f', correlation, stream, start, "ac2g");
        call(callName, callback, thread, callStart, callDuration, external, correlation);
        flow(device, 's', correlation, thread, callStart, "ac2g");
    }

    /// A launch and its kernel; gives how long the call took.
    Time launch(Work work, std::int64_t thread, Time t, std::int64_t external) {
        const bool collective = work == Work::Collective;
        Event e(Event::Type::Kernel);
        e.thread = collective ? kCollectives : kCompute;
        e.external = external;
        e.index = state.correlation += 1 + below(4);
        const Time duration = 4'000 + below(6'000);
        const Time typical = work == Work::Gemm ? 80'000 : collective ? 900'000 : 9'000;
        Time length = typical / 2 + below(typical);
        e.start = std::max(t + duration + 1'500, streamEnd(e.thread) + 900);
        if (e.start - t > 50'000'000) // the host does not run ahead for ever
            length = 2'000;
        e.end = streamEnd(e.thread) = e.start + length;
        const auto& names = kernelNames(work);
        e.constant = names[static_cast<std::size_t>(below(static_cast<std::int64_t>(names.size())))];
        e.grid = static_cast<std::uint32_t>(1 + below(4096));
        e.block = static_cast<std::uint16_t>(64 << below(4));
        e.registers = static_cast<std::uint16_t>(16 + 8 * below(28));
        e.variant = std::array{0U, 16U, 49'152U, 81'920U}[static_cast<std::size_t>(below(4))];
        deviceWork(std::move(e), thread, t, duration, collective ? "cudaLaunchKernelExC" : "cudaLaunchKernel",
                   collective ? 430 : 211);
        return duration;
    }

    Time copy(Time t, std::int64_t external) {
        Event e(Event::Type::Copy);
        e.thread = kCopies;
        e.external = external;
        e.index = state.correlation += 1 + below(4);
        const Time duration = 5'000 + below(8'000);
        e.bytes = std::int64_t{4096} << below(12);
        e.start = std::max(t + duration, streamEnd(kCopies) + 500);
        e.end = streamEnd(kCopies) = e.start + 1'200 + e.bytes / 20;
        deviceWork(std::move(e), kMainThread, t, duration, "cudaMemcpyAsync", 41);
        return duration;
    }

    bool m_python;
    std::vector<std::pair<std::int64_t, std::size_t>> m_frames; ///< open Python frames: id, place in host
};

} // namespace gen
