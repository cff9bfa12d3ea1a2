// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/families.h"
#include "model/analysis/ops.h"
#include "model/base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace warpline {

namespace {

/// An average weighted by the durations of the launches that say something; where none of them lasts, plain.
class WeightedAverage {
  public:
    void add(double value, TimeNs duration) {
        const auto weight = static_cast<double>(std::max<TimeNs>(duration, 0));
        m_weighted += value * weight;
        m_weight += weight;
        m_sum += value;
        ++m_count;
    }
    /// -1 where nothing was added.
    [[nodiscard]] double value() const {
        if (m_count == 0)
            return -1;
        return m_weight > 0 ? m_weighted / m_weight : m_sum / static_cast<double>(m_count);
    }

  private:
    double m_weighted = 0;
    double m_weight = 0;
    double m_sum = 0;
    std::uint64_t m_count = 0;
};

/// The arguments that tell how a kernel was launched, as Kineto spells them.
enum LaunchArg : std::size_t { Occupancy, Registers, SharedMemory, LaunchArgCount };
constexpr std::array<std::string_view, LaunchArgCount> kLaunchKeys{"est. achieved occupancy %",
                                                                   "registers per thread", "shared memory"};

struct Group {
    KernelRow row;
    TimeNs longest = -1;
    std::array<WeightedAverage, LaunchArgCount> averages;
    std::size_t values = 0; ///< where its durations begin, then where the next one goes
};

class KernelTableBuilder {
  public:
    KernelTableBuilder(const Trace& trace, std::optional<TimeRange> range, std::stop_token stop,
                       std::span<const char> only)
        : m_trace(trace), m_range(range), m_stop(std::move(stop)), m_only(only) {
        for (std::size_t i = 0; i < LaunchArgCount; ++i)
            m_keys[i] = trace.strings.find(kLaunchKeys[i]);
        // Few kinds of events say how they were launched; the arguments of the others are not decoded.
        m_shapes.assign(trace.args.shapeCount(), 0);
        for (std::size_t s = 0; s < m_shapes.size(); ++s) {
            for (const ArgShape::Field& field : trace.args.shapeAt(static_cast<std::uint32_t>(s)).fields)
                m_shapes[s] += launchArg(field.key) != LaunchArgCount ? 1 : 0;
        }
    }

    Result<KernelTable> build() {
        for (const Track& track : m_trace.tracks) {
            for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
                if (m_stop.stop_requested())
                    return Error::cancelled();
                countLane(track, m_trace.lanes[l]);
            }
        }
        return finish();
    }

  private:
    [[nodiscard]] std::size_t launchArg(StringId key) const {
        const auto it = std::find(m_keys.begin(), m_keys.end(), key);
        return key ? static_cast<std::size_t>(it - m_keys.begin()) : LaunchArgCount;
    }

    void countLane(const Track& track, const Lane& lane) {
        const SliceTable& slices = m_trace.slices;
        const TimeNs* start = slices.start.data();
        std::uint32_t begin = lane.begin;
        std::uint32_t end = lane.end;
        if (m_range) {
            begin = static_cast<std::uint32_t>(std::lower_bound(start + begin, start + end, m_range->begin) -
                                               start);
            end = static_cast<std::uint32_t>(std::lower_bound(start + begin, start + end, m_range->end) -
                                             start);
        }
        for (std::uint32_t row = begin; row < end; ++row) {
            const SliceKind kind = m_trace.kind(row);
            if (isDeviceWork(kind) && (m_only.empty() || m_only[row] != 0))
                count(track, row, kind);
        }
    }

    void count(const Track& track, std::uint32_t row, SliceKind kind) {
        const std::uint32_t g = groupOf(m_trace.slices.name[row], track.process, kind);
        Group& group = m_groups[g];
        const TimeNs duration = m_trace.slices.duration[row];
        ++group.row.count;
        group.row.total += duration;
        if (duration > group.longest) {
            group.longest = duration;
            group.row.longest = SliceId::fromIndex(row);
        }
        if (group.row.streams.empty() || group.row.streams.back() != track.tid)
            group.row.streams.push_back(track.tid);
        m_table.total += duration;
        m_values.push_back({g, duration});
        countArguments(group, m_trace.slices.args[row], duration);
    }

    void countArguments(Group& group, ArgStore::Ref ref, TimeNs duration) {
        if (ref == 0)
            return;
        int left = m_shapes[m_trace.args.shapeOf(ref)];
        if (left == 0)
            return;
        m_trace.args.forEach(ref, [&](const Arg& arg) {
            const std::size_t which = launchArg(arg.key);
            if (which == LaunchArgCount)
                return true;
            if (arg.isNumber())
                group.averages[which].add(arg.number(), duration);
            return --left > 0;
        });
    }

    std::uint32_t groupOf(StringId name, std::uint32_t process, SliceKind kind) {
        const std::uint64_t key =
            std::uint64_t{name.value} << 32 | std::uint64_t{process} << 8 | static_cast<std::uint64_t>(kind);
        const auto [it, isNew] = m_groupOf.emplace(key, static_cast<std::uint32_t>(m_groups.size()));
        if (isNew) {
            Group group;
            group.row.name = name;
            group.row.process = process;
            group.row.kind = kind;
            m_groups.push_back(group);
        }
        return it->second;
    }

    Result<KernelTable> finish() {
        std::size_t at = 0;
        for (Group& group : m_groups) {
            group.values = at;
            at += group.row.count;
        }
        std::vector<TimeNs> values(at);
        for (const auto& [g, duration] : m_values)
            values[m_groups[g].values++] = duration;
        for (Group& group : m_groups) {
            if (m_stop.stop_requested())
                return Error::cancelled();
            finishRow(group, {values.data() + (group.values - group.row.count), group.row.count});
        }
        std::sort(m_table.rows.begin(), m_table.rows.end(), [&](const KernelRow& a, const KernelRow& b) {
            if (a.total != b.total)
                return a.total > b.total;
            const std::string_view an = m_trace.strings.view(a.name);
            const std::string_view bn = m_trace.strings.view(b.name);
            return an != bn ? an < bn : a.process < b.process;
        });
        return std::move(m_table);
    }

    void finishRow(Group& group, std::span<TimeNs> durations) {
        KernelRow& row = group.row;
        const auto count = static_cast<TimeNs>(row.count);
        row.average = (row.total + count / 2) / count;
        row.median = nearestRankOf(durations, 50);
        const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
        row.min = *least;
        row.max = *most;
        row.share =
            m_table.total > 0 ? static_cast<double>(row.total) / static_cast<double>(m_table.total) : 0;
        std::sort(row.streams.begin(), row.streams.end());
        row.streams.erase(std::unique(row.streams.begin(), row.streams.end()), row.streams.end());
        row.occupancyPercent = group.averages[Occupancy].value();
        row.registers = std::llround(group.averages[Registers].value());
        row.sharedMemoryBytes = std::llround(group.averages[SharedMemory].value());
        if (row.kind == SliceKind::Kernel) {
            const int told = tensorCoreFromName(m_trace.strings.view(row.name));
            row.tensorCore = told < 0    ? KernelRow::TensorCore::Unknown
                             : told == 0 ? KernelRow::TensorCore::No
                                         : KernelRow::TensorCore::Yes;
        } else {
            row.tensorCore = KernelRow::TensorCore::No;
        }
        m_table.rows.push_back(std::move(row));
    }

    struct Value {
        std::uint32_t group;
        TimeNs duration;
    };
    const Trace& m_trace;
    std::optional<TimeRange> m_range;
    std::stop_token m_stop;
    std::span<const char> m_only;
    std::array<StringId, LaunchArgCount> m_keys;
    std::vector<int> m_shapes; ///< how many of the launch arguments an event of the shape has
    std::vector<Group> m_groups;
    std::unordered_map<std::uint64_t, std::uint32_t> m_groupOf;
    std::vector<Value> m_values;
    KernelTable m_table;
};

} // namespace

Result<KernelTable> kernelTable(const Trace& trace, std::optional<TimeRange> range, std::stop_token stop,
                                std::span<const char> only) {
    return KernelTableBuilder(trace, range, std::move(stop), only).build();
}

} // namespace warpline
