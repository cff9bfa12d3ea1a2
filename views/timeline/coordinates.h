// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// Time to pixels and back. Times are 64-bit nanoseconds since an epoch, which a double cannot hold exactly:
/// the difference to an origin is taken first, in integers that do not wrap, and only then scaled.
namespace warpline::coordinates {

[[nodiscard]] inline TimeNs add(TimeNs a, TimeNs b) {
    TimeNs sum = 0;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? std::numeric_limits<TimeNs>::max() : std::numeric_limits<TimeNs>::min();
}

[[nodiscard]] inline TimeNs subtract(TimeNs a, TimeNs b) {
    TimeNs difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference))
        return difference;
    return b < 0 ? std::numeric_limits<TimeNs>::max() : std::numeric_limits<TimeNs>::min();
}

/// A distance that came out of pixels, as time; without surprises for values that no int64 holds.
[[nodiscard]] inline TimeNs rounded(double ns) {
    constexpr double limit = 9.2e18;
    if (std::isnan(ns))
        return 0;
    return static_cast<TimeNs>(std::llround(std::clamp(ns, -limit, limit)));
}

/// A range of time laid over `width` pixels, beginning at pixel 0.
struct Scale {
    TimeRange range;
    double width = 1;

    [[nodiscard]] double nsPerPixel() const {
        return static_cast<double>(std::max<TimeNs>(1, subtract(range.end, range.begin))) /
               std::max(width, 1e-9);
    }
    /// Where a time lies. Far outside of the range the answer is cut, so that painting can take it.
    [[nodiscard]] double x(TimeNs t) const {
        constexpr double limit = 1e7;
        const double at = static_cast<double>(subtract(t, range.begin)) / nsPerPixel();
        return std::clamp(at, -limit, limit);
    }
    [[nodiscard]] TimeNs at(double x) const { return add(range.begin, rounded(x * nsPerPixel())); }
};

/// Moves a range so that it stays inside `bounds`; one that is wider than them becomes them.
[[nodiscard]] inline TimeRange movedInto(TimeRange range, TimeRange bounds) {
    const TimeNs width = subtract(range.end, range.begin);
    if (width >= subtract(bounds.end, bounds.begin))
        return bounds;
    if (range.begin < bounds.begin)
        return {bounds.begin, add(bounds.begin, width)};
    if (range.end > bounds.end)
        return {subtract(bounds.end, width), bounds.end};
    return range;
}

/// A range with a part of its own width added on both sides.
[[nodiscard]] inline TimeRange widened(TimeRange range, double part) {
    const TimeNs margin = rounded(static_cast<double>(subtract(range.end, range.begin)) * part);
    return {subtract(range.begin, margin), add(range.end, margin)};
}

/// The range seen after zooming by `factor` (above 1 = closer) while `anchor` keeps its place. Never less
/// than `shortest` wide, and always at least one nanosecond closer or further, so that a key press is never
/// lost to rounding.
[[nodiscard]] inline TimeRange zoomed(TimeRange range, TimeNs anchor, double factor, TimeNs shortest = 1) {
    const TimeNs width = std::max<TimeNs>(1, subtract(range.end, range.begin));
    TimeNs newWidth = rounded(static_cast<double>(width) / factor);
    if (factor > 1)
        newWidth = std::min(newWidth, width - 1);
    else if (factor < 1)
        newWidth = std::max(newWidth, add(width, 1));
    newWidth = std::max(newWidth, std::max<TimeNs>(shortest, 1));
    const double share =
        std::clamp(static_cast<double>(subtract(anchor, range.begin)) / static_cast<double>(width), 0.0, 1.0);
    const TimeNs begin = subtract(anchor, rounded(static_cast<double>(newWidth) * share));
    return {begin, add(begin, newWidth)};
}

/// The range moved by a part of its width (0.1 = a tenth to the right), at least one nanosecond.
[[nodiscard]] inline TimeRange panned(TimeRange range, double part) {
    TimeNs step = rounded(static_cast<double>(subtract(range.end, range.begin)) * part);
    if (step == 0 && part != 0)
        step = part > 0 ? 1 : -1;
    return {add(range.begin, step), add(range.end, step)};
}

/// The range in between, for animation: t = 0 gives `a`, 1 gives `b`.
[[nodiscard]] inline TimeRange between(TimeRange a, TimeRange b, double t) {
    const auto mix = [t](TimeNs from, TimeNs to) {
        return add(from, rounded(static_cast<double>(subtract(to, from)) * t));
    };
    TimeRange r{mix(a.begin, b.begin), mix(a.end, b.end)};
    if (r.end <= r.begin)
        r.end = add(r.begin, 1);
    return r;
}

/// The distance between ticks: 1, 2 or 5 times a power of ten nanoseconds, the first that is at least
/// `pixels` wide.
[[nodiscard]] inline TimeNs tickStep(double nsPerPixel, double pixels) {
    const double wanted = nsPerPixel * pixels;
    TimeNs decade = 1;
    while (true) {
        for (const TimeNs digit : std::array<TimeNs, 3>{1, 2, 5}) {
            if (static_cast<double>(decade * digit) >= wanted)
                return decade * digit;
        }
        if (decade >= 1'000'000'000'000'000'000)
            return decade * 5;
        decade *= 10;
    }
}

} // namespace warpline::coordinates
