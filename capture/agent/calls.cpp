// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/calls.h"

#include <cstring>

namespace warpline::agent {

namespace {

// After "cuda" or "cu".
constexpr const char* kBoth[] = {
    "Launch",           "Memcpy",
    "Memset",           "MemPrefetch",
    "GraphLaunch",      "GraphInstantiate",
    "GraphExecUpdate",  "StreamCreate",
    "StreamDestroy",    "StreamSynchronize",
    "StreamWaitEvent",  "StreamBeginCapture",
    "StreamEndCapture", "EventRecord",
    "EventSynchronize", "ProfilerStart",
    "ProfilerStop",     "LibraryLoad",
    "MemPoolCreate",    "MemPoolDestroy",
    "MemPoolTrimTo",
};
constexpr const char* kRuntime[] = {"Malloc",       "Free",           "HostAlloc",
                                    "HostRegister", "HostUnregister", "DeviceSynchronize"};
constexpr const char* kDriver[] = {"MemAlloc", "MemFree",    "MemHost",      "MemCreate",      "MemMap",
                                   "MemUnmap", "MemRelease", "MemSetAccess", "CtxSynchronize", "ModuleLoad"};

template <unsigned long N>
bool startsWithAny(const char* name, const char* const (&starts)[N]) {
    for (const char* start : starts)
        if (std::strncmp(name, start, std::strlen(start)) == 0)
            return true;
    return false;
}

} // namespace

bool callMatters(const char* name) {
    if (std::strncmp(name, "cuda", 4) == 0)
        return startsWithAny(name + 4, kBoth) || startsWithAny(name + 4, kRuntime);
    if (std::strncmp(name, "cu", 2) == 0)
        return startsWithAny(name + 2, kBoth) || startsWithAny(name + 2, kDriver);
    return false;
}

} // namespace warpline::agent
