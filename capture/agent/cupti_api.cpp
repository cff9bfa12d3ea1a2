// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/cupti_api.h"

#include "capture/protocol/wire.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace warpline::agent {

namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"};
constexpr const char* kBelow[] = {"lib64", "extras/CUPTI/lib64"}; // of CUDA_HOME
constexpr const char* kFolders[] = {"/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
                                    "/opt/cuda/extras/CUPTI/lib64",
                                    "/usr/local/cuda/targets/x86_64-linux/lib"};

/// The folder and the name as one path; false where it does not fit.
bool join(char* to, unsigned size, const char* folder, const char* name) {
    const int n = std::snprintf(to, size, "%s/%s", folder, name);
    return n > 0 && static_cast<unsigned>(n) < size;
}

void* openAny(int extraFlags) {
    for (const char* name : kNames)
        if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | extraFlags))
            return library;
    return nullptr;
}

/// One that the process mapped by a path, under a name the loader does not know it by.
void* openMapped() {
    std::FILE* maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr)
        return nullptr;
    char line[1024];
    void* library = nullptr;
    while (library == nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        char* path = std::strchr(line, '/');
        if (path == nullptr || std::strstr(path, "/libcupti.so") == nullptr)
            continue;
        path[std::strcspn(path, "\n")] = '\0';
        library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    std::fclose(maps);
    return library;
}

void* openToolkit() {
    char path[512];
    const char* roots[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH")};
    for (const char* root : roots) {
        for (const char* below : kBelow) {
            char folder[400];
            if (root == nullptr || !join(folder, sizeof folder, root, below))
                continue;
            for (const char* name : kNames)
                if (join(path, sizeof path, folder, name))
                    if (void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL))
                        return library;
        }
    }
    for (const char* folder : kFolders)
        for (const char* name : kNames)
            if (join(path, sizeof path, folder, name))
                if (void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL))
                    return library;
    return nullptr;
}

template <class F>
void find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(::dlsym(library, name));
}

} // namespace

bool CuptiApi::load(char* why, unsigned size) {
    if (library != nullptr)
        return true;
    const char* wanted = std::getenv(wire::kCuptiVariable);
    // Two copies of CUPTI in one process refuse each other, so that one already there comes first.
    void* found = openAny(RTLD_NOLOAD);
    if (found == nullptr)
        found = openMapped();
    if (found == nullptr && wanted != nullptr && wanted[0] == '/') {
        found = ::dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
        if (found == nullptr) {
            std::snprintf(why, size, "CUPTI could not be opened from %s (%s: %s).", wire::kCuptiVariable,
                          wanted, ::dlerror());
            return false;
        }
    }
    if (found == nullptr)
        found = openAny(0);
    if (found == nullptr)
        found = openToolkit();
    if (found == nullptr) {
        std::snprintf(
            why, size,
            "CUPTI was not found on this machine: install it with the CUDA toolkit, or give the path of "
            "libcupti.so in %s.",
            wire::kCuptiVariable);
        return false;
    }

    find(found, "cuptiGetVersion", getVersion);
    find(found, "cuptiGetResultString", getResultString);
    find(found, "cuptiSubscribe", subscribe);
    find(found, "cuptiUnsubscribe", unsubscribe);
    find(found, "cuptiEnableCallback", enableCallback);
    find(found, "cuptiEnableDomain", enableDomain);
    find(found, "cuptiGetCallbackName", getCallbackName);
    find(found, "cuptiActivityRegisterCallbacks", registerCallbacks);
    find(found, "cuptiActivityEnable", enable);
    find(found, "cuptiActivityDisable", disable);
    find(found, "cuptiActivityFlushAll", flushAll);
    find(found, "cuptiActivityGetNextRecord", getNextRecord);
    find(found, "cuptiActivityGetNumDroppedRecords", getDropped);
    find(found, "cuptiGetTimestamp", getTimestamp);
    find(found, "cuptiFinalize", finalize);
    find(found, "cuptiActivityFlushPeriod", flushPeriod);
    find(found, "cuptiSetThreadIdType", setThreadIdType);
    find(found, "cuptiActivityRegisterTimestampCallback", registerTimestampCallback);
    find(found, "cuptiActivityEnableRuntimeApi", enableRuntimeApi);
    find(found, "cuptiActivityEnableDriverApi", enableDriverApi);
    Dl_info info{};
    if (getVersion != nullptr && ::dladdr(reinterpret_cast<void*>(getVersion), &info) != 0 &&
        info.dli_fname != nullptr)
        std::snprintf(path, sizeof path, "%s", info.dli_fname);
    if (getVersion == nullptr || subscribe == nullptr || unsubscribe == nullptr ||
        registerCallbacks == nullptr || enable == nullptr || disable == nullptr || flushAll == nullptr ||
        getNextRecord == nullptr || getTimestamp == nullptr || enableCallback == nullptr ||
        enableDomain == nullptr) {
        std::snprintf(
            why, size,
            "The CUPTI of this program (%s) is too old: it lacks functions of CUDA 11, so that nothing can "
            "be recorded.",
            path);
        return false;
    }
    library = found; // never closed: CUPTI does not like it
    return true;
}

} // namespace warpline::agent
