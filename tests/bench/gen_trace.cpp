// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Writes large traces as torch.profiler and Kineto do: training steps of a transformer, first the host's ops
// with shapes, allocations and forward-backward arrows, then kernels, copies and runtime calls with their
// launch arrows, then the metadata. Deterministic by seed; the event list has exactly the asked number of
// objects.
//
//   gen_trace EVENTS OUT.json [--python] [--seed N] [--layers N]
#include "tests/bench/gen/writer.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

using namespace gen;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void put(std::FILE* to, const char* data, std::size_t size) {
    if (std::fwrite(data, 1, size, to) != size) {
        std::perror("gen_trace: writing");
        std::exit(1);
    }
}

void put(std::FILE* to, const std::vector<Event>& events) {
    fmt::memory_buffer out;
    for (const Event& e : events)
        write(out, e);
    put(to, out.data(), out.size());
}

int generate(std::size_t events, const char* path, bool python, std::uint64_t seed, int layers) {
    const std::size_t tailSize = tail(0).size();
    if (events < tailSize) {
        fmt::print(stderr, "gen_trace: a trace has at least {} events\n", tailSize);
        return 2;
    }
    const File out(std::fopen(path, "wb"), &std::fclose);
    const File deviceHalf(std::tmpfile(), &std::fclose);
    if (!out || !deviceHalf) {
        std::perror(path);
        return 1;
    }
    const std::string before = gen::head(python);
    put(out.get(), before.data(), before.size());

    Trainer trainer(seed, python);
    std::size_t left = events - tailSize;
    for (int step = 10; layers > 0 && left > 0;) {
        const State saved = trainer.state;
        trainer.step(step, layers);
        if (trainer.events() > left) {
            layers /= 2; // the last steps are shorter, so that the number comes out
            trainer.state = saved;
        } else {
            left -= trainer.events();
            put(out.get(), trainer.host);
            put(deviceHalf.get(), trainer.device);
            ++step;
        }
        trainer.host.clear();
        trainer.device.clear();
    }
    for (; left > 0; --left)
        trainer.leaf();
    put(out.get(), trainer.host);

    std::rewind(deviceHalf.get());
    std::vector<char> block(std::size_t{1} << 20);
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), deviceHalf.get()))
        put(out.get(), block.data(), n);
    std::string end;
    for (const std::string& e : tail(trainer.state.now))
        end += (end.empty() ? "" : ",\n") + e;
    end += fmt::format("\n  ],\n  \"traceName\": \"{}\"\n}}\n",
                       std::string_view(path).substr(std::string_view(path).rfind('/') + 1));
    put(out.get(), end.data(), end.size());
    const long size = std::ftell(out.get());
    fmt::print("{} events, {} bytes, {:.1f} bytes an event\n", events, size,
               static_cast<double>(size) / static_cast<double>(events));
    return 0;
}

bool number(const char* text, std::uint64_t& out) {
    const std::string_view s = text;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    return error == std::errc() && end == s.data() + s.size();
}

} // namespace

int main(int argc, char** argv) {
    std::uint64_t events = 0;
    std::uint64_t seed = 1;
    std::uint64_t layers = 24;
    const char* path = nullptr;
    bool python = false;
    bool wrong = argc < 3 || !number(argv[1], events);
    for (int i = 2; i < argc && !wrong; ++i) {
        const std::string_view arg = argv[i];
        if (arg == "--python")
            python = true;
        else if ((arg == "--seed" || arg == "--layers") && i + 1 < argc)
            wrong = !number(argv[++i], arg == "--seed" ? seed : layers);
        else if (path == nullptr && !arg.starts_with("--"))
            path = argv[i];
        else
            wrong = true;
    }
    if (wrong || path == nullptr || layers == 0 || layers > 1000) {
        fmt::print(stderr, "usage: gen_trace EVENTS OUT.json [--python] [--seed N] [--layers N]\n");
        return 2;
    }
    return generate(events, path, python, seed, static_cast<int>(layers));
}
