// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/live_stack.h"

#include <algorithm>
#include <bit>

namespace warpline {

LiveStack::LiveStack(const MemoryDevice& device, const LiveIndex& index,
                     const std::vector<std::pair<Moment, std::uint32_t>>& implicit, Moment moment)
    : m_device(device), m_implicit(implicit), m_moment(moment) {
    const std::size_t rows = device.blocks.count();
    m_alive.resize(rows / 64 + 1);
    for (int level = 0; level < kLevels; ++level)
        m_sums[level].resize((rows >> kBits[level]) + 1);
    std::vector<std::uint32_t> live;
    index.live(moment, live);
    for (const std::uint32_t row : live)
        add(row);
    m_nextImplicit = static_cast<std::size_t>(
        std::upper_bound(implicit.begin(), implicit.end(), std::pair{moment, ~std::uint32_t{0}}) -
        implicit.begin());
}

void LiveStack::advance(Moment moment) {
    const MemoryEventTable& e = m_device.events;
    for (; m_moment < moment; ++m_moment) {
        const MemoryAction action = e.action[m_moment];
        if (action == MemoryAction::Alloc) {
            for (; m_nextImplicit < m_implicit.size() && m_implicit[m_nextImplicit].first == m_moment + 1;
                 ++m_nextImplicit)
                remove(m_implicit[m_nextImplicit].second);
            add(static_cast<std::uint32_t>(e.block[m_moment].index()));
        } else if (action == MemoryAction::FreeCompleted) {
            remove(static_cast<std::uint32_t>(e.block[m_moment].index()));
        }
    }
}

void LiveStack::column(const std::vector<std::int64_t>& heights, std::int64_t apart,
                       std::uint32_t* out) const {
    const std::uint64_t fine = static_cast<std::uint64_t>(std::max<std::int64_t>(apart, 0)) / 2;
    const std::size_t rows = m_device.blocks.count();
    const Column<std::int64_t>& sizes = m_device.blocks.size;
    const std::uint64_t* const longRuns = m_sums[2].data();
    const std::uint64_t* const middleRuns = m_sums[1].data();
    const std::uint64_t* const shortRuns = m_sums[0].data();
    std::size_t row = 0;
    std::uint64_t below = 0; // bytes under `row`
    std::size_t h = 0;
    while (h < heights.size() && heights[h] < 0)
        out[h++] = 0;
    while (h < heights.size() && row < rows) {
        const auto height = static_cast<std::uint64_t>(heights[h]);
        // Whole runs that lie below the height, the longest first.
        if ((row & 7) == 0) {
            if ((row & 63) == 0) {
                if ((row & 1023) == 0 && below + longRuns[row >> 10] <= height) {
                    below += longRuns[row >> 10];
                    row += 1024;
                    continue;
                }
                if (below + middleRuns[row >> 6] <= height) {
                    below += middleRuns[row >> 6];
                    row += 64;
                    continue;
                }
            }
            const std::uint64_t run = shortRuns[row >> 3];
            if (below + run <= height) {
                below += run;
                row += 8;
                continue;
            }
            if (run <= fine) {
                const std::uint64_t alive = (m_alive[row >> 6] >> (row & 63)) & 0xFF;
                const auto id =
                    static_cast<std::uint32_t>(row + 1) + static_cast<std::uint32_t>(std::countr_zero(alive));
                below += run;
                row += 8;
                do
                    out[h++] = id;
                while (h < heights.size() && static_cast<std::uint64_t>(heights[h]) < below);
                continue;
            }
        }
        // The next live row of this run of eight.
        const std::uint64_t bits = (m_alive[row >> 6] >> (row & 63)) & (0xFFu >> (row & 7));
        if (bits == 0) {
            row = (row | 7) + 1;
            continue;
        }
        row += static_cast<std::size_t>(std::countr_zero(bits));
        const std::uint64_t top = below + static_cast<std::uint64_t>(sizes[row]);
        if (top <= height) {
            below = top;
            ++row;
            continue;
        }
        const auto id = static_cast<std::uint32_t>(row + 1);
        do
            out[h++] = id;
        while (h < heights.size() && static_cast<std::uint64_t>(heights[h]) < top);
    }
    std::fill(out + h, out + heights.size(), 0u);
}

} // namespace warpline
