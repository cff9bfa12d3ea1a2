// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_from_trace.h"

#include "model/analysis/memory_categories.h"
#include "model/query/open_slices.h"
#include "model/store/memory_builder.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace warpline {

namespace {

/// Makes stacks of the slices that are open on a thread.
class SliceStacks {
  public:
    SliceStacks(const Trace& trace, MemoryHistory& history)
        : m_trace(trace), m_history(history), m_python(pythonTracks(trace)) {}

    StackId at(TrackId thread, TimeNs t) {
        if (!thread)
            return {};
        const SliceId op = innermostAt(m_trace, thread, t);
        const TrackId python = m_python[thread.index()];
        const SliceId frame = python ? innermostAt(m_trace, python, t) : SliceId{};
        const std::uint64_t key = static_cast<std::uint64_t>(op.value) << 32 | frame.value;
        if (const auto known = m_stacks.find(key); known != m_stacks.end())
            return known->second;
        // Both chains from the innermost out; then together, the earlier start outside.
        std::vector<SliceId> chain;
        for (SliceId s = op; s; s = m_trace.slices.parent[s.index()])
            chain.push_back(s);
        for (SliceId s = frame; s; s = m_trace.slices.parent[s.index()])
            chain.push_back(s);
        std::stable_sort(chain.begin(), chain.end(), [&](SliceId a, SliceId b) {
            const SliceTable& slices = m_trace.slices;
            return slices.start[a.index()] != slices.start[b.index()]
                       ? slices.start[a.index()] < slices.start[b.index()]
                       : slices.duration[a.index()] > slices.duration[b.index()];
        });
        StackId stack;
        for (const SliceId s : chain)
            stack =
                m_history.stacks.addStack(stack, frameOf(m_trace.slices.name[s.index()], m_trace.kind(s)));
        m_stacks.emplace(key, stack);
        return stack;
    }

  private:
    FrameId frameOf(StringId name, SliceKind kind) {
        const std::uint64_t key = static_cast<std::uint64_t>(kind == SliceKind::Python) << 32 | name.value;
        if (const auto known = m_frames.find(key); known != m_frames.end())
            return known->second;
        std::string_view text = m_trace.strings.view(name);
        MemoryFrame frame;
        // Kineto calls Python frames "model.py(41): forward".
        const std::size_t close = text.find("): ");
        const std::size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
        if (kind == SliceKind::Python && open != std::string_view::npos) {
            const std::string_view digits = text.substr(open + 1, close - open - 1);
            const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), frame.line);
            if (r.ec == std::errc() && r.ptr == digits.data() + digits.size()) {
                frame.file = m_history.strings.intern(text.substr(0, open));
                text = text.substr(close + 3);
            }
        }
        frame.name = m_history.strings.intern(text);
        const FrameId id = m_history.stacks.addFrame(frame);
        m_frames.emplace(key, id);
        return id;
    }

    const Trace& m_trace;
    MemoryHistory& m_history;
    std::vector<TrackId> m_python;
    boost::unordered_flat_map<std::uint64_t, StackId> m_stacks;
    boost::unordered_flat_map<std::uint64_t, FrameId> m_frames;
};

/// Annotations of host threads, as a snapshot has them.
void addAnnotations(const Trace& trace, MemoryHistory& history) {
    boost::unordered_flat_map<std::uint32_t, StringId> names;
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Thread)
            continue;
        for (std::size_t row = track.firstSlice; row < track.endSlice; ++row) {
            if (trace.kind(row) != SliceKind::Annotation)
                continue;
            const StringId name = trace.slices.name[row];
            StringId& own = names[name.value];
            if (!own)
                own = history.strings.intern(trace.strings.view(name));
            history.annotations.push_back({own, 0, {trace.slices.start[row], trace.slices.end(row)}, false});
        }
    }
    std::stable_sort(history.annotations.begin(), history.annotations.end(),
                     [](const MemoryAnnotation& a, const MemoryAnnotation& b) {
                         return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                                               : a.range.end > b.range.end;
                     });
}

} // namespace

MemoryHistoryPtr memoryOfTrace(const TracePtr& trace, std::stop_token stop) {
    const MemoryTable& memory = trace->memory;
    const auto history = std::make_shared<MemoryHistory>();
    history->path = trace->path;
    history->format = trace->format;
    history->compression = trace->compression;
    history->fileBytes = trace->fileBytes;
    history->fromTrace = true;
    history->absoluteTime = trace->absoluteTime;

    SliceStacks stacks(*trace, *history);
    std::map<std::int64_t, MemoryDeviceBuilder> devices;
    for (std::size_t row = 0; row < memory.size(); ++row) {
        if ((row & 0xFFF) == 0 && stop.stop_requested())
            return nullptr;
        if (memory.device[row] < 0)
            continue;
        RawMemoryEvent event;
        const bool refused = trace->strings.view(memory.name[row]) == "[OutOfMemory]";
        const std::int64_t bytes = memory.bytes[row];
        event.action = refused     ? MemoryAction::OutOfMemory
                       : bytes < 0 ? MemoryAction::FreeCompleted
                                   : MemoryAction::Alloc;
        event.address = memory.address[row];
        event.size = bytes < 0 ? (bytes == INT64_MIN ? INT64_MAX : -bytes) : bytes;
        event.time = memory.time[row];
        event.reserved = memory.totalReserved[row];
        const std::uint32_t raw = memory.rawTrack[row];
        if (raw < trace->rawTracks.size())
            event.stack = stacks.at(trace->rawTracks[raw].thread, memory.time[row]);
        devices[memory.device[row]].addEvent(event);
    }
    bool first = true;
    for (auto& [ordinal, builder] : devices) {
        MemoryDeviceBuilder::Oddities odd;
        history->devices.push_back(builder.finish(ordinal, {}, true, odd));
        const TimeRange at = history->devices.back().extent();
        history->extent = first ? at
                                : TimeRange{std::min(history->extent.begin, at.begin),
                                            std::max(history->extent.end, at.end)};
        first = false;
    }
    if (history->devices.empty())
        return nullptr;
    addAnnotations(*trace, *history);
    history->stacks.finish();
    inferCategories(*history);
    return history;
}

} // namespace warpline
