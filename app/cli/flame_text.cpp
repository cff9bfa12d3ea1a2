// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/flame_text.h"

#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/base/format.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline::cli {

namespace {

using Align = TextTable::Align;

std::string share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? "-" : formatPercent(static_cast<double>(part) / static_cast<double>(whole));
}

/// Whether a node says nothing that its only child does not say: all of its weight is that child's. A module
/// says more than the line of code in it.
bool passesOn(const FlameTree& tree, std::uint32_t node) {
    const FlameTree::Node& n = tree.nodes[node];
    const auto isModule = [&](std::uint32_t i) {
        const FrameId frame = tree.nodes[i].frame;
        return frame && tree.frames->at(frame).kind == FrameKind::Module;
    };
    if (isModule(node))
        return false;
    if (n.parent != FlameTree::kRoot && isModule(n.parent) && tree.nodes[n.parent].total == n.total)
        return true;
    return n.childCount == 1 && n.self == 0 && tree.nodes[n.firstChild].total == n.total;
}

} // namespace

std::string flameTextTree(const FlameTree& tree, const FlameCoverage& coverage,
                          const FlameTextOptions& options) {
    std::string out = fmt::format("{} {}\n", options.head, formatWeight(tree.total(), tree.unit));
    if (options.coverage && coverage.total > 0) {
        out += fmt::format("A Python line of the program or a module is in the stack of {}",
                           share(coverage.scriptOrModule, coverage.total));
        if (coverage.backward > 0)
            out += fmt::format("; {} is backward", share(coverage.backward, coverage.total));
        out += fmt::format("; {} has no stack\n", share(coverage.missing, coverage.total));
    }
    out += options.note + "\n";
    if (tree.nodes.size() <= 1)
        return out + options.absent + "\n";

    std::vector<std::uint32_t> shown;
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i)
        if (!passesOn(tree, i))
            shown.push_back(i);
    const std::size_t found = shown.size();
    if (options.rows != 0 && shown.size() > options.rows) {
        std::stable_sort(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
            return tree.nodes[a].total > tree.nodes[b].total;
        });
        shown.resize(options.rows);
    }
    std::vector<bool> wanted(tree.nodes.size(), false);
    for (const std::uint32_t node : shown)
        wanted[node] = true;

    TextTable table({{"Total", Align::Right, false, 0},
                     {"Share", Align::Right, false, 0},
                     {"Self", Align::Right, false, 0},
                     {"Count", Align::Right, false, 1},
                     {"Frame", Align::Left, true, 0}});
    struct Next {
        std::uint32_t node;
        std::uint32_t indent;
    };
    std::vector<Next> next = {{FlameTree::kRoot, 0}};
    while (!next.empty()) {
        const Next at = next.back();
        next.pop_back();
        const FlameTree::Node& n = tree.nodes[at.node];
        std::uint32_t indent = at.indent;
        if (wanted[at.node]) {
            table.addRow({formatWeight(n.total, tree.unit), share(n.total, tree.total()),
                          formatWeight(n.self, tree.unit),
                          formatCount(static_cast<std::int64_t>(n.totalCount)),
                          std::string(indent, ' ') + printable(tree.label(at.node))});
            ++indent;
        }
        for (std::uint32_t c = n.childCount; c-- > 0;)
            next.push_back({n.firstChild + c, indent});
    }
    out += table.render(options.width);
    if (shown.size() < found)
        out += fmt::format("{} more not shown (--limit 0 shows all)\n",
                           formatCount(static_cast<std::int64_t>(found - shown.size())));
    return out;
}

} // namespace warpline::cli
