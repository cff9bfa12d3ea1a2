// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpline::chrome {

inline constexpr std::int64_t kNoId = INT64_MIN;

/// What can be odd about an event; counted while reading.
enum class Oddity : std::uint8_t {
    NegativeDuration,
    MissingDuration,
    MissingTime, ///< no "ts" that is a number; the event cannot be placed
    UnknownPhase,
    EmptyEvent,    ///< {}
    NotAnObject,   ///< an entry of the event list that is no object
    LostArguments, ///< arguments beyond what one trace can hold
    // What was repaired; same order as the bits of Repair.
    ControlCharacter,
    BadEscape,
    UnescapedQuote,
    BareNumber,
    ExtraComma,
    MissingComma,
    InvalidUtf8,
    Garbage,
    Restart,
    Truncated,
    Unreadable,
};
inline constexpr std::size_t kOddityCount = static_cast<std::size_t>(Oddity::Unreadable) + 1;

struct Tally {
    std::uint64_t count = 0;
    std::uint64_t firstOffset = Diagnostic::kNoOffset;
    TimeNs firstTime = INT64_MIN;

    void add(std::uint64_t offset, TimeNs time = INT64_MIN) {
        if (count++ == 0) {
            firstOffset = offset;
            firstTime = time;
        }
    }
    void merge(const Tally& later) {
        if (count == 0) {
            firstOffset = later.firstOffset;
            firstTime = later.firstTime;
        }
        count += later.count;
    }
};
using Tallies = std::array<Tally, kOddityCount>;

/// A span, a begin, an end or an instant. Times are the file's, without its base.
struct ParsedSpan {
    TimeNs start;
    TimeNs duration;
    std::int64_t external;    ///< "External id"; kNoId = none
    std::int64_t correlation; ///< kNoId = none
    StringId name;
    std::uint32_t track; ///< number in TrackRegistry
    ArgStore::Ref args;
    std::uint16_t category;
    std::uint8_t flags;
    char phase; ///< X, B, E, i; b, e, n of asynchronous ones
};

struct ParsedFlow {
    TimeNs time;
    std::uint64_t id;
    StringId name;
    std::uint32_t rawTrack;
    ArgStore::Ref args;
    std::uint16_t category;
    char phase;
    bool bindEnclosing;
};

struct ParsedMemory {
    TimeNs time;
    std::int64_t bytes;
    std::int64_t totalAllocated;
    std::int64_t totalReserved;
    std::uint64_t address;
    StringId name;
    std::uint32_t track;
    ArgStore::Ref args;
    std::int16_t device;
};

struct ParsedCounter {
    TimeNs time;
    StringId name;
    std::uint32_t track;
    ArgStore::Ref args;
};

/// The identity of an asynchronous event: row of Batch::spans and its id.
struct ParsedAsync {
    std::uint32_t span;
    std::uint64_t id;
};

/// What one stretch of the event list holds, in the order of the file, while it is read.
struct OpenBatch {
    std::vector<ParsedSpan> spans;
    std::vector<ParsedAsync> async;
    std::vector<ParsedFlow> flows;
    std::vector<ParsedMemory> memory;
    std::vector<ParsedCounter> counters;
    std::vector<MetadataEvent> metadata;
    std::uint64_t events = 0;
    Tallies tallies;

    /// Empties it and keeps the room for the next stretch.
    void clear() {
        spans.clear();
        async.clear();
        flows.clear();
        memory.clear();
        counters.clear();
        metadata.clear();
        events = 0;
        tallies = {};
    }
};

/// The same once it is read: the bulk of it side by side, in memory that it shares with other batches.
struct Batch {
    std::span<ParsedSpan> spans;
    std::span<ParsedFlow> flows;
    std::span<ParsedMemory> memory;
    std::vector<ParsedAsync> async;
    std::vector<ParsedCounter> counters;
    std::vector<MetadataEvent> metadata;
    std::uint64_t events = 0;
    Tallies tallies;
    std::shared_ptr<std::byte> room; ///< of spans, flows and memory

    TimeNs leastStart = INT64_MAX; ///< of spans that do not start at 0
    TimeNs latestEnd = INT64_MIN;  ///< of spans
    bool anyAtZero = false;        ///< a span starts at 0

    /// Gives back the spans, flows and memory records.
    void release() {
        spans = {};
        flows = {};
        memory = {};
        room.reset();
    }
};

/// Closes batches of one thread: packs them into blocks, so that they cost few page faults. A block is freed
/// with the last of its batches.
class BatchPacker {
  public:
    Batch pack(OpenBatch& open);

  private:
    static constexpr std::size_t kBlock = std::size_t{8} << 20;
    std::shared_ptr<std::byte> m_block;
    std::size_t m_used = kBlock;
};

} // namespace warpline::chrome
