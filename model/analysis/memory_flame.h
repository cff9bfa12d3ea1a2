// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <vector>

namespace warpline {

/// The stacks of a memory history in the form that flame trees are made of.
struct MemoryStacks {
    FrameTablePtr frames;
    StackTablePtr stacks;
    std::vector<StackId> of; ///< by StackId::value of the history; none for none
};
MemoryStacks memoryStacks(const MemoryHistory& history);

/// What the stacks hold at a moment: bytes asked for, and blocks. What has no stack counts as such.
std::vector<StackWeight> liveWeights(const MemoryStacks& stacks, const MemoryDevice& device, Moment moment);
/// What the stacks allocated after one moment and up to another: bytes asked for, and blocks.
std::vector<StackWeight> allocatedWeights(const MemoryStacks& stacks, const MemoryDevice& device,
                                          Moment after, Moment upTo);

} // namespace warpline
