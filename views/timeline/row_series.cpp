// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/row_series.h"

#include "views/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <utility>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("TrackLayout", text);
}

/// The process that an event was written under; the first where it is none of the known.
std::uint32_t processOfRawTrack(const Trace& trace, std::uint32_t rawTrack) {
    if (rawTrack >= trace.rawTracks.size())
        return 0;
    const RawTrack& raw = trace.rawTracks[rawTrack];
    const auto it = std::find_if(trace.processes.begin(), trace.processes.end(), [&](const Process& p) {
        return !p.device && p.pid == raw.pid && p.pidText == raw.pidText;
    });
    return it == trace.processes.end() ? 0 : static_cast<std::uint32_t>(it - trace.processes.begin());
}

/// The bytes that an allocator has out after each of its events.
struct Bytes {
    std::uint32_t firstRawTrack = 0;
    std::vector<TimeNs> time;
    std::vector<double> allocated;
    std::vector<TimeNs> reservedTime;
    std::vector<double> reserved;
};

std::map<int, Bytes> bytesByDevice(const MemoryTable& memory) {
    std::map<int, Bytes> devices;
    // Events of one device follow one another in long runs.
    Bytes* bytes = nullptr;
    int last = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const int device = memory.device[i];
        if (bytes == nullptr || device != last) {
            bytes = &devices.try_emplace(device, Bytes{memory.rawTrack[i], {}, {}, {}, {}}).first->second;
            last = device;
        }
        const double before = bytes->allocated.empty() ? 0 : bytes->allocated.back();
        bytes->time.push_back(memory.time[i]);
        bytes->allocated.push_back(memory.totalAllocated[i] >= 0
                                       ? static_cast<double>(memory.totalAllocated[i])
                                       : before + static_cast<double>(memory.bytes[i]));
        if (memory.totalReserved[i] > 0) {
            bytes->reservedTime.push_back(memory.time[i]);
            bytes->reserved.push_back(static_cast<double>(memory.totalReserved[i]));
        }
    }
    return devices;
}

} // namespace

std::shared_ptr<const SourceSeries> SourceSeries::of(TracePtr owner) {
    auto all = std::make_shared<SourceSeries>();
    const Trace& trace = *owner;
    all->m_trace = std::move(owner);
    std::map<std::pair<std::uint32_t, StringId>, std::size_t> counterOf;
    for (std::uint32_t c = 0; c < trace.counters.size(); ++c) {
        const CounterTrack& counter = trace.counters[c];
        if (counter.time.empty())
            continue;
        const auto [it, isNew] = counterOf.try_emplace({counter.process, counter.name}, all->counters.size());
        if (isNew)
            all->counters.push_back({counter.process, c, toQString(trace.strings.view(counter.name)), {}});
        all->counters[it->second].series.push_back({RowSeries::Role::Value,
                                                    toQString(trace.strings.view(counter.series)),
                                                    StepSeries(counter.time.view(), counter.value.view())});
    }
    for (auto& [device, bytes] : bytesByDevice(trace.memory)) {
        Allocator allocator{device, processOfRawTrack(trace, bytes.firstRawTrack), {}};
        allocator.series.push_back({RowSeries::Role::Allocated, tr("allocated"),
                                    StepSeries(std::move(bytes.time), std::move(bytes.allocated))});
        if (!bytes.reserved.empty())
            allocator.series.push_back(
                {RowSeries::Role::Reserved, tr("reserved"),
                 StepSeries(std::move(bytes.reservedTime), std::move(bytes.reserved))});
        all->allocators.push_back(std::move(allocator));
    }
    return all;
}

} // namespace warpline
