// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <cstdint>
#include <vector>

namespace warpline {

/// The slices of several lanes in the order of their starts, each lane's rows being sorted already. Two or
/// three lanes do most of the work of a device, so the lane in front is followed until another comes first.
class LaneMerge {
  public:
    /// Adds the rows of a lane that show in the range.
    void add(const Trace& trace, const Lane& lane, TimeRange range);
    [[nodiscard]] std::size_t rows() const { return m_rows; }

    /// Calls f(start, end) for each slice that lasts, clipped to the range, by start.
    template <class F>
    void forEach(const Trace& trace, TimeRange range, F&& f) {
        const SliceTable& slices = trace.slices;
        while (!m_heads.empty()) {
            std::size_t front = 0;
            TimeNs second = INT64_MAX;
            for (std::size_t i = 1; i < m_heads.size(); ++i) {
                if (m_heads[i].start < m_heads[front].start) {
                    second = m_heads[front].start;
                    front = i;
                } else if (m_heads[i].start < second) {
                    second = m_heads[i].start;
                }
            }
            Head& head = m_heads[front];
            while (head.row < head.end && slices.start[head.row] <= second) {
                const TimeRange at =
                    TimeRange{slices.start[head.row], slices.end(head.row)}.intersected(range);
                if (!at.empty())
                    f(at.begin, at.end);
                ++head.row;
            }
            if (head.row < head.end) {
                head.start = slices.start[head.row];
            } else {
                m_heads[front] = m_heads.back();
                m_heads.pop_back();
            }
        }
    }

  private:
    struct Head {
        TimeNs start;
        std::uint32_t row;
        std::uint32_t end;
    };
    std::vector<Head> m_heads;
    std::size_t m_rows = 0;
};

/// The Stream lanes of a device.
std::vector<Lane> streamLanes(const Trace& trace, std::uint32_t process);

} // namespace warpline
