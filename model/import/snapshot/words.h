// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"
#include "model/store/string_pool.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpline::snapshot {

/// The keys of a snapshot's dictionaries. They are the first texts of a history's pool, so that a text's id
/// is its key.
enum class Key : std::uint32_t {
    None,
    // top
    Segments,
    DeviceTraces,
    AllocatorSettings,
    ExternalAnnotations,
    HostSegments,
    HostTraces,
    // segment
    Device,
    Address,
    TotalSize,
    AllocatedSize,
    ActiveSize,
    RequestedSize,
    Stream,
    SegmentType,
    SegmentPoolId,
    IsExpandable,
    Frames,
    Blocks,
    // block
    Size,
    State,
    History,
    Addr,
    RealSize,
    // trace entry
    Action,
    TimeUs,
    CompileContext,
    UserMetadata,
    PoolId,
    ForwardFrames,
    Category,
    DeviceFree,
    // frame
    Filename,
    Line,
    Name,
    FxNodeOp,
    FxNodeName,
    FxNodeTarget,
    FxNodeInfo,
    FxOriginalTrace,
    // annotation
    Stage,
    // settings
    RoundupPower2Divisions,
    TraceAllocOverflowed,
    TraceAllocMaxEntries,
    Count,
};

/// Puts the keys into an empty pool.
void internKeys(StringPool& strings);
[[nodiscard]] inline Key keyOf(StringId id) {
    return id.value < static_cast<std::uint32_t>(Key::Count) ? static_cast<Key>(id.value) : Key::None;
}
/// The key of that name, or None; ids of tables' columns and the like.
[[nodiscard]] Key keyNamed(std::string_view name);

[[nodiscard]] MemoryAction actionNamed(std::string_view name);
/// torch's names of memory_profiler's categories; Unknown for those that Warpline has no like of.
[[nodiscard]] MemoryCategory categoryNamed(std::string_view name);

/// Microseconds as nanoseconds; at the ends of what 64 bits hold where they do not fit.
[[nodiscard]] TimeNs fromMicroseconds(std::int64_t us);

} // namespace warpline::snapshot
