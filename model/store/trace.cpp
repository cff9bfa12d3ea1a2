// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace warpline {

const char* sliceKindName(SliceKind k) {
    switch (k) {
    case SliceKind::Other:
        return "event";
    case SliceKind::CpuOp:
        return "CPU op";
    case SliceKind::Annotation:
        return "annotation";
    case SliceKind::Python:
        return "Python frame";
    case SliceKind::Runtime:
        return "runtime call";
    case SliceKind::Driver:
        return "driver call";
    case SliceKind::Kernel:
        return "kernel";
    case SliceKind::Copy:
        return "copy";
    case SliceKind::Set:
        return "memory set";
    case SliceKind::GpuAnnotation:
        return "GPU annotation";
    case SliceKind::Sync:
        return "synchronisation";
    case SliceKind::Overhead:
        return "profiler overhead";
    }
    return "event";
}

std::pair<std::size_t, std::size_t> LinkTable::leaving(SliceId s) const {
    const auto [a, b] = std::equal_range(from.begin(), from.end(), s);
    return {static_cast<std::size_t>(a - from.begin()), static_cast<std::size_t>(b - from.begin())};
}

std::pair<std::size_t, std::size_t> LinkTable::arriving(SliceId s) const {
    const auto* a = std::lower_bound(byTo.begin(), byTo.end(), s,
                                     [&](std::uint32_t row, SliceId v) { return to[row] < v; });
    const auto* b =
        std::upper_bound(a, byTo.end(), s, [&](SliceId v, std::uint32_t row) { return v < to[row]; });
    return {static_cast<std::size_t>(a - byTo.begin()), static_cast<std::size_t>(b - byTo.begin())};
}

namespace {

/// Sorts by the bits from `low` up to those of `most`, keeping the order of what is equal there.
void sortByBits(std::vector<std::uint64_t>& values, int low, std::uint64_t most) {
    constexpr int kBits = 11;
    constexpr std::size_t kDigits = std::size_t{1} << kBits;
    std::vector<std::uint64_t> other(values.size());
    for (int shift = low; shift < 64 && (most >> shift) != 0; shift += kBits) {
        std::array<std::size_t, kDigits> place{};
        for (const std::uint64_t v : values)
            ++place[(v >> shift) % kDigits];
        std::size_t total = 0;
        for (std::size_t& p : place)
            total += std::exchange(p, total);
        for (const std::uint64_t v : values)
            other[place[(v >> shift) % kDigits]++] = v;
        values.swap(other);
    }
}

} // namespace

void LinkTable::build(const std::vector<std::pair<SliceId, SliceId>>& pairs) {
    // Both ids in one word; an id of the slice table rarely has more than three digits of sortByBits.
    std::vector<std::uint64_t> words;
    words.reserve(pairs.size());
    std::uint64_t mostFrom = 0;
    std::uint64_t mostTo = 0;
    for (const auto& [a, b] : pairs) {
        words.push_back((std::uint64_t{a.value} << 32) | b.value);
        mostFrom = std::max<std::uint64_t>(mostFrom, a.value);
        mostTo = std::max<std::uint64_t>(mostTo, b.value);
    }
    if (!std::is_sorted(words.begin(), words.end())) {
        sortByBits(words, 0, mostTo);
        sortByBits(words, 32, mostFrom << 32);
    }
    words.erase(std::unique(words.begin(), words.end()), words.end());
    from.reset(words.size());
    to.reset(words.size());
    byTo.reset(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        from[i] = SliceId{static_cast<std::uint32_t>(words[i] >> 32)};
        to[i] = SliceId{static_cast<std::uint32_t>(words[i])};
        words[i] = (std::uint64_t{to[i].value} << 32) | i;
    }
    sortByBits(words, 32, mostTo << 32);
    for (std::size_t i = 0; i < words.size(); ++i)
        byTo[i] = static_cast<std::uint32_t>(words[i]);
}

LaneId Trace::laneOf(SliceId id) const {
    const auto row = static_cast<std::uint32_t>(id.index());
    const auto it = std::upper_bound(lanes.begin(), lanes.end(), row,
                                     [](std::uint32_t r, const Lane& lane) { return r < lane.end; });
    return it == lanes.end() ? LaneId{} : LaneId::fromIndex(static_cast<std::size_t>(it - lanes.begin()));
}

TrackId Trace::trackOf(SliceId id) const {
    const LaneId lane = laneOf(id);
    return lane ? lanes[lane.index()].track : TrackId{};
}

std::string Trace::processName(std::size_t process) const {
    const Process& p = processes[process];
    const std::string_view name = strings.view(p.name);
    if (p.device) {
        return name.empty() ? fmt::format("GPU {}", p.pid) : fmt::format("GPU {} · {}", p.pid, name);
    }
    const std::string id = p.pidText ? std::string(strings.view(p.pidText)) : fmt::format("{}", p.pid);
    if (name.empty())
        return p.pidText ? id : "process " + id;
    return fmt::format("{} {}", name, id);
}

std::string Trace::trackName(TrackId id) const {
    const Track& t = tracks[id.index()];
    const std::string_view name = strings.view(t.name);
    const std::string number = t.tidText ? std::string(strings.view(t.tidText)) : fmt::format("{}", t.tid);
    switch (t.kind) {
    case TrackKind::Stream:
        // Kineto calls streams "stream 7"; what a program calls its streams tells more.
        return (t.tidText ? number : "stream " + number) +
               (name.empty() || name.starts_with("stream ") ? std::string() : fmt::format(" · {}", name));
    case TrackKind::GpuAnnotation:
        return t.tidText ? "annotations " + number : "annotations, stream " + number;
    case TrackKind::GpuSync: {
        // Kineto puts the waits of stream N on the virtual thread N + 1,000,000.
        constexpr std::int64_t kSyncOffset = 1'000'000;
        return fmt::format("waits, stream {}", t.tid >= kSyncOffset ? t.tid - kSyncOffset : t.tid);
    }
    case TrackKind::Overhead:
        return "profiler overhead";
    case TrackKind::Async:
        return std::string(name);
    case TrackKind::Python:
    case TrackKind::Thread:
        break;
    }
    const std::int64_t pid = processes[t.process].pid;
    std::string base =
        name.empty() ? (t.tid == pid && !t.tidText ? "main thread" : "thread") : std::string(name);
    // Kineto names threads "thread 476 (python3)": the number is there already.
    if (base.find(number) == std::string::npos)
        base += " " + number;
    return t.kind == TrackKind::Python ? "Python, " + base : base;
}

bool Trace::isDriverMemory(std::size_t row) const {
    const StringId bytes = strings.find("Bytes");
    return !bytes || !args.find(memory.args[row], bytes);
}

std::size_t Trace::bytes() const {
    std::size_t n = strings.bytes() + args.bytes();
    n += slices.start.bytes() + slices.duration.bytes() + slices.name.bytes() + slices.parent.bytes() +
         slices.args.bytes() + slices.category.bytes() + slices.flags.bytes();
    for (const LinkTable* l : {&links.launch, &links.call, &links.op, &links.forward, &links.flow})
        n += l->from.bytes() + l->to.bytes() + l->byTo.bytes();
    for (const auto& c : counters)
        n += c.time.bytes() + c.value.bytes();
    n += memory.size() * (8 * 5 + 2 + 4 * 3);
    n += flows.size() * (8 + 8 + 4 + 4 + 2 + 1 + 1 + 4);
    for (const auto& p : properties)
        n += p.first.size() + p.second.size();
    return n + metadata.size() * sizeof(MetadataEvent) + lanes.size() * sizeof(Lane) +
           tracks.size() * sizeof(Track);
}

} // namespace warpline
