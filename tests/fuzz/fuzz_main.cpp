// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// What a fuzz target does without libFuzzer:
//     TARGET [--seconds N] [--rounds N] [--seed N] [FILE...]
// replays the files (or a few built in ones), then damages them at random. A crash names its round; with the
// same seed, --round makes it again alone, and --write FILE keeps its input.
#include "tests/fuzz/fuzz.h"
#include "tests/support/files.h"

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
        const std::vector<std::string_view>& words = fuzzWords();
        const std::size_t at = below(text.size());
        switch (below(8)) {
        case 0:
            text[at] = static_cast<char>(m_random());
            break;
        case 1:
            text[at] ^= static_cast<char>(1 << below(8));
            break;
        case 2:
            text.insert(at, words[below(words.size())]);
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
            text.insert(at, std::string(below(100), words[below(8)][0]));
        }
    }

    const std::vector<std::string>& m_seeds;
    std::mt19937_64 m_random;
};

volatile std::sig_atomic_t g_roundHigh = 0, g_roundLow = 0;

/// Says which round it was; nothing here may allocate.
extern "C" void onCrash(int signal) {
    char text[] = "\nfuzzer: crashed in round 0000000000\n";
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
        seeds = fuzzSeeds();
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
            std::fprintf(stderr, "fuzzer: round %llu took %.1f s\n", static_cast<unsigned long long>(round),
                         took);
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
