// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/info_report.h"

#include "app/cli/data_table.h"
#include "app/cli/diagnostics_report.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/base/format.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace warpline::cli {

namespace {

const char* trackKindName(TrackKind kind) {
    switch (kind) {
    case TrackKind::Thread:
        return "thread";
    case TrackKind::Python:
        return "python";
    case TrackKind::Stream:
        return "stream";
    case TrackKind::GpuAnnotation:
        return "gpu_annotation";
    case TrackKind::GpuSync:
        return "gpu_sync";
    case TrackKind::Async:
        return "async";
    case TrackKind::Overhead:
        return "overhead";
    }
    return "";
}

/// "2026-10-01 12:17:03.381441 UTC".
std::string dateText(TimeNs time) {
    TimeNs seconds = time / 1'000'000'000;
    TimeNs rest = time % 1'000'000'000;
    if (rest < 0) {
        rest += 1'000'000'000;
        --seconds;
    }
    const std::time_t t = seconds;
    std::tm parts{};
    if (::gmtime_r(&t, &parts) == nullptr)
        return fmt::format("{} ns", time);
    char text[40];
    const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return fmt::format("{}.{:06} UTC", std::string_view(text, n), rest / 1000);
}

/// A line of the head: a word, then what it says.
std::string entry(const char* word, const std::string& text) {
    return fmt::format("  {:<10} {}\n", word, text);
}

/// "a, b and c" of those that are not zero; "none" where all are.
std::string enumeration(const std::vector<std::string>& parts) {
    if (parts.empty())
        return "none";
    std::string out = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i)
        out += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return out;
}

void numberOrText(JsonWriter& json, const char* key, std::int64_t number, std::string_view text) {
    json.key(key);
    if (text.empty())
        json.integer(number);
    else
        json.text(text);
}

} // namespace

InfoReport::InfoReport(const Trace& trace) : m_trace(trace) {
    for (const DeviceInfo& info : trace.devices)
        m_devices.push_back({info.ordinal, &info, info.name, {}});
    for (std::size_t p = 0; p < trace.processes.size(); ++p) {
        const Process& process = trace.processes[p];
        Device* device = nullptr;
        if (process.device) {
            const auto known = std::find_if(m_devices.begin(), m_devices.end(),
                                            [&](const Device& d) { return d.ordinal == process.pid; });
            if (known != m_devices.end()) {
                device = &*known;
            } else {
                m_devices.push_back({process.pid, nullptr, trace.processName(p), {}});
                device = &m_devices.back();
            }
        } else {
            m_processes.push_back({&process, {}, {}});
        }
        for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
            if (trace.tracks[t].process != p)
                continue;
            if (device != nullptr)
                addDeviceTrack(*device, TrackId::fromIndex(t));
            else
                addHostTrack(m_processes.back(), TrackId::fromIndex(t));
        }
    }
    std::stable_sort(m_devices.begin(), m_devices.end(),
                     [](const Device& a, const Device& b) { return a.ordinal < b.ordinal; });
    for (HostProcess& process : m_processes)
        std::stable_sort(process.threads.begin(), process.threads.end(),
                         [](const Thread& a, const Thread& b) { return a.slices > b.slices; });
}

void InfoReport::addHostTrack(HostProcess& process, TrackId id) {
    const Track& track = m_trace.tracks[id.index()];
    const std::uint64_t slices = track.endSlice - track.firstSlice;
    if (track.kind != TrackKind::Thread && track.kind != TrackKind::Python) {
        process.others.push_back({trackKindName(track.kind), m_trace.trackName(id), track.tid, slices});
        return;
    }
    auto known = std::find_if(process.threads.begin(), process.threads.end(), [&](const Thread& t) {
        return t.tid == track.tid && t.tidText == track.tidText;
    });
    if (known == process.threads.end())
        known = process.threads.insert(process.threads.end(), {track.tid, track.tidText, {}, 0});
    if (known->name.empty())
        known->name = m_trace.strings.view(track.name);
    known->slices += slices;
}

void InfoReport::addDeviceTrack(Device& device, TrackId id) {
    const Track& track = m_trace.tracks[id.index()];
    auto known = std::find_if(device.streams.begin(), device.streams.end(),
                              [&](const Stream& s) { return s.id == track.tid; });
    if (known == device.streams.end())
        known = device.streams.insert(device.streams.end(), {track.tid, {}, 0, 0});
    known->slices += track.endSlice - track.firstSlice;
    if (track.kind != TrackKind::Stream)
        return;
    known->name = m_trace.strings.view(track.name);
    // Lines of a stream overlap where kernels do: what is covered counts once.
    std::vector<TimeRange> work;
    for (std::size_t row = track.firstSlice; row < track.endSlice; ++row) {
        if (isDeviceWork(m_trace.kind(row)) && (m_trace.slices.flags[row] & SliceFlag::Untimed) == 0)
            work.push_back({m_trace.slices.start[row], m_trace.slices.end(row)});
    }
    std::sort(work.begin(), work.end(),
              [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    TimeNs until = INT64_MIN;
    for (const TimeRange& w : work) {
        known->busy += std::max<TimeNs>(0, w.end - std::max(w.begin, until));
        until = std::max(until, w.end);
    }
}

std::uint64_t InfoReport::links() const {
    const Links& l = m_trace.links;
    return l.launch.size() + l.call.size() + l.op.size() + l.forward.size() + l.flow.size();
}

void InfoReport::writeJson(JsonWriter& json, std::size_t threads) const {
    const auto view = [&](StringId id) { return m_trace.strings.view(id); };
    json.beginObject();
    json.field("path", m_trace.path);
    json.field("format", m_trace.format);
    json.field("compression", m_trace.compression);
    json.field("bytes", m_trace.fileBytes);
    json.field("events", m_trace.eventCount);
    json.field("slices", std::uint64_t{m_trace.slices.size()});
    json.field("counters", m_trace.counterCount);
    json.field("memory_records", std::uint64_t{m_trace.memory.size()});
    json.field("flow_events", std::uint64_t{m_trace.flows.size()});
    json.field("metadata_events", m_trace.metadataCount);
    json.field("links", links());
    json.key("links_by_kind").beginObject();
    json.field("launch", std::uint64_t{m_trace.links.launch.size()});
    json.field("call", std::uint64_t{m_trace.links.call.size()});
    json.field("op", std::uint64_t{m_trace.links.op.size()});
    json.field("forward", std::uint64_t{m_trace.links.forward.size()});
    json.field("flow", std::uint64_t{m_trace.links.flow.size()});
    json.endObject();
    json.field("start_ns", m_trace.extent.begin);
    json.field("duration_ns", m_trace.extent.duration());
    json.key("absolute_time").boolean(m_trace.absoluteTime);

    json.key("processes").beginArray();
    for (const HostProcess& process : m_processes) {
        json.beginObject();
        numberOrText(json, "pid", process.process->pid, view(process.process->pidText));
        json.field("name", view(process.process->name));
        json.key("threads").beginArray();
        for (std::size_t i = 0; i < process.threads.size() && (threads == 0 || i < threads); ++i) {
            const Thread& thread = process.threads[i];
            json.beginObject();
            numberOrText(json, "tid", thread.tid, view(thread.tidText));
            json.field("name", thread.name);
            json.field("slices", thread.slices);
            json.endObject();
        }
        json.endArray();
        json.key("other_tracks").beginArray();
        for (const OtherTrack& track : process.others) {
            json.beginObject();
            json.field("kind", track.kind);
            json.field("name", track.name);
            json.field("slices", track.slices);
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }
    json.endArray();

    json.key("devices").beginArray();
    for (const Device& device : m_devices) {
        json.beginObject();
        json.field("id", device.ordinal);
        json.field("name", device.name);
        json.key("streams").beginArray();
        for (const Stream& stream : device.streams)
            json.integer(stream.id);
        json.endArray();
        std::uint64_t slices = 0;
        for (const Stream& stream : device.streams)
            slices += stream.slices;
        json.field("slices", slices);
        json.endObject();
    }
    json.endArray();

    const auto known = [&](const char* key, std::int64_t value) {
        json.key(key);
        value >= 0 ? json.integer(value) : json.null();
    };
    known("rank", m_trace.rank);
    known("world_size", m_trace.worldSize);
    json.key("steps").beginArray();
    for (const Step& step : m_trace.steps) {
        json.beginObject();
        json.field("number", step.number);
        json.field("start_ns", step.range.begin);
        json.field("duration_ns", step.range.duration());
        json.endObject();
    }
    json.endArray();

    json.key("diagnostics");
    writeDiagnostics(json, m_trace.diagnostics);
    json.endObject();
}

std::string InfoReport::text(std::size_t threads, std::size_t width) const {
    std::string kind = m_trace.format;
    if (!m_trace.compression.empty())
        kind += ", " + m_trace.compression;
    if (m_trace.fileBytes != 0)
        kind += ", " + formatBytes(static_cast<std::int64_t>(m_trace.fileBytes));
    std::string out = fmt::format("{}: {}\n", printable(m_trace.path), kind);

    const auto part = [](std::vector<std::string>& parts, std::uint64_t n, const char* one,
                         const char* many) {
        if (n != 0)
            parts.push_back(counted(n, one, many));
    };
    std::vector<std::string> parts;
    part(parts, m_trace.slices.size(), "slice", "slices");
    part(parts, m_trace.memory.size(), "memory record", "memory records");
    part(parts, m_trace.counterCount, "counter value", "counter values");
    part(parts, m_trace.flows.size(), "arrow end", "arrow ends");
    part(parts, m_trace.metadataCount, "metadata event", "metadata events");
    out += entry("Events", fmt::format("{}: {}", formatCount(static_cast<std::int64_t>(m_trace.eventCount)),
                                       enumeration(parts)));
    parts.clear();
    part(parts, m_trace.links.launch.size(), "launch to device work", "launches to device work");
    part(parts, m_trace.links.call.size(), "op to call", "ops to calls");
    part(parts, m_trace.links.op.size(), "op to device work", "ops to device work");
    part(parts, m_trace.links.forward.size(), "forward to backward", "forward to backward");
    part(parts, m_trace.links.flow.size(), "other arrow", "other arrows");
    out += entry("Links", enumeration(parts));
    if (m_trace.absoluteTime)
        out += entry("Start", dateText(m_trace.extent.begin));
    out += entry("Duration", formatDuration(m_trace.extent.duration()));
    if (!m_trace.steps.empty()) {
        TimeNs shortest = INT64_MAX;
        TimeNs longest = 0;
        for (const Step& step : m_trace.steps) {
            shortest = std::min(shortest, step.range.duration());
            longest = std::max(longest, step.range.duration());
        }
        out += entry("Steps", fmt::format("{} (numbers {} to {}), {} to {} each", m_trace.steps.size(),
                                          m_trace.steps.front().number, m_trace.steps.back().number,
                                          formatDuration(shortest), formatDuration(longest)));
    }
    if (m_trace.rank >= 0)
        out += entry("Rank", m_trace.worldSize > 0 ? fmt::format("{} of {}", m_trace.rank, m_trace.worldSize)
                                                   : fmt::format("{}", m_trace.rank));

    for (const HostProcess& process : m_processes) {
        if (process.threads.empty() && process.others.empty())
            continue;
        const auto pidText = m_trace.strings.view(process.process->pidText);
        const auto name = m_trace.strings.view(process.process->name);
        out += fmt::format("\nProcess {}{}{}\n",
                           pidText.empty() ? fmt::format("{}", process.process->pid) : printable(pidText),
                           name.empty() ? "" : "  ", printable(name));
        TextTable table({{"Thread", TextTable::Align::Right, false, 0},
                         {"Slices", TextTable::Align::Right, false, 0},
                         {"Name", TextTable::Align::Left, true, 0}});
        std::size_t shown = 0;
        for (const Thread& thread : process.threads) {
            if (threads != 0 && ++shown > threads)
                break;
            const auto tidText = m_trace.strings.view(thread.tidText);
            table.addRow({tidText.empty() ? fmt::format("{}", thread.tid) : std::string(tidText),
                          formatCount(static_cast<std::int64_t>(thread.slices)), thread.name});
        }
        for (const OtherTrack& track : process.others)
            table.addRow({track.kind, formatCount(static_cast<std::int64_t>(track.slices)), track.name});
        out += table.render(width, 2);
        if (threads != 0 && process.threads.size() > threads)
            out +=
                fmt::format("  {} not shown (--limit 0 shows all)\n",
                            counted(process.threads.size() - threads, "more thread is", "more threads are"));
    }

    std::size_t idle = 0;
    for (const Device& device : m_devices) {
        if (device.streams.empty()) {
            ++idle;
            continue;
        }
        out += fmt::format("\nGPU {}  {}", device.ordinal, printable(device.name));
        if (const DeviceInfo* info = device.info) {
            if (info->memoryBytes > 0)
                out += ", " + formatBytes(info->memoryBytes);
            if (info->computeMajor > 0)
                out += fmt::format(", compute capability {}.{}", info->computeMajor, info->computeMinor);
            if (info->multiprocessors > 0)
                out += fmt::format(", {} multiprocessors", info->multiprocessors);
        }
        out += "\n";
        TextTable table({{"Stream", TextTable::Align::Right, false, 0},
                         {"Slices", TextTable::Align::Right, false, 0},
                         {"Busy", TextTable::Align::Right, false, 0},
                         {"Name", TextTable::Align::Left, true, 0}});
        for (const Stream& stream : device.streams)
            table.addRow({fmt::format("{}", stream.id), formatCount(static_cast<std::int64_t>(stream.slices)),
                          formatDuration(stream.busy), stream.name});
        out += table.render(width, 2);
    }
    if (idle > 0)
        out += fmt::format("\n{} described without any event in the trace\n",
                           counted(idle, "GPU is", "GPUs are"));
    return out + diagnosticsText(m_trace.diagnostics);
}

std::string infoCsvHeader() {
    return "path,format,compression,bytes,events,slices,counters,links,start_ns,duration_ns,processes,"
           "threads,"
           "devices,streams,rank,world_size,steps,diagnostics\n";
}

std::string InfoReport::csv() const {
    std::string out;
    std::size_t threads = 0;
    std::size_t streams = 0;
    for (const HostProcess& process : m_processes)
        threads += process.threads.size();
    for (const Device& device : m_devices)
        streams += device.streams.size();
    for (const std::string* text : {&m_trace.path, &m_trace.format, &m_trace.compression}) {
        appendCsvField(out, *text);
        out.push_back(',');
    }
    const auto known = [](std::int64_t value) {
        return value >= 0 ? fmt::format("{}", value) : std::string();
    };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", m_trace.fileBytes,
                       m_trace.eventCount, m_trace.slices.size(), m_trace.counterCount, links(),
                       m_trace.extent.begin, m_trace.extent.duration(), m_processes.size(), threads,
                       m_devices.size(), streams, known(m_trace.rank), known(m_trace.worldSize),
                       m_trace.steps.size(), m_trace.diagnostics.rows().size());
    return out;
}

} // namespace warpline::cli
