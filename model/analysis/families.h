// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <string_view>
#include <vector>

namespace warpline {

/// What a bar's colour and its legend say. Kernels by what they compute, host events by who made them.
enum class Family : std::uint8_t {
    Matmul,
    Attention,
    Convolution,
    Elementwise,
    Reduction,
    Normalisation,
    CopySet,
    Communication,
    Optimiser,
    Compiled, ///< Triton, Inductor
    OtherKernel,
    Aten,     ///< aten:: ops
    Autograd, ///< backward and the autograd engine
    User,     ///< annotations
    Runtime,  ///< runtime and driver calls
    Sync,     ///< waiting
    Python,
    Overhead,
    OtherHost,
};
inline constexpr int kFamilyCount = 19;

[[nodiscard]] const char* familyName(Family f);
[[nodiscard]] Family familyOf(SliceKind kind, std::string_view name);
/// Whether a kernel's name says that it uses Tensor Cores: 1 yes, 0 no, -1 the name does not tell.
[[nodiscard]] int tensorCoreFromName(std::string_view kernel);

/// The families of a trace's slices, looked up once a (kind, name).
class FamilyIndex {
  public:
    explicit FamilyIndex(const Trace& trace);
    [[nodiscard]] Family of(const Trace& trace, std::size_t row) const;

  private:
    std::vector<Family> m_byName; ///< by StringId, for the kind the name is mostly used with
    std::vector<std::uint8_t> m_kind;
};

} // namespace warpline
