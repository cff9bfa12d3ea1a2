// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/collection.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpline::capture {

using Uuid = std::array<std::uint8_t, 16>;

/// The GPUs of one recording. Each process numbers those it sees from 0 (CUDA_VISIBLE_DEVICES), so that they
/// are told apart by their UUID: the first process to tell of one gives it its number if that is free.
class Devices {
  public:
    struct Device {
        std::int64_t ordinal = 0;
        Uuid uuid{};
        std::string name;
        std::uint64_t memoryBytes = 0;
        std::uint32_t major = 0;
        std::uint32_t minor = 0;
        std::uint32_t multiprocessors = 0;
        std::int64_t owner = 0; ///< the process whose streams go by their bare numbers
        std::int64_t allocated = 0;
    };

    /// The recording's number for the GPU that a process knows as `own`.
    std::int64_t add(Device device, std::int64_t own);
    /// The same before the GPU was described.
    std::int64_t unknown(std::int64_t own);
    [[nodiscard]] Device* find(std::int64_t ordinal);
    /// deviceProperties as traces of PyTorch have them.
    [[nodiscard]] std::string json() const;

  private:
    [[nodiscard]] std::int64_t freeOrdinal(std::int64_t wanted) const;
    std::vector<Device> m_devices;
};

} // namespace warpline::capture
