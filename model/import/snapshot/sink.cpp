// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/sink.h"

#include "model/base/format.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace warpline::snapshot {

namespace {

/// "1 free is", "2,345 frees are".
std::string several(std::uint64_t n, const char* one, const char* many) {
    return fmt::format("{} {}", formatCount(static_cast<std::int64_t>(n)), n == 1 ? one : many);
}

/// More than any machine has; what is beyond is damage.
constexpr std::int64_t kMostDevices = 4096;

} // namespace

Sink::Sink() : m_history(std::make_shared<MemoryHistory>()) {
    internKeys(m_history->strings);
}

StringId Sink::text(std::string_view text) {
    return isUtf8(text) ? strings().intern(text) : strings().intern(toUtf8(text));
}

MemoryDeviceBuilder* Sink::device(std::int64_t ordinal, bool host) {
    if (ordinal < -1 || ordinal >= kMostDevices)
        return nullptr;
    return &m_devices[{host, ordinal}];
}

void Sink::setEvents(std::int64_t ordinal, bool host, MemoryDeviceBuilder&& events) {
    MemoryDeviceBuilder* to = device(ordinal, host);
    if (to == nullptr)
        return;
    if (to->eventCount() == 0) {
        to->takeEvents(std::move(events));
        return;
    }
    for (std::size_t i = 0; i < events.eventCount(); ++i)
        to->addEvent(events.event(i));
}

void Sink::addSegment(RawMemorySegment segment, bool host) {
    if (MemoryDeviceBuilder* to = device(host ? 0 : segment.device, host))
        to->addSegment(std::move(segment));
    else
        ++odd;
}

void Sink::addSegments(std::vector<RawMemorySegment>&& segments, bool host) {
    const auto of = [&](const RawMemorySegment& s) { return host ? 0 : s.device; };
    // All of one device, as nearly always: they need not be copied.
    if (!segments.empty() && std::all_of(segments.begin(), segments.end(), [&](const RawMemorySegment& s) {
            return of(s) == of(segments.front());
        })) {
        if (MemoryDeviceBuilder* to = device(of(segments.front()), host); to != nullptr && to->noSegments()) {
            to->takeSegments(std::move(segments));
            return;
        }
    }
    for (RawMemorySegment& segment : segments)
        addSegment(std::move(segment), host);
}

void Sink::finishAnnotations() {
    MemoryHistory& h = *m_history;
    // Ranges of one name and device nest, so that an end closes the last that is open.
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> open;
    for (const AnnotationMark& mark : m_marks) {
        const TimeNs time = mark.time.value_or(h.extent.begin);
        auto& stack = open[static_cast<std::uint64_t>(mark.device) << 32 | mark.name.value];
        if (!mark.end) {
            stack.push_back(h.annotations.size());
            h.annotations.push_back({mark.name, mark.device, {time, time}, true});
        } else if (!stack.empty()) {
            MemoryAnnotation& a = h.annotations[stack.back()];
            a.range.end = std::max(a.range.begin, time);
            a.open = false;
            stack.pop_back();
        } else {
            h.annotations.push_back({mark.name, mark.device, {std::min(h.extent.begin, time), time}, true});
        }
    }
    for (const auto& [name, stack] : open)
        for (const std::size_t i : stack)
            h.annotations[i].range.end = std::max(h.annotations[i].range.begin, h.extent.end);
    std::stable_sort(
        h.annotations.begin(), h.annotations.end(), [](const MemoryAnnotation& a, const MemoryAnnotation& b) {
            return a.range.begin != b.range.begin ? a.range.begin < b.range.begin : a.range.end > b.range.end;
        });
}

std::shared_ptr<MemoryHistory> Sink::finish() {
    MemoryHistory& h = *m_history;
    MemoryDeviceBuilder::Oddities oddities;
    for (const bool host : {false, true}) {
        for (auto& [key, builder] : m_devices) {
            if (key.first != host || builder.empty())
                continue;
            h.devices.push_back(builder.finish(key.second, m_rounding, false, oddities));
            h.devices.back().host = host;
            builder = {};
        }
    }
    bool first = true;
    for (const MemoryDevice& d : h.devices) {
        if (!d.hasTimes)
            continue;
        const TimeRange at = d.extent();
        h.extent = first ? at : TimeRange{std::min(h.extent.begin, at.begin), std::max(h.extent.end, at.end)};
        first = false;
    }
    // A clock that counts from the start of a machine gives a day in January 1970.
    constexpr TimeNs kYear2001 = 978'307'200'000'000'000;
    h.absoluteTime = !first && h.extent.begin >= kYear2001;
    finishAnnotations();
    h.stacks.finish();
    diagnose(oddities);
    return std::move(m_history);
}

void Sink::diagnose(const MemoryDeviceBuilder::Oddities& o) {
    MemoryHistory& h = *m_history;
    using Severity = Diagnostic::Severity;
    const auto tell = [&](const char* id, Severity severity, std::uint64_t count, std::string message,
                          std::uint64_t offset = Diagnostic::kNoOffset) {
        if (count > 0)
            h.diagnostics.set({id, severity, count, std::move(message), offset, INT64_MIN});
    };
    if (cut)
        tell("cut_off", Severity::DataLoss, 1,
             fmt::format(
                 "The file ends early, at byte {} ({}); what came before was read. Copy or write it again.",
                 cut->second, cut->first),
             cut->second);
    if (overflowed)
        tell("history_overflowed", Severity::DataLoss, 1,
             maxEntries > 0
                 ? fmt::format(
                       "The recording kept only its last {} events, so the older ones are missing: record "
                       "with a larger max_entries.",
                       formatCount(maxEntries))
                 : std::string(
                       "The recording's buffer ran over, so the older events are missing: record with a "
                       "larger max_entries."));
    tell("odd_values", Severity::Warning, odd,
         fmt::format("{} of a kind that does not belong where it stands, and passed over.",
                     several(odd, "value is", "values are")),
         firstOdd);
    tell("times_go_back", Severity::Info, o.timesBack,
         fmt::format("{} older than the one before, and shown at that one's time.",
                     several(o.timesBack, "event is", "events are")));
    tell("impossible_sizes", Severity::Warning, o.sizes,
         fmt::format("{} negative or larger than 16 TiB, and cut to that.",
                     several(o.sizes, "size is", "sizes are")));
    tell("unknown_actions", Severity::Warning, o.unknownActions,
         fmt::format("{} of an action that this version does not know; they are kept without effect.",
                     several(o.unknownActions, "event is", "events are")));
    tell("reserved_does_not_add_up", Severity::Warning, o.reservedShift > 0 ? 1 : 0,
         fmt::format(
             "By its events more memory was returned to the driver than was reserved, by {}: events are "
             "missing, and the reserved curve is raised by as much.",
             formatBytes(static_cast<std::int64_t>(o.reservedShift))));
    tell("segments_do_not_add_up", Severity::Warning, o.segmentsWrong,
         fmt::format("{} blocks that do not sum to the segment's size.",
                     several(o.segmentsWrong, "segment has", "segments have")));
    tell("live_without_segment", Severity::Info, o.notInSegments,
         fmt::format("{} live at the end of the history, but in no segment of the file; they are kept.",
                     several(o.notInSegments, "block is", "blocks are")));
    tell("many_pools", Severity::Warning, o.poolsDropped,
         fmt::format("The file names more pools than Warpline tells apart; {} of an unknown one.",
                     several(o.poolsDropped, "event or segment is", "events or segments are")));
    if (!unknownKeys.empty()) {
        std::string list;
        for (const std::string& key : unknownKeys)
            list += (list.empty() ? "" : ", ") + key;
        tell("unknown_keys", Severity::Info, unknownKeys.size(),
             fmt::format("The snapshot has parts that this version does not read: {}.", list));
    }
    for (const MemoryDevice& d : h.devices)
        diagnoseHistory(d);
    if (h.devices.empty())
        tell("empty_snapshot", Severity::Warning, 1,
             "The snapshot holds no segments and no events: nothing was allocated on a GPU, or recording was "
             "off "
             "(torch.cuda.memory._record_memory_history() turns it on).");
}

void Sink::diagnoseHistory(const MemoryDevice& d) {
    MemoryHistory& h = *m_history;
    using Severity = Diagnostic::Severity;
    const std::string suffix = h.devices.size() > 1
                                   ? "_" + (d.host ? std::string("host") : std::to_string(d.ordinal))
                                   : std::string();
    const std::string on = h.devices.size() > 1 ? d.name() + ": " : std::string();
    const auto tell = [&](const char* id, Severity severity, std::uint64_t count, std::string message) {
        h.diagnostics.set(
            {id + suffix, severity, count, on + std::move(message), Diagnostic::kNoOffset, INT64_MIN});
    };
    const bool stacks = std::any_of(d.blocks.stack.begin(), d.blocks.stack.end(),
                                    [](StackId s) { return static_cast<bool>(s); });
    if (!d.recorded) {
        tell(stacks ? "state_only" : "no_history", Severity::Warning, 1,
             stacks ? "The snapshot has the state at its end only, with stacks but without a history: record "
                      "with "
                      "torch.cuda.memory._record_memory_history(enabled=\"all\") to see how it came to be."
                    : "The snapshot has no history and no stacks: recording was off. Call "
                      "torch.cuda.memory._record_memory_history() before the code of interest.");
    } else if (d.preexistingBlocks > 0) {
        tell("history_starts_late", Severity::Info, d.preexistingBlocks,
             fmt::format(
                 "The history starts after {} in {} were allocated; where they came from is not known.",
                 formatBytes(d.preexistingBytes), several(d.preexistingBlocks, "block", "blocks")));
    }
    if (d.unmatchedFrees > 0)
        tell("unmatched_frees", Severity::Info, d.unmatchedFrees,
             fmt::format("{} of a block whose allocation the history does not have; such blocks are shown "
                         "from its start, "
                         "with the stack of the free.",
                         several(d.unmatchedFrees, "free is", "frees are")));
    if (d.implicitFrees > 0)
        tell("implicit_frees", Severity::Warning, d.implicitFrees,
             fmt::format("{} at an address that was still in use, so that frees are missing from the "
                         "history; the older "
                         "blocks end there.",
                         several(d.implicitFrees, "allocation is", "allocations are")));
    if (d.recorded && !d.hasTimes)
        tell("no_times", Severity::Info, 1,
             "The events have no times (an older version of PyTorch wrote them): they are shown by their "
             "number.");
    if (!d.hasAddresses)
        tell("no_addresses", Severity::Info, 1,
             "The blocks have no addresses (an older version of PyTorch wrote them): they are counted up "
             "from those "
             "of their segments.");
}

} // namespace warpline::snapshot
