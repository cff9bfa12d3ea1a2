// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/trace.h"
#include "model/store/wpl/chunk_reader.h"
#include "model/store/wpl/chunk_writer.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// A recording as it grows: a dictionary that is only ever added to, and blocks of events that refer to it.
namespace warpline::wpl {

inline constexpr std::int64_t kNoCorrelation = std::numeric_limits<std::int64_t>::min();

/// Texts are numbered from 1 in Dictionary::strings; 0 = none.
using Text = std::uint32_t;

struct RecordedEvent {
    TimeNs start = 0;
    TimeNs duration = 0;
    std::int64_t correlation = kNoCorrelation; ///< unique over the whole recording
    std::uint64_t id = 0;                      ///< phases b and e: joins the two
    Text name = 0;
    std::uint32_t track = 0; ///< place in Dictionary::tracks
    std::uint32_t shape = 0; ///< place in Dictionary::shapes plus 1; 0 = no arguments
    std::uint16_t category = 0;
    std::uint8_t flags = 0; ///< SliceFlag
    char phase = 'X';       ///< X a span, i a moment, b and e the ends of a span that came one by one
};

struct RecordedMemory {
    TimeNs time = 0;
    std::int64_t bytes = 0; ///< as MemoryTable's
    std::int64_t totalAllocated = -1;
    std::int64_t totalReserved = -1;
    std::uint64_t address = 0;
    std::uint32_t rawTrack = 0;
    Text name = 0;
    std::uint32_t shape = 0; ///< its values stand in memoryValues
    std::int16_t device = -1;
};

struct RecordedCounter {
    TimeNs time = 0;
    std::int64_t value = 0;
    std::uint32_t rawTrack = 0;
    Text name = 0;
    Text series = 0;
};

/// What came in one go, in any order of time. Values are the arguments of the rows that have a shape, row
/// after row: integers, or numbers of texts.
struct EventBlock {
    std::vector<RecordedEvent> events;
    std::vector<std::int64_t> values;
    std::vector<RecordedMemory> memory;
    std::vector<std::int64_t> memoryValues;
    std::vector<RecordedCounter> counters;

    [[nodiscard]] bool empty() const { return events.empty() && memory.empty() && counters.empty(); }
};
using EventBlockPtr = std::shared_ptr<const EventBlock>;

struct RecordedShape {
    struct Field {
        Text key = 0;
        ArgKind kind = ArgKind::Int; ///< Int, Text or Raw
        bool operator==(const Field&) const = default;
    };
    std::vector<Field> fields;
};
struct RecordedCategory {
    Text name = 0;
    SliceKind kind = SliceKind::Other;
};
struct RecordedRawTrack {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    Text pidText = 0;
    Text tidText = 0;
};
struct RecordedTrack {
    std::uint32_t rawTrack = 0;
    TrackKind kind = TrackKind::Thread;
    Text group = 0;
};
struct RecordedMetadata {
    Text name = 0;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    Text pidText = 0;
    Text tidText = 0;
    Text args = 0; ///< JSON
};

/// What events refer to by number. Only grows; `properties` and `diagnostics` are replaced as a whole.
struct Dictionary {
    std::vector<std::string> strings;
    std::vector<RecordedShape> shapes;
    std::vector<RecordedCategory> categories;
    std::vector<RecordedRawTrack> rawTracks;
    std::vector<RecordedTrack> tracks;
    std::vector<RecordedMetadata> metadata;
    std::vector<std::pair<std::string, std::string>> properties; ///< as Trace::properties
    std::vector<Diagnostic> diagnostics;
    std::uint32_t revision = 0; ///< of properties and diagnostics: raise it when they change
};

/// How much of a dictionary is in a file.
struct DictionaryMarks {
    std::size_t strings = 0;
    std::size_t shapes = 0;
    std::size_t categories = 0;
    std::size_t rawTracks = 0;
    std::size_t tracks = 0;
    std::size_t metadata = 0;
    std::uint32_t revision = 0;
};

/// The head of a recording's file; first of all chunks.
PackedChunk packRecordingHead();
/// The chunks that a file needs next: what the dictionary gained since `marks` (which move on), then the
/// block, cut in pieces where it is long.
std::vector<PackedChunk> packRecording(const Dictionary& dictionary, DictionaryMarks& marks,
                                       const EventBlock& block);

/// Adds a dictionary chunk to a dictionary, or false where its content is impossible.
bool readDictionaryChunk(const ChunkHeader& header, std::string_view raw, Dictionary& dictionary);
/// True for the types that readDictionaryChunk() reads.
bool isDictionaryChunk(ChunkType type);
/// Reads a chunk of events (Events, EventMemory, EventCounters) into a block. All references are checked
/// against the dictionary as it is at this place of the file.
bool readEventChunk(const ChunkHeader& header, std::string_view raw, const Dictionary& dictionary,
                    EventBlock& block);

} // namespace warpline::wpl
