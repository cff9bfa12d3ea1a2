// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/memory_state.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace warpline {

/// The live blocks of a device as a stack of bytes, walked forwards in time. Sums over runs of 8, 64 and
/// 1024 rows find the block at a height without looking at each.
class LiveStack {
  public:
    /// Of each run of eight rows the places of its blocks, the largest first, three bits each.
    static std::vector<std::uint32_t> largestFirst(const MemoryDevice& device);

    /// `implicit`: (moment, row) of blocks that end because their address was handed out again, ascending.
    /// `largestFirst` is what the function of that name gave.
    LiveStack(const MemoryDevice& device, const LiveIndex& index,
              const std::vector<std::pair<Moment, std::uint32_t>>& implicit,
              const std::vector<std::uint32_t>& largestFirst, Moment moment);

    /// Goes on to a later moment, or stays.
    void advance(Moment moment);
    /// Which block is at each of the heights, which ascend: ids (row + 1), 0 above the top. One for each of
    /// `heights`, which stand `apart` bytes apart: of a run of eight blocks that is not half as high as that,
    /// its largest stands for all.
    void column(const std::vector<std::int64_t>& heights, std::int64_t apart, std::uint32_t* out) const;

  private:
    static constexpr int kLevels = 3;
    static constexpr int kBits[kLevels] = {3, 6, 10};

    void add(std::uint32_t row) {
        m_alive[row >> 6] |= std::uint64_t{1} << (row & 63);
        change(row, static_cast<std::uint64_t>(m_device.blocks.size[row]));
    }
    void remove(std::uint32_t row) {
        m_alive[row >> 6] &= ~(std::uint64_t{1} << (row & 63));
        change(row, -static_cast<std::uint64_t>(m_device.blocks.size[row]));
    }
    void change(std::uint32_t row, std::uint64_t bytes) {
        for (int level = 0; level < kLevels; ++level)
            m_sums[level][row >> kBits[level]] += bytes;
    }

    std::size_t run(std::size_t number, std::uint64_t below, std::uint64_t fine,
                    const std::vector<std::int64_t>& heights, std::size_t h, std::uint32_t* out) const;

    const MemoryDevice& m_device;
    const std::vector<std::pair<Moment, std::uint32_t>>& m_implicit;
    const std::vector<std::uint32_t>& m_largestFirst;
    std::size_t m_nextImplicit = 0;
    Moment m_moment;
    std::vector<std::uint64_t> m_alive;
    std::vector<std::uint64_t> m_sums[kLevels];
};

} // namespace warpline
