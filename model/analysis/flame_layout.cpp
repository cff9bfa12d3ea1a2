// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame_layout.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

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

/// By node: whether it or anything below it matches.
std::vector<bool> matchesBelow(const FlameTree& tree, std::span<const bool> matches) {
    std::vector<bool> below(tree.nodes.size(), false);
    if (matches.size() != tree.nodes.size())
        return below;
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        if (matches[i])
            below[i] = true;
        if (below[i] && i != 0)
            below[tree.nodes[i].parent] = true;
    }
    return below;
}

} // namespace

std::vector<FlameRect> flameLayout(const FlameTree& tree, const FlameLayoutQuery& query) {
    std::vector<FlameRect> rects;
    if (tree.nodes.empty() || query.root >= tree.nodes.size() || !(query.width > 0))
        return rects;
    const bool searched = query.matches.size() == tree.nodes.size();
    const std::vector<bool> below = searched ? matchesBelow(tree, query.matches) : std::vector<bool>();

    std::vector<std::uint32_t> callers = tree.path(query.root);
    callers.insert(callers.begin(), FlameTree::kRoot);
    if (query.root != FlameTree::kRoot)
        callers.pop_back();
    else
        callers.clear();
    for (const std::uint32_t caller : callers) {
        FlameRect r;
        r.node = caller;
        r.parent = tree.nodes[caller].parent;
        r.depth = tree.nodes[caller].depth;
        r.width = query.width;
        r.weight = widthOf(tree.nodes[caller], query.by);
        r.onPath = true;
        r.match = searched && query.matches[caller];
        rects.push_back(r);
    }

    const std::int64_t whole = widthOf(tree.nodes[query.root], query.by);
    FlameRect root;
    root.node = query.root;
    root.parent = tree.nodes[query.root].parent;
    root.depth = tree.nodes[query.root].depth;
    root.width = query.width;
    root.weight = whole;
    root.match = searched && query.matches[query.root];
    rects.push_back(root);
    if (whole <= 0)
        return rects;
    const double scale = static_cast<double>(query.width) / static_cast<double>(whole);
    const double least = std::max(0.0, static_cast<double>(query.minWidth));

    // Where a drawn node begins, in weight, so that no error adds up from row to row.
    std::vector<std::int64_t> begins(rects.size(), 0);
    for (std::size_t i = rects.size() - 1; i < rects.size(); ++i) {
        if (rects[i].node == FlameRect::kSlivers)
            continue;
        const FlameRect from = rects[i];
        std::int64_t at = begins[i];
        FlameRect slivers;
        slivers.node = FlameRect::kSlivers;
        slivers.parent = from.node;
        slivers.depth = from.depth + 1;
        slivers.count = 0;
        const FlameTree::Node& node = tree.nodes[from.node];
        for (std::uint32_t c = node.firstChild; c < node.firstChild + node.childCount; ++c) {
            const std::int64_t weight = widthOf(tree.nodes[c], query.by);
            if (weight <= 0)
                continue;
            const double width = static_cast<double>(weight) * scale;
            if (width < least) {
                ++slivers.count;
                slivers.weight += weight;
                slivers.match = slivers.match || (searched && below[c]);
                continue;
            }
            FlameRect r;
            r.node = c;
            r.parent = from.node;
            r.depth = from.depth + 1;
            r.x = static_cast<float>(static_cast<double>(at) * scale);
            r.width = static_cast<float>(width);
            r.weight = weight;
            r.match = searched && query.matches[c];
            rects.push_back(r);
            begins.push_back(at);
            at += weight;
        }
        if (slivers.count > 0) {
            slivers.x = static_cast<float>(static_cast<double>(at) * scale);
            slivers.width = static_cast<float>(static_cast<double>(slivers.weight) * scale);
            rects.push_back(slivers);
            begins.push_back(at);
        }
    }
    return rects;
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

Result<FlameMatches> flameSearch(const FlameTree& tree, const TextPattern& pattern, std::uint32_t root) {
    FlameMatches out;
    out.size = tree.nodes.size();
    out.nodes = std::make_unique<bool[]>(out.size);
    if (root >= tree.nodes.size())
        return out;
    enum class Known : std::uint8_t { No, Unmatched, Matched };
    std::vector<Known> known(tree.frames->size() + 1, Known::No);
    std::string scratch;
    const auto finds = [&](std::uint32_t node) {
        const FlameTree::Node& n = tree.nodes[node];
        if (!n.frame)
            return false;
        Known& k = known[n.frame.value];
        if (k == Known::No)
            k = pattern.matches(tree.frames->name(n.frame), scratch) ||
                        pattern.matches(tree.frames->file(n.frame), scratch)
                    ? Known::Matched
                    : Known::Unmatched;
        return k == Known::Matched;
    };
    // Whether a node is at or below the root, and whether a match is above it or is itself one.
    std::vector<bool> inside(tree.nodes.size(), false);
    std::vector<bool> covered(tree.nodes.size(), false);
    inside[root] = true;
    try {
        for (std::uint32_t i = root; i < tree.nodes.size(); ++i) {
            const std::uint32_t parent = tree.nodes[i].parent;
            if (i != root) {
                inside[i] = inside[parent];
                covered[i] = inside[parent] && covered[parent];
            }
            if (!inside[i] || !finds(i))
                continue;
            out.nodes[i] = true;
            ++out.count;
            if (!covered[i]) {
                ++out.places;
                out.weight += tree.nodes[i].total;
            }
            covered[i] = true;
        }
    } catch (const std::exception& e) {
        return Error::failed(fmt::format("The search was given up: {}.", e.what()));
    }
    return out;
}

} // namespace warpline
