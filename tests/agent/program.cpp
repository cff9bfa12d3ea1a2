// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// A program to be recorded, without a GPU: plays the driver's part at the start, then works in the way its
// argument names. CUPTI is the stand-in that WARPLINE_CUPTI or STANDIN_LIBRARY names.
//   run                plays all and ends
//   exit CODE          plays all, writes to both outputs and ends with CODE
//   loop SECONDS       for attaching: works until the time is over, prints how many rounds it made
//   profiler, range    calls what recording begins with, then plays
//   fork               forks, in the middle, a child that ends by itself

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void* openStandIn() {
    const char* path = std::getenv("STANDIN_LIBRARY");
    if (path == nullptr)
        path = std::getenv("WARPLINE_CUPTI");
    void* library = path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) {
        std::fprintf(stderr, "no stand-in: %s\n", path != nullptr ? ::dlerror() : "not named");
        std::exit(3);
    }
    return library;
}

template <class F>
F find(void* library, const char* name) {
    return reinterpret_cast<F>(::dlsym(library, name));
}

/// What the driver does when CUDA is initialised.
void initialiseCuda() {
    // An attach looks for the driver's library by its name.
    if (const char* driver = std::getenv("STANDIN_DRIVER"))
        (void)::dlopen(driver, RTLD_NOW);
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr)
        return;
    void* agent = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (agent == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        std::exit(3);
    }
    const auto initialize = find<int (*)()>(agent, "InitializeInjection");
    if (initialize != nullptr)
        (void)initialize();
}

/// Work that allocates, computes in vector registers and waits, and notices if it was disturbed.
unsigned long loop(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    unsigned long rounds = 0;
    double expected = 0;
    while (std::chrono::steady_clock::now() < end) {
        std::vector<double> values(1000 + rounds % 5000);
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>(i) * 0.5;
            sum += values[i];
        }
        expected = static_cast<double>(values.size() - 1) * static_cast<double>(values.size()) * 0.25;
        if (sum != expected) {
            std::fprintf(stderr, "disturbed in round %lu: %f is not %f\n", rounds, sum, expected);
            std::exit(4);
        }
        if (++rounds % 1000 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rounds;
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "run";
    void* standIn = openStandIn();
    initialiseCuda();
    const char* patience = std::getenv("STANDIN_PATIENCE");
    const int patienceMs = patience != nullptr ? std::atoi(patience) : 60'000;
    const auto wait = find<int (*)(int)>(standIn, "standin_wait");
    if (what == "loop") {
        std::printf("ready\n");
        std::fflush(stdout);
        std::printf("%lu rounds\n", loop(argc > 2 ? std::atof(argv[2]) : 5));
        return 0;
    }
    if (what == "profiler" || what == "range") {
        if (what == "profiler")
            find<void (*)(int)>(standIn, "standin_profiler")(1);
        for (const char* name : {"warm-up", "step 1", "step 2"})
            if (what == "range")
                find<void (*)(const char*)>(standIn, "standin_range")(name);
        find<void (*)()>(standIn, "standin_begin")();
    }
    if (what == "fork") {
        const pid_t child = ::fork();
        if (child == 0)
            std::exit(0); // with all that is to be done at an end
        int status = 0;
        (void)::waitpid(child, &status, 0);
        if (status != 0)
            return 5;
    }
    if (std::getenv("CUDA_INJECTION64_PATH") != nullptr && wait(patienceMs) == 0) {
        std::fprintf(stderr, "nothing was played\n");
        return std::getenv("STANDIN_MAY_FAIL") != nullptr ? 0 : 6;
    }
    std::fprintf(stderr, "given %lu\n", find<unsigned long (*)()>(standIn, "standin_given")());
    if (what == "exit") {
        std::printf("to the output\n");
        return argc > 2 ? std::atoi(argv[2]) : 0;
    }
    return 0;
}
