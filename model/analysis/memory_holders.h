// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/memory_state.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

class MemoryJoin;

enum class HolderGroup {
    Stack,  ///< the whole stack
    Frame,  ///< the innermost frame of the program: Python before C++, the libraries' plumbing passed over
    File,   ///< that frame's file
    Op,     ///< the op open at the allocation: from a joined trace, else an at:: function of a C++ stack
    Module, ///< the innermost nn.Module: from a joined trace, else a frame "forward" and its file
    Category,
    Stream,
    Pool,
    Size, ///< powers of two
};
inline constexpr int kHolderGroupCount = 9;
/// "stack", "frame"...: as the command line has them.
[[nodiscard]] const char* holderGroupName(HolderGroup group);
[[nodiscard]] std::optional<HolderGroup> holderGroupOf(std::string_view name);

/// What one group holds.
struct Holder {
    std::string label;      ///< "forward (layer_3.py:41)", "activations", "stream 1", "1 MiB to 2 MiB"
    std::int64_t bytes = 0; ///< asked for
    std::int64_t allocated = 0;
    std::uint64_t blocks = 0;
    std::int64_t largest = 0; ///< bytes asked for
    BlockId largestBlock;
    BlockId oldestBlock;             ///< the longest lived
    std::int64_t longestLife = 0;    ///< its age at the moment: ns, or events without times
    double share = 0;                ///< of all bytes live at the moment
    StackId stack;                   ///< grouped by stack: that; else the stack of the largest block
    std::vector<std::uint32_t> rows; ///< the blocks, ascending; filled where HolderQuery::rows
};

struct HolderQuery {
    HolderGroup group = HolderGroup::Stack;
    std::size_t limit = 0; ///< holders at most; 0 = all
    bool rows = false;     ///< fill Holder::rows
    /// For Op and Module: a trace of the same run; may be null.
    const MemoryJoin* join = nullptr;
};

struct Holders {
    Moment moment = 0;
    std::int64_t bytes = 0; ///< of all live blocks
    std::uint64_t blocks = 0;
    std::vector<Holder> rows; ///< by bytes, descending
};

/// Who holds the memory at a moment; within 50 ms on a million events. When stopped, empty.
Holders holdersAt(const MemoryHistory& history, const MemoryDevice& device, const LiveIndex& index,
                  Moment moment, const HolderQuery& query, std::stop_token stop = {});
/// The same over given blocks (rows), shares of their sum: for a selection.
Holders holdersOf(const MemoryHistory& history, const MemoryDevice& device,
                  std::span<const std::uint32_t> rows, Moment moment, const HolderQuery& query);

/// What grew between two marks: blocks born after `first` and alive at `second`; first <= second.
/// `returned` of a row says how many blocks of the same group born in between were freed again.
struct Growth {
    Holder holder;
    std::uint64_t born = 0;     ///< blocks of the group born in between
    std::uint64_t returned = 0; ///< of these, freed by `second`
    std::int64_t before = 0;    ///< bytes of the group at `first`
    std::int64_t after = 0;     ///< bytes of the group at `second`
    bool everyStep = false;     ///< something of the group was kept in each of at least three steps
                                ///< (ProfilerStep or the optimizer's annotations) between the marks
};
std::vector<Growth> growthBetween(const MemoryHistory& history, const MemoryDevice& device,
                                  const LiveIndex& index, Moment first, Moment second,
                                  const HolderQuery& query, std::stop_token stop = {});

/// The frame that HolderGroup::Frame goes by; none for a stack without any.
FrameId programFrame(const MemoryHistory& history, StackId stack);
/// "aten::linear" for at::_ops::linear::call and the like of C++ stacks; empty where there is none.
std::string opOfStack(const MemoryHistory& history, StackId stack);
/// Frames of a stack as text, innermost first: "name (file:line)", whole paths.
std::vector<std::string> stackTexts(const MemoryHistory& history, StackId stack);
/// One of them.
std::string stackLine(const MemoryHistory& history, FrameId frame);

} // namespace warpline
