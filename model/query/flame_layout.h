// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "model/base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpline {

/// A rectangle of a flame graph: a node, or (hidden > 0) the children of one that are too narrow to draw.
struct FlameBox {
    std::uint32_t node = 0; ///< where hidden > 0 the node below which they are
    std::uint32_t row = 0;  ///< 0 = the root's
    double x = 0;           ///< pixels from the left
    double width = 0;
    std::uint32_t hidden = 0; ///< how many nodes came together here
    std::int64_t total = 0;   ///< what they weigh
};

enum class FlameWidth : std::uint8_t { Total, Base, Both }; ///< of a difference: b's, a's, their sum

/// Where the nodes of a tree are drawn: the callers of `zoomed` and itself as wide as the picture, then what
/// is below it, each as wide as it weighs. Children narrower than `least` pixels come together right of their
/// siblings, with the width that is theirs, and nothing below them is drawn: the number of boxes follows from
/// the pixels and not from the size of the tree.
class FlameLayout {
  public:
    FlameLayout() = default;
    FlameLayout(const FlameTree& tree, std::uint32_t zoomed, double width, double least,
                FlameWidth by = FlameWidth::Total);

    [[nodiscard]] const std::vector<FlameBox>& boxes() const { return m_boxes; } ///< by row, then x
    [[nodiscard]] std::uint32_t rows() const {
        return m_rowBegin.empty() ? 0 : static_cast<std::uint32_t>(m_rowBegin.size() - 1);
    }
    [[nodiscard]] const FlameBox* boxAt(double x, std::uint32_t row) const;
    /// The box of a node; null where it is not drawn, or too narrow for a box of its own.
    [[nodiscard]] const FlameBox* boxOf(std::uint32_t node) const;

  private:
    std::vector<FlameBox> m_boxes;
    std::vector<std::uint32_t> m_rowBegin; ///< one more at the end
};

/// The rows that the tree takes below (and with) a node if nothing is too narrow.
std::uint32_t flameDepth(const FlameTree& tree, std::uint32_t root = FlameTree::kRoot);

/// What a search finds in a tree.
struct FlameMatches {
    std::vector<char> marked; ///< by node: 1 where it matches
    /// What matches or is called from what matches, each nanosecond once.
    std::int64_t total = 0;
    std::size_t count = 0;  ///< nodes that match
    std::size_t places = 0; ///< of these, those with no match above them
};
/// Looks at `root` and below it for nodes whose label or file holds a text, case not counting; /x/ is a
/// regular expression. An empty text finds nothing. An error where the expression cannot be read or takes too
/// many steps to be decided.
Result<FlameMatches> flameMatches(const FlameTree& tree, std::string_view text,
                                  std::uint32_t root = FlameTree::kRoot);

} // namespace warpline
