// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/range_stats.h"

#include "model/base/statistics.h"
#include "model/query/busy_union.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

namespace warpline {

namespace {

/// Groups of (name, kind), found by name without hashing; the few names that several kinds use chain their
/// groups.
class Groups {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    struct Group {
        NameStats stats;
        std::uint32_t next = kNone;
        std::size_t values = 0; ///< where its durations begin, then where the next one goes
    };

    explicit Groups(std::size_t names) : m_first(names + 1, kNone) {}

    [[nodiscard]] std::uint32_t find(StringId name, SliceKind kind) const {
        std::uint32_t g = m_first[name.value];
        while (g != kNone && m_groups[g].stats.kind != kind)
            g = m_groups[g].next;
        return g;
    }
    std::uint32_t add(StringId name, SliceKind kind) {
        std::uint32_t g = find(name, kind);
        if (g == kNone) {
            g = static_cast<std::uint32_t>(m_groups.size());
            Group group;
            group.stats.name = name;
            group.stats.kind = kind;
            group.next = m_first[name.value];
            m_groups.push_back(group);
            m_first[name.value] = g;
        }
        return g;
    }
    std::vector<Group>& all() { return m_groups; }
    Group& operator[](std::uint32_t g) { return m_groups[g]; }

  private:
    std::vector<std::uint32_t> m_first; ///< by name
    std::vector<Group> m_groups;
};

struct Rows {
    std::uint32_t begin;
    std::uint32_t end;
};

class RangeStatsBuilder {
  public:
    RangeStatsBuilder(const Trace& trace, TimeRange range, std::stop_token stop)
        : m_trace(trace), m_range(range), m_stop(std::move(stop)), m_groups(trace.strings.size()) {
        m_out.range = range;
    }

    RangeStats build(const std::vector<TrackId>& asked) {
        std::vector<TrackId> tracks = asked;
        std::sort(tracks.begin(), tracks.end());
        tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
        if (tracks.empty()) {
            for (std::size_t i = 0; i < m_trace.tracks.size(); ++i)
                tracks.push_back(TrackId::fromIndex(i));
        }
        for (const TrackId track : tracks) {
            if (m_stop.stop_requested())
                return {};
            if (track)
                countTrack(m_trace.tracks[track.index()]);
        }
        if (!ranks())
            return {};
        devices(tracks);
        memory();
        return std::move(m_out);
    }

  private:
    /// Counts and sums of one track's slices that start in the range, and what their children take.
    void countTrack(const Track& track) {
        const SliceTable& slices = m_trace.slices;
        const TimeNs* start = slices.start.data();
        TimeNs lastEnd = std::numeric_limits<TimeNs>::min();
        for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
            const Lane& lane = m_trace.lanes[l];
            const Rows rows{lowerBound(start, lane.begin, lane.end, m_range.begin),
                            lowerBound(start, lane.begin, lane.end, m_range.end)};
            if (rows.begin >= rows.end)
                continue;
            m_rows.push_back(rows);
            m_groupOf.reserve(m_groupOf.size() + (rows.end - rows.begin));
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
                const TimeNs duration = slices.duration[row];
                const std::uint32_t g = m_groups.add(slices.name[row], m_trace.kind(row));
                NameStats& s = m_groups[g].stats;
                ++s.count;
                s.sum += duration;
                s.self += duration;
                m_groupOf.push_back(g);
            }
            lastEnd = std::max(lastEnd, slices.end(rows.end - 1));
            m_out.slices += rows.end - rows.begin;
        }
        // A child may start after the range while its parent starts in it. Self time is summed by name, so it
        // is enough to take each child's duration off its parent's group.
        for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
            const Lane& lane = m_trace.lanes[l];
            for (std::uint32_t row = lowerBound(start, lane.begin, lane.end, m_range.begin);
                 row < lane.end && start[row] <= lastEnd; ++row) {
                const SliceId parent = slices.parent[row];
                if (!parent || !m_range.contains(start[parent.index()]))
                    continue;
                const std::uint32_t g = m_groups.find(slices.name[parent.index()], m_trace.kind(parent));
                m_groups[g].stats.self -= slices.duration[row];
            }
        }
    }

    static std::uint32_t lowerBound(const TimeNs* start, std::uint32_t begin, std::uint32_t end, TimeNs t) {
        return static_cast<std::uint32_t>(std::lower_bound(start + begin, start + end, t) - start);
    }

    /// Minimum, median, 95th percentile and maximum: the durations sorted into a run a group.
    bool ranks() {
        std::size_t at = 0;
        for (Groups::Group& g : m_groups.all()) {
            g.values = at;
            at += g.stats.count;
        }
        Column<TimeNs> values(at);
        std::size_t i = 0;
        for (const Rows& rows : m_rows) {
            for (std::uint32_t row = rows.begin; row < rows.end; ++row)
                values[m_groups[m_groupOf[i++]].values++] = m_trace.slices.duration[row];
        }
        for (Groups::Group& g : m_groups.all()) {
            if (m_stop.stop_requested())
                return false;
            NameStats& s = g.stats;
            const std::span<TimeNs> mine(values.data() + (g.values - s.count), s.count);
            const std::size_t median = nearestRank(s.count, 50);
            s.median = nearestRankOf(mine, 50);
            // nth_element leaves what is smaller before the rank and what is larger behind it.
            const auto middle = mine.begin() + static_cast<std::ptrdiff_t>(median);
            s.min = *std::min_element(mine.begin(), middle + 1);
            const auto high = mine.begin() + static_cast<std::ptrdiff_t>(nearestRank(s.count, 95));
            std::nth_element(middle, high, mine.end());
            s.p95 = *high;
            s.max = *std::max_element(high, mine.end());
            m_out.names.push_back(s);
        }
        std::sort(m_out.names.begin(), m_out.names.end(), [](const NameStats& a, const NameStats& b) {
            return a.sum != b.sum ? a.sum > b.sum : a.count != b.count ? a.count > b.count : a.name < b.name;
        });
        return true;
    }

    void devices(const std::vector<TrackId>& tracks) {
        for (std::uint32_t p = 0; p < m_trace.processes.size(); ++p) {
            const bool asked = std::any_of(tracks.begin(), tracks.end(), [&](TrackId t) {
                return t && m_trace.tracks[t.index()].process == p &&
                       m_trace.tracks[t.index()].kind == TrackKind::Stream;
            });
            if (asked && !m_range.empty())
                m_out.devices.push_back(device(p));
        }
    }

    [[nodiscard]] DeviceStats device(std::uint32_t process) const {
        LaneMerge merge;
        for (const Lane& lane : streamLanes(m_trace, process))
            merge.add(m_trace, lane, m_range);
        DeviceStats d;
        d.process = process;
        bool any = false;
        TimeNs reached = m_range.begin;
        merge.forEach(m_trace, m_range, [&](TimeNs start, TimeNs end) {
            if (any && start > reached) {
                ++d.gaps;
                if (start - reached > d.largestGap) {
                    d.largestGap = start - reached;
                    d.largestGapStart = reached;
                }
            }
            any = true;
            if (end > reached) {
                d.busy += end - std::max(start, reached);
                reached = end;
            }
        });
        d.idle = m_range.duration() - d.busy;
        return d;
    }

    void memory() {
        const MemoryTable& memory = m_trace.memory;
        const StringId outOfMemory = m_trace.strings.find("[OutOfMemory]");
        const TimeNs* time = memory.time.data();
        const auto first =
            static_cast<std::size_t>(std::lower_bound(time, time + memory.size(), m_range.begin) - time);
        for (std::size_t i = first; i < memory.size() && time[i] < m_range.end; ++i) {
            // The record of a failed allocation tells what was asked for, not what was given.
            if (memory.device[i] < 0 || (outOfMemory && memory.name[i] == outOfMemory))
                continue;
            (memory.bytes[i] > 0 ? m_out.bytesAllocated : m_out.bytesFreed) += std::abs(memory.bytes[i]);
        }
    }

    const Trace& m_trace;
    TimeRange m_range;
    std::stop_token m_stop;
    Groups m_groups;
    std::vector<Rows> m_rows;
    std::vector<std::uint32_t> m_groupOf; ///< of each row of m_rows, in order
    RangeStats m_out;
};

} // namespace

RangeStats rangeStats(const Trace& trace, TimeRange range, const std::vector<TrackId>& tracks,
                      std::stop_token stop) {
    return RangeStatsBuilder(trace, range, std::move(stop)).build(tracks);
}

} // namespace warpline
