// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <algorithm>
#include <cstdint>

namespace warpline {

/// Nanoseconds since the Unix epoch (or since whatever zero the source has, where it has no date).
using TimeNs = std::int64_t;

/// A half-open stretch of time, [begin, end).
struct TimeRange {
    TimeNs begin = 0;
    TimeNs end = 0;

    [[nodiscard]] constexpr TimeNs duration() const { return end - begin; }
    [[nodiscard]] constexpr bool empty() const { return end <= begin; }
    [[nodiscard]] constexpr bool contains(TimeNs t) const { return t >= begin && t < end; }
    /// True where something that lasts from a to b shows inside this range. A thing of no length counts when
    /// it lies in the range.
    [[nodiscard]] constexpr bool overlaps(TimeNs a, TimeNs b) const {
        return a < end && (b > begin || (a == b && a == begin));
    }
    [[nodiscard]] constexpr TimeRange intersected(TimeRange o) const {
        return {std::max(begin, o.begin), std::min(end, o.end)};
    }
    /// The smallest range that holds both; an empty one adds nothing.
    [[nodiscard]] constexpr TimeRange united(TimeRange o) const {
        if (empty())
            return o;
        if (o.empty())
            return *this;
        return {std::min(begin, o.begin), std::max(end, o.end)};
    }
    constexpr bool operator==(const TimeRange&) const = default;
};

} // namespace warpline
