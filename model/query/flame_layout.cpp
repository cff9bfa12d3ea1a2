// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/flame_layout.h"

#include "model/query/text_match.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <optional>

namespace warpline {

namespace {

std::int64_t widthOf(const FlameTree::Node& node, FlameWidth by) {
    switch (by) {
    case FlameWidth::Total:
        return node.total;
    case FlameWidth::Base:
        return node.baseTotal;
    case FlameWidth::Both:
        return node.total + node.baseTotal;
    }
    return node.total;
}

} // namespace

FlameLayout::FlameLayout(const FlameTree& tree, std::uint32_t zoomed, double width, double least,
                         FlameWidth by) {
    if (zoomed >= tree.nodes.size() || !(width > 0))
        return;
    const auto wide = [&](std::uint32_t node) {
        m_rowBegin.push_back(static_cast<std::uint32_t>(m_boxes.size()));
        m_boxes.push_back({node, tree.nodes[node].depth, 0, width, 0, widthOf(tree.nodes[node], by)});
    };
    wide(FlameTree::kRoot);
    for (const std::uint32_t node : tree.path(zoomed))
        wide(node);
    const std::int64_t whole = m_boxes.back().total;
    const double scale = whole > 0 ? width / static_cast<double>(whole) : 0;

    // Where a box begins, in weight, so that no error adds up from row to row.
    std::vector<std::int64_t> begins(m_boxes.size(), 0);
    for (std::size_t i = m_boxes.size() - 1; whole > 0 && i < m_boxes.size(); ++i) {
        if (m_boxes[i].hidden > 0)
            continue;
        const FlameTree::Node& node = tree.nodes[m_boxes[i].node];
        const std::uint32_t row = m_boxes[i].row + 1;
        const auto place = [&](std::uint32_t of, std::int64_t at, std::int64_t weight, std::uint32_t hidden) {
            if (row == m_rowBegin.size())
                m_rowBegin.push_back(static_cast<std::uint32_t>(m_boxes.size()));
            m_boxes.push_back({of, row, static_cast<double>(at) * scale, static_cast<double>(weight) * scale,
                               hidden, weight});
            begins.push_back(at);
        };
        std::int64_t at = begins[i];
        std::int64_t narrow = 0;
        std::uint32_t hidden = 0;
        for (std::uint32_t c = node.firstChild; c < node.firstChild + node.childCount; ++c) {
            const std::int64_t weight = widthOf(tree.nodes[c], by);
            if (weight <= 0)
                continue;
            if (static_cast<double>(weight) * scale < least) {
                ++hidden;
                narrow += weight;
                continue;
            }
            place(c, at, weight, 0);
            at += weight;
        }
        if (hidden > 0)
            place(m_boxes[i].node, at, narrow, hidden);
    }
    m_rowBegin.push_back(static_cast<std::uint32_t>(m_boxes.size()));
}

const FlameBox* FlameLayout::boxAt(double x, std::uint32_t row) const {
    if (row >= rows())
        return nullptr;
    const auto from = m_boxes.begin() + m_rowBegin[row];
    const auto to = m_boxes.begin() + m_rowBegin[row + 1];
    const auto next =
        std::upper_bound(from, to, x, [](double at, const FlameBox& box) { return at < box.x; });
    if (next == from)
        return nullptr;
    const FlameBox& box = *(next - 1);
    return x < box.x + box.width ? &box : nullptr;
}

const FlameBox* FlameLayout::boxOf(std::uint32_t node) const {
    const auto it = std::find_if(m_boxes.begin(), m_boxes.end(),
                                 [&](const FlameBox& box) { return box.node == node && box.hidden == 0; });
    return it == m_boxes.end() ? nullptr : &*it;
}

std::uint32_t flameDepth(const FlameTree& tree, std::uint32_t root) {
    if (root >= tree.nodes.size())
        return 0;
    // Nodes stand in rows: children of a run of nodes are a run themselves.
    std::uint32_t depth = 1;
    std::uint32_t from = root;
    std::uint32_t to = root + 1;
    while (true) {
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        for (std::uint32_t i = from; i < to; ++i) {
            const FlameTree::Node& n = tree.nodes[i];
            if (n.childCount == 0)
                continue;
            if (end == 0)
                next = n.firstChild;
            end = n.firstChild + n.childCount;
        }
        if (end == 0)
            return depth;
        from = next;
        to = end;
        ++depth;
    }
}

Result<FlameMatches> flameMatches(const FlameTree& tree, std::string_view text, std::uint32_t root) {
    FlameMatches out;
    out.marked.assign(tree.nodes.size(), 0);
    if (root >= tree.nodes.size() || text.empty())
        return out;
    std::optional<TextPattern> pattern;
    if (text.size() > 2 && text.front() == '/' && text.back() == '/') {
        auto regex = TextPattern::regex(text.substr(1, text.size() - 2));
        if (!regex.ok())
            return regex.error();
        pattern.emplace(std::move(regex).value());
    } else {
        pattern.emplace(TextPattern::containing(text));
    }
    // Frames are few and nodes many. A merged module shows its number too, which is not looked for.
    enum class Known : std::uint8_t { No, Unmatched, Matched };
    std::vector<Known> known(tree.frames->size() + 1, Known::No);
    std::string scratch;
    const auto finds = [&](FrameId frame) {
        Known& k = known[frame.value];
        if (k == Known::No)
            k = pattern->matches(tree.frames->name(frame), scratch) ||
                        pattern->matches(tree.frames->file(frame), scratch)
                    ? Known::Matched
                    : Known::Unmatched;
        return k == Known::Matched;
    };
    enum : char { Inside = 1, Covered = 2 };
    std::vector<char> state(tree.nodes.size(), 0);
    state[root] = Inside;
    try {
        for (std::uint32_t i = root; i < tree.nodes.size(); ++i) {
            const FlameTree::Node& n = tree.nodes[i];
            if (i != root)
                state[i] = n.parent >= root ? state[n.parent] : char{0};
            if ((state[i] & Inside) == 0 || !n.frame || !finds(n.frame))
                continue;
            out.marked[i] = 1;
            ++out.count;
            if ((state[i] & Covered) == 0) {
                ++out.places;
                out.total += n.total;
                state[i] = Inside | Covered;
            }
        }
    } catch (const std::exception& e) {
        return Error::failed(fmt::format("The search was given up: {}.", e.what()));
    }
    return out;
}

} // namespace warpline
