// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/memory_history.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpline {

const char* memoryActionName(MemoryAction action) {
    switch (action) {
    case MemoryAction::Alloc:
        return "alloc";
    case MemoryAction::FreeRequested:
        return "free requested";
    case MemoryAction::FreeCompleted:
        return "free completed";
    case MemoryAction::SegmentAlloc:
        return "segment alloc";
    case MemoryAction::SegmentFree:
        return "segment free";
    case MemoryAction::SegmentMap:
        return "segment map";
    case MemoryAction::SegmentUnmap:
        return "segment unmap";
    case MemoryAction::Snapshot:
        return "snapshot";
    case MemoryAction::OutOfMemory:
        return "out of memory";
    case MemoryAction::Annotate:
        return "annotation";
    case MemoryAction::Other:
        break;
    }
    return "other";
}

const char* memoryCategoryName(MemoryCategory category) {
    switch (category) {
    case MemoryCategory::Parameter:
        return "parameters";
    case MemoryCategory::Gradient:
        return "gradients";
    case MemoryCategory::OptimizerState:
        return "optimizer state";
    case MemoryCategory::Activation:
        return "activations";
    case MemoryCategory::Temporary:
        return "temporaries";
    case MemoryCategory::Unknown:
        break;
    }
    return "unknown";
}

TimeNs MemoryDevice::timeOf(Moment m) const {
    if (!hasTimes || events.count() == 0)
        return 0;
    return events.time[m == 0 ? 0 : std::min<std::size_t>(m, events.count()) - 1];
}

Moment MemoryDevice::momentAt(TimeNs t) const {
    const auto* at = std::upper_bound(events.time.begin(), events.time.end(), t);
    return static_cast<Moment>(at - events.time.begin());
}

TimeRange MemoryDevice::extent() const {
    if (!hasTimes || events.count() == 0)
        return {};
    return {events.time[0], events.time[events.count() - 1]};
}

std::string MemoryDevice::name() const {
    return host ? "pinned host memory" : fmt::format("GPU {}", ordinal);
}

std::string MemoryDevice::streamName(std::uint32_t stream) const {
    // The default stream is number 0 wherever it comes up first; the others count from 1 by appearance.
    if (stream >= streams.size())
        return "stream ?";
    if (streams[stream] == 0)
        return "stream 0";
    const auto zero = std::find(streams.begin(), streams.end(), 0);
    const bool zeroBefore = static_cast<std::size_t>(zero - streams.begin()) < stream;
    return fmt::format("stream {}", stream + (zeroBefore ? 0 : 1));
}

std::string MemoryDevice::poolName(std::uint16_t pool) const {
    if (pool >= pools.size() || !pools[pool].known)
        return "unknown";
    if (!pools[pool].isPrivate())
        return "shared";
    return fmt::format("private ({}, {})", pools[pool].owner, pools[pool].id);
}

std::size_t MemoryDevice::bytes() const {
    const MemoryEventTable& e = events;
    const MemoryBlockTable& b = blocks;
    const MemorySegmentTable& s = segments;
    return e.time.bytes() + e.address.bytes() + e.size.bytes() + e.stack.bytes() + e.block.bytes() +
           e.stream.bytes() + e.pool.bytes() + e.action.bytes() + e.compileContext.bytes() +
           e.userMetadata.bytes() + e.forwardStack.bytes() + b.address.bytes() + b.size.bytes() +
           b.allocated.bytes() + b.birth.bytes() + b.death.bytes() + b.freeRequested.bytes() +
           b.stack.bytes() + b.stream.bytes() + b.pool.bytes() + b.category.bytes() + b.evidence.bytes() +
           b.flags.bytes() + s.address.bytes() + s.size.bytes() + s.birth.bytes() + s.death.bytes() +
           s.stack.bytes() + s.stream.bytes() + s.pool.bytes() + s.flags.bytes() + curves.requested.bytes() +
           curves.allocated.bytes() + curves.reserved.bytes() + streams.size() * sizeof(streams[0]) +
           pools.size() * sizeof(pools[0]) + outOfMemory.size() * sizeof(outOfMemory[0]);
}

const MemoryDevice* MemoryHistory::device(std::int64_t ordinal) const {
    const auto at = std::find_if(devices.begin(), devices.end(),
                                 [&](const MemoryDevice& d) { return !d.host && d.ordinal == ordinal; });
    return at == devices.end() ? nullptr : &*at;
}

std::string MemoryHistory::frameText(FrameId id) const {
    if (!id)
        return {};
    const MemoryFrame& frame = stacks.frame(id);
    const std::string_view name = strings.view(frame.name);
    std::string_view file = strings.view(frame.file);
    if (file.empty() || file == "??")
        return std::string(name);
    if (const std::size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos)
        file.remove_prefix(slash + 1);
    if (name.empty())
        return fmt::format("{}:{}", file, frame.line);
    return fmt::format("{} ({}:{})", name, file, frame.line);
}

std::size_t MemoryHistory::bytes() const {
    std::size_t n = strings.bytes() + stacks.bytes() + annotations.size() * sizeof(MemoryAnnotation);
    for (const MemoryDevice& d : devices)
        n += d.bytes();
    return n;
}

} // namespace warpline
