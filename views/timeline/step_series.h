// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpline {

/// A value that holds from each sample to the next: a counter, or the bytes an allocator has out. Indexed so
/// that the least and largest value of any stretch cost steps by the logarithm, not by the samples.
class StepSeries {
  public:
    /// What a column of pixels shows: all values the series takes in it, the one carried into it included.
    struct Column {
        double min = 0;
        double max = 0;
        bool filled = false; ///< false before the first sample
    };

    StepSeries() = default;
    /// Takes the samples over; `time` ascends, both have one length.
    StepSeries(std::vector<TimeNs> time, std::vector<double> value);
    /// Reads samples that someone else owns and that outlive the series.
    StepSeries(std::span<const TimeNs> time, std::span<const double> value);
    StepSeries(StepSeries&&) noexcept = default;
    StepSeries& operator=(StepSeries&&) noexcept = default;

    [[nodiscard]] bool empty() const { return m_time.empty(); }
    [[nodiscard]] std::size_t size() const { return m_time.size(); }
    [[nodiscard]] double min() const { return m_min; }
    [[nodiscard]] double max() const { return m_max; }
    /// The value at a moment; none before the first sample.
    [[nodiscard]] std::optional<double> at(TimeNs t) const;
    /// One entry for each of `pixels` equal parts of the range, in place of what `out` held.
    void columns(TimeRange range, int pixels, std::vector<Column>& out) const;

  private:
    static constexpr std::size_t kRun = 32;
    struct Bounds {
        double min;
        double max;
    };
    void index();
    [[nodiscard]] Bounds bounds(std::size_t begin, std::size_t end) const;

    std::vector<TimeNs> m_ownTime;
    std::vector<double> m_ownValue;
    std::span<const TimeNs> m_time;
    std::span<const double> m_value;
    std::array<std::vector<Bounds>, 3> m_levels; ///< runs of 32, of 1024, of 32768 samples
    double m_min = 0;
    double m_max = 0;
};

} // namespace warpline
