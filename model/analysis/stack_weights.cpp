// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"
#include "model/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace warpline {

namespace {

/// Sums by stack: slot 0 is for what has none.
struct Sums {
    std::vector<std::int64_t> weight;
    std::vector<std::uint64_t> count;
    explicit Sums(std::size_t stacks) : weight(stacks + 1, 0), count(stacks + 1, 0) {}
    void add(const Sums& o) {
        for (std::size_t i = 0; i < weight.size(); ++i) {
            weight[i] += o.weight[i];
            count[i] += o.count[i];
        }
    }
    /// What weighs anything, appended to `out`; all is 0 again after.
    void take(FrameId root, std::vector<StackWeight>& out) {
        for (std::uint32_t i = 0; i < weight.size(); ++i) {
            if (weight[i] == 0 && count[i] == 0)
                continue;
            out.push_back({StackId{i}, weight[i], count[i], root});
            weight[i] = 0;
            count[i] = 0;
        }
    }
};

/// Rows [first, end) of the slice table.
struct Rows {
    std::uint32_t first;
    std::uint32_t end;
    FrameId thread;
};

class Weigher {
  public:
    Weigher(const TraceStacks& stacks, FlameWeight weight, std::optional<TimeRange> range, bool byThread,
            std::stop_token stop)
        : m_stacks(stacks), m_trace(stacks.trace()), m_weight(weight), m_whole(!range),
          m_range(range.value_or(TimeRange{INT64_MIN, INT64_MAX})), m_byThread(byThread),
          m_stop(std::move(stop)), m_device(m_trace.categories.size()) {
        for (std::size_t c = 0; c < m_device.size(); ++c)
            m_device[c] = isDeviceWork(m_trace.categories[c].kind);
    }

    Result<std::vector<StackWeight>> run() {
        std::vector<StackWeight> out;
        if (m_weight == FlameWeight::Allocated)
            allocated(out);
        else if (m_weight == FlameWeight::GpuTime && m_byThread)
            deviceByThread(out);
        else
            slices(out);
        if (m_stop.stop_requested())
            return Error::cancelled();
        return out;
    }

  private:
    static constexpr std::uint32_t kRows = 1u << 17;

    /// Stretches of the rows that count, those of one thread side by side.
    [[nodiscard]] std::vector<Rows> stretches() const {
        std::vector<Rows> out;
        const bool device = m_weight == FlameWeight::GpuTime;
        for (std::size_t t = 0; t < m_trace.tracks.size(); ++t) {
            const Track& track = m_trace.tracks[t];
            const FrameId thread = m_stacks.threadFrame(TrackId::fromIndex(t));
            if (device ? track.kind != TrackKind::Stream : !thread)
                continue;
            for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l)
                addLane(m_trace.lanes[l], thread, out);
        }
        std::stable_sort(out.begin(), out.end(),
                         [](const Rows& a, const Rows& b) { return a.thread < b.thread; });
        return out;
    }
    /// The part of a lane that the range may touch: a lane is in order of time, and no two of it overlap.
    void addLane(const Lane& lane, FrameId thread, std::vector<Rows>& out) const {
        std::uint32_t from = lane.begin;
        std::uint32_t to = lane.end;
        if (!m_whole) {
            const TimeNs* starts = m_trace.slices.start.data();
            from = static_cast<std::uint32_t>(std::lower_bound(starts + from, starts + to, m_range.begin) -
                                              starts);
            to = static_cast<std::uint32_t>(std::lower_bound(starts + from, starts + to, m_range.end) -
                                            starts);
            if (from > lane.begin && m_weight == FlameWeight::CpuTime)
                --from; // may reach into the range
        }
        for (; from < to; from += std::min(kRows, to - from))
            out.push_back({from, from + std::min(kRows, to - from), thread});
    }

    void slices(std::vector<StackWeight>& out) {
        const std::vector<Rows> rows = stretches();
        if (m_byThread) {
            Sums sums(m_stacks.stacks().size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                weigh(rows[i], sums);
                if (i + 1 == rows.size() || rows[i + 1].thread != rows[i].thread)
                    sums.take(rows[i].thread, out);
            }
            return;
        }
        std::uint64_t all = 0;
        for (const Rows& r : rows)
            all += r.end - r.first;
        // A sum a thread costs something: a small range is faster on one.
        const unsigned workers =
            all > 4 * std::uint64_t{kRows} ? std::max(1u, std::thread::hardware_concurrency()) : 1;
        std::vector<Sums> sums(workers, Sums(m_stacks.stacks().size()));
        std::atomic<std::size_t> next{0};
        parallelFor(workers, workers, [&](std::size_t w) {
            for (std::size_t i = next++; i < rows.size() && !m_stop.stop_requested(); i = next++)
                weigh(rows[i], sums[w]);
        });
        for (std::size_t w = 1; w < workers; ++w)
            sums[0].add(sums[w]);
        sums[0].take({}, out);
    }

    void weigh(const Rows& rows, Sums& sums) const {
        const SliceTable& s = m_trace.slices;
        if (m_weight == FlameWeight::CpuTime)
            return cpuTime(rows, sums);
        for (std::uint32_t row = rows.first; row < rows.end; ++row) {
            const StackId stack = m_stacks.stackOf(SliceId::fromIndex(row));
            if (m_weight == FlameWeight::GpuTime) {
                if (!m_device[s.category[row]])
                    continue;
                sums.weight[stack.value] += s.duration[row];
            } else {
                if (!stack)
                    continue; // an instant
                sums.weight[stack.value] += 1;
            }
            sums.count[stack.value] += 1;
        }
    }

    /// Each slice adds what of it lies in the range to its own stack and takes it from that of the slice
    /// around it: what remains are self times, and their sum is that of the outermost slices.
    void cpuTime(const Rows& rows, Sums& sums) const {
        const SliceTable& s = m_trace.slices;
        const auto& cuts = m_stacks.cuts();
        auto cut = std::lower_bound(cuts.begin(), cuts.end(), rows.first,
                                    [](const TraceStacks::Cut& c, std::uint32_t row) { return c.row < row; });
        for (std::uint32_t row = rows.first; row < rows.end; ++row) {
            const SliceId id = SliceId::fromIndex(row);
            const StackId stack = m_stacks.stackOf(id);
            if (!stack)
                continue; // an instant
            TimeNs begin = s.start[row];
            TimeNs end = s.end(row);
            if (cut != cuts.end() && cut->row == row)
                end = (cut++)->end;
            if (!m_whole) {
                const bool starts = m_range.contains(begin);
                begin = std::max(begin, m_range.begin);
                end = std::min(end, m_range.end);
                if (end < begin || (end == begin && !starts))
                    continue;
                sums.count[stack.value] += starts ? 1 : 0;
            } else {
                sums.count[stack.value] += 1;
            }
            sums.weight[stack.value] += end - begin;
            if (const SliceId parent = m_stacks.hostParent(id))
                sums.weight[m_stacks.stackOf(parent).value] -= end - begin;
        }
    }

    /// By the thread that launched it.
    void deviceByThread(std::vector<StackWeight>& out) const {
        struct Item {
            FrameId thread;
            StackId stack;
            std::int64_t weight;
        };
        std::vector<Item> items;
        for (const Rows& rows : stretches()) {
            for (std::uint32_t row = rows.first; row < rows.end; ++row) {
                if (!m_device[m_trace.slices.category[row]])
                    continue;
                const SliceId id = SliceId::fromIndex(row);
                const SliceId launch = m_stacks.launchOf(id);
                items.push_back({launch ? m_stacks.threadFrame(m_trace.trackOf(launch)) : FrameId{},
                                 m_stacks.stackOf(id), m_trace.slices.duration[row]});
            }
        }
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            return a.thread != b.thread ? a.thread < b.thread : a.stack < b.stack;
        });
        for (const Item& item : items) {
            if (out.empty() || out.back().root != item.thread || out.back().stack != item.stack)
                out.push_back({item.stack, 0, 0, item.thread});
            out.back().weight += item.weight;
            out.back().count += 1;
        }
    }

    void allocated(std::vector<StackWeight>& out) const {
        const MemoryTable& m = m_trace.memory;
        const StringId record = m_trace.strings.find("[memory]");
        Sums sums(m_stacks.stacks().size());
        const auto threadOf = [&](std::size_t row) {
            const TrackId track = m_trace.rawTracks[m.rawTrack[row]].thread;
            return track ? m_stacks.threadFrame(track) : FrameId{};
        };
        std::vector<std::pair<FrameId, std::size_t>> rows;
        for (std::size_t i = 0; i < m.size(); ++i)
            if (m.device[i] >= 0 && m.bytes[i] > 0 && m.name[i] == record && m_range.contains(m.time[i]))
                rows.emplace_back(m_byThread ? threadOf(i) : FrameId{}, i);
        std::stable_sort(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const StackId stack = m_stacks.stackOfMemory(rows[i].second);
            sums.weight[stack.value] += m.bytes[rows[i].second];
            sums.count[stack.value] += 1;
            if (i + 1 == rows.size() || rows[i + 1].first != rows[i].first)
                sums.take(rows[i].first, out);
        }
    }

    const TraceStacks& m_stacks;
    const Trace& m_trace;
    FlameWeight m_weight;
    bool m_whole;
    TimeRange m_range;
    bool m_byThread;
    std::stop_token m_stop;
    std::vector<bool> m_device; ///< by category
};

} // namespace

WeightUnit unitOf(FlameWeight weight) {
    switch (weight) {
    case FlameWeight::CpuTime:
    case FlameWeight::GpuTime:
        return WeightUnit::Nanoseconds;
    case FlameWeight::Calls:
        return WeightUnit::Count;
    case FlameWeight::Allocated:
        return WeightUnit::Bytes;
    }
    return WeightUnit::Count;
}

Result<std::vector<StackWeight>> stackWeights(const TraceStacks& stacks, FlameWeight weight,
                                              std::optional<TimeRange> range, bool byThread,
                                              std::stop_token stop) {
    return Weigher(stacks, weight, range, byThread, std::move(stop)).run();
}

FlameCoverage flameCoverage(const FrameTable& frames, const StackTable& stacks,
                            std::span<const StackWeight> weights) {
    enum : std::uint8_t { Script = 1, Module = 2, Python = 4, Missing = 8, Backward = 16 };
    // A caller's id is lower, except where a backward op stands under its forward op: both are there first.
    std::vector<std::uint8_t> has(stacks.size() + 1, 0);
    for (std::uint32_t i = 1; i <= stacks.size(); ++i) {
        const Frame& frame = frames.at(stacks.frame(StackId{i}));
        std::uint8_t mine = has[stacks.parent(StackId{i}).value];
        if (frame.kind == FrameKind::Python)
            mine |= Python;
        if (frame.script)
            mine |= Script;
        if (frame.kind == FrameKind::Module)
            mine |= Module;
        if (frame.kind == FrameKind::Missing)
            mine |= Missing;
        if (frame.kind == FrameKind::Backward)
            mine |= Backward;
        has[i] = mine;
    }
    FlameCoverage out;
    for (const StackWeight& w : weights) {
        const std::uint8_t mine = w.stack ? has[w.stack.value] : std::uint8_t{Missing};
        const auto add = [&](std::int64_t& to, unsigned bits) {
            if ((mine & bits) != 0)
                to += w.weight;
        };
        out.total += w.weight;
        add(out.script, Script);
        add(out.module, Module);
        add(out.scriptOrModule, Script | Module);
        add(out.python, Python);
        add(out.missing, Missing);
        add(out.backward, Backward);
    }
    return out;
}

} // namespace warpline
