// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/registry.h"

#include <utility>

namespace warpline::chrome {

namespace {

std::size_t mix(std::size_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 31);
}

} // namespace

std::size_t Registry::Hash::operator()(const RawKey& k) const {
    std::size_t h = mix(1, static_cast<std::uint64_t>(k.pid.value));
    h = mix(h, k.pid.text.value);
    h = mix(h, static_cast<std::uint64_t>(k.tid.value));
    return mix(h, k.tid.text.value);
}

std::size_t Registry::Hash::operator()(const TrackKey& k) const {
    return mix(mix(k.rawTrack, static_cast<std::uint64_t>(k.kind)), k.group.value);
}

Registry::CategoryRef Registry::category(StringId name) {
    const std::lock_guard lock(m_mutex);
    if (const auto it = m_categories.find(name); it != m_categories.end())
        return it->second;
    // Sixty-five thousand categories are no trace's; what comes after shares the first one's place.
    if (m_trace.categories.size() > 0xFFFF)
        return m_categories.begin()->second;
    const CategoryRef ref{name, static_cast<std::uint16_t>(m_trace.categories.size()),
                          kindOfCategory(m_trace.strings.view(name))};
    m_trace.categories.push_back({name, ref.kind});
    m_categories.emplace(name, ref);
    return ref;
}

std::uint32_t Registry::rawTrack(Number pid, Number tid) {
    const std::lock_guard lock(m_mutex);
    const auto [it, fresh] =
        m_raw.try_emplace(RawKey{pid, tid}, static_cast<std::uint32_t>(m_trace.rawTracks.size()));
    if (fresh)
        m_trace.rawTracks.push_back({pid.value, tid.value, pid.text, tid.text, {}});
    return it->second;
}

std::uint32_t Registry::track(std::uint32_t rawTrack, TrackKind kind, StringId group) {
    const std::lock_guard lock(m_mutex);
    const auto [it, fresh] =
        m_byKey.try_emplace(TrackKey{rawTrack, kind, group}, static_cast<std::uint32_t>(m_tracks.size()));
    if (fresh)
        m_tracks.push_back({rawTrack, kind, group});
    return it->second;
}

SliceKind kindOfCategory(std::string_view category) {
    using enum SliceKind;
    static const std::unordered_map<std::string_view, SliceKind> kKnown = {
        {"cpu_op", CpuOp},
        {"Operator", CpuOp},
        {"hpu_op", CpuOp},
        {"user_annotation", Annotation},
        {"python_function", Python},
        {"cuda_runtime", Runtime},
        {"Runtime", Runtime},
        {"hip_runtime", Runtime},
        {"xpu_runtime", Runtime},
        {"mtia_runtime", Runtime},
        {"privateuse1_runtime", Runtime},
        {"glow_runtime", Runtime},
        {"cuda_driver", Driver},
        {"xpu_driver", Driver},
        {"privateuse1_driver", Driver},
        {"kernel", Kernel},
        {"Kernel", Kernel},
        {"gpu_memcpy", Copy},
        {"Memcpy", Copy},
        {"gpu_memset", Set},
        {"Memset", Set},
        {"gpu_user_annotation", GpuAnnotation},
        {"cuda_sync", Sync},
        {"cuda_event", Sync},
        {"overhead", Overhead},
    };
    const auto it = kKnown.find(category);
    return it == kKnown.end() ? Other : it->second;
}

TrackKind trackKindOf(SliceKind kind) {
    switch (kind) {
    case SliceKind::Kernel:
    case SliceKind::Copy:
    case SliceKind::Set:
        return TrackKind::Stream;
    case SliceKind::GpuAnnotation:
        return TrackKind::GpuAnnotation;
    case SliceKind::Sync:
        return TrackKind::GpuSync;
    case SliceKind::Python:
        return TrackKind::Python;
    case SliceKind::Overhead:
        return TrackKind::Overhead;
    default:
        return TrackKind::Thread;
    }
}

} // namespace warpline::chrome
