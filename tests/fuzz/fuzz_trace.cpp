// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Opens whatever bytes it is given. With libFuzzer (cmake -DWARPLINE_FUZZ=ON, Clang):
//     fuzz_trace CORPUS_FOLDER
// without it:
//     fuzz_trace [--seconds N] [--rounds N] [--seed N] [FILE...]
// replays the files (or a few built in ones), then damages them at random. A crash names its round; with the
// same seed, --round makes it again alone, and --write FILE keeps its input.
#include "model/import/import.h"
#include "tests/support/check_trace.h"
#include "tests/support/files.h"
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

#ifndef WARPLINE_LIBFUZZER

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

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

std::vector<std::string> builtIn() {
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

class Mutator {
  public:
    Mutator(const std::vector<std::string>& seeds, std::uint64_t seed) : m_seeds(seeds), m_random(seed) {}

    std::string make() {
        std::string text = m_seeds[below(m_seeds.size())];
        // Of a long file, a part: more rounds a second, and cut at both ends as well.
        constexpr std::size_t kPart = 64 << 10;
        if (text.size() > kPart)
            text = below(2) == 0 ? text.substr(0, kPart) : text.substr(below(text.size() - kPart), kPart);
        for (std::size_t n = 1 + below(6); n > 0 && !text.empty(); --n)
            damage(text);
        return text;
    }

  private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(m_random() % n); }

    void damage(std::string& text) {
        static constexpr std::string_view kWords[] = {"\"",
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
        const std::size_t at = below(text.size());
        switch (below(8)) {
        case 0:
            text[at] = static_cast<char>(m_random());
            break;
        case 1:
            text[at] ^= static_cast<char>(1 << below(8));
            break;
        case 2:
            text.insert(at, kWords[below(std::size(kWords))]);
            break;
        case 3:
            text.erase(at, 1 + below(4));
            break;
        case 4:
            text.erase(at, below(2000));
            break;
        case 5:
            text.insert(at, text.substr(below(text.size()), below(500)));
            break;
        case 6:
            text.resize(at);
            break;
        default:
            text.insert(at, std::string(below(100), kWords[below(8)][0]));
        }
    }

    const std::vector<std::string>& m_seeds;
    std::mt19937_64 m_random;
};

volatile std::sig_atomic_t g_roundHigh = 0, g_roundLow = 0;

/// Says which round it was; nothing here may allocate.
extern "C" void onCrash(int signal) {
    char text[] = "\nfuzz_trace: crashed in round 0000000000\n";
    std::uint64_t round =
        static_cast<std::uint64_t>(g_roundHigh) * 1'000'000 + static_cast<std::uint64_t>(g_roundLow);
    for (std::size_t at = sizeof text - 3; round > 0; --at, round /= 10)
        text[at] = static_cast<char>('0' + round % 10);
    (void)!::write(STDERR_FILENO, text, sizeof text - 1);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

double open(const std::string& text) {
    const Clock::time_point begin = Clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

} // namespace

int main(int argc, char** argv) {
    double seconds = 5;
    std::uint64_t rounds = UINT64_MAX, seed = 1, only = UINT64_MAX;
    std::string write;
    std::vector<std::string> seeds;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option.starts_with("--") && i + 1 < argc) {
            const std::string value = argv[++i];
            if (option == "--seconds")
                seconds = std::stod(value);
            else if (option == "--rounds")
                rounds = std::stoull(value);
            else if (option == "--seed")
                seed = std::stoull(value);
            else if (option == "--round")
                only = std::stoull(value);
            else if (option == "--write")
                write = value;
            else
                return std::fprintf(stderr, "unknown option %s\n", option.c_str()), 2;
            continue;
        }
        std::optional<std::string> bytes = warpline::test::readFile(option);
        if (!bytes)
            return std::fprintf(stderr, "cannot read %s\n", option.c_str()), 2;
        seeds.push_back(std::move(*bytes));
    }
    if (seeds.empty())
        seeds = builtIn();
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
        std::signal(signal, onCrash);

    if (only == UINT64_MAX)
        for (const std::string& text : seeds)
            open(text);
    const Clock::time_point begin = Clock::now();
    std::uint64_t round = only == UINT64_MAX ? 0 : only;
    double slowest = 0;
    for (; round < rounds; ++round) {
        if (only == UINT64_MAX && std::chrono::duration<double>(Clock::now() - begin).count() > seconds)
            break;
        g_roundHigh = static_cast<std::sig_atomic_t>(round / 1'000'000);
        g_roundLow = static_cast<std::sig_atomic_t>(round % 1'000'000);
        const std::string text = Mutator(seeds, seed * 0x9E3779B97F4A7C15ULL + round).make();
        if (!write.empty())
            std::ofstream(write, std::ios::binary) << text;
        const double took = open(text);
        slowest = std::max(slowest, took);
        // A hundred kilobytes at most: this long means that something does not end in sensible time.
        if (took > 10) {
            std::fprintf(stderr, "fuzz_trace: round %llu took %.1f s\n",
                         static_cast<unsigned long long>(round), took);
            return 1;
        }
        if (only != UINT64_MAX)
            break;
    }
    std::printf("%llu rounds over %zu files, seed %llu, slowest %.3f s\n",
                static_cast<unsigned long long>(round), seeds.size(), static_cast<unsigned long long>(seed),
                slowest);
    return 0;
}

#endif
