// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <span>
#include <vector>

namespace warpline {

/// What stands on the horizontal axis of memory views.
enum class MemoryAxis { Events, Time };

/// A visible stretch of the axis: moments for Events, nanoseconds for Time. Half-open.
struct MemoryView {
    MemoryAxis axis = MemoryAxis::Events;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// The moments that a pixel column stands for: [first, last], both inclusive and first <= last. On the time
/// axis a column without events stands for the moment that holds there.
struct MomentSpan {
    Moment first = 0;
    Moment last = 0;
};
/// One span a column; columns > 0. Cost: a binary search a column at most.
std::vector<MomentSpan> momentColumns(const MemoryDevice& device, const MemoryView& view, int columns);
/// Where a moment begins on an axis.
std::int64_t axisPosition(const MemoryDevice& device, MemoryAxis axis, Moment moment);
/// The moment that holds at a place of an axis.
Moment momentAtPosition(const MemoryDevice& device, MemoryAxis axis, std::int64_t position);

/// A curve in one pixel column.
struct CurveColumn {
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t last = 0; ///< the value at the column's end
    Moment maxAt = 0;      ///< the first moment of the highest value
};

/// Finds the lowest and highest value of any stretch of a curve at a cost that does not follow its length.
/// Refers to the values, which outlive it. A third of a byte a value.
class CurveIndex {
  public:
    explicit CurveIndex(std::span<const std::int64_t> values);

    struct Extremes {
        std::int64_t min = 0;
        std::int64_t max = 0;
        Moment minAt = 0;
        Moment maxAt = 0;
    };
    /// Over [first, last], inclusive; first moments of equals.
    [[nodiscard]] Extremes extremes(Moment first, Moment last) const;
    /// The curve decimated to one value pair a column.
    [[nodiscard]] std::vector<CurveColumn> columns(const std::vector<MomentSpan>& spans) const;
    [[nodiscard]] std::span<const std::int64_t> values() const { return m_values; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Run {
        Moment minAt;
        Moment maxAt;
    };
    void take(Extremes& e, Moment at) const;
    std::span<const std::int64_t> m_values;
    std::vector<std::vector<Run>> m_levels; ///< runs of 32, 1024, ...
};

} // namespace warpline
