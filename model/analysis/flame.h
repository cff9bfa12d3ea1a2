// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/stacks.h"
#include "model/base/result.h"
#include "model/store/frames.h"
#include "model/store/profile.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

/// A tree of frames with what they weigh. Node 0 is the root and has no frame; a parent stands before its
/// children; children of a node stand together, heaviest first. Sums are exact: a node's total is its self
/// plus its children's totals, the root's is all that was weighed.
struct FlameTree {
    static constexpr std::uint32_t kRoot = 0;
    struct Node {
        FrameId frame;
        std::uint32_t parent = kRoot; ///< the root's is the root
        std::uint32_t firstChild = 0;
        std::uint32_t childCount = 0;
        std::uint32_t depth = 0;  ///< of the root 0
        std::uint32_t merged = 1; ///< how many modules of one class came together here
        std::int64_t self = 0;
        std::int64_t total = 0;
        std::uint64_t count = 0;      ///< calls, kernels or blocks that have just this stack
        std::uint64_t totalCount = 0; ///< with those below
        /// In a difference: what the other tree has here.
        std::int64_t baseSelf = 0;
        std::int64_t baseTotal = 0;
    };
    std::vector<Node> nodes;
    FrameTablePtr frames;
    WeightUnit unit = WeightUnit::Nanoseconds;
    bool bottomUp = false;
    bool difference = false;

    [[nodiscard]] std::int64_t total() const { return nodes.empty() ? 0 : nodes.front().total; }
    [[nodiscard]] std::span<const Node> children(std::uint32_t node) const {
        return std::span(nodes).subspan(nodes[node].firstChild, nodes[node].childCount);
    }
    /// "train.py(46): forward", "Block ×6"; the root's is "all".
    [[nodiscard]] std::string label(std::uint32_t node) const;
    /// From below the root down to the node: node numbers. Empty for the root.
    [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t node) const;
    /// The node in this tree that is reached by the frames of a node of another tree over the same frames,
    /// as deep as it goes: keeps the place when a range or a toggle changes.
    [[nodiscard]] std::uint32_t find(const FlameTree& other, std::uint32_t node) const;
};

/// How stacks become a tree; says nothing of what they weigh.
struct FlameShape {
    enum class Frames : std::uint8_t {
        All,
        Modules, ///< modules only, with the innermost frame below them
        Python,  ///< Python lines only
    };
    Frames frames = Frames::All;
    /// Callers below the called: the roots are the innermost frames.
    bool bottomUp = false;
    /// Only stacks with this frame, from it on: down to what it calls, or (bottomUp) up to its callers.
    FrameId focus;
    bool byThread = false; ///< threads as the roots
    /// Modules of one class that are called from one place come together (Block_0 .. Block_5).
    bool mergeModules = false;
    /// Leaves well-known machinery out; what it weighs itself goes to its caller.
    bool hidePlumbing = false;
    /// A backward op stands under its forward op; else where it ran.
    bool backwardWithForward = true;
};

/// The tree of weighed stacks. Weights must not be negative where it is to be drawn.
Result<FlameTree> flameTree(const FrameTablePtr& frames, const StackTable& stacks,
                            std::span<const StackWeight> weights, WeightUnit unit,
                            const FlameShape& shape = {}, std::stop_token stop = {});

enum class FlameWeight : std::uint8_t {
    CpuTime,   ///< self time of host slices; of a range what lies in it
    GpuTime,   ///< durations of kernels, copies and sets; of a range those that start in it, whole
    Calls,     ///< one a host slice that starts in the range
    Allocated, ///< bytes allocated on devices ([memory] records) in the range
};
[[nodiscard]] WeightUnit unitOf(FlameWeight weight);

struct FlameQuery {
    FlameWeight weight = FlameWeight::GpuTime;
    FlameShape shape;
    std::optional<TimeRange> range;
};

/// What the stacks of a trace weigh: the entries for flameTree() and flameCoverage().
Result<std::vector<StackWeight>> stackWeights(const TraceStacks& stacks, FlameWeight weight,
                                              std::optional<TimeRange> range = {}, bool byThread = false,
                                              std::stop_token stop = {});
Result<FlameTree> flameTree(const TraceStacks& stacks, const FlameQuery& query, std::stop_token stop = {});
Result<FlameTree> flameTree(const Profile& profile, const FlameShape& shape = {}, std::stop_token stop = {});

/// How much of the weight has what in its stack.
struct FlameCoverage {
    std::int64_t total = 0;
    std::int64_t script = 0;         ///< a Python line of the program itself (Frame::script)
    std::int64_t module = 0;         ///< a module
    std::int64_t scriptOrModule = 0; ///< either
    std::int64_t python = 0;         ///< any Python line
    std::int64_t missing = 0;        ///< no stack at all
    std::int64_t backward = 0;       ///< stands under a forward op
};
FlameCoverage flameCoverage(const FrameTable& frames, const StackTable& stacks,
                            std::span<const StackWeight> weights);

/// Two trees as one, nodes matched by the names of their frames on the way from the root: self and total are
/// b's, baseSelf and baseTotal a's. Both must be of one direction and unit.
Result<FlameTree> flameDifference(const FlameTree& a, const FlameTree& b, std::stop_token stop = {});

} // namespace warpline
