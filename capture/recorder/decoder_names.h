// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpline::capture {

/// A C++ name as people write it; what is no mangled name stays as it is.
std::string demangledName(const std::string& mangled);
/// A function of CUDA without the version at its end: cudaLaunchKernel for cudaLaunchKernel_v7000.
std::string_view bareCallName(std::string_view name);
/// "Memcpy HtoD (Pinned -> Device)", by CUPTI's numbers.
std::string copyName(std::uint32_t copyKind, std::uint32_t source, std::uint32_t destination);
std::string memoryKindName(std::uint32_t kind);
const char* overheadName(std::uint32_t kind);
const char* syncName(std::uint32_t type);

/// A range that PyTorch's emit_nvtx() wrote: "aten::mm, seq = 4, op_id = 12, sizes = [[2, 3], [3, 2]], ...".
struct TorchOp {
    std::string_view name;
    std::int64_t sequence = -1;
    std::string_view sizes; ///< JSON; empty where there is none
};
std::optional<TorchOp> torchOp(std::string_view range);

} // namespace warpline::capture
