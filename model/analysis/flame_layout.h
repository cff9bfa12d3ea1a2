// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "model/query/text_match.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpline {

/// A rectangle to draw: a node, or the nodes beside it that are too narrow to draw each.
struct FlameRect {
    static constexpr std::uint32_t kSlivers = ~std::uint32_t{0};
    std::uint32_t node = 0; ///< kSlivers: children of `parent` that are narrower than asked for
    std::uint32_t parent = 0;
    std::uint32_t depth = 0; ///< row of the picture; the root of the tree is row 0
    std::uint32_t count = 1; ///< how many nodes: more than 1 for kSlivers only
    float x = 0;             ///< pixels from the left
    float width = 0;
    std::int64_t weight = 0;
    bool onPath = false; ///< a caller of the node that was zoomed to: as wide as the picture
    bool match = false;  ///< found by the search; for kSlivers: one of them or below
};

enum class FlameWidth : std::uint8_t { Total, Base, Both }; ///< of a difference: b's, a's, their sum

struct FlameLayoutQuery {
    std::uint32_t root = FlameTree::kRoot; ///< what fills the width
    float width = 1000;                    ///< pixels
    float minWidth = 1;                    ///< nodes narrower than this come together as slivers
    FlameWidth by = FlameWidth::Total;
    std::span<const bool> matches; ///< by node, as FlameMatches::nodes gives them; may be empty
};

/// The rectangles of a picture, row by row, left to right. Their number follows from the pixels, not from the
/// size of the tree: a row has at most 2 width / minWidth of them. Slivers stand right of what is drawn, with
/// the width that is theirs.
std::vector<FlameRect> flameLayout(const FlameTree& tree, const FlameLayoutQuery& query);
/// The rows that the layout of a whole tree would take if nothing were too narrow.
std::uint32_t flameDepth(const FlameTree& tree, std::uint32_t root = FlameTree::kRoot);

/// What a search finds in a tree.
struct FlameMatches {
    std::unique_ptr<bool[]> nodes; ///< by node
    std::size_t size = 0;
    std::size_t count = 0;  ///< nodes that match
    std::size_t places = 0; ///< of these, those with no match above them
    /// What matches or is called from what matches, each nanosecond once.
    std::int64_t weight = 0;

    [[nodiscard]] std::span<const bool> view() const { return {nodes.get(), size}; }
};
/// Looks at `root` and below it for nodes whose label or file the pattern finds. An error where a regular
/// expression takes too many steps to be decided.
Result<FlameMatches> flameSearch(const FlameTree& tree, const TextPattern& pattern,
                                 std::uint32_t root = FlameTree::kRoot);

} // namespace warpline
