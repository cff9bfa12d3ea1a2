// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/spans.h"

#include <algorithm>
#include <utility>

namespace warpline {

namespace {

constexpr unsigned kRunBits = 4; ///< runs of sixteen rows
constexpr std::uint32_t kRun = 1U << kRunBits;

/// Sums of durations are kept modulo 2^64, so that a damaged file with absurd durations cannot overflow; the
/// sum over one lane, whose slices do not overlap, comes out right all the same.
std::uint64_t unsignedOf(TimeNs t) {
    return static_cast<std::uint64_t>(t);
}

/// Divides a range of time into pixels without floating point where it matters: pixel p is the time
/// [edge(p), edge(p + 1)). Where a pixel is less than a nanosecond some are empty.
class PixelGrid {
  public:
    PixelGrid(TimeRange range, int pixels)
        : m_begin(range.begin), m_pixels(pixels), m_whole(range.duration() / pixels),
          m_rest(range.duration() % pixels),
          m_perNs(static_cast<double>(pixels) / static_cast<double>(range.duration())) {}

    [[nodiscard]] TimeNs edge(std::int64_t p) const {
        // Both factors are below the number of pixels: on any screen 32 bits hold the product, and dividing
        // those is several times quicker.
        const std::int64_t product = p * m_rest;
        const std::int64_t part =
            product <= UINT32_MAX ? static_cast<std::uint32_t>(product) / static_cast<std::uint32_t>(m_pixels)
                                  : product / m_pixels;
        return m_begin + p * m_whole + part;
    }
    /// The pixel of a time inside the range; of one before it, the first.
    [[nodiscard]] std::int64_t at(TimeNs t) const {
        if (t <= m_begin)
            return 0;
        auto p = static_cast<std::int64_t>(static_cast<double>(t - m_begin) * m_perNs);
        p = std::clamp<std::int64_t>(p, 0, m_pixels - 1);
        while (p > 0 && edge(p) > t)
            --p;
        while (p + 1 < m_pixels && edge(p + 1) <= t)
            ++p;
        return p;
    }
    /// The shortest duration that is not narrower than a pixel.
    [[nodiscard]] TimeNs width() const { return m_whole + (m_rest != 0 ? 1 : 0); }

  private:
    TimeNs m_begin;
    std::int64_t m_pixels;
    TimeNs m_whole;
    TimeNs m_rest;
    double m_perNs;
};

/// A range whose length fits into 63 bits.
TimeRange sane(TimeRange range) {
    constexpr TimeNs kLimit = INT64_MAX / 2;
    return {std::clamp(range.begin, -kLimit, kLimit), std::clamp(range.end, -kLimit, kLimit)};
}

} // namespace

SpanIndex::SpanIndex(TracePtr trace) : m_trace(std::move(trace)) {
    const SliceTable& slices = m_trace->slices;
    const std::size_t rows = slices.size();
    const std::size_t runs = (rows + kRun - 1) >> kRunBits;
    m_sum.reset(runs == 0 ? 0 : runs + 1);
    m_start.reset(runs);
    if (runs == 0)
        return;

    Level first{Column<std::uint32_t>(runs), Column<TimeNs>(runs)};
    std::uint64_t sum = 0;
    for (std::size_t run = 0; run < runs; ++run) {
        const std::size_t begin = run << kRunBits;
        const std::size_t end = std::min<std::size_t>(begin + kRun, rows);
        m_sum[run] = sum;
        m_start[run] = slices.start[begin];
        std::size_t best = begin;
        for (std::size_t row = begin; row < end; ++row) {
            sum += unsignedOf(slices.duration[row]);
            if (slices.duration[row] > slices.duration[best])
                best = row;
        }
        first.row[run] = static_cast<std::uint32_t>(best);
        first.duration[run] = slices.duration[best];
    }
    m_sum[runs] = sum;
    m_levels.push_back(std::move(first));
    while (m_levels.back().row.size() > kRun) {
        const Level& below = m_levels.back();
        const std::size_t n = (below.row.size() + kRun - 1) >> kRunBits;
        Level level{Column<std::uint32_t>(n), Column<TimeNs>(n)};
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t begin = i << kRunBits;
            const std::size_t end = std::min<std::size_t>(begin + kRun, below.row.size());
            std::size_t best = begin;
            for (std::size_t j = begin + 1; j < end; ++j) {
                if (below.duration[j] > below.duration[best])
                    best = j;
            }
            level.row[i] = below.row[best];
            level.duration[i] = below.duration[best];
        }
        m_levels.push_back(std::move(level));
    }
}

void SpanIndex::takeRows(std::uint32_t begin, std::uint32_t end, Longest& best) const {
    const TimeNs* duration = m_trace->slices.duration.data();
    for (std::uint32_t row = begin; row < end; ++row)
        best.take(row, duration[row]);
}

/// Runs [begin, end) of a level, from left to right: single ones up to a run of the next level, then those,
/// then the single ones behind.
void SpanIndex::takeRuns(std::size_t l, std::uint32_t begin, std::uint32_t end, Longest& best) const {
    const Level& level = m_levels[l];
    const auto take = [&](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t i = from; i < to; ++i)
            best.take(level.row[i], level.duration[i]);
    };
    if (end - begin <= 2 * kRun || l + 1 == m_levels.size()) {
        take(begin, end);
        return;
    }
    const std::uint32_t inner = (begin + kRun - 1) >> kRunBits;
    const std::uint32_t innerEnd = end >> kRunBits;
    take(begin, inner << kRunBits);
    takeRuns(l + 1, inner, innerEnd, best);
    take(innerEnd << kRunBits, end);
}

std::uint32_t SpanIndex::longest(std::uint32_t begin, std::uint32_t end) const {
    Longest best{begin, m_trace->slices.duration[begin]};
    if (end - begin <= 2 * kRun) {
        takeRows(begin + 1, end, best);
        return best.row;
    }
    const std::uint32_t run = (begin + kRun - 1) >> kRunBits;
    const std::uint32_t runEnd = end >> kRunBits;
    takeRows(begin, run << kRunBits, best);
    takeRuns(0, run, runEnd, best);
    takeRows(runEnd << kRunBits, end, best);
    return best.row;
}

TimeNs SpanIndex::busy(std::uint32_t begin, std::uint32_t end) const {
    const TimeNs* duration = m_trace->slices.duration.data();
    std::uint64_t sum = 0;
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t row = from; row < to; ++row)
            sum += unsignedOf(duration[row]);
    };
    if (end - begin <= 2 * kRun) {
        add(begin, end);
        return static_cast<TimeNs>(sum);
    }
    const std::uint32_t run = (begin + kRun - 1) >> kRunBits;
    const std::uint32_t runEnd = end >> kRunBits;
    add(begin, run << kRunBits);
    add(runEnd << kRunBits, end);
    return static_cast<TimeNs>(sum + m_sum[runEnd] - m_sum[run]);
}

std::uint32_t SpanIndex::firstFrom(std::uint32_t begin, std::uint32_t end, TimeNs t) const {
    const Column<TimeNs>& start = m_trace->slices.start;
    // Near by: look at the rows themselves up to the next run.
    const std::uint32_t near = std::min<std::uint32_t>(end, (begin | (kRun - 1)) + 1);
    std::uint32_t low = begin;
    std::uint32_t high = near;
    if (near < end && start[near] < t) {
        // Farther: gallop over the starts of runs, which are a sixteenth of the memory.
        std::uint32_t run = near >> kRunBits;
        const std::uint32_t runs = ((end - 1) >> kRunBits) + 1;
        std::uint32_t step = 1;
        while (run + step < runs && m_start[run + step] < t) {
            run += step;
            step *= 2;
        }
        const TimeNs* from = m_start.data() + run + 1;
        const TimeNs* to = m_start.data() + std::min(run + step, runs);
        const auto below = static_cast<std::uint32_t>(std::lower_bound(from, to, t) - m_start.data()) - 1;
        low = below << kRunBits;
        high = std::min(end, low + kRun);
    }
    const TimeNs* at = std::lower_bound(start.data() + low, start.data() + high, t);
    return static_cast<std::uint32_t>(at - start.data());
}

void SpanIndex::spans(LaneId id, TimeRange asked, int pixels, std::vector<Span>& out) const {
    const TimeRange range = sane(asked);
    if (!id || pixels <= 0 || range.empty())
        return;
    const SliceTable& slices = m_trace->slices;
    const auto [first, last] = rowsIn(*m_trace, m_trace->lanes[id.index()], range);
    const PixelGrid grid(range, pixels);
    const TimeNs width = grid.width();

    std::uint32_t row = first;
    while (row < last) {
        const TimeNs start = slices.start[row];
        // Wide, or so far from the next that they cannot share a pixel.
        if (slices.duration[row] >= width || row + 1 == last || slices.start[row + 1] - start >= width) {
            out.push_back({start, slices.end(row), SliceId::fromIndex(row), 1, slices.duration[row]});
            ++row;
            continue;
        }
        // All that starts in this pixel; only the last of it can be wide, since it keeps out what follows.
        const std::int64_t pixel = grid.at(start);
        std::uint32_t next = last;
        if (pixel + 1 < pixels)
            next = firstFrom(row + 1, last, grid.edge(pixel + 1));
        if (next > row + 1 && slices.duration[next - 1] >= width)
            --next;
        if (next == row + 1)
            out.push_back({start, slices.end(row), SliceId::fromIndex(row), 1, slices.duration[row]});
        else
            out.push_back({start, slices.end(next - 1), SliceId::fromIndex(longest(row, next)), next - row,
                           busy(row, next)});
        row = next;
    }
}

TimeNs SpanIndex::covered(const Lane& lane, TimeRange asked) const {
    const TimeRange range = sane(asked);
    if (range.empty())
        return 0;
    const SliceTable& slices = m_trace->slices;
    const auto [first, last] = rowsIn(*m_trace, lane, range);
    if (first == last)
        return 0;
    // Only the first and the last can reach beyond the range.
    const TimeNs before = std::max<TimeNs>(0, range.begin - slices.start[first]);
    const TimeNs after = std::max<TimeNs>(0, slices.end(last - 1) - range.end);
    return busy(first, last) - before - after;
}

std::size_t SpanIndex::bytes() const {
    std::size_t n = m_sum.bytes() + m_start.bytes();
    for (const Level& level : m_levels)
        n += level.row.bytes() + level.duration.bytes();
    return n;
}

std::pair<std::uint32_t, std::uint32_t> rowsIn(const Trace& trace, const Lane& lane, TimeRange range) {
    const SliceTable& slices = trace.slices;
    const TimeNs* start = slices.start.data();
    auto first = static_cast<std::uint32_t>(
        std::lower_bound(start + lane.begin, start + lane.end, range.begin) - start);
    const auto last =
        static_cast<std::uint32_t>(std::lower_bound(start + first, start + lane.end, range.end) - start);
    // Slices of a lane do not overlap, so only the one before can reach into the range.
    if (first > lane.begin && slices.end(first - 1) > range.begin)
        --first;
    return {first, std::max(first, last)};
}

SliceId hitTest(const Trace& trace, LaneId id, TimeNs t, TimeNs slack) {
    if (!id)
        return {};
    const Lane& lane = trace.lanes[id.index()];
    const SliceTable& slices = trace.slices;
    const TimeNs* start = slices.start.data();
    const auto after =
        static_cast<std::uint32_t>(std::upper_bound(start + lane.begin, start + lane.end, t) - start);
    TimeNs best = slack;
    SliceId hit;
    if (after > lane.begin) {
        const std::uint32_t row = after - 1;
        const TimeNs end = slices.end(row);
        if (t < end || t == slices.start[row])
            return SliceId::fromIndex(row);
        if (t - end <= best) {
            best = t - end;
            hit = SliceId::fromIndex(row);
        }
    }
    if (after < lane.end && slices.start[after] - t <= slack && (!hit || slices.start[after] - t < best))
        hit = SliceId::fromIndex(after);
    return hit;
}

SliceId nextInLane(const Trace& trace, SliceId s) {
    const LaneId lane = s ? trace.laneOf(s) : LaneId{};
    if (!lane || s.index() + 1 >= trace.lanes[lane.index()].end)
        return {};
    return SliceId::fromIndex(s.index() + 1);
}

SliceId previousInLane(const Trace& trace, SliceId s) {
    const LaneId lane = s ? trace.laneOf(s) : LaneId{};
    if (!lane || s.index() <= trace.lanes[lane.index()].begin)
        return {};
    return SliceId::fromIndex(s.index() - 1);
}

SliceId firstChild(const Trace& trace, SliceId s) {
    const TrackId track = s ? trace.trackOf(s) : TrackId{};
    if (!track)
        return {};
    const Track& t = trace.tracks[track.index()];
    const SliceTable& slices = trace.slices;
    const TimeNs* start = slices.start.data();
    TimeNs limit = slices.end(s.index());
    SliceId child;
    // Children mostly stand in the lane below; where slices overlap they may stand in another.
    for (std::uint32_t l = t.firstLane; l < t.firstLane + t.laneCount; ++l) {
        const Lane& lane = trace.lanes[l];
        auto row = static_cast<std::uint32_t>(
            std::lower_bound(start + lane.begin, start + lane.end, slices.start[s.index()]) - start);
        for (; row < lane.end && (child ? start[row] < limit : start[row] <= limit); ++row) {
            if (slices.parent[row] == s) {
                child = SliceId::fromIndex(row);
                limit = start[row];
                break;
            }
        }
    }
    return child;
}

namespace {

/// Slices are ordered by start and, where they start together, by row.
SliceId neighbourOfName(const Trace& trace, SliceId s, bool forward) {
    const TrackId track = s ? trace.trackOf(s) : TrackId{};
    if (!track)
        return {};
    const TrackKind kind = trace.tracks[track.index()].kind;
    const SliceTable& slices = trace.slices;
    const TimeNs* start = slices.start.data();
    const auto self = static_cast<std::uint32_t>(s.index());
    const StringId name = slices.name[self];
    const TimeNs at = start[self];
    bool found = false;
    std::uint32_t best = 0;
    for (const Lane& lane : trace.lanes) {
        if (trace.tracks[lane.track.index()].kind != kind)
            continue;
        if (forward) {
            auto row = static_cast<std::uint32_t>(std::lower_bound(start + lane.begin, start + lane.end, at) -
                                                  start);
            for (; row < lane.end && (!found || start[row] < start[best]); ++row) {
                if (slices.name[row] == name && (start[row] > at || row > self)) {
                    best = row;
                    found = true;
                    break;
                }
            }
        } else {
            auto row = static_cast<std::uint32_t>(std::upper_bound(start + lane.begin, start + lane.end, at) -
                                                  start);
            // Of several that start together the last row is the nearest, so equals replace.
            while (row > lane.begin && (!found || start[row - 1] >= start[best])) {
                --row;
                if (slices.name[row] == name && (start[row] < at || row < self)) {
                    best = row;
                    found = true;
                    break;
                }
            }
        }
    }
    return found ? SliceId::fromIndex(best) : SliceId{};
}

void addLinks(const LinkTable& table, SliceId s, LinkedSlice::Kind kind, std::size_t limit,
              std::vector<LinkedSlice>& out) {
    const auto [first, last] = table.leaving(s);
    for (std::size_t i = first; i < last && i - first < limit; ++i)
        out.push_back({kind, table.to[i], true});
    const auto [begin, end] = table.arriving(s);
    for (std::size_t i = begin; i < end && i - begin < limit; ++i)
        out.push_back({kind, table.from[table.byTo[i]], false});
}

} // namespace

SliceId nextOfName(const Trace& trace, SliceId s) {
    return neighbourOfName(trace, s, true);
}

SliceId previousOfName(const Trace& trace, SliceId s) {
    return neighbourOfName(trace, s, false);
}

std::vector<LinkedSlice> linkedSlices(const Trace& trace, SliceId s, std::size_t limit) {
    std::vector<LinkedSlice> out;
    if (!s)
        return out;
    addLinks(trace.links.launch, s, LinkedSlice::Kind::Launch, limit, out);
    addLinks(trace.links.op, s, LinkedSlice::Kind::Op, limit, out);
    addLinks(trace.links.forward, s, LinkedSlice::Kind::Forward, limit, out);
    addLinks(trace.links.flow, s, LinkedSlice::Kind::Flow, limit, out);
    return out;
}

} // namespace warpline
