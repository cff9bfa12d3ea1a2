// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/chrome_writer.h"

#include "model/base/json_writer.h"
#include "model/export/gzip_writer.h"
#include "model/export/output_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace warpline {

namespace {

constexpr std::string_view kBaseTimeKey = "baseTimeNanoseconds";
constexpr std::size_t kSmallProperty = 8192;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void appendInteger(std::string& out, std::int64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end);
}

void appendUnsigned(std::string& out, std::uint64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end);
}

/// Nanoseconds as the format's microseconds, exactly: "12", "12.345", "-0.001".
void appendMicroseconds(std::string& out, TimeNs ns) {
    const bool negative = ns < 0;
    const std::uint64_t size =
        negative ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
    if (negative)
        out.push_back('-');
    appendUnsigned(out, size / 1000);
    const auto rest = static_cast<unsigned>(size % 1000);
    if (rest != 0) {
        out.push_back('.');
        out.push_back(static_cast<char>('0' + rest / 100));
        out.push_back(static_cast<char>('0' + rest / 10 % 10));
        out.push_back(static_cast<char>('0' + rest % 10));
    }
}

/// Where the text goes: into a file, compressed or not, a piece at a time.
class Sink {
  public:
    Result<Done> open(const std::string& path) {
        if (auto done = m_file.open(path); !done.ok())
            return done;
        if (endsWith(path, ".gz"))
            m_gzip.emplace(m_file);
        m_text.reserve(kPieceBytes + kPieceBytes / 4);
        return Done{};
    }
    std::string& text() { return m_text; }
    /// Between two events: writes what has gathered. False after an error, which close() gives.
    bool flushIfFull() { return m_text.size() < kPieceBytes || flush(); }
    Result<Done> close() {
        if (!flush())
            return *m_error;
        if (m_gzip) {
            if (auto done = m_gzip->finish(); !done.ok())
                return done;
        }
        return m_file.commit();
    }

  private:
    bool flush() {
        if (m_error)
            return false;
        auto done = m_gzip ? m_gzip->write(std::exchange(m_text, {})) : m_file.write(m_text);
        m_text.clear();
        m_text.reserve(kPieceBytes + kPieceBytes / 4);
        if (!done.ok())
            m_error = done.error();
        return !m_error;
    }

    OutputFile m_file;
    std::optional<GzipWriter> m_gzip; // after m_file: it writes there until it is gone
    std::string m_text;
    std::optional<Error> m_error;
};

class ChromeWriter {
  public:
    ChromeWriter(const Trace& trace, const ExportOptions& options, Sink& sink)
        : m_trace(trace), m_options(options), m_sink(sink), m_out(sink.text()) {}

    void write() {
        m_out.append("{\n");
        baseTime();
        for (const auto& [key, json] : m_trace.properties) {
            if (key != kBaseTimeKey && json.size() <= kSmallProperty)
                property(key, json).append(",\n");
        }
        m_out.append("\"traceEvents\": [");
        metadata();
        slices();
        memory();
        counters();
        flows();
        m_out.append("\n]");
        // Readers look for the event list near the beginning: what is long (stack frames) comes after it.
        for (const auto& [key, json] : m_trace.properties) {
            if (key != kBaseTimeKey && json.size() > kSmallProperty) {
                m_out.append(",\n");
                property(key, json);
            }
        }
        m_out.append("\n}\n");
    }

  private:
    [[nodiscard]] bool wanted(TimeNs begin, TimeNs end) const {
        return !m_options.range || m_options.range->overlaps(begin, end);
    }

    std::string& property(std::string_view key, std::string_view json) {
        appendJsonString(m_out, key);
        return m_out.append(": ").append(json);
    }

    /// What the times were read with.
    void baseTime() {
        const auto said = std::any_of(m_trace.properties.begin(), m_trace.properties.end(),
                                      [](const auto& property) { return property.first == kBaseTimeKey; });
        if (!said && m_trace.baseTime == 0)
            return;
        appendJsonString(m_out, kBaseTimeKey);
        m_out.append(": ");
        appendInteger(m_out, m_trace.baseTime);
        m_out.append(",\n");
    }

    /// False once nothing more can be written.
    bool next() {
        if (!m_sink.flushIfFull())
            return false;
        m_out.append(m_first ? "\n" : ",\n");
        m_first = false;
        return true;
    }

    void numberOrText(const char* key, std::int64_t number, StringId text) {
        m_out.append(key);
        if (text)
            appendJsonString(m_out, m_trace.strings.view(text));
        else
            appendInteger(m_out, number);
    }

    void place(TrackId id) {
        const Track& track = m_trace.tracks[id.index()];
        const Process& process = m_trace.processes[track.process];
        numberOrText(",\"pid\":", process.pid, process.pidText);
        numberOrText(",\"tid\":", track.tid, track.tidText);
    }

    void place(const RawTrack& raw) {
        numberOrText(",\"pid\":", raw.pid, raw.pidText);
        numberOrText(",\"tid\":", raw.tid, raw.tidText);
    }

    void head(std::string_view phase, std::string_view category, StringId name) {
        m_out.append("{\"ph\":\"").append(phase).append("\"");
        if (!category.empty()) {
            m_out.append(",\"cat\":");
            appendJsonString(m_out, category);
        }
        m_out.append(",\"name\":");
        appendJsonString(m_out, m_trace.strings.view(name));
    }

    [[nodiscard]] std::string_view categoryName(std::uint16_t category) const {
        return m_trace.strings.view(m_trace.categories[category].name);
    }

    void timestamp(TimeNs time) {
        m_out.append(",\"ts\":");
        appendMicroseconds(m_out, time - m_trace.baseTime);
    }

    void field(std::string_view& separator, const Arg& arg) {
        m_out.append(separator);
        separator = ",";
        appendJsonString(m_out, m_trace.strings.view(arg.key));
        m_out.push_back(':');
        appendArgJson(m_out, m_trace.strings, arg);
    }

    /// The fields that stood in the event itself, then its "args".
    void arguments(ArgStore::Ref ref) {
        if (ref == 0)
            return;
        bool inner = false;
        std::string_view separator = ",";
        m_trace.args.forEach(ref, [&](const Arg& arg) {
            if (arg.top)
                field(separator, arg);
            else
                inner = true;
        });
        if (!inner)
            return;
        m_out.append(",\"args\":");
        separator = "{";
        m_trace.args.forEach(ref, [&](const Arg& arg) {
            if (!arg.top)
                field(separator, arg);
        });
        m_out.push_back('}');
    }

    [[nodiscard]] bool hasTop(ArgStore::Ref ref, std::string_view key) const {
        bool found = false;
        if (ref != 0) {
            m_trace.args.forEach(ref, [&](const Arg& arg) {
                found = found || (arg.top && m_trace.strings.view(arg.key) == key);
                return !found;
            });
        }
        return found;
    }

    void metadata() {
        for (const MetadataEvent& event : m_trace.metadata) {
            if (!next())
                return;
            head("M", {}, event.name);
            numberOrText(",\"pid\":", event.pid, event.pidText);
            numberOrText(",\"tid\":", event.tid, event.tidText);
            if (event.args)
                m_out.append(",\"args\":").append(m_trace.strings.view(event.args));
            m_out.push_back('}');
        }
    }

    void slices() {
        for (std::size_t t = 0; t < m_trace.tracks.size(); ++t) {
            const Track& track = m_trace.tracks[t];
            for (std::size_t row = track.firstSlice; row < track.endSlice; ++row) {
                if (!wanted(m_trace.slices.start[row], m_trace.slices.end(row)))
                    continue;
                if (!slice(TrackId::fromIndex(t), row))
                    return;
            }
        }
    }

    bool slice(TrackId track, std::size_t row) {
        if (!next())
            return false;
        const SliceTable& table = m_trace.slices;
        const std::uint8_t flags = table.flags[row];
        const bool async = (flags & SliceFlag::Async) != 0;
        const bool instant = (flags & SliceFlag::Instant) != 0;
        // One that never ended is written as a beginning only, so that it stays what it is.
        const bool open = !instant && (flags & SliceFlag::Unfinished) != 0;
        const bool object = async && isObject(track, row);

        std::string_view phase = "X";
        if (instant)
            phase = object ? "O" : async ? "n" : "i";
        else if (async)
            phase = object ? "N" : "b";
        else if (open)
            phase = "B";
        head(phase, categoryName(table.category[row]), table.name[row]);
        place(track);
        timestamp(table.start[row]);
        if (phase == "X" && (flags & SliceFlag::NoDuration) == 0) {
            m_out.append(",\"dur\":");
            // How far below zero it was is not known any more; that it was stays known.
            appendMicroseconds(m_out, (flags & SliceFlag::NegativeDuration) != 0 ? -1 : table.duration[row]);
        }
        if (phase == "i" && !hasTop(table.args[row], "s"))
            m_out.append(",\"s\":\"t\"");
        arguments(table.args[row]);
        m_out.push_back('}');
        if (async && !instant && !open)
            return asyncEnd(track, row, object ? "D" : "e");
        return true;
    }

    /// Lifetimes of objects (N, O, D) stand on a track of their name, other asynchronous events on one of
    /// their category.
    [[nodiscard]] bool isObject(TrackId track, std::size_t row) const {
        const StringId name = m_trace.tracks[track.index()].name;
        return name == m_trace.slices.name[row] &&
               name != m_trace.categories[m_trace.slices.category[row]].name;
    }

    bool asyncEnd(TrackId track, std::size_t row, std::string_view phase) {
        if (!next())
            return false;
        head(phase, categoryName(m_trace.slices.category[row]), m_trace.slices.name[row]);
        place(track);
        timestamp(m_trace.slices.end(row));
        std::string_view separator = ",";
        if (m_trace.slices.args[row] != 0) {
            m_trace.args.forEach(m_trace.slices.args[row], [&](const Arg& arg) {
                const std::string_view key = m_trace.strings.view(arg.key);
                if (arg.top && (key == "id" || key == "id2" || key == "scope"))
                    field(separator, arg);
            });
        }
        m_out.push_back('}');
        return true;
    }

    void memory() {
        const MemoryTable& table = m_trace.memory;
        for (std::size_t row = 0; row < table.size(); ++row) {
            if (!wanted(table.time[row], table.time[row]))
                continue;
            if (!next())
                return;
            head("i", "cpu_instant_event", table.name[row]);
            if (!hasTop(table.args[row], "s"))
                m_out.append(",\"s\":\"t\"");
            place(m_trace.rawTracks[table.rawTrack[row]]);
            timestamp(table.time[row]);
            memoryArguments(row);
            m_out.push_back('}');
        }
    }

    /// Of a recording the columns say what a trace's arguments do: written as those.
    void memoryArguments(std::size_t row) {
        const MemoryTable& table = m_trace.memory;
        const ArgStore::Ref args = table.args[row];
        if (!m_trace.isDriverMemory(row)) {
            arguments(args);
            return;
        }
        constexpr int kDeviceTypeCpu = 0;
        constexpr int kDeviceTypeCuda = 1;
        const bool host = table.device[row] < 0;
        m_out.append(",\"args\":{\"Device Type\":");
        appendInteger(m_out, host ? kDeviceTypeCpu : kDeviceTypeCuda);
        m_out.append(",\"Device Id\":");
        appendInteger(m_out, table.device[row]);
        m_out.append(",\"Addr\":");
        appendInteger(m_out, static_cast<std::int64_t>(table.address[row]));
        m_out.append(",\"Bytes\":");
        appendInteger(m_out, table.bytes[row]);
        const auto total = [&](const char* key, std::int64_t value) {
            if (value < 0)
                return;
            m_out.append(key);
            appendInteger(m_out, value);
        };
        total(",\"Total Allocated\":", table.totalAllocated[row]);
        total(",\"Total Reserved\":", table.totalReserved[row]);
        if (args != 0) {
            std::string_view separator = ",";
            m_trace.args.forEach(args, [&](const Arg& arg) { field(separator, arg); });
        }
        m_out.push_back('}');
    }

    /// One event of the file sets several series of a counter; they come together again by their time.
    void counters() {
        const auto& tracks = m_trace.counters;
        std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::size_t>> byCounter;
        for (std::size_t i = 0; i < tracks.size(); ++i)
            byCounter[{tracks[i].process, m_trace.strings.view(tracks[i].name)}].push_back(i);
        for (const auto& [counter, members] : byCounter) {
            std::vector<std::size_t> at(members.size(), 0);
            while (true) {
                std::optional<TimeNs> time;
                for (std::size_t m = 0; m < members.size(); ++m) {
                    const CounterTrack& track = tracks[members[m]];
                    if (at[m] < track.time.size())
                        time = std::min(time.value_or(track.time[at[m]]), track.time[at[m]]);
                }
                if (!time)
                    break;
                const bool write = wanted(*time, *time);
                if (write) {
                    if (!next())
                        return;
                    const Process& process = m_trace.processes[counter.first];
                    head("C", {}, tracks[members.front()].name);
                    numberOrText(",\"pid\":", process.pid, process.pidText);
                    timestamp(*time);
                    m_out.append(",\"args\":");
                }
                std::string_view separator = "{";
                for (std::size_t m = 0; m < members.size(); ++m) {
                    const CounterTrack& track = tracks[members[m]];
                    if (at[m] == track.time.size() || track.time[at[m]] != *time)
                        continue;
                    const double value = track.value[at[m]++];
                    if (!write)
                        continue;
                    m_out.append(separator);
                    separator = ",";
                    appendJsonString(m_out, m_trace.strings.view(track.series));
                    m_out.push_back(':');
                    appendJsonNumber(m_out, value);
                }
                if (write)
                    m_out.append("}}");
            }
        }
    }

    void flows() {
        const FlowTable& table = m_trace.flows;
        const auto key = [&](std::size_t row) {
            return std::tuple(table.category[row], table.name[row], table.id[row]);
        };
        // An arrow that leads out of the range would dangle; it is left out with both its ends.
        std::vector<std::tuple<std::uint16_t, StringId, std::uint64_t>> leading;
        for (std::size_t row = 0; row < table.size(); ++row) {
            if (!wanted(table.time[row], table.time[row]))
                leading.push_back(key(row));
        }
        std::sort(leading.begin(), leading.end());
        for (std::size_t row = 0; row < table.size(); ++row) {
            if (!wanted(table.time[row], table.time[row]) ||
                std::binary_search(leading.begin(), leading.end(), key(row)))
                continue;
            if (!next())
                return;
            const char phase = table.phase[row];
            head({&phase, 1}, categoryName(table.category[row]), table.name[row]);
            m_out.append(",\"id\":");
            appendUnsigned(m_out, table.id[row]);
            place(m_trace.rawTracks[table.track[row]]);
            timestamp(table.time[row]);
            if (table.bindEnclosing[row] != 0)
                m_out.append(",\"bp\":\"e\"");
            arguments(table.args[row]);
            m_out.push_back('}');
        }
    }

    const Trace& m_trace;
    const ExportOptions& m_options;
    Sink& m_sink;
    std::string& m_out;
    bool m_first = true;
};

} // namespace

Result<Done> writeChromeTrace(const Trace& trace, const std::string& path, const ExportOptions& options) {
    Sink sink;
    if (auto done = sink.open(path); !done.ok())
        return done;
    ChromeWriter(trace, options, sink).write();
    return sink.close();
}

} // namespace warpline
