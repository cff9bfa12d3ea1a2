// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_layout.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>

namespace warpline {

std::vector<LabelSpot> labelSpots(const LayoutFrame& frame, int minColumns, int minRows, std::size_t limit) {
    minColumns = std::max(minColumns, 1);
    minRows = std::max(minRows, 1);
    const auto cell = [&](int row, int column) {
        return frame.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(frame.columns) +
                           static_cast<std::size_t>(column)];
    };
    boost::unordered_flat_map<std::uint32_t, LabelSpot> best;
    // A rectangle that high holds one of these rows.
    for (int row = minRows / 2; row < frame.rows; row += std::max(1, minRows / 2)) {
        for (int column = 0; column < frame.columns;) {
            const BlockId block = cell(row, column);
            int end = column + 1;
            while (end < frame.columns && cell(row, end) == block)
                ++end;
            const int first = column;
            column = end;
            if (!block || end - first < minColumns)
                continue;
            if (const auto known = best.find(block.value); known != best.end() && known->second.row <= row &&
                                                           row < known->second.row + known->second.rows)
                continue; // its rectangle crosses this row already
            const auto whole = [&](int at) {
                for (int c = first; c < end; ++c)
                    if (cell(at, c) != block)
                        return false;
                return true;
            };
            int top = row;
            while (top > 0 && whole(top - 1))
                --top;
            int bottom = row + 1;
            while (bottom < frame.rows && whole(bottom))
                ++bottom;
            if (bottom - top < minRows)
                continue;
            const LabelSpot spot{block, first, top, end - first, bottom - top};
            LabelSpot& kept = best[block.value];
            if (static_cast<long>(spot.columns) * spot.rows > static_cast<long>(kept.columns) * kept.rows)
                kept = spot;
        }
    }
    std::vector<LabelSpot> spots;
    spots.reserve(best.size());
    for (const auto& [id, spot] : best)
        spots.push_back(spot);
    std::sort(spots.begin(), spots.end(), [](const LabelSpot& a, const LabelSpot& b) {
        const long x = static_cast<long>(a.columns) * a.rows;
        const long y = static_cast<long>(b.columns) * b.rows;
        return x != y ? x > y : a.block < b.block;
    });
    if (spots.size() > limit)
        spots.resize(limit);
    return spots;
}

} // namespace warpline
