// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/memory_info.h"

#include "app/cli/data_table.h"
#include "app/cli/diagnostics_report.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/base/format.h"

#include <fmt/format.h>

namespace warpline::cli {

namespace {

std::string line(const char* name, const std::string& value) {
    return fmt::format("  {:<10} {}\n", name, value);
}

} // namespace

std::uint64_t MemoryInfo::events() const {
    std::uint64_t n = 0;
    for (const MemoryDevice& d : m_history.devices)
        n += d.events.count();
    return n;
}

void writeMemoryDevice(JsonWriter& json, const MemoryDevice& d) {
    const Moment last = d.lastMoment();
    const MemoryPeak& peak = d.peakRequested;
    json.beginObject();
    json.field("device", d.ordinal);
    json.key("host").boolean(d.host);
    json.field("events", static_cast<std::uint64_t>(d.events.count()));
    json.field("blocks", static_cast<std::uint64_t>(d.blocks.count()));
    json.field("start_requested_bytes", d.curves.requested[0]);
    json.field("end_requested_bytes", d.curves.requested[last]);
    json.key("peak").beginObject();
    // Events count from 0; -1 is before the first.
    json.field("event", static_cast<std::int64_t>(peak.moment) - 1);
    json.key("time_ns");
    peak.moment > 0 && d.hasTimes ? json.integer(d.timeOf(peak.moment)) : json.null();
    json.field("requested_bytes", peak.requested);
    json.field("allocated_bytes", peak.allocated);
    json.field("reserved_bytes", peak.reserved);
    json.endObject();
    json.key("history").beginObject();
    json.key("complete").boolean(d.complete);
    json.field("unmatched_frees", d.unmatchedFrees);
    json.field("implicit_frees", d.implicitFrees);
    json.field("preexisting_bytes", d.preexistingBytes);
    json.endObject();
    json.key("segments").beginObject();
    json.field("count", d.totals.count);
    json.field("reserved_bytes", d.totals.reserved);
    json.field("allocated_bytes", d.totals.allocated);
    json.field("active_bytes", d.totals.active);
    json.field("requested_bytes", d.totals.requested);
    json.field("largest_free_bytes", d.totals.largestFree);
    json.endObject();
    json.key("oom").beginArray();
    for (const OutOfMemoryEvent& oom : d.outOfMemory) {
        json.beginObject();
        json.field("event", static_cast<std::int64_t>(oom.event));
        json.field("requested_bytes", oom.requested);
        json.key("device_free_bytes");
        oom.deviceFree >= 0 ? json.integer(oom.deviceFree) : json.null();
        json.endObject();
    }
    json.endArray();
    json.endObject();
}

std::string momentText(const MemoryDevice& device, Moment moment) {
    if (moment == 0)
        return "the start of the history";
    std::string text = fmt::format("event {}", formatCount(static_cast<std::int64_t>(moment) - 1));
    if (device.hasTimes)
        text += fmt::format(", {} after the start", formatDuration(device.timeOf(moment) - device.timeOf(0)));
    return text;
}

std::string memoryDeviceText(const MemoryDevice& d) {
    const Moment last = d.lastMoment();
    std::string out = d.name() + "\n";
    const auto count = [](std::uint64_t n, const char* one, const char* many) {
        return counted(n, one, many);
    };
    out += line("History", d.recorded ? fmt::format("{}, {}{}", count(d.events.count(), "event", "events"),
                                                    count(d.blocks.count(), "block", "blocks"),
                                                    d.hasTimes ? ", " + formatDuration(d.extent().duration())
                                                               : std::string())
                                      : "none, only the state at the end");
    out += line("Requested", fmt::format("{} at the start, {} at the end", formatBytes(d.curves.requested[0]),
                                         formatBytes(d.curves.requested[last])));
    out += line("Peak",
                fmt::format("{} at {} ({} reserved then)", formatBytes(d.peakRequested.requested),
                            momentText(d, d.peakRequested.moment), formatBytes(d.peakRequested.reserved)));
    out += line("Segments", fmt::format("{}: {} reserved, {} allocated, {} active; largest free block {}",
                                        formatCount(static_cast<std::int64_t>(d.totals.count)),
                                        formatBytes(d.totals.reserved), formatBytes(d.totals.allocated),
                                        formatBytes(d.totals.active), formatBytes(d.totals.largestFree)));
    if (!d.outOfMemory.empty())
        out += line("Refused",
                    count(d.outOfMemory.size(), "allocation (out of memory)", "allocations (out of memory)"));
    return out;
}

void MemoryInfo::writeJson(JsonWriter& json, std::size_t limit) const {
    const MemoryHistory& h = m_history;
    json.beginObject();
    json.field("path", h.path);
    json.field("format", h.format);
    json.field("compression", h.compression);
    json.field("bytes", h.fileBytes);
    json.field("events", events());
    json.key("start_ns");
    h.extent.begin != 0 ? json.integer(h.extent.begin) : json.null();
    json.field("duration_ns", h.extent.duration());
    json.key("devices").beginArray();
    for (const MemoryDevice& d : h.devices) {
        json.beginObject();
        json.field("id", d.ordinal);
        json.field("name", d.name());
        json.key("streams").beginArray();
        for (const std::int64_t stream : d.streams)
            json.integer(stream);
        json.endArray();
        json.field("events", static_cast<std::uint64_t>(d.events.count()));
        json.field("blocks", static_cast<std::uint64_t>(d.blocks.count()));
        json.field("segments", d.totals.count);
        json.field("peak_requested_bytes", d.peakRequested.requested);
        json.endObject();
    }
    json.endArray();
    json.field("annotations", static_cast<std::uint64_t>(h.annotations.size()));
    json.field("frames", static_cast<std::uint64_t>(h.stacks.frameCount()));
    json.key("allocator_settings").beginObject();
    std::size_t shown = 0;
    for (const auto& [name, value] : h.settings)
        if (limit == 0 || shown++ < limit)
            json.field(name, value);
    json.endObject();
    json.key("diagnostics");
    writeDiagnostics(json, h.diagnostics);
    json.endObject();
}

std::string MemoryInfo::text(std::size_t /*limit*/, std::size_t /*width*/) const {
    const MemoryHistory& h = m_history;
    std::string kind = h.format;
    if (!h.compression.empty())
        kind += ", " + h.compression;
    if (h.fileBytes != 0)
        kind += ", " + formatBytes(static_cast<std::int64_t>(h.fileBytes));
    std::string out = fmt::format("{}: {}\n", printable(h.path), kind);
    for (const MemoryDevice& d : h.devices)
        out += "\n" + memoryDeviceText(d);
    return out + diagnosticsText(h.diagnostics);
}

std::string MemoryInfo::csv() const {
    std::string out;
    for (const std::string* text : {&m_history.path, &m_history.format, &m_history.compression}) {
        appendCsvField(out, *text);
        out.push_back(',');
    }
    std::size_t streams = 0;
    for (const MemoryDevice& d : m_history.devices)
        streams += d.streams.size();
    // Columns as those of a trace: slices, counters, links, processes and threads are none.
    out += fmt::format("{},{},0,0,0,{},{},0,0,{},{},,,0,{}\n", m_history.fileBytes, events(),
                       m_history.extent.begin, m_history.extent.duration(), m_history.devices.size(), streams,
                       m_history.diagnostics.rows().size());
    return out;
}

} // namespace warpline::cli
