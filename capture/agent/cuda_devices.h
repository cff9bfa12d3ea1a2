// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/protocol/wire.h"

#include <cstddef>

namespace warpline::agent {

/// What the driver that this process has loaded says of the GPUs it shows it; at most `capacity`, returns how
/// many. CUPTI tells of them only to who is there as CUDA is initialised. To be called once that is done.
std::size_t cudaDevices(wire::DeviceInfo* to, std::size_t capacity);

} // namespace warpline::agent
