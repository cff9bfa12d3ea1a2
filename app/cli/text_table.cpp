// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/text_table.h"

#include "app/cli/text.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <numeric>
#include <optional>

namespace warpline::cli {

namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 24; ///< what a name is cut to before columns go

} // namespace

void TextTable::addRow(std::vector<std::string> cells) {
    assert(cells.size() == m_columns.size());
    for (std::string& cell : cells)
        cell = printable(cell);
    m_rows.push_back(std::move(cells));
}

std::string TextTable::render(std::size_t width, std::size_t indent) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
        std::size_t widest = displayWidth(m_columns[c].title);
        for (const auto& row : m_rows)
            widest = std::max(widest, displayWidth(row[c]));
        widths.push_back(widest);
    }
    std::vector<std::size_t> shown(m_columns.size());
    std::iota(shown.begin(), shown.end(), 0);
    const auto total = [&](bool narrowest) {
        std::size_t sum = indent + kGap * (shown.size() - 1);
        for (const std::size_t c : shown) {
            sum += narrowest && m_columns[c].flexible ? std::min(widths[c], kNarrowest) : widths[c];
        }
        return sum;
    };

    std::vector<std::string> leftOut;
    while (width != 0 && total(true) > width) {
        const auto least = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
            return m_columns[a].dispensable < m_columns[b].dispensable;
        });
        if (m_columns[*least].dispensable == 0)
            break;
        leftOut.push_back(m_columns[*least].title);
        shown.erase(least);
    }
    // The widest name column gives first.
    while (width != 0 && total(false) > width) {
        std::optional<std::size_t> widest;
        for (const std::size_t c : shown) {
            if (m_columns[c].flexible && widths[c] > kNarrowest && (!widest || widths[c] > widths[*widest]))
                widest = c;
        }
        if (!widest)
            break;
        widths[*widest] =
            std::max(kNarrowest, widths[*widest] - std::min(widths[*widest], total(false) - width));
    }

    std::string out;
    const auto line = [&](const auto& cellOf) {
        std::string text(indent, ' ');
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const std::size_t c = shown[i];
            const std::string cell = elided(cellOf(c), widths[c]);
            const std::string padding(widths[c] - std::min(widths[c], displayWidth(cell)), ' ');
            if (i > 0)
                text.append(kGap, ' ');
            if (m_columns[c].align == Align::Right)
                text.append(padding).append(cell);
            else
                text.append(cell).append(padding);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out.append(text).push_back('\n');
    };
    line([&](std::size_t c) { return m_columns[c].title; });
    line([&](std::size_t c) { return std::string(widths[c], '-'); });
    for (const auto& row : m_rows)
        line([&](std::size_t c) { return row[c]; });
    if (!leftOut.empty()) {
        std::reverse(leftOut.begin(), leftOut.end());
        out.append(fmt::format("{:{}}Not shown for want of width (--wide shows all): {}\n", "", indent,
                               fmt::join(leftOut, ", ")));
    }
    return out;
}

} // namespace warpline::cli
