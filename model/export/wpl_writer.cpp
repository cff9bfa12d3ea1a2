// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/wpl_writer.h"

#include "model/base/parallel.h"
#include "model/export/output_file.h"
#include "model/store/wpl/block.h"
#include "model/store/wpl/chunk_writer.h"
#include "model/store/wpl/shared_chunks.h"

#include <algorithm>
#include <functional>
#include <thread>

namespace warpline {

namespace {

using namespace wpl;

constexpr int kLevel = 3;

std::uint32_t count(std::size_t n) {
    return static_cast<std::uint32_t>(n);
}

template <class T>
std::span<const T> part(const Column<T>& column, std::size_t from, std::size_t n) {
    return column.view().subspan(from, n);
}

/// One row's arguments: shape plus 1, then the values. A row without any: 0.
void putArgs(BlockWriter& w, const Trace& trace, ArgStore::Ref ref) {
    if (ref == 0) {
        w.number(0);
        return;
    }
    w.number(std::uint64_t{trace.args.shapeOf(ref)} + 1);
    trace.args.forEach(ref, [&](const Arg& arg) {
        switch (arg.kind) {
        case ArgKind::Int:
        case ArgKind::UInt:
            w.signedNumber(arg.integer);
            break;
        case ArgKind::Decimal:
            w.number(static_cast<std::uint64_t>(arg.decimals));
            w.signedNumber(arg.integer);
            break;
        case ArgKind::Text:
        case ArgKind::Raw:
            w.number(arg.text.value);
            break;
        case ArgKind::True:
        case ArgKind::False:
        case ArgKind::Null:
            break;
        }
    });
}

void putRange(BlockWriter& w, TimeRange range) {
    w.signedNumber(range.begin);
    w.signedNumber(range.end);
}

PackedChunk head(const Trace& t) {
    BlockWriter w;
    w.number(static_cast<std::uint64_t>(Layout::Tables));
    w.text(t.format);
    w.text(t.path);
    w.number(t.eventCount);
    w.number(t.counterCount);
    w.number(t.metadataCount);
    w.signedNumber(t.baseTime);
    w.number(t.absoluteTime ? 1 : 0);
    putRange(w, t.extent);
    w.signedNumber(t.rank);
    w.signedNumber(t.worldSize);
    return pack(ChunkType::Head, 0, w.take(), kLevel, ChunkFlag::Needed);
}

PackedChunk shapes(const Trace& t) {
    BlockWriter w;
    for (std::size_t i = 0; i < t.args.shapeCount(); ++i) {
        const ArgShape& shape = t.args.shapeAt(count(i));
        w.number(shape.fields.size());
        for (const ArgShape::Field& f : shape.fields) {
            w.number(f.key.value);
            w.number(static_cast<std::uint64_t>(f.kind));
            w.number(f.top ? 1 : 0);
        }
    }
    return pack(ChunkType::Shapes, count(t.args.shapeCount()), w.take(), kLevel);
}

PackedChunk categories(const Trace& t) {
    BlockWriter w;
    for (const Category& c : t.categories) {
        w.number(c.name.value);
        w.number(static_cast<std::uint64_t>(c.kind));
    }
    return pack(ChunkType::Categories, count(t.categories.size()), w.take(), kLevel);
}

PackedChunk processes(const Trace& t) {
    BlockWriter w;
    for (const Process& p : t.processes) {
        w.signedNumber(p.pid);
        w.number(p.pidText.value);
        w.number(p.device ? 1 : 0);
        w.number(p.name.value);
        w.number(p.labels.value);
        w.signedNumber(p.sortIndex);
    }
    return pack(ChunkType::Processes, count(t.processes.size()), w.take(), kLevel);
}

PackedChunk tracks(const Trace& t) {
    BlockWriter w;
    for (const Track& k : t.tracks) {
        w.number(static_cast<std::uint64_t>(k.kind));
        w.number(k.process);
        w.signedNumber(k.tid);
        w.number(k.tidText.value);
        w.number(k.name.value);
        w.signedNumber(k.sortIndex);
        w.number(k.firstLane);
        w.number(k.laneCount);
        w.number(k.firstSlice);
        w.number(k.endSlice);
        putRange(w, k.extent);
    }
    return pack(ChunkType::Tracks, count(t.tracks.size()), w.take(), kLevel);
}

PackedChunk lanes(const Trace& t) {
    BlockWriter w;
    for (const Lane& l : t.lanes) {
        w.number(l.track.value);
        w.number(l.depth);
        w.number(l.begin);
        w.number(l.end);
    }
    return pack(ChunkType::Lanes, count(t.lanes.size()), w.take(), kLevel);
}

PackedChunk rawTracks(const Trace& t) {
    BlockWriter w;
    for (const RawTrack& r : t.rawTracks) {
        w.signedNumber(r.pid);
        w.signedNumber(r.tid);
        w.number(r.pidText.value);
        w.number(r.tidText.value);
        w.number(r.thread.value);
    }
    return pack(ChunkType::RawTracks, count(t.rawTracks.size()), w.take(), kLevel);
}

PackedChunk slices(const Trace& t, std::size_t from, std::size_t n) {
    const SliceTable& s = t.slices;
    BlockWriter w;
    w.number(from);
    w.column(part(s.start, from, n), true);
    w.column(part(s.duration, from, n));
    w.column(part(s.name, from, n));
    w.column(part(s.parent, from, n), true);
    w.column(part(s.category, from, n));
    w.column(part(s.flags, from, n));
    BlockWriter args;
    for (std::size_t i = from; i < from + n; ++i)
        putArgs(args, t, s.args[i]);
    w.bytes(args.take());
    return pack(ChunkType::Slices, count(n), w.take(), kLevel);
}

PackedChunk links(const LinkTable& t, std::uint64_t which, std::size_t from, std::size_t n) {
    BlockWriter w;
    w.number(which);
    w.number(t.size());
    w.number(from);
    w.column(part(t.from, from, n), true);
    w.column(part(t.to, from, n), true);
    w.column(part(t.byTo, from, n), true);
    return pack(ChunkType::Links, count(n), w.take(), kLevel);
}

PackedChunk counters(const CounterTrack& t, bool first, std::size_t from, std::size_t n) {
    BlockWriter w;
    w.number(first ? 1 : 0);
    w.number(t.process);
    w.number(t.name.value);
    w.number(t.series.value);
    w.column(part(t.time, from, n), true);
    w.column(part(t.value, from, n));
    return pack(ChunkType::Counters, count(n), w.take(), kLevel);
}

PackedChunk memory(const Trace& t, std::size_t from, std::size_t n) {
    const MemoryTable& m = t.memory;
    BlockWriter w;
    w.column(part(m.time, from, n), true);
    w.column(part(m.bytes, from, n));
    w.column(part(m.address, from, n));
    w.column(part(m.totalAllocated, from, n));
    w.column(part(m.totalReserved, from, n));
    w.column(part(m.device, from, n));
    w.column(part(m.rawTrack, from, n));
    w.column(part(m.name, from, n));
    BlockWriter args;
    for (std::size_t i = from; i < from + n; ++i)
        putArgs(args, t, m.args[i]);
    w.bytes(args.take());
    return pack(ChunkType::Memory, count(n), w.take(), kLevel);
}

PackedChunk flows(const Trace& t, std::size_t from, std::size_t n) {
    const FlowTable& f = t.flows;
    BlockWriter w;
    w.column(part(f.time, from, n), true);
    w.column(part(f.id, from, n), true);
    w.column(part(f.name, from, n));
    w.column(part(f.track, from, n));
    w.column(part(f.category, from, n));
    w.column(part(f.phase, from, n));
    w.column(part(f.bindEnclosing, from, n));
    BlockWriter args;
    for (std::size_t i = from; i < from + n; ++i)
        putArgs(args, t, f.args[i]);
    w.bytes(args.take());
    return pack(ChunkType::Flows, count(n), w.take(), kLevel);
}

PackedChunk metadata(const Trace& t, std::size_t from, std::size_t n) {
    BlockWriter w;
    for (std::size_t i = from; i < from + n; ++i) {
        const MetadataEvent& m = t.metadata[i];
        w.number(m.name.value);
        w.signedNumber(m.pid);
        w.signedNumber(m.tid);
        w.number(m.pidText.value);
        w.number(m.tidText.value);
        w.number(m.args.value);
    }
    return pack(ChunkType::Metadata, count(n), w.take(), kLevel);
}

PackedChunk devices(const Trace& t) {
    BlockWriter w;
    for (const DeviceInfo& d : t.devices) {
        w.signedNumber(d.ordinal);
        w.text(d.name);
        w.signedNumber(d.memoryBytes);
        w.signedNumber(d.computeMajor);
        w.signedNumber(d.computeMinor);
        w.signedNumber(d.multiprocessors);
    }
    return pack(ChunkType::Devices, count(t.devices.size()), w.take(), kLevel);
}

PackedChunk steps(const Trace& t) {
    BlockWriter w;
    for (const Step& s : t.steps) {
        w.signedNumber(s.number);
        w.number(s.slice.value);
        putRange(w, s.range);
    }
    return pack(ChunkType::Steps, count(t.steps.size()), w.take(), kLevel);
}

using Job = std::function<PackedChunk()>;

/// Cuts `rows` in pieces of a chunk each.
template <class Make>
void addPieces(std::vector<Job>& jobs, std::size_t rows, Make make, std::size_t piece = kRowsPerChunk) {
    for (std::size_t from = 0; from < rows; from += piece) {
        const std::size_t n = std::min(piece, rows - from);
        jobs.emplace_back([make, from, n] { return make(from, n); });
    }
}

/// Texts may be long: pieces go by bytes.
void addStrings(std::vector<Job>& jobs, const Trace& t) {
    std::size_t from = 0;
    const std::size_t all = t.strings.size();
    const auto text = [&t](std::size_t i) { return t.strings.view(StringId::fromIndex(i)); };
    while (from < all) {
        std::size_t to = from;
        std::size_t bytes = 0;
        while (to < all && bytes < kMostRawBytes / 16)
            bytes += text(to++).size() + 8;
        jobs.emplace_back([from, to, text] { return packStringsChunk(from, to - from, text, kLevel); });
        from = to;
    }
}

std::vector<Job> jobsFor(const Trace& t) {
    std::vector<Job> jobs;
    const auto add = [&](auto make) { jobs.emplace_back([&t, make] { return make(t); }); };
    add(&head);
    addStrings(jobs, t);
    add(&shapes);
    add(&categories);
    add(&processes);
    add(&tracks);
    add(&lanes);
    add(&rawTracks);
    jobs.emplace_back([&t] { return packProperties(t.properties, kLevel); });
    add(&devices);
    addPieces(jobs, t.slices.size(), [&t](std::size_t from, std::size_t n) { return slices(t, from, n); });
    const LinkTable* tables[] = {&t.links.launch, &t.links.call, &t.links.op, &t.links.forward,
                                 &t.links.flow};
    for (std::uint64_t which = 0; which < std::size(tables); ++which) {
        const LinkTable* table = tables[which];
        addPieces(jobs, table->size(),
                  [table, which](std::size_t from, std::size_t n) { return links(*table, which, from, n); });
    }
    for (const CounterTrack& c : t.counters) {
        const CounterTrack* track = &c;
        addPieces(jobs, std::max<std::size_t>(c.time.size(), 1), [track](std::size_t from, std::size_t n) {
            return counters(*track, from == 0, from, std::min(n, track->time.size() - from));
        });
    }
    addPieces(jobs, t.memory.size(), [&t](std::size_t from, std::size_t n) { return memory(t, from, n); });
    addPieces(jobs, t.flows.size(), [&t](std::size_t from, std::size_t n) { return flows(t, from, n); });
    addPieces(jobs, t.metadata.size(),
              [&t](std::size_t from, std::size_t n) { return metadata(t, from, n); });
    add(&steps);
    jobs.emplace_back([&t] { return packDiagnostics(t.diagnostics.rows(), kLevel); });
    return jobs;
}

} // namespace

Result<Done> writeWpl(const Trace& trace, const std::string& path, unsigned threads) {
    OutputFile file;
    if (auto done = file.open(path); !done.ok())
        return done;
    ChunkWriter writer([&](std::string_view bytes) { return file.write(bytes); });
    if (auto done = writer.begin(); !done.ok())
        return done;
    const std::vector<Job> jobs = jobsFor(trace);
    if (threads == 0)
        threads = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t together = std::size_t{threads} * 4;
    for (std::size_t from = 0; from < jobs.size(); from += together) {
        const std::size_t n = std::min(together, jobs.size() - from);
        std::vector<PackedChunk> packed(n);
        parallelFor(n, threads, [&](std::size_t i) { packed[i] = jobs[from + i](); });
        for (const PackedChunk& chunk : packed)
            if (auto done = writer.write(chunk); !done.ok())
                return done;
    }
    if (auto done = writer.finish(); !done.ok())
        return done;
    return file.commit();
}

} // namespace warpline
