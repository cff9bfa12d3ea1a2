// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/store/frames.h"
#include "model/store/trace.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

namespace warpline {

/// An op of the autograd engine: "Sequence number", and "Fwd thread id" (0 for a forward op).
struct SequencedOp {
    std::uint32_t row = 0;
    std::int64_t sequence = 0;
    std::int64_t forwardThread = 0;
};

/// What the arguments of slices say of their stacks.
struct StackArgs {
    struct Texts {
        StringId callStack; ///< "file(line): function;...", the innermost first
        StringId modules;   ///< "Module Hierarchy"
    };
    std::vector<SequencedOp> sequences; ///< by row
    Column<std::uint32_t> pythonParent; ///< by row: the row of "Python parent id" + 1, 0 = not said
    boost::unordered_flat_map<std::uint32_t, Texts> texts; ///< by row
    std::vector<std::int8_t> graphShape; ///< by number of ArgShape: whether it has a "graph id"
    StringId graphKey;

    /// The CUDA graph of a piece of device work, 0 = none.
    [[nodiscard]] std::int64_t graphOf(const Trace& trace, std::uint32_t row) const;
};

StackArgs readStackArgs(const Trace& trace, unsigned threads);

/// The frames that an op's "Call stack" lists, outermost first.
std::vector<FrameId> framesOfCallStack(const Trace& trace, StringId text, FrameTable& frames);
/// The modules of a "Module Hierarchy", outermost first: "TOP(Net)::forward.conv(Conv2d)::forward".
std::vector<FrameId> framesOfHierarchy(const Trace& trace, StringId text, FrameTable& frames);

} // namespace warpline
