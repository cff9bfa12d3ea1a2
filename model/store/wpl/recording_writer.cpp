// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/block.h"
#include "model/store/wpl/recording.h"
#include "model/store/wpl/shared_chunks.h"

#include <algorithm>
#include <span>

namespace warpline::wpl {

namespace {

/// Live data is compressed quickly.
constexpr int kLevel = 1;

template <class Row, class Field>
void column(BlockWriter& out, std::span<const Row> rows, Field Row::*field, bool delta = false) {
    std::vector<Field> values(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        values[i] = rows[i].*field;
    out.column(std::span<const Field>(values), delta);
}

std::uint32_t count(std::size_t n) {
    return static_cast<std::uint32_t>(n);
}

void packStrings(const Dictionary& d, std::size_t& from, std::vector<PackedChunk>& out) {
    while (from < d.strings.size()) {
        std::size_t to = from;
        std::size_t bytes = 0;
        while (to < d.strings.size() && bytes < kMostRawBytes / 4)
            bytes += d.strings[to++].size() + 8;
        out.push_back(packStringsChunk(
            from, to - from, [&](std::size_t i) { return std::string_view(d.strings[i]); }, kLevel));
        from = to;
    }
}

void packShapes(const Dictionary& d, std::size_t& from, std::vector<PackedChunk>& out) {
    if (from == d.shapes.size())
        return;
    BlockWriter w;
    for (std::size_t i = from; i < d.shapes.size(); ++i) {
        w.number(d.shapes[i].fields.size());
        for (const auto& f : d.shapes[i].fields) {
            w.number(f.key);
            w.number(static_cast<std::uint64_t>(f.kind));
            w.number(0); // stands in "args"
        }
    }
    out.push_back(pack(ChunkType::Shapes, count(d.shapes.size() - from), w.take(), kLevel));
    from = d.shapes.size();
}

void packTracks(const Dictionary& d, DictionaryMarks& marks, std::vector<PackedChunk>& out) {
    if (marks.categories < d.categories.size()) {
        BlockWriter w;
        for (std::size_t i = marks.categories; i < d.categories.size(); ++i) {
            w.number(d.categories[i].name);
            w.number(static_cast<std::uint64_t>(d.categories[i].kind));
        }
        out.push_back(
            pack(ChunkType::Categories, count(d.categories.size() - marks.categories), w.take(), kLevel));
        marks.categories = d.categories.size();
    }
    if (marks.rawTracks < d.rawTracks.size()) {
        BlockWriter w;
        for (std::size_t i = marks.rawTracks; i < d.rawTracks.size(); ++i) {
            const RecordedRawTrack& t = d.rawTracks[i];
            w.signedNumber(t.pid);
            w.signedNumber(t.tid);
            w.number(t.pidText);
            w.number(t.tidText);
            w.number(0); // no track of a finished trace
        }
        out.push_back(
            pack(ChunkType::RawTracks, count(d.rawTracks.size() - marks.rawTracks), w.take(), kLevel));
        marks.rawTracks = d.rawTracks.size();
    }
    if (marks.tracks < d.tracks.size()) {
        BlockWriter w;
        for (std::size_t i = marks.tracks; i < d.tracks.size(); ++i) {
            w.number(d.tracks[i].rawTrack);
            w.number(static_cast<std::uint64_t>(d.tracks[i].kind));
            w.number(d.tracks[i].group);
        }
        out.push_back(pack(ChunkType::EventTracks, count(d.tracks.size() - marks.tracks), w.take(), kLevel));
        marks.tracks = d.tracks.size();
    }
    if (marks.metadata < d.metadata.size()) {
        BlockWriter w;
        for (std::size_t i = marks.metadata; i < d.metadata.size(); ++i) {
            const RecordedMetadata& m = d.metadata[i];
            w.number(m.name);
            w.signedNumber(m.pid);
            w.signedNumber(m.tid);
            w.number(m.pidText);
            w.number(m.tidText);
            w.number(m.args);
        }
        out.push_back(pack(ChunkType::Metadata, count(d.metadata.size() - marks.metadata), w.take(), kLevel));
        marks.metadata = d.metadata.size();
    }
}

std::size_t valuesOf(const Dictionary& d, std::uint32_t shape) {
    return shape == 0 ? 0 : d.shapes[shape - 1].fields.size();
}

void writeValues(BlockWriter& w, std::span<const std::int64_t> values) {
    BlockWriter packed;
    for (const std::int64_t v : values)
        packed.signedNumber(v);
    w.text(packed.take());
}

void packEvents(const Dictionary& d, const EventBlock& block, std::vector<PackedChunk>& out) {
    std::size_t valueAt = 0;
    for (std::size_t from = 0; from < block.events.size(); from += kRowsPerChunk) {
        const std::size_t n = std::min(kRowsPerChunk, block.events.size() - from);
        const std::span<const RecordedEvent> rows(block.events.data() + from, n);
        BlockWriter w;
        column(w, rows, &RecordedEvent::start, true);
        column(w, rows, &RecordedEvent::duration);
        column(w, rows, &RecordedEvent::correlation, true);
        column(w, rows, &RecordedEvent::id, true);
        column(w, rows, &RecordedEvent::name);
        column(w, rows, &RecordedEvent::track);
        column(w, rows, &RecordedEvent::shape);
        column(w, rows, &RecordedEvent::category);
        column(w, rows, &RecordedEvent::flags);
        column(w, rows, &RecordedEvent::phase);
        std::size_t values = 0;
        for (const RecordedEvent& e : rows)
            values += valuesOf(d, e.shape);
        writeValues(w, std::span<const std::int64_t>(block.values).subspan(valueAt, values));
        valueAt += values;
        out.push_back(pack(ChunkType::Events, count(n), w.take(), kLevel));
    }
}

void packMemory(const EventBlock& block, std::vector<PackedChunk>& out) {
    if (!block.memory.empty()) {
        const std::span<const RecordedMemory> rows(block.memory);
        BlockWriter w;
        column(w, rows, &RecordedMemory::time, true);
        column(w, rows, &RecordedMemory::bytes);
        column(w, rows, &RecordedMemory::totalAllocated);
        column(w, rows, &RecordedMemory::totalReserved);
        column(w, rows, &RecordedMemory::address);
        column(w, rows, &RecordedMemory::rawTrack);
        column(w, rows, &RecordedMemory::name);
        column(w, rows, &RecordedMemory::shape);
        column(w, rows, &RecordedMemory::device);
        writeValues(w, block.memoryValues);
        out.push_back(pack(ChunkType::EventMemory, count(rows.size()), w.take(), kLevel));
    }
    if (!block.counters.empty()) {
        const std::span<const RecordedCounter> rows(block.counters);
        BlockWriter w;
        column(w, rows, &RecordedCounter::time, true);
        column(w, rows, &RecordedCounter::value);
        column(w, rows, &RecordedCounter::rawTrack);
        column(w, rows, &RecordedCounter::name);
        column(w, rows, &RecordedCounter::series);
        out.push_back(pack(ChunkType::EventCounters, count(rows.size()), w.take(), kLevel));
    }
}

} // namespace

PackedChunk packRecordingHead() {
    BlockWriter w;
    w.number(static_cast<std::uint64_t>(Layout::Recording));
    return pack(ChunkType::Head, 0, w.take(), kLevel, ChunkFlag::Needed);
}

std::vector<PackedChunk> packRecording(const Dictionary& dictionary, DictionaryMarks& marks,
                                       const EventBlock& block) {
    std::vector<PackedChunk> out;
    packStrings(dictionary, marks.strings, out);
    packShapes(dictionary, marks.shapes, out);
    packTracks(dictionary, marks, out);
    if (marks.revision != dictionary.revision) {
        marks.revision = dictionary.revision;
        out.push_back(packProperties(dictionary.properties, kLevel));
        out.push_back(packDiagnostics(dictionary.diagnostics, kLevel));
    }
    packEvents(dictionary, block, out);
    packMemory(block, out);
    return out;
}

} // namespace warpline::wpl
