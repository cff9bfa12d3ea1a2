// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace warpline::test {

/// Builds small traces by hand, consistent as an importer leaves them: rows ordered by track, lane and start,
/// lanes and tracks with their ranges, parents by containment, the extent. Slices of one lane must not
/// overlap; without a depth a slice goes to the first lane below its parent where it fits. What add() gives
/// names a slice until finish(), which gives the trace and turns those names into SliceIds.
class TraceBuilder {
  public:
    using Handle = std::size_t;
    struct Argument {
        std::string_view key;
        ArgKind kind = ArgKind::Int;
        std::int64_t integer = 0;
        std::string_view text = {};
        int decimals = 0;
    };
    static Argument number(std::string_view key, std::int64_t value) { return {key, ArgKind::Int, value}; }
    static Argument text(std::string_view key, std::string_view value) {
        return {key, ArgKind::Text, 0, value};
    }
    static Argument raw(std::string_view key, std::string_view json) { return {key, ArgKind::Raw, 0, json}; }
    static Argument decimal(std::string_view key, std::int64_t mantissa, int decimals) {
        return {key, ArgKind::Decimal, mantissa, {}, decimals};
    }

    TraceBuilder() : m_trace(std::make_shared<Trace>()), m_writer(m_trace->args) {
        m_trace->path = "built.json";
        m_trace->format = "Chrome trace";
    }

    std::uint32_t process(std::int64_t pid, bool device, std::string_view name = {}) {
        Process p;
        p.pid = pid;
        p.device = device;
        if (!name.empty())
            p.name = m_trace->strings.intern(name);
        m_trace->processes.push_back(p);
        return static_cast<std::uint32_t>(m_trace->processes.size() - 1);
    }

    TrackId track(std::uint32_t process, TrackKind kind, std::int64_t tid) {
        Track t;
        t.kind = kind;
        t.process = process;
        t.tid = tid;
        m_trace->tracks.push_back(t);
        return TrackId::fromIndex(m_trace->tracks.size() - 1);
    }

    Handle add(TrackId track, std::string_view category, std::string_view name, TimeNs start, TimeNs duration,
               std::initializer_list<Argument> args = {}, int depth = -1) {
        return add(track, category, name, start, duration, std::vector<Argument>(args), depth);
    }
    Handle add(TrackId track, std::string_view category, std::string_view name, TimeNs start, TimeNs duration,
               const std::vector<Argument>& args, int depth) {
        Row r;
        r.track = track;
        r.start = start;
        r.duration = duration;
        r.name = m_trace->strings.intern(name);
        r.category = categoryOf(category);
        r.args = store(args);
        r.depth = depth;
        r.handle = m_rows.size();
        m_rows.push_back(r);
        return r.handle;
    }
    Handle addInstant(TrackId track, std::string_view category, std::string_view name, TimeNs at,
                      int depth = -1) {
        const Handle h = add(track, category, name, at, 0, {}, depth);
        m_rows[h].flags = SliceFlag::Instant;
        return h;
    }

    void launch(Handle from, Handle to) { m_launch.emplace_back(from, to); }
    void op(Handle from, Handle to) { m_op.emplace_back(from, to); }
    void forward(Handle from, Handle to) { m_forward.emplace_back(from, to); }
    void flow(Handle from, Handle to) { m_flow.emplace_back(from, to); }

    void memory(TimeNs time, std::int64_t bytes, int device, TrackId track = {}, std::uint64_t address = 0,
                std::string_view name = "[memory]") {
        m_memory.push_back({time, bytes, address, device, track, m_trace->strings.intern(name)});
    }

    /// For what has no method here; before finish().
    Trace& trace() { return *m_trace; }

    /// The trace. Call it once, last.
    TracePtr finish() {
        std::stable_sort(m_rows.begin(), m_rows.end(), [](const Row& a, const Row& b) {
            return std::tuple(a.track, a.start, -a.duration) < std::tuple(b.track, b.start, -b.duration);
        });
        place();
        std::vector<std::size_t> order(m_rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::tuple(m_rows[a].track, m_rows[a].depth, m_rows[a].start) <
                   std::tuple(m_rows[b].track, m_rows[b].depth, m_rows[b].start);
        });
        m_rowOf.assign(m_rows.size(), 0);
        std::vector<std::uint32_t> placeOf(m_rows.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            m_rowOf[m_rows[order[i]].handle] = static_cast<std::uint32_t>(i);
            placeOf[order[i]] = static_cast<std::uint32_t>(i);
        }
        SliceTable& s = m_trace->slices;
        s.start.reset(order.size());
        s.duration.reset(order.size());
        s.name.reset(order.size());
        s.parent.reset(order.size());
        s.args.reset(order.size());
        s.category.reset(order.size());
        s.flags.reset(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Row& r = m_rows[order[i]];
            s.start[i] = r.start;
            s.duration[i] = r.duration;
            s.name[i] = r.name;
            s.parent[i] =
                r.parent < 0 ? SliceId{} : SliceId::fromIndex(placeOf[static_cast<std::size_t>(r.parent)]);
            s.args[i] = r.args;
            s.category[i] = r.category;
            s.flags[i] = r.flags;
        }
        makeLanes(order);
        m_trace->links.launch.build(resolve(m_launch));
        m_trace->links.op.build(resolve(m_op));
        m_trace->links.forward.build(resolve(m_forward));
        m_trace->links.flow.build(resolve(m_flow));
        makeMemory();
        m_trace->eventCount = order.size();
        return m_trace;
    }
    [[nodiscard]] SliceId id(Handle handle) const { return SliceId::fromIndex(m_rowOf[handle]); }

    static SliceKind kindOf(std::string_view category) {
        static const std::map<std::string_view, SliceKind> kKinds{
            {"cpu_op", SliceKind::CpuOp},
            {"user_annotation", SliceKind::Annotation},
            {"python_function", SliceKind::Python},
            {"cuda_runtime", SliceKind::Runtime},
            {"cuda_driver", SliceKind::Driver},
            {"kernel", SliceKind::Kernel},
            {"gpu_memcpy", SliceKind::Copy},
            {"gpu_memset", SliceKind::Set},
            {"gpu_user_annotation", SliceKind::GpuAnnotation},
            {"cuda_sync", SliceKind::Sync},
            {"overhead", SliceKind::Overhead},
        };
        const auto it = kKinds.find(category);
        return it == kKinds.end() ? SliceKind::Other : it->second;
    }

  private:
    struct Row {
        TrackId track;
        TimeNs start = 0;
        TimeNs duration = 0;
        StringId name;
        ArgStore::Ref args = 0;
        std::uint16_t category = 0;
        std::uint8_t flags = 0;
        int depth = -1;
        std::int64_t parent = -1; ///< place in m_rows
        Handle handle = 0;
    };
    struct MemoryRow {
        TimeNs time;
        std::int64_t bytes;
        std::uint64_t address;
        int device;
        TrackId track;
        StringId name;
    };

    std::uint16_t categoryOf(std::string_view name) {
        const StringId id = m_trace->strings.intern(name);
        for (std::size_t i = 0; i < m_trace->categories.size(); ++i) {
            if (m_trace->categories[i].name == id)
                return static_cast<std::uint16_t>(i);
        }
        m_trace->categories.push_back({id, kindOf(name)});
        return static_cast<std::uint16_t>(m_trace->categories.size() - 1);
    }

    ArgStore::Ref store(const std::vector<Argument>& args) {
        if (args.empty())
            return 0;
        std::vector<ArgShape::Field> fields;
        std::vector<std::int64_t> values;
        std::vector<std::uint8_t> decimals;
        for (const Argument& a : args) {
            fields.push_back({m_trace->strings.intern(a.key), a.kind, false});
            const bool isText = a.kind == ArgKind::Text || a.kind == ArgKind::Raw;
            values.push_back(isText ? m_trace->strings.intern(a.text).value : a.integer);
            decimals.push_back(static_cast<std::uint8_t>(a.decimals));
        }
        return m_writer.add(m_trace->args.shape(fields), fields, values, decimals);
    }

    /// Parents by containment and, where none was asked for, depths. Rows are ordered by track, start and
    /// falling duration.
    void place() {
        std::vector<std::size_t> open;
        std::vector<TimeNs> laneEnd;
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            Row& r = m_rows[i];
            if (i == 0 || m_rows[i - 1].track != r.track) {
                open.clear();
                laneEnd.clear();
            }
            std::erase_if(open,
                          [&](std::size_t o) { return m_rows[o].start + m_rows[o].duration < r.start; });
            const TimeNs end = r.start + r.duration;
            for (auto it = open.rbegin(); it != open.rend(); ++it) {
                if (m_rows[*it].start + m_rows[*it].duration >= end && m_rows[*it].duration > 0) {
                    r.parent = static_cast<std::int64_t>(*it);
                    break;
                }
            }
            if (r.depth < 0) {
                std::size_t lane =
                    r.parent < 0
                        ? 0
                        : static_cast<std::size_t>(m_rows[static_cast<std::size_t>(r.parent)].depth) + 1;
                while (lane < laneEnd.size() && laneEnd[lane] > r.start)
                    ++lane;
                r.depth = static_cast<int>(lane);
            }
            if (laneEnd.size() <= static_cast<std::size_t>(r.depth))
                laneEnd.resize(static_cast<std::size_t>(r.depth) + 1, INT64_MIN);
            laneEnd[static_cast<std::size_t>(r.depth)] = end;
            open.push_back(i);
        }
    }

    void makeLanes(const std::vector<std::size_t>& order) {
        std::vector<Lane>& lanes = m_trace->lanes;
        bool first = true;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Row& r = m_rows[order[i]];
            const auto row = static_cast<std::uint32_t>(i);
            if (lanes.empty() || lanes.back().track != r.track || lanes.back().depth != r.depth) {
                lanes.push_back({r.track, static_cast<std::uint16_t>(r.depth), row, row});
                Track& t = m_trace->tracks[r.track.index()];
                if (t.laneCount++ == 0) {
                    t.firstLane = static_cast<std::uint32_t>(lanes.size() - 1);
                    t.firstSlice = row;
                    t.extent = {r.start, r.start + r.duration};
                }
            }
            lanes.back().end = row + 1;
            Track& t = m_trace->tracks[r.track.index()];
            t.endSlice = row + 1;
            const TimeNs end = r.start + r.duration;
            t.extent = {std::min(t.extent.begin, r.start), std::max(t.extent.end, end)};
            TimeRange& e = m_trace->extent;
            e = first ? TimeRange{r.start, end} : TimeRange{std::min(e.begin, r.start), std::max(e.end, end)};
            first = false;
        }
    }

    std::uint32_t rawTrackOf(TrackId thread) {
        std::vector<RawTrack>& raw = m_trace->rawTracks;
        const auto it =
            std::find_if(raw.begin(), raw.end(), [&](const RawTrack& r) { return r.thread == thread; });
        if (it != raw.end())
            return static_cast<std::uint32_t>(it - raw.begin());
        RawTrack r;
        r.thread = thread;
        if (thread) {
            r.pid = m_trace->processes[m_trace->tracks[thread.index()].process].pid;
            r.tid = m_trace->tracks[thread.index()].tid;
        }
        raw.push_back(r);
        return static_cast<std::uint32_t>(raw.size() - 1);
    }

    void makeMemory() {
        std::stable_sort(m_memory.begin(), m_memory.end(),
                         [](const MemoryRow& a, const MemoryRow& b) { return a.time < b.time; });
        MemoryTable& m = m_trace->memory;
        m.time.reset(m_memory.size());
        m.bytes.reset(m_memory.size());
        m.address.reset(m_memory.size());
        m.totalAllocated.reset(m_memory.size());
        m.totalReserved.reset(m_memory.size());
        m.device.reset(m_memory.size());
        m.rawTrack.reset(m_memory.size());
        m.args.reset(m_memory.size());
        m.name.reset(m_memory.size());
        for (std::size_t i = 0; i < m_memory.size(); ++i) {
            m.time[i] = m_memory[i].time;
            m.bytes[i] = m_memory[i].bytes;
            m.address[i] = m_memory[i].address;
            m.totalAllocated[i] = -1;
            m.totalReserved[i] = -1;
            m.device[i] = static_cast<std::int16_t>(m_memory[i].device);
            m.rawTrack[i] = rawTrackOf(m_memory[i].track);
            m.args[i] = 0;
            m.name[i] = m_memory[i].name;
        }
    }

    [[nodiscard]] std::vector<std::pair<SliceId, SliceId>>
    resolve(const std::vector<std::pair<Handle, Handle>>& pairs) const {
        std::vector<std::pair<SliceId, SliceId>> out;
        for (const auto& [from, to] : pairs)
            out.emplace_back(id(from), id(to));
        return out;
    }

    std::shared_ptr<Trace> m_trace;
    ArgStore::Writer m_writer;
    std::vector<Row> m_rows;
    std::vector<MemoryRow> m_memory;
    std::vector<std::pair<Handle, Handle>> m_launch, m_op, m_forward, m_flow;
    std::vector<std::uint32_t> m_rowOf;
};

} // namespace warpline::test
