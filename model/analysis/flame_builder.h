// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

namespace warpline {

/// Grows a tree of frames in any order, then puts it in order.
class FlameBuilder {
  public:
    FlameBuilder() { m_nodes.emplace_back(); }

    /// The child of a node that shows as `frame`, made if new; `original` is the frame that came together in
    /// it.
    std::uint32_t child(std::uint32_t parent, FrameId frame, FrameId original);
    void add(std::uint32_t node, std::int64_t weight, std::uint64_t count) {
        m_nodes[node].self += weight;
        m_nodes[node].count += count;
    }
    void addBase(std::uint32_t node, std::int64_t weight) { m_nodes[node].baseSelf += weight; }
    [[nodiscard]] std::size_t size() const { return m_nodes.size(); }
    [[nodiscard]] const FlameTree::Node& at(std::uint32_t node) const { return m_nodes[node]; }
    /// What a node shows: a module that is alone at its place under its own name.
    [[nodiscard]] FrameId shownFrame(std::uint32_t node) const;

    /// Sums up, drops what weighs nothing, and orders children by weight, then name.
    std::vector<FlameTree::Node> finish(const FrameTable& frames);

  private:
    std::vector<FlameTree::Node> m_nodes;                               ///< a parent before its children
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_children; ///< (parent, frame) to node
    boost::unordered_flat_map<std::uint32_t, FrameId> m_only; ///< of a merged node: its first original
    boost::unordered_flat_set<std::uint64_t> m_originals;     ///< (merged node, original)
};

} // namespace warpline
