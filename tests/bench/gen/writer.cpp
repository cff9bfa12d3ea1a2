// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "tests/bench/gen/writer.h"

#include <iterator>

namespace gen {
namespace {

struct Micros {
    Time ns;
};

} // namespace
} // namespace gen

template <>
struct fmt::formatter<gen::Micros> {
    constexpr auto parse(format_parse_context& c) { return c.begin(); }
    template <class Context>
    auto format(gen::Micros m, Context& c) const {
        return fmt::format_to(c.out(), "{}.{:03}", m.ns / 1000, m.ns % 1000);
    }
};

namespace gen {

namespace {

void writeHead(fmt::memory_buffer& out, std::string_view category, std::string_view name, std::int64_t pid,
               const Event& e) {
    fmt::format_to(std::back_inserter(out),
                   "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n  "
                   "  \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      ",
                   category, name, pid, e.thread, Micros{e.start}, Micros{e.end - e.start});
}

} // namespace

void write(fmt::memory_buffer& out, const Event& e) {
    const auto to = std::back_inserter(out);
    switch (e.type) {
    case Event::Type::Op: {
        const std::string_view dims = e.op->dims[e.variant];
        writeHead(out, "cpu_op", e.op->name, kProcess, e);
        fmt::format_to(
            to,
            R"("External id": {},"Record function id": {}, "Concrete Inputs": {}, "Input type": {}, "Input Strides": {}, "Input Dims": {}, "Ev Idx": {})",
            e.external, e.record, e.op->concrete, e.op->types, dims, dims, e.index);
        if (e.sequence >= 0)
            fmt::format_to(to, R"(, "Sequence number": {}, "Fwd thread id": {})", e.sequence,
                           e.forwardThread);
        break;
    }
    case Event::Type::Annotation:
        writeHead(out, "user_annotation", e.text, kProcess, e);
        fmt::format_to(
            to,
            R"("External id": {},"Record function id": 0, "Concrete Inputs": [], "Input type": [], "Input Strides": [], "Input Dims": [], "Ev Idx": {})",
            e.external, e.index);
        break;
    case Event::Type::Python:
        writeHead(out, "python_function", e.text, kProcess, e);
        fmt::format_to(to, R"("Python parent id": {}, "Python id": {}, "Ev Idx": {})",
                       e.record == 0 ? std::string("null") : std::to_string(e.record), e.external, e.index);
        break;
    case Event::Type::Memory:
        fmt::format_to(to,
                       "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
                       "\"[memory]\",\n    \"pid\": {}, \"tid\": {},\n    \"ts\": {},\n    \"args\": {{\n    "
                       "  \"Total Reserved\": {}, \"Total Allocated\": {}, \"Bytes\": {}, \"Addr\": {}, "
                       "\"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": {}",
                       kProcess, e.thread, Micros{e.start}, std::int64_t{42} << 30, e.total, e.bytes,
                       e.address, e.index);
        break;
    case Event::Type::Flow: {
        const bool onDevice = e.thread == kCompute || e.thread == kCollectives || e.thread == kCopies;
        fmt::format_to(to,
                       "  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {},\n    "
                       "\"cat\": \"{}\", \"name\": \"{}\"{}\n  }},\n",
                       e.phase, e.external, onDevice ? 0 : kProcess, e.thread, Micros{e.start}, e.constant,
                       e.constant, e.phase == 'f' ? ", \"bp\": \"e\"" : "");
        return;
    }
    case Event::Type::Kernel: {
        const double blocks = e.grid / 108.0;
        const double warps = blocks * e.block / 32;
        writeHead(out, "kernel", e.constant, 0, e);
        fmt::format_to(
            to,
            "\"External id\": {},\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": "
            "{}, \"correlation\": {},\n      \"registers per thread\": {},\n      \"shared memory\": {},\n   "
            "   \"blocks per SM\": {:.6f},\n      \"warps per SM\": {:.6f},\n      \"grid\": [{}, {}, 1],\n  "
            "    \"block\": [{}, 1, 1],\n      \"est. achieved occupancy %\": {}",
            e.external, e.thread, e.index, e.registers, e.variant, blocks, warps, e.grid, 1 + e.grid % 8,
            e.block, std::min(100, static_cast<int>(warps * 100 / 64)));
        break;
    }
    case Event::Type::Copy:
        writeHead(out, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, e);
        fmt::format_to(to,
                       "\"External id\": {},\n      \"device\": 0, \"context\": 1,\n      \"stream\": {}, "
                       "\"correlation\": {},\n      \"bytes\": {}, \"memory bandwidth (GB/s)\": {}",
                       e.external, e.thread, e.index, e.bytes,
                       static_cast<double>(e.bytes) / static_cast<double>(e.end - e.start));
        break;
    case Event::Type::Call:
        writeHead(out, "cuda_runtime", e.constant, kProcess, e);
        fmt::format_to(to, "\"External id\": {}, \"cbid\": {}, \"correlation\": {}", e.external, e.variant,
                       e.index);
        break;
    case Event::Type::GpuAnnotation:
        writeHead(out, "gpu_user_annotation", e.text, 0, e);
        fmt::format_to(to, "\"External id\": {}", e.external);
        break;
    }
    fmt::format_to(to, "\n    }}\n  }},\n");
}

std::vector<std::string> tail(Time end) {
    std::vector<std::string> out;
    const auto metadata = [&](std::string_view name, std::string_view pid, std::int64_t tid,
                              std::string_view key, std::string_view value) {
        out.push_back(fmt::format("  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": {}, \"pid\": {}, "
                                  "\"tid\": {},\n    \"args\": {{\n      \"{}\": {}\n    }}\n  }}",
                                  name, Micros{kBegin}, pid, tid, key, value));
    };
    const std::string host = std::to_string(kProcess);
    for (const auto& [pid, label, sort] :
         {std::array<std::string, 3>{host, "CPU", host}, {"0", "GPU 0", "5000000"}}) {
        metadata("process_name", pid, 0, "name", "\"python3\"");
        metadata("process_labels", pid, 0, "labels", '"' + label + '"');
        metadata("process_sort_index", pid, 0, "sort_index", sort);
    }
    metadata("process_name", "\"Spans\"", 0, "name", "\"Spans\"");
    metadata("process_sort_index", "\"Spans\"", 0, "sort_index", "536870912");
    for (const auto& [tid, name] :
         {std::pair{kMainThread, "python3"}, std::pair{kBackwardThread, "pt_autograd_0"}}) {
        metadata("thread_name", host, tid, "name", fmt::format("\"thread {} ({})\"", tid, name));
        metadata("thread_sort_index", host, tid, "sort_index", std::to_string(tid));
    }
    for (const std::int64_t stream : {kCompute, kCollectives, kCopies}) {
        metadata("thread_name", "0", stream, "name", fmt::format("\"stream {} \"", stream));
        metadata("thread_sort_index", "0", stream, "sort_index", std::to_string(stream));
    }
    out.push_back(fmt::format("  {{\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {}, \"dur\": {},\n    "
                              "\"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch "
                              "Profiler (0)\",\n    \"args\": {{\n      \"Op count\": 0\n    }}\n  }}",
                              Micros{kBegin}, Micros{end - kBegin}));
    out.push_back(
        fmt::format("  {{\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": "
                    "\"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": {}\n  }}",
                    Micros{kBegin}));
    out.push_back(fmt::format("  {{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
                              "\"pid\": \"\", \"tid\": \"\", \"ts\": {}\n  }}",
                              Micros{end}));
    return out;
}

std::string head(bool python) {
    static constexpr std::string_view kHead = R"({{
  "schemaVersion": 1,
  "deviceProperties": [
    {{
      "id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 84974239744,
      "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 108
    }}
  ],
  "distributedInfo": {{"backend": "nccl", "rank": 0, "world_size": 8, "pg_count": 1, "nccl_version": "2.21.5"}},
  "record_shapes": 1,
  "profile_memory": 1,
  "with_stack": {},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": {},
  "traceEvents": [
)";
    return fmt::format(fmt::runtime(kHead), python ? 1 : 0, kBase);
}

} // namespace gen
