// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/build_tables.h"

#include "model/import/chrome/build_tracks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

namespace warpline::chrome {

void collectFlows(Trace& trace, const std::vector<Batch>& batches) {
    std::size_t count = 0;
    for (const Batch& b : batches)
        count += b.flows.size();
    FlowTable& flows = trace.flows;
    flows.time.reset(count);
    flows.id.reset(count);
    flows.name.reset(count);
    flows.track.reset(count);
    flows.category.reset(count);
    flows.phase.reset(count);
    flows.bindEnclosing.reset(count);
    flows.args.reset(count);
    std::size_t i = 0;
    for (const Batch& b : batches) {
        for (const ParsedFlow& f : b.flows) {
            flows.time[i] = f.time + trace.baseTime;
            flows.id[i] = f.id;
            flows.name[i] = f.name;
            flows.track[i] = f.rawTrack;
            flows.category[i] = f.category;
            flows.phase[i] = f.phase;
            flows.bindEnclosing[i] = f.bindEnclosing ? 1 : 0;
            flows.args[i] = f.args;
            ++i;
        }
    }
}

void collectMemory(Trace& trace, const std::vector<Batch>& batches) {
    std::vector<ParsedMemory> all;
    for (const Batch& b : batches)
        all.insert(all.end(), b.memory.begin(), b.memory.end());
    const auto earlier = [](const ParsedMemory& a, const ParsedMemory& b) { return a.time < b.time; };
    if (!std::is_sorted(all.begin(), all.end(), earlier))
        std::stable_sort(all.begin(), all.end(), earlier);
    MemoryTable& m = trace.memory;
    m.time.reset(all.size());
    m.bytes.reset(all.size());
    m.address.reset(all.size());
    m.totalAllocated.reset(all.size());
    m.totalReserved.reset(all.size());
    m.device.reset(all.size());
    m.rawTrack.reset(all.size());
    m.args.reset(all.size());
    m.name.reset(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        m.time[i] = all[i].time + trace.baseTime;
        m.bytes[i] = all[i].bytes;
        m.address[i] = all[i].address;
        m.totalAllocated[i] = all[i].totalAllocated;
        m.totalReserved[i] = all[i].totalReserved;
        m.device[i] = all[i].device;
        m.rawTrack[i] = all[i].track;
        m.args[i] = all[i].args;
        m.name[i] = all[i].name;
    }
}

void collectCounters(Trace& trace, std::vector<Batch>& batches, CounterReport& report) {
    struct Point {
        TimeNs time;
        double value;
    };
    std::map<std::uint32_t, std::uint32_t> processes; // by raw track
    struct Series {
        StringId name, key;
        std::vector<Point> points;
    };
    // By texts, not by their ids: which thread interned a text first is chance.
    std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, Series> all;
    for (Batch& b : batches) {
        for (const ParsedCounter& c : b.counters) {
            ++trace.counterCount;
            auto [it, fresh] = processes.try_emplace(c.track, 0);
            if (fresh) {
                const RawTrack raw = trace.rawTracks[c.track];
                it->second = processOf(trace, raw);
            }
            const std::uint32_t process = it->second;
            const TimeNs time = c.time + trace.baseTime;
            trace.args.forEach(c.args, [&](const Arg& arg) {
                if (arg.top)
                    return;
                double value = arg.number();
                if (arg.kind == ArgKind::Text || arg.kind == ArgKind::Raw) {
                    const std::string_view text = trace.strings.view(arg.text);
                    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
                    if (r.ec != std::errc() || r.ptr != text.data() + text.size())
                        return report.notNumbers.add(Diagnostic::kNoOffset, time);
                } else if (!arg.isNumber()) {
                    return report.notNumbers.add(Diagnostic::kNoOffset, time);
                }
                Series& series = all[{process, trace.strings.view(c.name), trace.strings.view(arg.key)}];
                series.name = c.name;
                series.key = arg.key;
                series.points.push_back({time, value});
            });
        }
        std::vector<ParsedCounter>().swap(b.counters);
    }
    for (auto& [place, series] : all) {
        std::vector<Point>& points = series.points;
        std::stable_sort(points.begin(), points.end(),
                         [](const Point& a, const Point& b) { return a.time < b.time; });
        CounterTrack track;
        track.process = std::get<0>(place);
        track.name = series.name;
        track.series = series.key;
        track.time.reset(points.size());
        track.value.reset(points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            track.time[i] = points[i].time;
            track.value[i] = points[i].value;
        }
        trace.counters.push_back(std::move(track));
    }
}

void findSteps(Trace& trace) {
    static constexpr std::string_view kPrefix = "ProfilerStep#";
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Thread)
            continue;
        for (std::uint32_t row = track.firstSlice; row < track.endSlice; ++row) {
            const SliceKind kind = trace.kind(row);
            if (kind != SliceKind::Annotation && kind != SliceKind::CpuOp)
                continue;
            const std::string_view name = trace.strings.view(trace.slices.name[row]);
            if (!name.starts_with(kPrefix))
                continue;
            Step step;
            std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step.number);
            step.slice = SliceId::fromIndex(row);
            step.range = {trace.slices.start[row], trace.slices.end(row)};
            trace.steps.push_back(step);
        }
    }
    std::stable_sort(trace.steps.begin(), trace.steps.end(),
                     [](const Step& a, const Step& b) { return a.range.begin < b.range.begin; });
}

} // namespace warpline::chrome
