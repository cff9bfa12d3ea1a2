// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace warpline {

/// A module at its place in the tree of modules. Totals hold what its submodules take.
struct ModuleRow {
    FrameId module; ///< none for row 0: all of the trace, whose self is what no module did
    std::uint32_t parent = 0;
    std::uint32_t depth = 0;
    std::uint32_t merged = 1; ///< modules that came together (ModuleQuery::merge)
    std::uint64_t calls = 0;
    TimeNs cpuTotal = 0; ///< self time of all host slices below it, its backward among them
    TimeNs cpuSelf = 0;
    TimeNs gpuTotal = 0; ///< durations of the kernels, copies and sets that it launched
    TimeNs gpuSelf = 0;
    TimeNs gpuBackward = 0;     ///< of gpuTotal, what its backward took
    std::int64_t allocated = 0; ///< bytes allocated on devices below it; 0 where the trace has no records
    std::int64_t selfAllocated = 0;
    std::uint64_t kernels = 0; ///< below it, with copies and sets
};

struct ModuleTree {
    std::vector<ModuleRow> rows; ///< a parent before its children, which stand right below it (depth first)
    FrameTablePtr frames;
    bool hasMemory = false;
    bool hasModules = false;

    [[nodiscard]] std::string label(std::size_t row) const;
};

struct ModuleQuery {
    std::optional<TimeRange> range;
    bool merge = false; ///< modules of one class at one place as one row
    bool backwardWithForward = true;
};

/// Children come by GPU time, then CPU time, descending.
Result<ModuleTree> moduleTree(const TraceStacks& stacks, const ModuleQuery& query = {},
                              std::stop_token stop = {});

} // namespace warpline
