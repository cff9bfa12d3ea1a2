// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_oom.h"

#include "model/base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpline {

using Reason = OutOfMemoryReport::Unusable::Reason;

namespace {

/// Requests of up to 1 MiB are served from segments of 2 MiB of their own.
constexpr std::int64_t kSmallRequest = std::int64_t{1} << 20;

Reason reasonOf(const MemoryDevice& device, const OutOfMemoryReport& report, const SegmentState& s,
                std::int64_t largest) {
    const auto isPrivate = [&](std::uint16_t pool) {
        return pool < device.pools.size() && device.pools[pool].isPrivate();
    };
    const std::uint16_t asked = device.events.pool[report.event.event];
    if (s.pool != asked && (isPrivate(s.pool) || isPrivate(asked)))
        return Reason::OtherPool;
    if ((s.flags & SegmentFlag::KindKnown) != 0 &&
        ((s.flags & SegmentFlag::Small) != 0) != (report.event.requested <= kSmallRequest))
        return Reason::OtherPool;
    if (s.stream != report.stream)
        return Reason::OtherStream;
    return largest >= report.event.requested ? Reason::WouldFit : Reason::TooSmall;
}

std::string sentenceOf(const MemoryDevice& device, const OutOfMemoryReport& r) {
    std::string text = fmt::format("{} were asked for", formatBytes(r.event.requested));
    if (r.event.deviceFree >= 0)
        text += fmt::format(" while the device had {} free", formatBytes(r.event.deviceFree));
    text += fmt::format("; of {} reserved, {} were in use", formatBytes(r.reserved),
                        formatBytes(r.reserved - r.reservedFree - r.pending));
    if (r.pending > 0)
        text += fmt::format(", {} waited for a stream to be done with them", formatBytes(r.pending));
    text += ".";
    if (r.event.deviceFree >= r.event.requested)
        text +=
            " The device had enough, so a limit was in the way (set_per_process_memory_fraction or another "
            "process's share).";
    std::string why;
    for (const OutOfMemoryReport::Unusable& u : r.unusable) {
        if (u.bytes > 0 && u.reason != Reason::WouldFit)
            why += fmt::format("{}{} {} (largest piece {})", why.empty() ? "" : ", ", formatBytes(u.bytes),
                               unusableReasonName(u.reason), formatBytes(u.largest));
    }
    if (!why.empty())
        text += fmt::format(" {} were reserved and free but could not serve it: {}.",
                            formatBytes(r.reservedFree), why);
    (void)device;
    return text;
}

} // namespace

const char* unusableReasonName(Reason reason) {
    switch (reason) {
    case Reason::OtherStream:
        return "cached for another stream";
    case Reason::OtherPool:
        return "in another pool";
    case Reason::TooSmall:
        return "in pieces too small";
    case Reason::WouldFit:
        break;
    }
    return "large enough";
}

OutOfMemoryReport outOfMemoryReport(const MemoryHistory& history, const MemoryDevice& device,
                                    const LiveIndex& index, std::size_t which) {
    (void)history;
    OutOfMemoryReport report;
    report.event = device.outOfMemory[which];
    const std::uint32_t event = report.event.event;
    report.time = device.hasTimes ? device.events.time[event] : 0;
    report.stream = device.events.stream[event];
    report.stack = device.events.stack[event];
    const MemoryState state = memoryState(device, index, event);
    report.requested = state.requested;
    report.allocated = state.allocated;
    report.reserved = state.reserved;
    report.pending = state.all.pending;

    std::array<OutOfMemoryReport::Unusable, 4> by;
    for (std::size_t i = 0; i < by.size(); ++i)
        by[i].reason = static_cast<Reason>(i);
    for (const SegmentState& s : state.segments) {
        if (s.free() <= 0)
            continue;
        report.reservedFree += s.free();
        const Reason whole = reasonOf(device, report, s, s.largestFree);
        report.segments.push_back(
            {s.address, s.size, s.free(), s.largestFree, s.pool, s.stream, s.flags, whole});
        for (std::uint32_t i = s.firstPiece; i < s.endPiece; ++i) {
            const SegmentPiece& piece = state.pieces[i];
            if (piece.kind != SegmentPiece::Kind::Free)
                continue;
            OutOfMemoryReport::Unusable& sum =
                by[static_cast<std::size_t>(reasonOf(device, report, s, piece.size))];
            sum.bytes += piece.size;
            sum.largest = std::max(sum.largest, piece.size);
            ++sum.pieces;
        }
    }
    for (const OutOfMemoryReport::Unusable& sum : by)
        if (sum.pieces > 0)
            report.unusable.push_back(sum);
    std::stable_sort(report.unusable.begin(), report.unusable.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    std::stable_sort(report.segments.begin(), report.segments.end(),
                     [](const auto& a, const auto& b) { return a.free > b.free; });
    report.sentence = sentenceOf(device, report);
    return report;
}

} // namespace warpline
