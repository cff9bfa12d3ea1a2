// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/words.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warpline::snapshot {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Key::Count)> kKeys = {
    "",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "stream",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "frames",
    "blocks",
    "size",
    "state",
    "history",
    "addr",
    "real_size",
    "action",
    "time_us",
    "compile_context",
    "user_metadata",
    "pool_id",
    "forward_frames",
    "category",
    "device_free",
    "filename",
    "line",
    "name",
    "fx_node_op",
    "fx_node_name",
    "fx_node_target",
    "fx_node_info",
    "fx_original_trace",
    "stage",
    "roundup_power2_divisions",
    "trace_alloc_overflowed",
    "trace_alloc_max_entries",
};

constexpr std::pair<std::string_view, MemoryAction> kActions[] = {
    {"alloc", MemoryAction::Alloc},
    {"free_requested", MemoryAction::FreeRequested},
    {"free_completed", MemoryAction::FreeCompleted},
    {"free", MemoryAction::FreeCompleted},
    {"segment_alloc", MemoryAction::SegmentAlloc},
    {"segment_free", MemoryAction::SegmentFree},
    {"segment_map", MemoryAction::SegmentMap},
    {"segment_unmap", MemoryAction::SegmentUnmap},
    {"snapshot", MemoryAction::Snapshot},
    {"oom", MemoryAction::OutOfMemory},
    {"annotate", MemoryAction::Annotate},
};

} // namespace

void internKeys(StringPool& strings) {
    for (std::size_t i = 1; i < kKeys.size(); ++i)
        strings.intern(kKeys[i]);
}

Key keyNamed(std::string_view name) {
    const auto at = std::find(kKeys.begin() + 1, kKeys.end(), name);
    return at == kKeys.end() ? Key::None : static_cast<Key>(at - kKeys.begin());
}

MemoryAction actionNamed(std::string_view name) {
    for (const auto& [text, action] : kActions)
        if (text == name)
            return action;
    return MemoryAction::Other;
}

MemoryCategory categoryNamed(std::string_view name) {
    std::string upper(name.substr(0, 32));
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    if (upper == "PARAMETER")
        return MemoryCategory::Parameter;
    if (upper == "GRADIENT")
        return MemoryCategory::Gradient;
    if (upper == "OPTIMIZER_STATE")
        return MemoryCategory::OptimizerState;
    if (upper == "ACTIVATION")
        return MemoryCategory::Activation;
    if (upper == "TEMPORARY" || upper == "AUTOGRAD_DETAIL")
        return MemoryCategory::Temporary;
    return MemoryCategory::Unknown;
}

TimeNs fromMicroseconds(std::int64_t us) {
    TimeNs ns = 0;
    if (__builtin_mul_overflow(us, std::int64_t{1000}, &ns))
        return us < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

} // namespace warpline::snapshot
