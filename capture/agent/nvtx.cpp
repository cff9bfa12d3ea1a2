// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// NVTX loads the library that NVTX_INJECTION64_PATH names at a program's first range and calls it. That
// library should be CUPTI, the same copy that the program uses; which one that is shows only in the running
// program. So the variable names the agent, which finds CUPTI and hands the call on.

#include "capture/agent/capture.h"
#include "capture/agent/lock.h"

#include <dlfcn.h>

namespace {

constinit pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

template <class F>
F inCupti(const char* name) {
    const warpline::agent::Lock lock(g_mutex);
    // Apart from the capture's own: ranges may come before CUDA, on another thread.
    static constinit warpline::agent::CuptiApi api{};
    char why[768];
    if (!api.load(why, sizeof why))
        return nullptr;
    return reinterpret_cast<F>(::dlsym(api.library, name));
}

} // namespace

extern "C" {

using GetExportTable = const void* (*)(unsigned);

__attribute__((visibility("default"))) int InitializeInjectionNvtx(GetExportTable table) {
    const auto next = inCupti<int (*)(GetExportTable)>("InitializeInjectionNvtx");
    return next != nullptr ? next(table) : 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(GetExportTable table) {
    const auto next = inCupti<int (*)(GetExportTable)>("InitializeInjectionNvtx2");
    return next != nullptr ? next(table) : 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(void* module) {
    const auto next = inCupti<int (*)(void*)>("InitializeInjectionNvtxExtension");
    return next != nullptr ? next(module) : 0;
}
}
