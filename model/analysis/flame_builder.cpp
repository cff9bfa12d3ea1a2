// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame_builder.h"

#include <algorithm>

namespace warpline {

std::uint32_t FlameBuilder::child(std::uint32_t parent, FrameId frame, FrameId original) {
    const std::uint64_t key = (std::uint64_t{parent} << 32) | frame.value;
    const auto [it, fresh] = m_children.try_emplace(key, static_cast<std::uint32_t>(m_nodes.size()));
    const std::uint32_t node = it->second;
    if (fresh) {
        FlameTree::Node n;
        n.frame = frame;
        n.parent = parent;
        m_nodes.push_back(n);
        if (frame != original)
            m_only.emplace(node, original);
    }
    if (frame != original) {
        if (m_originals.insert((std::uint64_t{node} << 32) | original.value).second && !fresh)
            ++m_nodes[node].merged;
    }
    return node;
}

FrameId FlameBuilder::shownFrame(std::uint32_t node) const {
    if (m_nodes[node].merged == 1)
        if (const auto it = m_only.find(node); it != m_only.end())
            return it->second;
    return m_nodes[node].frame;
}

std::vector<FlameTree::Node> FlameBuilder::finish(const FrameTable& frames) {
    const std::size_t n = m_nodes.size();
    for (const auto& only : m_only)
        m_nodes[only.first].frame = shownFrame(only.first);
    for (FlameTree::Node& node : m_nodes) {
        node.total = node.self;
        node.totalCount = node.count;
        node.baseTotal = node.baseSelf;
    }
    for (std::size_t i = n; i-- > 1;) {
        FlameTree::Node& parent = m_nodes[m_nodes[i].parent];
        parent.total += m_nodes[i].total;
        parent.totalCount += m_nodes[i].totalCount;
        parent.baseTotal += m_nodes[i].baseTotal;
    }
    const auto weighs = [&](const FlameTree::Node& node) {
        return node.total != 0 || node.totalCount != 0 || node.baseTotal != 0;
    };
    // Children of each node, one behind the other.
    std::vector<std::uint32_t> begin(n + 1, 0);
    for (std::size_t i = 1; i < n; ++i)
        if (weighs(m_nodes[i]))
            ++begin[m_nodes[i].parent + 1];
    for (std::size_t i = 0; i < n; ++i)
        begin[i + 1] += begin[i];
    std::vector<std::uint32_t> children(begin[n]);
    std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
    for (std::size_t i = 1; i < n; ++i)
        if (weighs(m_nodes[i]))
            children[at[m_nodes[i].parent]++] = static_cast<std::uint32_t>(i);
    const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
        const FlameTree::Node& x = m_nodes[a];
        const FlameTree::Node& y = m_nodes[b];
        if (x.total != y.total)
            return x.total > y.total;
        if (x.baseTotal != y.baseTotal)
            return x.baseTotal > y.baseTotal;
        const auto names = frames.name(x.frame) <=> frames.name(y.frame);
        return names != 0 ? names < 0 : x.frame < y.frame;
    };

    std::vector<FlameTree::Node> out;
    out.reserve(children.size() + 1);
    out.push_back(m_nodes[0]);
    std::vector<std::uint32_t> source = {0}; // where a node of `out` was
    source.reserve(children.size() + 1);
    for (std::uint32_t i = 0; i < out.size(); ++i) {
        const auto from = children.begin() + begin[source[i]];
        const auto to = children.begin() + begin[source[i] + 1];
        std::sort(from, to, heavier);
        out[i].firstChild = static_cast<std::uint32_t>(out.size());
        out[i].childCount = static_cast<std::uint32_t>(to - from);
        for (auto c = from; c != to; ++c) {
            out.push_back(m_nodes[*c]);
            out.back().parent = i;
            out.back().depth = out[i].depth + 1;
            source.push_back(*c);
        }
    }
    return out;
}

} // namespace warpline
