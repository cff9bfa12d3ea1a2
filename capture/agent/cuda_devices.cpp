// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/cuda_devices.h"

#include <cstring>
#include <cuda.h>
#include <dlfcn.h>

namespace warpline::agent {

namespace {

template <class Function>
bool find(void* library, const char* name, Function*& to) {
    to = reinterpret_cast<Function*>(::dlsym(library, name));
    return to != nullptr;
}

} // namespace

std::size_t cudaDevices(wire::DeviceInfo* to, std::size_t capacity) {
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr)
        return 0;
    CUresult(CUDAAPI * getCount)(int*) = nullptr;
    CUresult(CUDAAPI * get)(CUdevice*, int) = nullptr;
    CUresult(CUDAAPI * getName)(char*, int, CUdevice) = nullptr;
    CUresult(CUDAAPI * getUuid)(CUuuid*, CUdevice) = nullptr;
    CUresult(CUDAAPI * totalMemory)(std::size_t*, CUdevice) = nullptr;
    CUresult(CUDAAPI * getAttribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
    std::size_t count = 0;
    int devices = 0;
    if (find(driver, "cuDeviceGetCount", getCount) && find(driver, "cuDeviceGet", get) &&
        find(driver, "cuDeviceGetName", getName) && find(driver, "cuDeviceTotalMem_v2", totalMemory) &&
        find(driver, "cuDeviceGetAttribute", getAttribute) &&
        // The second names the slice where a GPU is shared out (MIG).
        (find(driver, "cuDeviceGetUuid_v2", getUuid) || find(driver, "cuDeviceGetUuid", getUuid)) &&
        getCount(&devices) == CUDA_SUCCESS) {
        for (int i = 0; i < devices && count < capacity; ++i) {
            CUdevice device = 0;
            wire::DeviceInfo info;
            CUuuid uuid{};
            std::size_t bytes = 0;
            if (get(&device, i) != CUDA_SUCCESS ||
                getName(info.name, static_cast<int>(sizeof info.name), device) != CUDA_SUCCESS ||
                getUuid(&uuid, device) != CUDA_SUCCESS || totalMemory(&bytes, device) != CUDA_SUCCESS)
                continue;
            const auto number = [&](CUdevice_attribute which) {
                int value = 0;
                return getAttribute(&value, which, device) == CUDA_SUCCESS ? static_cast<std::uint32_t>(value)
                                                                           : 0;
            };
            info.ordinal = static_cast<std::uint32_t>(i);
            info.memoryBytes = bytes;
            info.major = number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
            info.minor = number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
            info.multiprocessors = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
            std::memcpy(info.uuid, uuid.bytes, sizeof info.uuid);
            to[count++] = info;
        }
    }
    (void)::dlclose(driver);
    return count;
}

} // namespace warpline::agent
