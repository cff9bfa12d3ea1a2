// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Opens whatever bytes it is given. With libFuzzer (cmake -DWARPLINE_FUZZ=ON, Clang):
//     fuzz_trace CORPUS_FOLDER
// without it fuzz_main.cpp damages files at random.
#include "model/import/import.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/check_trace.h"
#include "tests/support/pack.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpline;
    ImportOptions options;
    options.threads = 1;
    const auto traces = openTracesFromMemory({reinterpret_cast<const char*>(data), size}, "fuzz", options);
    if (!traces.ok()) {
        // Whatever it is, the user is told in a sentence.
        if (traces.error().message.size() < 10 || traces.error().message.find('\n') != std::string::npos) {
            std::fprintf(stderr, "no sentence: \"%s\"\n", traces.error().message.c_str());
            std::abort();
        }
        return 0;
    }
    for (const TracePtr& trace : traces.value()) {
        const std::string broken = test::brokenPromise(*trace);
        if (!broken.empty()) {
            std::fprintf(stderr, "%s\n", broken.c_str());
            std::abort();
        }
    }
    return 0;
}

namespace {

const char kTrace[] = R"({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9}],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
  "baseTimeNanoseconds": 1796105534000000000,
  "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 455, "tid": 0, "args": {"name": "python"}},
  {"ph": "M", "name": "thread_sort_index", "pid": 455, "tid": 1, "args": {"sort_index": 3}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 455, "tid": 455, "ts": 2215.123, "dur": 40.5,
   "args": {"External id": 5, "Sequence number": 3, "Fwd thread id": 0, "Input Dims": [[2, 3], [3, 2], []]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 455, "tid": 455, "ts": 2220, "dur": 5,
   "args": {"External id": 5, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "sm90_gemm<float, 3>", "pid": 0, "tid": 7, "ts": 2260.5, "dur": 9,
   "args": {"External id": 5, "correlation": 77, "device": 0, "stream": 7, "grid": [1, 2, 3], "block": [256, 1, 1]}},
  {"ph": "s", "id": 77, "cat": "ac2g", "name": "ac2g", "pid": 455, "tid": 455, "ts": 2220},
  {"ph": "f", "id": 77, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 2260.5, "bp": "e"},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 455, "tid": 455, "ts": 2218.001,
   "args": {"Addr": 140123, "Bytes": 512, "Total Allocated": 1024, "Total Reserved": 2097152, "Device Type": 1, "Device Id": 0}},
  {"ph": "B", "name": "a", "pid": "x", "tid": "stream 7", "ts": "17"}, {"ph": "E", "pid": "x", "tid": "stream 7", "ts": 21},
  {"ph": "b", "cat": "c", "name": "n", "id": "0x1f", "pid": 1, "ts": 3}, {"ph": "e", "cat": "c", "name": "n", "id": 31, "pid": 1, "ts": 9},
  {"ph": "C", "name": "GPU 0 Utilisation", "pid": 0, "ts": 2215, "args": {"a": 1.5, "b": "2"}},
  {"ph": "N", "id": 1, "name": "o", "pid": 1, "tid": 1, "ts": 1}, {"ph": "R", "name": "mark", "pid": 1, "tid": 1, "ts": 1},
  {}
  ], "traceName": "t.json"})";

} // namespace

std::vector<std::string> fuzzSeeds() {
    const std::string trace = kTrace;
    std::string array = trace.substr(trace.find('[', trace.find("traceEvents")));
    array.resize(array.rfind(']') + 1);
    std::string wide;
    for (const char c : array)
        (wide += c) += '\0';
    return {trace,
            array,
            array + array,
            pack::gzip(trace),
            pack::zstd(trace),
            pack::zip({{"a.json", trace}, {"b.json.gz", pack::gzip(array)}}),
            pack::gzip(pack::tar({{"a/", ""}, {"a/x.json", trace}, {"a/y.json", array}})),
            "\xFF\xFE" + wide};
}

const std::vector<std::string_view>& fuzzWords() {
    static const std::vector<std::string_view> kWords = {"\"",
                                                         "\\",
                                                         "{",
                                                         "}",
                                                         "[",
                                                         "]",
                                                         ":",
                                                         ",",
                                                         "\n",
                                                         "{}",
                                                         "[]",
                                                         "][",
                                                         "NaN",
                                                         "-Infinity",
                                                         "1e400",
                                                         "-0",
                                                         "9223372036854775807",
                                                         "18446744073709551616",
                                                         "0.0000000001",
                                                         "\\u0000",
                                                         "\\ud800",
                                                         "\xEF\xBB\xBF",
                                                         "\xFF",
                                                         "\"ph\": \"X\"",
                                                         "\"ph\":\"E\"",
                                                         "\"ts\": ",
                                                         "\"dur\":-1",
                                                         "\"args\":{",
                                                         "\"traceEvents\":[",
                                                         "null",
                                                         "true",
                                                         "\"id\":\"0xffffffffffffffffff\"",
                                                         "\"pid\":\"\"",
                                                         "\"tid\":1e3",
                                                         "\x1F\x8B\x08"};
    return kWords;
}
