// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace warpline::chrome {

/// A pid or a tid as written: a number, or a text.
struct Number {
    std::int64_t value = 0;
    StringId text;
    bool operator==(const Number&) const = default;
};

/// Categories, and the (pid, tid) pairs and tracks that events name, numbered as they are first met. Shared
/// by the threads that read one trace; each of them asks once a name and remembers the answer.
class Registry {
  public:
    struct EventTrack {
        std::uint32_t rawTrack = 0;
        TrackKind kind = TrackKind::Thread;
        StringId group; ///< Async: what the track is called
    };

    explicit Registry(Trace& trace) : m_trace(trace) {}

    struct CategoryRef {
        StringId name;
        std::uint16_t number = 0;
        SliceKind kind = SliceKind::Other;
    };
    CategoryRef category(StringId name);
    std::uint32_t rawTrack(Number pid, Number tid);
    std::uint32_t track(std::uint32_t rawTrack, TrackKind kind, StringId group);

    /// For after reading.
    [[nodiscard]] const std::vector<EventTrack>& tracks() const { return m_tracks; }

  private:
    struct RawKey {
        Number pid, tid;
        bool operator==(const RawKey&) const = default;
    };
    struct TrackKey {
        std::uint32_t rawTrack;
        TrackKind kind;
        StringId group;
        bool operator==(const TrackKey&) const = default;
    };
    struct Hash {
        std::size_t operator()(const RawKey& k) const;
        std::size_t operator()(const TrackKey& k) const;
    };

    std::mutex m_mutex;
    Trace& m_trace;
    std::unordered_map<StringId, CategoryRef> m_categories;
    std::unordered_map<RawKey, std::uint32_t, Hash> m_raw;
    std::unordered_map<TrackKey, std::uint32_t, Hash> m_byKey;
    std::vector<EventTrack> m_tracks;
};

/// What a category's events are, by Kineto's names old and new and by those of the other vendors.
SliceKind kindOfCategory(std::string_view category);
/// The kind of track that a slice of this kind stands on.
TrackKind trackKindOf(SliceKind kind);

} // namespace warpline::chrome
