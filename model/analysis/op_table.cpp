// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Sums the op tree by name, or by name and input shape, Python lines or modules. An event counts where it
// starts in the range; the times of an event that does are whole, wherever it ends.
#include "model/analysis/ops.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace warpline {

namespace {

constexpr std::uint32_t kNoRow = 0xFFFFFFFFu;

/// From a name, or a name and a shape, to its row of the table.
class RowIndex {
  public:
    RowIndex(const Trace& trace, std::vector<OpRow>& rows)
        : m_rows(rows), m_byName(trace.strings.size() + 1, kNoRow), m_alias(trace.strings.size() + 1) {
        const StringId star = trace.strings.find("ProfilerStep*");
        for (std::size_t i = 1; i < m_alias.size(); ++i)
            m_alias[i] = StringId{static_cast<std::uint32_t>(i)};
        for (const Step& step : trace.steps)
            if (star)
                m_alias[trace.slices.name[step.slice.index()].value] = star;
    }
    OpRow& at(StringId name, StringId shape, std::uint32_t group = 0) {
        return m_rows[number(name, shape, group)];
    }
    /// `group` tells rows of one name and shape apart, 0 = it does not.
    std::uint32_t number(StringId name, StringId shape, std::uint32_t group = 0) {
        name = m_alias[name.value];
        const std::uint32_t part = shape ? shape.value : group;
        std::uint32_t& slot =
            part != 0 ? m_byPart.try_emplace((std::uint64_t{name.value} << 32) | part, kNoRow).first->second
                      : m_byName[name.value];
        if (slot == kNoRow) {
            slot = static_cast<std::uint32_t>(m_rows.size());
            OpRow row;
            row.name = name;
            row.shape = shape;
            m_rows.push_back(row);
        }
        return slot;
    }

  private:
    std::vector<OpRow>& m_rows;
    std::vector<std::uint32_t> m_byName;
    std::vector<StringId> m_alias;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_byPart;
};

bool tellsGroup(const Frame& frame, OpGroup group) {
    return group == OpGroup::Stack    ? frame.kind == FrameKind::Python && !frame.plumbing
           : group == OpGroup::Module ? frame.kind == FrameKind::Module
                                      : false;
}

/// A number for the Python lines, or the modules, of each stack; 0 where it has none.
std::vector<std::uint32_t> groupsOf(const TraceStacks& stacks, OpGroup group) {
    const StackTable& table = stacks.stacks();
    StackTable lines;
    std::vector<std::uint32_t> groups(table.size() + 1, 0);
    for (std::uint32_t i = 1; i <= table.size(); ++i) {
        const StackId id{i};
        const StackId caller{groups[table.parent(id).value]};
        const FrameId frame = table.frame(id);
        groups[i] =
            tellsGroup(stacks.frames().at(frame), group) ? lines.push(caller, frame).value : caller.value;
    }
    return groups;
}

void takeLongest(const Trace& trace, OpRow& row, std::uint32_t slice) {
    if (!row.longest || trace.slices.duration[slice] > trace.slices.duration[row.longest.index()])
        row.longest = SliceId::fromIndex(slice);
}

/// Length of a union of intervals that come in order of start.
struct Union {
    TimeNs until = INT64_MIN;
    TimeNs length = 0;
    void add(TimeNs start, TimeNs end) {
        if (end <= until)
            return;
        length += end - std::max(start, until);
        until = end;
    }
};

class TableBuilder {
  public:
    TableBuilder(const OpTree& tree, const OpQuery& query, std::stop_token stop)
        : m_tree(tree), m_trace(tree.trace()), m_query(query), m_stop(std::move(stop)),
          m_index(m_trace, m_table.rows) {
        m_range = query.range.value_or(m_trace.extent);
        m_whole = !query.range;
        m_table.span = m_range.duration();
    }

    Result<OpTable> run() {
        const bool grouped = m_query.group == OpGroup::Stack || m_query.group == OpGroup::Module;
        if (grouped && !m_query.stacks)
            return Error::failed("Ops can be grouped by stack or module once the stacks are known.");
        if (grouped)
            m_groups = groupsOf(*m_query.stacks, m_query.group);
        totals();
        switch (m_query.rows) {
        case OpRows::Kernels:
            deviceRows();
            break;
        case OpRows::Python:
            pythonRows();
            break;
        default:
            nodeRows();
        }
        if (m_stop.stop_requested())
            return Error::cancelled();
        if (m_query.stacks)
            for (OpRow& row : m_table.rows)
                if (row.longest) {
                    row.stack = m_query.stacks->stackOf(row.longest);
                    row.source = sourceOf(*m_query.stacks, row.stack);
                }
        std::sort(m_table.rows.begin(), m_table.rows.end(), [&](const OpRow& a, const OpRow& b) {
            if (a.selfDevice != b.selfDevice)
                return a.selfDevice > b.selfDevice;
            if (a.selfCpu != b.selfCpu)
                return a.selfCpu > b.selfCpu;
            if (a.name != b.name)
                return m_trace.strings.view(a.name) < m_trace.strings.view(b.name);
            if (a.shape != b.shape)
                return m_trace.strings.view(a.shape) < m_trace.strings.view(b.shape);
            return a.stack < b.stack;
        });
        return std::move(m_table);
    }

  private:
    [[nodiscard]] bool inRange(std::size_t row) const {
        return (m_query.only.empty() || m_query.only[row] != 0) &&
               (m_whole || m_range.contains(m_trace.slices.start[row]));
    }
    [[nodiscard]] bool wanted(std::size_t row) const {
        const SliceKind k = m_trace.kind(row);
        switch (m_query.rows) {
        case OpRows::Ops:
            return k == SliceKind::CpuOp;
        case OpRows::Annotations:
            return k == SliceKind::Annotation;
        default:
            return isApiCall(k);
        }
    }

    [[nodiscard]] std::uint32_t groupOf(std::size_t row) const {
        return m_groups.empty() ? 0 : m_groups[m_query.stacks->stackOf(SliceId::fromIndex(row)).value];
    }

    void totals() {
        const auto& nodes = m_tree.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (inRange(nodes.slice[i].index()))
                m_table.selfCpuTotal += nodes.selfCpu[i];
        std::vector<Union> busy(m_trace.processes.size());
        const auto& work = m_tree.work();
        for (std::size_t i = 0; i < work.size(); ++i) {
            const std::size_t row = work.slice[i].index();
            if (!inRange(row))
                continue;
            m_table.selfDeviceTotal += m_trace.slices.duration[row];
            busy[m_trace.tracks[trackOf(row)].process].add(m_trace.slices.start[row],
                                                           m_trace.slices.end(row));
        }
        for (const Union& u : busy)
            m_table.deviceBusy += u.length;
        m_table.hasDeviceTime = m_table.selfDeviceTotal > 0;
        m_table.hasMemory = m_trace.memory.size() > 0;
    }
    /// The track of a row; asked for rows that mostly stay on one track.
    std::size_t trackOf(std::size_t row) {
        if (m_lastTrack >= m_trace.tracks.size() || row < m_trace.tracks[m_lastTrack].firstSlice ||
            row >= m_trace.tracks[m_lastTrack].endSlice)
            m_lastTrack = m_trace.trackOf(SliceId::fromIndex(row)).index();
        return m_lastTrack;
    }

    void deviceRows() {
        const auto& work = m_tree.work();
        std::vector<Union> busy;
        for (std::size_t i = 0; i < work.size(); ++i) {
            const std::size_t row = work.slice[i].index();
            if (!inRange(row))
                continue;
            const std::uint32_t number = m_index.number(m_trace.slices.name[row], {}, groupOf(row));
            OpRow& r = m_table.rows[number];
            ++r.count;
            r.selfDevice += m_trace.slices.duration[row];
            busy.resize(m_table.rows.size());
            busy[number].add(m_trace.slices.start[row], m_trace.slices.end(row));
            takeLongest(m_trace, r, static_cast<std::uint32_t>(row));
        }
        for (std::size_t i = 0; i < m_table.rows.size(); ++i) {
            m_table.rows[i].deviceTotal = m_table.rows[i].selfDevice;
            m_table.rows[i].deviceBusy = busy[i].length;
        }
    }

    void pythonRows() {
        for (const Track& track : m_trace.tracks) {
            if (track.kind != TrackKind::Python || m_stop.stop_requested())
                continue;
            for (std::uint32_t row = track.firstSlice; row < track.endSlice; ++row) {
                const SliceId parent = m_trace.slices.parent[row];
                const TimeNs duration = m_trace.slices.duration[row];
                if (parent && inRange(parent.index()))
                    m_index.at(m_trace.slices.name[parent.index()], {}, groupOf(parent.index())).selfCpu -=
                        duration;
                if (!inRange(row))
                    continue;
                OpRow& r = m_index.at(m_trace.slices.name[row], {}, groupOf(row));
                ++r.count;
                r.selfCpu += duration;
                r.cpuTotal += duration;
                takeLongest(m_trace, r, row);
            }
        }
    }

    void nodeRows() {
        const auto& nodes = m_tree.nodes();
        const StringId dims = m_trace.strings.find("Input Dims");
        const bool byShape = m_query.group == OpGroup::Shape;
        m_rowOf.assign(nodes.size(), kNoRow);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i % 65536 == 0 && m_stop.stop_requested())
                return;
            const std::size_t row = nodes.slice[i].index();
            if (!inRange(row) || !wanted(row))
                continue;
            StringId shape;
            if (byShape && dims) {
                if (const auto arg = m_trace.args.find(m_trace.slices.args[row], dims))
                    shape = arg->text;
            }
            m_table.hasShapes = m_table.hasShapes || shape;
            const std::uint32_t number = m_rowOf[i] =
                m_index.number(m_trace.slices.name[row], shape, groupOf(row));
            OpRow& r = m_table.rows[number];
            ++r.count;
            r.selfCpu += nodes.selfCpu[i];
            r.cpuTotal += m_trace.slices.duration[row];
            r.selfDevice += nodes.selfDevice[i];
            r.deviceTotal += nodes.totalDevice[i];
            takeLongest(m_trace, r, static_cast<std::uint32_t>(row));
        }
        if (m_query.memory && m_trace.memory.size() > 0)
            memory();
        if (m_query.deviceBusy)
            deviceBusy();
        if (m_query.rows == OpRows::Annotations)
            deviceSpan();
    }

    [[nodiscard]] bool isCall(std::size_t node) const {
        const SliceKind kind = m_trace.kind(m_tree.nodes().slice[node]);
        return kind == SliceKind::Runtime || kind == SliceKind::Driver;
    }

    void memory() {
        const auto& nodes = m_tree.nodes();
        const auto& rows = m_tree.memoryRows();
        const MemoryTable& m = m_trace.memory;
        // Sums up to each record, host and device.
        std::vector<std::int64_t> host(m.size() + 1, 0);
        std::vector<std::int64_t> device(m.size() + 1, 0);
        const StringId record = m_trace.strings.find("[memory]");
        const bool driver = m.size() > 0 && m_trace.isDriverMemory(0);
        for (std::size_t i = 0; i < m.size(); ++i) {
            const std::int64_t bytes = m.name[i] == record ? m.bytes[i] : 0;
            host[i + 1] = host[i] + (m.device[i] < 0 ? bytes : 0);
            device[i + 1] = device[i] + (m.device[i] < 0 ? 0 : bytes);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            // What a call into CUDA takes is its op's doing. Of torch's own records the parent loses what
            // came while a call was open, as torch counts.
            const bool call = driver && isCall(i);
            std::uint32_t parent = call ? 0 : nodes.parent[i];
            while (driver && parent != 0 && isCall(parent - 1))
                parent = nodes.parent[parent - 1];
            const std::uint32_t parentRow = parent == 0 ? kNoRow : m_rowOf[parent - 1];
            if (m_rowOf[i] == kNoRow && parentRow == kNoRow)
                continue;
            const std::int64_t h = host[rows.last[i]] - host[rows.first[i]];
            const std::int64_t d = device[rows.last[i]] - device[rows.first[i]];
            if (m_rowOf[i] != kNoRow) {
                OpRow& r = m_table.rows[m_rowOf[i]];
                r.cpuMemory += h;
                r.selfCpuMemory += h;
                r.deviceMemory += d;
                r.selfDeviceMemory += d;
            }
            if (parentRow != kNoRow) {
                m_table.rows[parentRow].selfCpuMemory -= h;
                m_table.rows[parentRow].selfDeviceMemory -= d;
            }
        }
    }

    /// Device work comes in order of start, so that each row's union grows at its end only.
    void deviceBusy() {
        const auto& nodes = m_tree.nodes();
        const auto& work = m_tree.work();
        std::vector<Union> busy(m_table.rows.size());
        for (std::size_t i = 0; i < work.size(); ++i) {
            const std::size_t row = work.slice[i].index();
            const TimeNs start = m_trace.slices.start[row];
            const TimeNs end = m_trace.slices.end(row);
            for (std::uint32_t at = work.node[i]; at != 0; at = nodes.parent[at - 1])
                if (m_rowOf[at - 1] != kNoRow)
                    busy[m_rowOf[at - 1]].add(start, end);
        }
        for (std::size_t i = 0; i < busy.size(); ++i)
            m_table.rows[i].deviceBusy = busy[i].length;
    }

    void deviceSpan() {
        const auto& nodes = m_tree.nodes();
        const auto& work = m_tree.work();
        boost::unordered_flat_map<std::uint32_t, TimeRange> spans; // by node
        for (std::size_t i = 0; i < work.size(); ++i) {
            const std::size_t row = work.slice[i].index();
            for (std::uint32_t at = work.node[i]; at != 0; at = nodes.parent[at - 1]) {
                if (m_rowOf[at - 1] == kNoRow)
                    continue;
                const TimeRange mine{m_trace.slices.start[row], m_trace.slices.end(row)};
                const auto [it, fresh] = spans.try_emplace(at - 1, mine);
                if (!fresh)
                    it->second.end = std::max(it->second.end, mine.end);
            }
        }
        for (const auto& [node, span] : spans)
            m_table.rows[m_rowOf[node]].deviceSpan += span.duration();
    }

    const OpTree& m_tree;
    const Trace& m_trace;
    const OpQuery& m_query;
    std::stop_token m_stop;
    TimeRange m_range;
    bool m_whole = true;
    OpTable m_table;
    RowIndex m_index;
    std::vector<std::uint32_t> m_rowOf;  ///< by node
    std::vector<std::uint32_t> m_groups; ///< by stack; empty where rows are not told apart by it
    std::size_t m_lastTrack = ~std::size_t{0};
};

} // namespace

std::vector<FrameId> opGroupFrames(const TraceStacks& stacks, StackId stack, OpGroup group) {
    std::vector<FrameId> frames;
    for (StackId at = stack; at; at = stacks.stacks().parent(at))
        if (const FrameId frame = stacks.stacks().frame(at); tellsGroup(stacks.frames().at(frame), group))
            frames.push_back(frame);
    return frames;
}

FrameId sourceOf(const TraceStacks& stacks, StackId stack) {
    FrameId python;
    for (StackId at = stack; at; at = stacks.stacks().parent(at)) {
        const FrameId frame = stacks.stacks().frame(at);
        const Frame& f = stacks.frames().at(frame);
        if (f.script)
            return frame;
        if (!python && f.kind == FrameKind::Python && !f.plumbing)
            python = frame;
    }
    return python;
}

Result<OpTable> opTable(const OpTree& tree, const OpQuery& query, std::stop_token stop) {
    return TableBuilder(tree, query, std::move(stop)).run();
}

} // namespace warpline
