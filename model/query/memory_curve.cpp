// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_curve.h"

#include <algorithm>

namespace warpline {

namespace {

constexpr std::size_t kRun = 32;

/// begin + part / parts of the length, without overflow.
std::int64_t portion(const MemoryView& view, int part, int parts) {
    __extension__ using Wide = __int128; // a time range times a width is beyond 64 bits
    const Wide length = static_cast<Wide>(view.end) - view.begin;
    return static_cast<std::int64_t>(view.begin + length * part / parts);
}

} // namespace

std::vector<MomentSpan> momentColumns(const MemoryDevice& device, const MemoryView& view, int columns) {
    std::vector<MomentSpan> spans(static_cast<std::size_t>(std::max(columns, 0)));
    const auto last = static_cast<std::int64_t>(device.lastMoment());
    const bool time = view.axis == MemoryAxis::Time;
    for (int c = 0; c < columns; ++c) {
        const std::int64_t from = portion(view, c, columns);
        const std::int64_t to = portion(view, c + 1, columns);
        MomentSpan& span = spans[static_cast<std::size_t>(c)];
        if (time) {
            span.first = device.momentAt(from);
            span.last = to > from ? device.momentAt(to - 1) : span.first;
        } else {
            span.first = static_cast<Moment>(std::clamp<std::int64_t>(from, 0, last));
            span.last = static_cast<Moment>(std::clamp<std::int64_t>(to - 1, 0, last));
        }
        span.last = std::max(span.first, span.last);
    }
    return spans;
}

std::int64_t axisPosition(const MemoryDevice& device, MemoryAxis axis, Moment moment) {
    return axis == MemoryAxis::Time ? device.timeOf(moment) : static_cast<std::int64_t>(moment);
}

Moment momentAtPosition(const MemoryDevice& device, MemoryAxis axis, std::int64_t position) {
    if (axis == MemoryAxis::Time)
        return device.momentAt(position);
    return static_cast<Moment>(
        std::clamp<std::int64_t>(position, 0, static_cast<std::int64_t>(device.lastMoment())));
}

CurveIndex::CurveIndex(std::span<const std::int64_t> values) : m_values(values) {
    std::size_t below = values.size();
    while (below > kRun) {
        const std::size_t runs = (below + kRun - 1) / kRun;
        std::vector<Run> level(runs);
        for (std::size_t r = 0; r < runs; ++r) {
            const std::size_t from = r * kRun;
            const std::size_t to = std::min(below, from + kRun);
            Run run{};
            for (std::size_t i = from; i < to; ++i) {
                const Run item = m_levels.empty() ? Run{static_cast<Moment>(i), static_cast<Moment>(i)}
                                                  : m_levels.back()[i];
                if (i == from || values[item.minAt] < values[run.minAt])
                    run.minAt = item.minAt;
                if (i == from || values[item.maxAt] > values[run.maxAt])
                    run.maxAt = item.maxAt;
            }
            level[r] = run;
        }
        m_levels.push_back(std::move(level));
        below = runs;
    }
}

void CurveIndex::take(Extremes& e, Moment at) const {
    const std::int64_t value = m_values[at];
    if (value < e.min || (value == e.min && at < e.minAt)) {
        e.min = value;
        e.minAt = at;
    }
    if (value > e.max || (value == e.max && at < e.maxAt)) {
        e.max = value;
        e.maxAt = at;
    }
}

CurveIndex::Extremes CurveIndex::extremes(Moment first, Moment last) const {
    Extremes e{m_values[first], m_values[first], first, first};
    std::size_t from = first;
    std::size_t to = std::size_t{last} + 1;
    // Both ends up to whole runs on each level, the middle on the next.
    for (std::size_t level = 0;; ++level) {
        const auto item = [&](std::size_t i) {
            if (level == 0) {
                take(e, static_cast<Moment>(i));
            } else {
                take(e, m_levels[level - 1][i].minAt);
                take(e, m_levels[level - 1][i].maxAt);
            }
        };
        if (level >= m_levels.size() || to - from <= 2 * kRun) {
            for (std::size_t i = from; i < to; ++i)
                item(i);
            return e;
        }
        while (from < to && from % kRun != 0)
            item(from++);
        while (to > from && to % kRun != 0)
            item(--to);
        from /= kRun;
        to /= kRun;
    }
}

std::vector<CurveColumn> CurveIndex::columns(const std::vector<MomentSpan>& spans) const {
    std::vector<CurveColumn> out;
    out.reserve(spans.size());
    for (const MomentSpan& span : spans) {
        const Extremes e = extremes(span.first, span.last);
        out.push_back({e.min, e.max, m_values[span.last], e.maxAt});
    }
    return out;
}

std::size_t CurveIndex::bytes() const {
    std::size_t n = 0;
    for (const auto& level : m_levels)
        n += level.size() * sizeof(Run);
    return n;
}

} // namespace warpline
