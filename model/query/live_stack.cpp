// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/live_stack.h"

#include <algorithm>
#include <bit>

namespace warpline {

LiveStack::LiveStack(const MemoryDevice& device, const LiveIndex& index,
                     const std::vector<std::pair<Moment, std::uint32_t>>& implicit,
                     const std::vector<std::uint32_t>& largestFirst, Moment moment)
    : m_device(device), m_implicit(implicit), m_largestFirst(largestFirst), m_moment(moment) {
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
    const std::size_t count = heights.size();
    const std::uint64_t* const longRuns = m_sums[2].data();
    const std::uint64_t* const middleRuns = m_sums[1].data();
    const std::size_t middles = m_sums[1].size();
    std::size_t h = 0;
    while (h < count && heights[h] < 0)
        out[h++] = 0;
    const auto height = [&](std::size_t i) { return static_cast<std::uint64_t>(heights[i]); };
    std::uint64_t below = 0; // bytes under the run of 64 that is looked at
    for (std::size_t middle = 0; h < count && middle < middles;) {
        // Whole runs that lie below the height, the longest first.
        if ((middle & 15) == 0 && below + longRuns[middle >> 4] <= height(h)) {
            below += longRuns[middle >> 4];
            middle += 16;
            continue;
        }
        const std::uint64_t end = below + middleRuns[middle];
        if (end <= height(h)) {
            below = end;
            ++middle;
            continue;
        }
        // Of the eight runs of eight in it, counting those that end below a height is quicker than a loop
        // that may end at any of them.
        const std::uint64_t* const shortRuns = m_sums[0].data() + middle * 8;
        const std::size_t shorts = std::min<std::size_t>(8, m_sums[0].size() - middle * 8);
        std::uint64_t ends[8];
        std::uint64_t sum = below;
        for (std::size_t k = 0; k < 8; ++k)
            ends[k] = sum += k < shorts ? shortRuns[k] : 0;
        while (h < count && height(h) < end) {
            const std::uint64_t at = height(h);
            std::size_t k = 0;
            for (std::size_t i = 0; i < 7; ++i)
                k += ends[i] <= at ? 1 : 0;
            const std::size_t done = run(middle * 8 + k, ends[k] - shortRuns[k], fine, heights, h, out);
            if (done == h) // sums of hostile sizes may wrap
                out[h++] = 0;
            else
                h = done;
        }
        below = end;
        ++middle;
    }
    std::fill(out + h, out + count, 0u);
}

/// Writes the heights within one run of eight blocks, at least one; gives the first height beyond it.
std::size_t LiveStack::run(std::size_t number, std::uint64_t below, std::uint64_t fine,
                           const std::vector<std::int64_t>& heights, std::size_t h,
                           std::uint32_t* out) const {
    const std::uint64_t end = below + m_sums[0][number];
    const auto first = static_cast<std::uint32_t>(number * 8 + 1);
    std::uint32_t alive = (m_alive[number >> 3] >> ((number & 7) * 8)) & 0xFF;
    const auto fill = [&](std::uint32_t id, std::uint64_t top) {
        do
            out[h++] = id;
        while (h < heights.size() && static_cast<std::uint64_t>(heights[h]) < top);
    };
    if (end - below <= fine && alive != 0) {
        std::uint32_t order = m_largestFirst[number];
        while ((alive >> (order & 7) & 1) == 0)
            order >>= 3;
        fill(first + (order & 7), end);
        return h;
    }
    for (; alive != 0; alive &= alive - 1) {
        const auto place = static_cast<std::uint32_t>(std::countr_zero(alive));
        const std::uint64_t top =
            below + static_cast<std::uint64_t>(m_device.blocks.size[number * 8 + place]);
        if (top > static_cast<std::uint64_t>(heights[h])) {
            fill(first + place, top);
            if (h == heights.size() || static_cast<std::uint64_t>(heights[h]) >= end)
                break;
        }
        below = top;
    }
    return h;
}

std::vector<std::uint32_t> LiveStack::largestFirst(const MemoryDevice& device) {
    const Column<std::int64_t>& sizes = device.blocks.size;
    std::vector<std::uint32_t> orders(sizes.size() / 8 + 1);
    for (std::size_t run = 0; run < orders.size(); ++run) {
        const std::size_t count = std::min<std::size_t>(8, sizes.size() - run * 8);
        std::uint32_t places[8];
        for (std::uint32_t place = 0; place < count; ++place) {
            std::size_t at = place;
            for (; at > 0 && sizes[run * 8 + places[at - 1]] < sizes[run * 8 + place]; --at)
                places[at] = places[at - 1];
            places[at] = place;
        }
        for (std::size_t i = 0; i < count; ++i)
            orders[run] |= places[i] << (3 * i);
    }
    return orders;
}

} // namespace warpline
