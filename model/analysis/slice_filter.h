// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/stacks.h"
#include "model/base/result.h"

#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

/// What of a trace is looked at, beside a range of time. What is empty asks for nothing; all that is asked
/// for must hold. By name: one filter fits several traces.
struct SliceFilter {
    /// A CPU op: it, and what was called or launched below it.
    std::string op;
    /// A kernel, copy or set: it, and all that was open around its launches.
    std::string kernel;
    /// Frames of a stack, outermost first: what has all of them in its stack, in this order, whatever stands
    /// between. A module's class (Block) stands for each of its modules (Block_0).
    std::vector<std::string> frames;
    /// Threads with what they launched; streams with what was open around the launches.
    std::vector<TrackId> tracks;

    [[nodiscard]] bool empty() const {
        return op.empty() && kernel.empty() && frames.empty() && tracks.empty();
    }
};

/// By row of the slice table: 1 = it counts.
using SliceMask = std::vector<char>;
Result<SliceMask> sliceMask(const TraceStacks& stacks, const SliceFilter& filter, std::stop_token stop = {});

/// By StackId::value: 1 = the stack has the filter's op and frames in it and, where a kernel is asked for,
/// ends in it; tracks are not looked at. Entry 0 is for what has no stack.
std::vector<char> stackMask(const FrameTable& frames, const StackTable& stacks, const SliceFilter& filter);

} // namespace warpline
