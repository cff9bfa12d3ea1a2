// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"
#include "model/store/string_pool.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

/// What a frame of a stack is.
enum class FrameKind : std::uint8_t {
    Function, ///< of a profile that does not say more
    Python,
    Module, ///< a torch.nn.Module's call
    Op,
    Backward,   ///< a backward op that stands under the forward op whose node it computes
    Annotation, ///< record_function and the like
    Runtime,    ///< a runtime or driver call
    Graph,      ///< a CUDA graph whose launch ran the kernels below
    Kernel,
    Copy,
    Set,
    Thread,
    Host,    ///< any other span of a host thread
    Missing, ///< stands where the recording does not say what was there
};
inline constexpr int kFrameKindCount = 14;
[[nodiscard]] const char* frameKindName(FrameKind kind);

/// One frame, without its callers. All texts are in FrameTable::strings.
struct Frame {
    FrameKind kind = FrameKind::Function;
    /// Well-known machinery that says nothing about the program: _call_impl, <built-in ...>.
    bool plumbing = false;
    /// A Python line that is neither torch's nor the standard library's nor an installed package's, as far as
    /// its path tells.
    bool script = false;
    /// The frame that stands for a whole class of modules (Block for Block_0, Block_1); see `family`.
    bool merged = false;
    std::uint32_t line = 0; ///< 0 = not known; for Python where the function begins
    StringId name;          ///< what is shown: "train.py(46): forward", "Block_3", "aten::mm"
    StringId file;          ///< none where the frame does not say
    StringId function;      ///< the bare name: "forward"; none where it is all of `name`
    FrameId family;         ///< Module: the merged frame of its class; none otherwise
};

/// Frames, each once by (kind, name, file, line). Not thread-safe while it grows; then shared as const.
class FrameTable {
  public:
    /// Frames that every table begins with, all FrameKind::Missing.
    static constexpr FrameId kNoStack{1};        ///< "(no stack)"
    static constexpr FrameId kNoLaunch{2};       ///< "(no launch recorded)": above device work
    static constexpr FrameId kOutsideModules{3}; ///< "(outside modules)"
    static constexpr FrameId kNoPython{4};       ///< "(no Python line)"
    static constexpr FrameId kHidden{5};         ///< "(hidden frames)": a stack of plumbing only

    FrameTable();
    /// A frame known by its name; a Python one is taken apart ("train.py(46): forward").
    FrameId intern(FrameKind kind, std::string_view name);
    /// A frame whose file and line stand beside its name.
    FrameId intern(FrameKind kind, std::string_view name, std::string_view file, std::uint32_t line);

    [[nodiscard]] const Frame& at(FrameId id) const { return m_frames[id.index()]; }
    [[nodiscard]] std::string_view name(FrameId id) const {
        return id ? strings.view(at(id).name) : std::string_view();
    }
    [[nodiscard]] std::string_view file(FrameId id) const { return strings.view(at(id).file); }
    /// Ids run from 1 to size().
    [[nodiscard]] std::size_t size() const { return m_frames.size(); }
    [[nodiscard]] std::size_t bytes() const;

    StringPool strings;

  private:
    struct Key {
        FrameKind kind;
        StringId name;
        StringId file;
        std::uint32_t line;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const noexcept;
    };
    FrameId add(const Frame& frame);

    std::vector<Frame> m_frames;
    boost::unordered_flat_map<Key, FrameId, KeyHash> m_byKey;
};
using FrameTablePtr = std::shared_ptr<const FrameTable>;

/// Stacks as a tree: a stack is a frame and the stack of its caller. A caller's id is lower than its
/// callees', so that one pass over the ids from the last to the first sums up the tree.
class StackTable {
  public:
    /// The stack of `frame` called from `parent` (none = a root). `own` is where the frame stood on its own
    /// thread, for one that is shown somewhere else (a backward op under its forward op).
    StackId push(StackId parent, FrameId frame) { return push(parent, frame, parent); }
    StackId push(StackId parent, FrameId frame, StackId own);

    [[nodiscard]] FrameId frame(StackId id) const { return m_nodes[id.index()].frame; }
    [[nodiscard]] StackId parent(StackId id) const { return m_nodes[id.index()].parent; }
    [[nodiscard]] StackId own(StackId id) const { return m_nodes[id.index()].own; }
    /// Ids run from 1 to size().
    [[nodiscard]] std::size_t size() const { return m_nodes.size(); }
    /// The frames of a stack, outermost first.
    [[nodiscard]] std::vector<FrameId> path(StackId id) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Node {
        FrameId frame;
        StackId parent;
        StackId own;
        bool operator==(const Node&) const = default;
    };
    struct NodeHash {
        std::size_t operator()(const Node& n) const noexcept;
    };
    std::vector<Node> m_nodes;
    boost::unordered_flat_map<Node, StackId, NodeHash> m_byNode;
};
using StackTablePtr = std::shared_ptr<const StackTable>;

/// What a weight counts.
enum class WeightUnit : std::uint8_t { Count, Nanoseconds, Bytes };
/// "8.68 ms", "1.20 GiB", "1,341".
[[nodiscard]] std::string formatWeight(std::int64_t weight, WeightUnit unit);

/// How much a stack weighs. Several entries may name one stack.
struct StackWeight {
    StackId stack; ///< none = what has no stack
    std::int64_t weight = 0;
    std::uint64_t count = 0; ///< calls, kernels, blocks, samples
    FrameId root;            ///< a frame to stand above the stack (its thread); none = none
};

} // namespace warpline
