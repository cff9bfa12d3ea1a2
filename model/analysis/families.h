// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <string_view>
#include <unordered_map>
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
    [[nodiscard]] Family of(const Trace& trace, std::size_t row) const {
        return of(trace.slices.name[row], trace.kind(row));
    }
    [[nodiscard]] Family of(StringId name, SliceKind kind) const;

  private:
    static constexpr std::uint8_t kUnused = 255;
    struct Entry {
        std::uint8_t kind = kUnused; ///< the SliceKind this name was first seen with
        Family family = Family::OtherHost;
    };
    std::vector<Entry> m_byName; ///< by StringId
    /// Names used by slices of further kinds: (name, kind) to family.
    std::unordered_map<std::uint64_t, Family> m_more;
};

} // namespace warpline
