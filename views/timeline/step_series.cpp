// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/step_series.h"

#include "views/timeline/coordinates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpline {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

StepSeries::StepSeries(std::vector<TimeNs> time, std::vector<double> value)
    : m_ownTime(std::move(time)), m_ownValue(std::move(value)), m_time(m_ownTime), m_value(m_ownValue) {
    index();
}

StepSeries::StepSeries(std::span<const TimeNs> time, std::span<const double> value)
    : m_time(time), m_value(value) {
    index();
}

void StepSeries::index() {
    const std::size_t n = std::min(m_time.size(), m_value.size());
    m_time = m_time.first(n);
    m_value = m_value.first(n);
    if (n == 0)
        return;
    m_levels[0].assign((n + kRun - 1) / kRun, {kInfinity, -kInfinity});
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isfinite(m_value[i]))
            continue;
        Bounds& b = m_levels[0][i / kRun];
        b.min = std::min(b.min, m_value[i]);
        b.max = std::max(b.max, m_value[i]);
    }
    for (std::size_t level = 1; level < m_levels.size(); ++level) {
        const std::vector<Bounds>& below = m_levels[level - 1];
        m_levels[level].assign((below.size() + kRun - 1) / kRun, {kInfinity, -kInfinity});
        for (std::size_t i = 0; i < below.size(); ++i) {
            Bounds& b = m_levels[level][i / kRun];
            b.min = std::min(b.min, below[i].min);
            b.max = std::max(b.max, below[i].max);
        }
    }
    const Bounds all = bounds(0, n);
    m_min = all.min <= all.max ? all.min : 0;
    m_max = all.min <= all.max ? all.max : 0;
}

StepSeries::Bounds StepSeries::bounds(std::size_t begin, std::size_t end) const {
    Bounds result{kInfinity, -kInfinity};
    const auto take = [&result](double lo, double hi) {
        result.min = std::min(result.min, lo);
        result.max = std::max(result.max, hi);
    };
    std::size_t i = begin;
    while (i < end) {
        // The longest run that begins here and ends within.
        std::size_t run = 1;
        std::size_t level = 0;
        while (level < m_levels.size() && i % (run * kRun) == 0 && i + run * kRun <= end) {
            run *= kRun;
            ++level;
        }
        if (level == 0) {
            if (std::isfinite(m_value[i]))
                take(m_value[i], m_value[i]);
        } else {
            const Bounds& b = m_levels[level - 1][i / run];
            take(b.min, b.max);
        }
        i += run;
    }
    return result;
}

std::optional<double> StepSeries::at(TimeNs t) const {
    const auto it = std::upper_bound(m_time.begin(), m_time.end(), t);
    if (it == m_time.begin())
        return std::nullopt;
    return m_value[static_cast<std::size_t>(it - m_time.begin()) - 1];
}

void StepSeries::columns(TimeRange range, int pixels, std::vector<Column>& out) const {
    out.assign(static_cast<std::size_t>(std::max(pixels, 0)), {});
    if (empty() || pixels <= 0)
        return;
    const coordinates::Scale scale{range, static_cast<double>(pixels)};
    auto next = std::lower_bound(m_time.begin(), m_time.end(), range.begin);
    for (int x = 0; x < pixels; ++x) {
        const TimeNs columnEnd = x + 1 == pixels ? range.end : scale.at(x + 1);
        const auto begin = next;
        // Most columns hold few samples, so look near before searching.
        std::ptrdiff_t step = 1;
        while (step < m_time.end() - next && *(next + step) < columnEnd)
            step *= 2;
        next = std::lower_bound(next + step / 2, next + std::min(step + 1, m_time.end() - next), columnEnd);
        const auto first = static_cast<std::size_t>(begin - m_time.begin());
        const auto last = static_cast<std::size_t>(next - m_time.begin());
        // The value carried in counts unless a sample stands right at the column's edge.
        const bool carried =
            first > 0 && (first == last || m_time[first] > (x == 0 ? range.begin : scale.at(x)));
        const Bounds b = bounds(carried ? first - 1 : first, last);
        if (b.min <= b.max)
            out[static_cast<std::size_t>(x)] = {b.min, b.max, true};
    }
}

} // namespace warpline
