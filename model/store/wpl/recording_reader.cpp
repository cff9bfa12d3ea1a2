// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/block.h"
#include "model/store/wpl/recording.h"
#include "model/store/wpl/shared_chunks.h"

#include <span>

namespace warpline::wpl {

namespace {

Text text(BlockReader& r, const Dictionary& d) {
    return static_cast<Text>(r.number(d.strings.size()));
}

template <class Enum>
Enum enumOf(BlockReader& r, Enum last) {
    return static_cast<Enum>(r.number(static_cast<std::uint64_t>(last)));
}

bool readShapes(std::uint32_t rows, BlockReader& r, Dictionary& d) {
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        RecordedShape shape;
        constexpr std::size_t kLeastField = 3;
        shape.fields.resize(r.count(kLeastField));
        for (auto& f : shape.fields) {
            f.key = text(r, d);
            f.kind = enumOf(r, ArgKind::Null);
            (void)r.number(1);
            if (f.kind == ArgKind::Decimal) // never written; it would need its decimals
                r.fail();
        }
        d.shapes.push_back(std::move(shape));
    }
    return r.ok();
}

bool readRawTracks(std::uint32_t rows, BlockReader& r, Dictionary& d) {
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        RecordedRawTrack t;
        t.pid = r.signedNumber();
        t.tid = r.signedNumber();
        t.pidText = text(r, d);
        t.tidText = text(r, d);
        (void)r.number();
        d.rawTracks.push_back(t);
    }
    return r.ok();
}

bool readTracks(std::uint32_t rows, BlockReader& r, Dictionary& d) {
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        RecordedTrack t;
        const std::uint64_t raw = r.number();
        if (raw >= d.rawTracks.size())
            r.fail();
        t.rawTrack = static_cast<std::uint32_t>(raw);
        t.kind = enumOf(r, TrackKind::Overhead);
        t.group = text(r, d);
        d.tracks.push_back(t);
    }
    return r.ok();
}

bool readMetadata(std::uint32_t rows, BlockReader& r, Dictionary& d) {
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        RecordedMetadata m;
        m.name = text(r, d);
        m.pid = r.signedNumber();
        m.tid = r.signedNumber();
        m.pidText = text(r, d);
        m.tidText = text(r, d);
        m.args = text(r, d);
        d.metadata.push_back(m);
    }
    return r.ok();
}

template <class Row, class Field>
void column(BlockReader& r, std::vector<Row>& rows, std::size_t from, Field Row::*field) {
    const auto values = r.columnOf<Field>(rows.size() - from);
    for (std::size_t i = 0; i < values.size(); ++i)
        rows[from + i].*field = values[i];
}

/// The values of the rows from `from` on, which all have a shape that is there.
template <class Row>
bool readValues(BlockReader& r, const std::vector<Row>& rows, std::size_t from, const Dictionary& d,
                std::vector<std::int64_t>& to) {
    BlockReader values(r.text());
    for (std::size_t i = from; i < rows.size(); ++i) {
        if (rows[i].shape == 0)
            continue;
        for (const auto& f : d.shapes[rows[i].shape - 1].fields) {
            const std::int64_t v = values.signedNumber();
            const bool isText = f.kind == ArgKind::Text || f.kind == ArgKind::Raw;
            if (!values.ok() || (isText && (v < 0 || static_cast<std::uint64_t>(v) > d.strings.size())))
                return false;
            to.push_back(v);
        }
    }
    return r.ok() && values.left() == 0;
}

/// Differences and sums of two times must not overflow.
bool timeIsSane(TimeNs start, TimeNs duration) {
    constexpr TimeNs kLatest = TimeNs{1} << 62; // in 2116
    constexpr TimeNs kLongest = TimeNs{1} << 61;
    constexpr TimeNs kEarliest = -(TimeNs{1} << 60);
    return start > kEarliest && start < kLatest && duration >= 0 && duration < kLongest;
}

bool readEvents(std::uint32_t rows, BlockReader& r, const Dictionary& d, EventBlock& block) {
    constexpr std::size_t kLeastBytes = 40;
    if (rows > r.left() / kLeastBytes)
        return false;
    const std::size_t from = block.events.size();
    block.events.resize(from + rows);
    auto& events = block.events;
    column(r, events, from, &RecordedEvent::start);
    column(r, events, from, &RecordedEvent::duration);
    column(r, events, from, &RecordedEvent::correlation);
    column(r, events, from, &RecordedEvent::id);
    column(r, events, from, &RecordedEvent::name);
    column(r, events, from, &RecordedEvent::track);
    column(r, events, from, &RecordedEvent::shape);
    column(r, events, from, &RecordedEvent::category);
    column(r, events, from, &RecordedEvent::flags);
    column(r, events, from, &RecordedEvent::phase);
    if (!r.ok())
        return false;
    for (std::size_t i = from; i < events.size(); ++i) {
        const RecordedEvent& e = events[i];
        if (!timeIsSane(e.start, e.duration) || e.name > d.strings.size() || e.track >= d.tracks.size() ||
            e.shape > d.shapes.size() || e.category >= d.categories.size() ||
            (e.phase != 'X' && e.phase != 'i' && e.phase != 'b' && e.phase != 'e'))
            return false;
    }
    return readValues(r, events, from, d, block.values);
}

bool readMemory(std::uint32_t rows, BlockReader& r, const Dictionary& d, EventBlock& block) {
    constexpr std::size_t kLeastBytes = 54;
    if (rows > r.left() / kLeastBytes)
        return false;
    const std::size_t from = block.memory.size();
    block.memory.resize(from + rows);
    auto& memory = block.memory;
    column(r, memory, from, &RecordedMemory::time);
    column(r, memory, from, &RecordedMemory::bytes);
    column(r, memory, from, &RecordedMemory::totalAllocated);
    column(r, memory, from, &RecordedMemory::totalReserved);
    column(r, memory, from, &RecordedMemory::address);
    column(r, memory, from, &RecordedMemory::rawTrack);
    column(r, memory, from, &RecordedMemory::name);
    column(r, memory, from, &RecordedMemory::shape);
    column(r, memory, from, &RecordedMemory::device);
    if (!r.ok())
        return false;
    for (std::size_t i = from; i < memory.size(); ++i) {
        const RecordedMemory& m = memory[i];
        if (!timeIsSane(m.time, 0) || m.rawTrack >= d.rawTracks.size() || m.name > d.strings.size() ||
            m.shape > d.shapes.size())
            return false;
    }
    return readValues(r, memory, from, d, block.memoryValues);
}

bool readCounters(std::uint32_t rows, BlockReader& r, const Dictionary& d, EventBlock& block) {
    constexpr std::size_t kLeastBytes = 28;
    if (rows > r.left() / kLeastBytes)
        return false;
    const std::size_t from = block.counters.size();
    block.counters.resize(from + rows);
    auto& counters = block.counters;
    column(r, counters, from, &RecordedCounter::time);
    column(r, counters, from, &RecordedCounter::value);
    column(r, counters, from, &RecordedCounter::rawTrack);
    column(r, counters, from, &RecordedCounter::name);
    column(r, counters, from, &RecordedCounter::series);
    if (!r.ok())
        return false;
    for (std::size_t i = from; i < counters.size(); ++i) {
        const RecordedCounter& c = counters[i];
        if (!timeIsSane(c.time, 0) || c.rawTrack >= d.rawTracks.size() || c.name > d.strings.size() ||
            c.series > d.strings.size())
            return false;
    }
    return true;
}

bool addDictionaryChunk(const ChunkHeader& header, std::string_view raw, Dictionary& d) {
    BlockReader r(raw);
    switch (header.type) {
    case ChunkType::Strings:
        return readStringsChunk(header.rows, raw, d.strings.size(), [&](std::string_view t) {
            d.strings.emplace_back(t);
            return true;
        });
    case ChunkType::Shapes:
        return readShapes(header.rows, r, d);
    case ChunkType::Categories:
        for (std::uint32_t i = 0; i < header.rows && r.ok(); ++i) {
            const Text name = text(r, d);
            d.categories.push_back({name, enumOf(r, SliceKind::Overhead)});
        }
        return r.ok() && d.categories.size() <= 0xFFFF;
    case ChunkType::RawTracks:
        return readRawTracks(header.rows, r, d);
    case ChunkType::EventTracks:
        return readTracks(header.rows, r, d);
    case ChunkType::Metadata:
        return readMetadata(header.rows, r, d);
    case ChunkType::Properties:
        return readProperties(header.rows, raw, d.properties);
    case ChunkType::Diagnostics:
        return readDiagnostics(header.rows, raw, d.diagnostics);
    default:
        return false;
    }
}

} // namespace

bool isDictionaryChunk(ChunkType type) {
    switch (type) {
    case ChunkType::Strings:
    case ChunkType::Shapes:
    case ChunkType::Categories:
    case ChunkType::RawTracks:
    case ChunkType::EventTracks:
    case ChunkType::Metadata:
    case ChunkType::Properties:
    case ChunkType::Diagnostics:
        return true;
    default:
        return false;
    }
}

bool readDictionaryChunk(const ChunkHeader& header, std::string_view raw, Dictionary& d) {
    const DictionaryMarks before{d.strings.size(),   d.shapes.size(), d.categories.size(),
                                 d.rawTracks.size(), d.tracks.size(), d.metadata.size()};
    if (addDictionaryChunk(header, raw, d))
        return true;
    // Half a chunk may refer to what is not there.
    d.strings.resize(before.strings);
    d.shapes.resize(before.shapes);
    d.categories.resize(before.categories);
    d.rawTracks.resize(before.rawTracks);
    d.tracks.resize(before.tracks);
    d.metadata.resize(before.metadata);
    return false;
}

bool readEventChunk(const ChunkHeader& header, std::string_view raw, const Dictionary& dictionary,
                    EventBlock& block) {
    BlockReader r(raw);
    switch (header.type) {
    case ChunkType::Events:
        return readEvents(header.rows, r, dictionary, block);
    case ChunkType::EventMemory:
        return readMemory(header.rows, r, dictionary, block);
    case ChunkType::EventCounters:
        return readCounters(header.rows, r, dictionary, block);
    default:
        return false;
    }
}

} // namespace warpline::wpl
