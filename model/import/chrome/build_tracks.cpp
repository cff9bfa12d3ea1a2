// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/build_tracks.h"

#include "model/base/json.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace warpline::chrome {

namespace {

bool isDeviceTrack(TrackKind kind) {
    return kind == TrackKind::Stream || kind == TrackKind::GpuAnnotation || kind == TrackKind::GpuSync;
}

using PidKey = std::pair<std::int64_t, std::uint32_t>; ///< number, text
using TidKey = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t>;

/// What the metadata events say of processes and threads.
struct Names {
    struct Entry {
        StringId name, labels;
        std::int64_t sortIndex = 0;
    };
    std::map<PidKey, Entry> processes;
    std::map<TidKey, Entry> threads;

    explicit Names(Trace& trace) {
        for (const MetadataEvent& m : trace.metadata) {
            const std::string_view what = trace.strings.view(m.name);
            if (!what.starts_with("process_") && !what.starts_with("thread_"))
                continue;
            const auto args = parseJson(trace.strings.view(m.args));
            if (!args)
                continue;
            Entry& entry = what.starts_with("process_")
                               ? processes[{m.pid, m.pidText.value}]
                               : threads[{m.pid, m.pidText.value, m.tid, m.tidText.value}];
            if (what.ends_with("_name")) {
                if (const auto* v = args->find("name"))
                    entry.name = trace.strings.intern(v->string());
            } else if (what == "process_labels") {
                if (const auto* v = args->find("labels"))
                    entry.labels = trace.strings.intern(v->string());
            } else if (what.ends_with("_sort_index")) {
                if (const auto* v = args->find("sort_index"))
                    entry.sortIndex = v->integer().value_or(0);
            }
        }
    }
};

/// The number at the end of "stream 7", so that tracks sort as people count.
std::int64_t trailingNumber(std::string_view text) {
    std::size_t from = text.size();
    while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9')
        --from;
    std::int64_t v = 0;
    std::from_chars(text.data() + from, text.data() + text.size(), v);
    return v;
}

std::string deviceName(const Trace& trace, std::int64_t ordinal) {
    for (const DeviceInfo& d : trace.devices)
        if (d.ordinal == ordinal)
            return d.name;
    return {};
}

} // namespace

void collectMetadata(Trace& trace, std::vector<Batch>& batches) {
    std::set<
        std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint32_t, std::uint32_t, std::uint32_t>>
        seen;
    for (Batch& batch : batches) {
        for (const MetadataEvent& m : batch.metadata) {
            ++trace.metadataCount;
            if (seen.emplace(m.name.value, m.pid, m.tid, m.pidText.value, m.tidText.value, m.args.value)
                    .second)
                trace.metadata.push_back(m);
        }
        batch.metadata.clear();
    }
}

void readProperties(Trace& trace) {
    for (const auto& [key, raw] : trace.properties) {
        if (key == "baseTimeNanoseconds") {
            if (const auto v = parseJson(raw))
                trace.baseTime = v->integer().value_or(0);
            constexpr TimeNs kMost = 4'000'000'000'000'000'000;
            if (trace.baseTime > kMost || trace.baseTime < -kMost)
                trace.baseTime = 0;
        } else if (key == "deviceProperties") {
            const auto v = parseJson(raw);
            if (!v)
                continue;
            for (const JsonValue& d : v->items) {
                const auto number = [&](std::string_view name) {
                    const auto* field = d.find(name);
                    return field != nullptr ? field->integer().value_or(0) : 0;
                };
                DeviceInfo info;
                info.ordinal = number("id");
                if (const auto* name = d.find("name"))
                    info.name = name->string();
                info.memoryBytes = number("totalGlobalMem");
                info.computeMajor = static_cast<int>(number("computeMajor"));
                info.computeMinor = static_cast<int>(number("computeMinor"));
                info.multiprocessors = static_cast<int>(number("numSms"));
                trace.devices.push_back(std::move(info));
            }
        } else if (key == "distributedInfo") {
            const auto v = parseJson(raw);
            if (!v)
                continue;
            if (const auto* rank = v->find("rank"))
                trace.rank = rank->integer().value_or(-1);
            if (const auto* size = v->find("world_size"))
                trace.worldSize = size->integer().value_or(-1);
        }
    }
}

std::vector<std::uint32_t> arrangeTracks(Trace& trace, const Registry& registry,
                                         const std::vector<bool>& used) {
    const Names names(trace);
    const auto& eventTracks = registry.tracks();

    struct Key {
        bool device;
        std::int64_t pid;
        StringId pidText;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, std::uint32_t> processes;
    const auto keyOf = [&](const Registry::EventTrack& t) {
        const RawTrack& raw = trace.rawTracks[t.rawTrack];
        return Key{isDeviceTrack(t.kind), raw.pid, raw.pidText};
    };
    for (std::size_t i = 0; i < eventTracks.size(); ++i) {
        if (!used[i])
            continue;
        const Key key = keyOf(eventTracks[i]);
        if (!processes.try_emplace(key, 0).second)
            continue;
        Process p;
        p.pid = key.pid;
        p.pidText = key.pidText;
        p.device = key.device;
        if (const auto it = names.processes.find({key.pid, key.pidText.value}); it != names.processes.end()) {
            p.name = it->second.name;
            p.labels = it->second.labels;
            p.sortIndex = it->second.sortIndex;
        }
        if (p.device) {
            // The metadata names a device's row after the process that used it; the device has a name of its
            // own.
            const std::string own = deviceName(trace, p.pid);
            p.name = own.empty() ? StringId{} : trace.strings.intern(own);
        }
        trace.processes.push_back(p);
    }
    // By texts, not by their ids: which thread interned a text first is chance.
    const auto processPlace = [&](const Process& p) {
        return std::tuple(p.device, p.sortIndex, p.pid, trace.strings.view(p.pidText));
    };
    std::stable_sort(trace.processes.begin(), trace.processes.end(),
                     [&](const Process& a, const Process& b) { return processPlace(a) < processPlace(b); });
    for (std::size_t i = 0; i < trace.processes.size(); ++i) {
        const Process& p = trace.processes[i];
        processes[{p.device, p.pid, p.pidText}] = static_cast<std::uint32_t>(i);
    }

    std::vector<std::uint32_t> order;
    std::vector<Track> tracks(eventTracks.size());
    for (std::size_t i = 0; i < eventTracks.size(); ++i) {
        if (!used[i])
            continue;
        const RawTrack& raw = trace.rawTracks[eventTracks[i].rawTrack];
        Track& t = tracks[i];
        t.kind = eventTracks[i].kind;
        t.process = processes[keyOf(eventTracks[i])];
        t.tid = raw.tid;
        t.tidText = raw.tidText;
        if (const auto it = names.threads.find({raw.pid, raw.pidText.value, raw.tid, raw.tidText.value});
            it != names.threads.end()) {
            t.name = it->second.name;
            t.sortIndex = it->second.sortIndex;
        }
        if (t.kind == TrackKind::Async)
            t.name = eventTracks[i].group;
        order.push_back(static_cast<std::uint32_t>(i));
    }
    const auto rank = [&](const Track& t) {
        const std::int64_t number = t.tidText ? trailingNumber(trace.strings.view(t.tidText)) : t.tid;
        const bool mainThread = t.tid == trace.processes[t.process].pid;
        // Waits of stream N stand with the stream.
        constexpr std::int64_t kSyncOffset = 1'000'000;
        const std::int64_t place =
            t.kind == TrackKind::GpuSync && number >= kSyncOffset ? number - kSyncOffset : number;
        return std::tuple(t.process, t.kind == TrackKind::Async, !mainThread, place,
                          trace.strings.view(t.tidText), t.kind, trace.strings.view(t.name));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(tracks[a]) < rank(tracks[b]); });
    for (const std::uint32_t i : order) {
        trace.tracks.push_back(tracks[i]);
        if (eventTracks[i].kind == TrackKind::Thread)
            trace.rawTracks[eventTracks[i].rawTrack].thread = TrackId::fromIndex(trace.tracks.size() - 1);
    }
    // An arrow that points at a device's stream has a pid and tid, but no thread.
    for (std::size_t k = 0; k < order.size(); ++k) {
        RawTrack& raw = trace.rawTracks[eventTracks[order[k]].rawTrack];
        if (!raw.thread)
            raw.thread = TrackId::fromIndex(k);
    }
    return order;
}

std::uint32_t processOf(Trace& trace, const RawTrack& raw) {
    for (std::size_t i = 0; i < trace.processes.size(); ++i) {
        const Process& p = trace.processes[i];
        if (p.pid == raw.pid && p.pidText == raw.pidText)
            return static_cast<std::uint32_t>(i);
    }
    Process p;
    p.pid = raw.pid;
    p.pidText = raw.pidText;
    const Names names(trace);
    if (const auto it = names.processes.find({raw.pid, raw.pidText.value}); it != names.processes.end()) {
        p.name = it->second.name;
        p.labels = it->second.labels;
        p.sortIndex = it->second.sortIndex;
    }
    trace.processes.push_back(p);
    return static_cast<std::uint32_t>(trace.processes.size() - 1);
}

} // namespace warpline::chrome
