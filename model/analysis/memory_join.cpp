// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_join.h"

#include "model/base/format.h"
#include "model/query/open_slices.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace warpline {

namespace {

constexpr std::uint32_t kByRecord = 0x80000000u;
/// The allocator and the profiler take the time of one call one after the other.
constexpr TimeNs kNear = 1'000'000;
/// A rest of up to a mebibyte is left at a large block.
constexpr std::int64_t kUnsplit = (std::int64_t{1} << 20) + 512;
/// Trying each thread for each event is only for as many as a program has.
constexpr std::size_t kMostThreads = 64;

bool isBlockEvent(MemoryAction action) {
    return action == MemoryAction::Alloc || action == MemoryAction::FreeRequested ||
           action == MemoryAction::FreeCompleted;
}

/// The [memory] instants of one device, found by address.
class Records {
  public:
    Records(const Trace& trace, std::int64_t device) : m_memory(trace.memory) {
        for (std::size_t row = 0; row < m_memory.size(); ++row)
            if (m_memory.device[row] == device)
                m_rows.push_back(static_cast<std::uint32_t>(row));
        std::stable_sort(m_rows.begin(), m_rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            return m_memory.address[a] < m_memory.address[b];
        });
        for (std::size_t i = 0; i < m_rows.size();) {
            std::size_t end = i;
            while (end < m_rows.size() && m_memory.address[m_rows[end]] == m_memory.address[m_rows[i]])
                ++end;
            m_of[m_memory.address[m_rows[i]]] = {static_cast<std::uint32_t>(i),
                                                 static_cast<std::uint32_t>(end)};
            i = end;
        }
    }

    /// The nearest instant in time that allocates (or frees) these bytes there; none within kNear: -1.
    [[nodiscard]] std::int64_t find(std::uint64_t address, TimeNs time, bool alloc, std::int64_t size,
                                    std::int64_t rounded) const {
        const auto of = m_of.find(address);
        if (of == m_of.end())
            return -1;
        const auto [begin, end] = of->second;
        auto at = std::lower_bound(m_rows.begin() + begin, m_rows.begin() + end, time - kNear,
                                   [&](std::uint32_t row, TimeNs t) { return m_memory.time[row] < t; });
        std::int64_t best = -1;
        TimeNs distance = 2 * kNear + 1;
        for (; at != m_rows.begin() + end && m_memory.time[*at] <= time + kNear; ++at) {
            const std::int64_t bytes = m_memory.bytes[*at];
            if ((bytes > 0) != alloc || bytes == 0)
                continue;
            const std::int64_t amount = alloc ? bytes : -bytes;
            // Some versions tell the bytes of the block: rounded up, or a whole one that was not worth
            // splitting.
            const bool exact = amount == size || amount == rounded;
            if (!exact && (amount < size || amount > size + kUnsplit))
                continue;
            const TimeNs d = std::abs(m_memory.time[*at] - time) + (exact ? 0 : kNear);
            if (d < distance) {
                distance = d;
                best = *at;
            }
        }
        return best;
    }

  private:
    const MemoryTable& m_memory;
    std::vector<std::uint32_t> m_rows;
    boost::unordered_flat_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> m_of;
};

bool isOpenWork(const Trace& trace, SliceId slice) {
    return slice && (trace.kind(slice) == SliceKind::CpuOp || isApiCall(trace.kind(slice)));
}

} // namespace

Result<std::shared_ptr<const MemoryJoin>> MemoryJoin::build(MemoryHistoryPtr history, TracePtr trace,
                                                            std::stop_token stop) {
    const auto timed = std::any_of(history->devices.begin(), history->devices.end(),
                                   [](const MemoryDevice& d) { return d.hasTimes; });
    if (!timed)
        return Error::failed(fmt::format(
            "{} has no times, so that its allocations cannot be found in a trace.", history->path));
    if (history->absoluteTime != trace->absoluteTime)
        return Error::failed(fmt::format("{} and {} have different clocks.", history->path, trace->path));
    if (history->extent.begin > trace->extent.end || trace->extent.begin > history->extent.end)
        return Error::failed(fmt::format("{} and {} do not overlap in time: they are not of the same run.",
                                         history->path, trace->path));

    const std::shared_ptr<MemoryJoin> join(new MemoryJoin);
    join->m_history = std::move(history);
    join->m_trace = std::move(trace);
    const Trace& t = *join->m_trace;
    join->m_pythonOf = pythonTracks(t);
    std::vector<TrackId> threads;
    for (std::size_t i = 0; i < t.tracks.size(); ++i)
        if (t.tracks[i].kind == TrackKind::Thread && t.tracks[i].endSlice > t.tracks[i].firstSlice)
            threads.push_back(TrackId::fromIndex(i));
    const bool few = threads.size() <= kMostThreads;

    for (const MemoryDevice& device : join->m_history->devices) {
        Column<std::uint32_t>& of = join->m_of.emplace_back(device.events.count());
        of.fill(0);
        if (!device.hasTimes || device.host)
            continue;
        const Records records(t, device.ordinal);
        const MemoryEventTable& e = device.events;
        for (std::size_t i = 0; i < e.count(); ++i) {
            if ((i & 0xFFF) == 0 && stop.stop_requested())
                return Error::cancelled();
            if (!isBlockEvent(e.action[i]) || e.time[i] < t.extent.begin || e.time[i] > t.extent.end)
                continue;
            const bool alloc = e.action[i] == MemoryAction::Alloc;
            join->m_allocations += alloc ? 1 : 0;
            const std::int64_t rounded = e.block[i] ? device.blocks.allocated[e.block[i].index()] : e.size[i];
            const std::int64_t row = records.find(e.address[i], e.time[i], alloc, e.size[i], rounded);
            if (row >= 0) {
                const std::uint32_t raw = t.memory.rawTrack[static_cast<std::size_t>(row)];
                if (raw < t.rawTracks.size() && t.rawTracks[raw].thread) {
                    of[i] = static_cast<std::uint32_t>(row) | kByRecord;
                    join->m_matched += alloc ? 1 : 0;
                    continue;
                }
            }
            TrackId only;
            bool several = false;
            for (std::size_t k = 0; few && k < threads.size() && !several; ++k) {
                if (!t.tracks[threads[k].index()].extent.overlaps(e.time[i], e.time[i]) ||
                    !isOpenWork(t, innermostAt(t, threads[k], e.time[i])))
                    continue;
                several = static_cast<bool>(only);
                only = threads[k];
            }
            if (only && !several)
                of[i] = only.value;
        }
    }
    return std::shared_ptr<const MemoryJoin>(join);
}

MemoryJoin::Where MemoryJoin::where(std::size_t device, std::uint32_t event) const {
    const std::uint32_t of = m_of[device][event];
    if ((of & kByRecord) == 0)
        return {TrackId{of}, m_history->devices[device].events.time[event], false};
    // The snapshot counts microseconds; the record is to the nanosecond.
    const std::uint32_t row = of & ~kByRecord;
    return {m_trace->rawTracks[m_trace->memory.rawTrack[row]].thread, m_trace->memory.time[row], true};
}

EventPlace MemoryJoin::place(std::size_t device, std::uint32_t event) const {
    EventPlace place;
    const MemoryDevice& d = m_history->devices[device];
    if (!d.hasTimes)
        return place;
    const Where at = where(device, event);
    const auto& steps = m_trace->steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i].range.contains(at.time))
            place.step = static_cast<std::int64_t>(i);
    if (!at.thread)
        return place;
    place.by = at.recorded ? EventPlace::By::Record : EventPlace::By::OnlyOne;
    place.thread = at.thread;
    place.op = innermostAt(*m_trace, at.thread, at.time);
    if (const TrackId python = m_pythonOf[at.thread.index()])
        place.python = innermostAt(*m_trace, python, at.time);
    return place;
}

EventPlace MemoryJoin::allocationOf(std::size_t device, BlockId block) const {
    const Moment birth = m_history->devices[device].blocks.birth[block.index()];
    return birth == kBeforeHistory ? EventPlace{} : place(device, birth - 1);
}

std::vector<std::pair<std::size_t, std::uint32_t>> MemoryJoin::allocationsOf(SliceId slice) const {
    std::vector<std::pair<std::size_t, std::uint32_t>> out;
    TrackId track = m_trace->trackOf(slice);
    if (!track)
        return out;
    if (m_trace->tracks[track.index()].kind == TrackKind::Python) {
        const auto at = std::find(m_pythonOf.begin(), m_pythonOf.end(), track);
        track = at == m_pythonOf.end()
                    ? TrackId{}
                    : TrackId::fromIndex(static_cast<std::size_t>(at - m_pythonOf.begin()));
    }
    if (!track || m_trace->tracks[track.index()].kind != TrackKind::Thread)
        return out;
    const TimeRange range = m_trace->range(slice);
    for (std::size_t d = 0; d < m_of.size(); ++d) {
        const MemoryEventTable& e = m_history->devices[d].events;
        if (!m_history->devices[d].hasTimes)
            continue;
        const auto first = static_cast<std::size_t>(
            std::lower_bound(e.time.begin(), e.time.end(), range.begin - kNear) - e.time.begin());
        for (std::size_t i = first; i < e.count() && e.time[i] < range.end + kNear; ++i) {
            if (e.action[i] != MemoryAction::Alloc || m_of[d][i] == 0)
                continue;
            const Where at = where(d, static_cast<std::uint32_t>(i));
            if (at.thread == track && range.contains(at.time))
                out.emplace_back(d, static_cast<std::uint32_t>(i));
        }
    }
    return out;
}

std::vector<OpBytes> MemoryJoin::bytesByOp(TimeRange range, std::int64_t device) const {
    std::vector<OpBytes> out;
    std::vector<std::int64_t> largest;
    boost::unordered_flat_map<std::uint32_t, std::size_t> rows;
    for (std::size_t d = 0; d < m_of.size(); ++d) {
        const MemoryDevice& of = m_history->devices[d];
        if (!of.hasTimes || (device >= 0 && of.ordinal != device))
            continue;
        const MemoryEventTable& e = of.events;
        const auto first = static_cast<std::size_t>(
            std::lower_bound(e.time.begin(), e.time.end(), range.begin) - e.time.begin());
        for (std::size_t i = first; i < e.count() && e.time[i] < range.end; ++i) {
            const bool alloc = e.action[i] == MemoryAction::Alloc;
            if (!alloc && e.action[i] != MemoryAction::FreeCompleted)
                continue;
            const Where where = this->where(d, static_cast<std::uint32_t>(i));
            EventPlace at;
            at.op = innermostAt(*m_trace, where.thread, where.time);
            const SliceId op = opOf(at);
            const StringId name = op ? m_trace->slices.name[op.index()] : StringId{};
            const auto [row, fresh] = rows.try_emplace(name.value, out.size());
            if (fresh) {
                out.push_back({name, 0, 0, 0, 0, {}});
                largest.push_back(-1);
            }
            OpBytes& sum = out[row->second];
            const std::int64_t bytes = e.block[i] ? of.blocks.size[e.block[i].index()] : e.size[i];
            if (alloc) {
                sum.allocated += bytes;
                ++sum.allocations;
                if (bytes > largest[row->second]) {
                    largest[row->second] = bytes;
                    sum.largest = op;
                }
            } else {
                sum.freed += bytes;
                ++sum.frees;
            }
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const OpBytes& a, const OpBytes& b) {
        return a.allocated != b.allocated ? a.allocated > b.allocated : a.freed > b.freed;
    });
    return out;
}

SliceId MemoryJoin::opOf(const EventPlace& place) const {
    // A runtime call is made for the op around it.
    for (SliceId s = place.op; s; s = m_trace->slices.parent[s.index()])
        if (m_trace->kind(s) == SliceKind::CpuOp)
            return s;
    return place.op;
}

std::string_view MemoryJoin::opName(const EventPlace& place) const {
    const SliceId op = opOf(place);
    return op ? m_trace->name(op) : std::string_view();
}

std::string_view MemoryJoin::moduleName(const EventPlace& place) const {
    constexpr std::string_view kModule = "nn.Module: ";
    for (SliceId s = place.python; s; s = m_trace->slices.parent[s.index()])
        if (const std::string_view name = m_trace->name(s); name.starts_with(kModule))
            return name.substr(kModule.size());
    return {};
}

std::string MemoryJoin::evidence() const {
    return fmt::format("{} of {} allocations during the trace were matched by address and bytes",
                       formatCount(static_cast<std::int64_t>(m_matched)),
                       formatCount(static_cast<std::int64_t>(m_allocations)));
}

std::size_t MemoryJoin::bytes() const {
    std::size_t n = m_pythonOf.size() * sizeof(TrackId);
    for (const auto& column : m_of)
        n += column.bytes();
    return n;
}

} // namespace warpline
