// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/python.h"

#include "capture/agent/thread.h"

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

namespace warpline::agent {

namespace {

constexpr std::size_t kMostSource = 64 << 10;

struct Request {
    std::uint32_t number;
    void (*done)(std::uint32_t, int);
    char source[kMostSource + 1];
};
constinit Request g_request{};
constinit bool g_running = false;

int run(const char* source) {
    // libpython or the program itself, whichever brings the interpreter.
    const auto isInitialized = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    const auto ensure = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
    const auto release = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "PyGILState_Release"));
    const auto runString =
        reinterpret_cast<int (*)(const char*, void*)>(::dlsym(RTLD_DEFAULT, "PyRun_SimpleStringFlags"));
    if (isInitialized == nullptr || ensure == nullptr || release == nullptr || runString == nullptr ||
        isInitialized() == 0)
        return 2;
    const int state = ensure();
    const int failed = runString(source, nullptr);
    release(state);
    return failed == 0 ? 0 : 1;
}

void* body(void* /*unused*/) {
    const int status = run(g_request.source);
    const std::uint32_t number = g_request.number;
    const auto done = g_request.done;
    __atomic_store_n(&g_running, false, __ATOMIC_RELEASE);
    done(number, status);
    return nullptr;
}

} // namespace

bool runPython(std::uint32_t number, const char* source, std::size_t size,
               void (*done)(std::uint32_t number, int status)) {
    if (size > kMostSource || __atomic_exchange_n(&g_running, true, __ATOMIC_ACQ_REL))
        return false;
    g_request.number = number;
    g_request.done = done;
    std::memcpy(g_request.source, source, size);
    g_request.source[size] = '\0';
    if (!startThread(&body, nullptr, "warpline-py", std::size_t{8} << 20)) {
        __atomic_store_n(&g_running, false, __ATOMIC_RELEASE);
        return false;
    }
    return true;
}

} // namespace warpline::agent
