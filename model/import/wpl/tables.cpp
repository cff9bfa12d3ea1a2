// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/wpl/tables.h"

#include "model/base/parallel.h"
#include "model/store/wpl/block.h"
#include "model/store/wpl/shared_chunks.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace warpline::wpl {

namespace {

StringId text(BlockReader& r, const Trace& t) {
    return StringId{static_cast<std::uint32_t>(r.number(t.strings.size()))};
}
template <class Enum>
Enum enumOf(BlockReader& r, Enum last) {
    return static_cast<Enum>(r.number(static_cast<std::uint64_t>(last)));
}
std::uint32_t small(BlockReader& r) {
    return static_cast<std::uint32_t>(r.number(0xFFFFFFFF));
}
bool flag(BlockReader& r) {
    return r.number(1) != 0;
}
TimeRange range(BlockReader& r) {
    const TimeNs begin = r.signedNumber();
    return {begin, r.signedNumber()};
}

void readHead(BlockReader& r, Trace& t) {
    (void)r.number(); // the layout
    t.format = r.text();
    (void)r.text(); // where it was read from when it was saved
    t.eventCount = r.number();
    t.counterCount = r.number();
    t.metadataCount = r.number();
    t.baseTime = r.signedNumber();
    t.absoluteTime = flag(r);
    t.extent = range(r);
    t.rank = r.signedNumber();
    t.worldSize = r.signedNumber();
}

void readProcess(BlockReader& r, Trace& t) {
    Process p;
    p.pid = r.signedNumber();
    p.pidText = text(r, t);
    p.device = flag(r);
    p.name = text(r, t);
    p.labels = text(r, t);
    p.sortIndex = r.signedNumber();
    t.processes.push_back(p);
}

void readTrack(BlockReader& r, Trace& t) {
    Track k;
    k.kind = enumOf(r, TrackKind::Overhead);
    k.process = small(r);
    k.tid = r.signedNumber();
    k.tidText = text(r, t);
    k.name = text(r, t);
    k.sortIndex = r.signedNumber();
    k.firstLane = small(r);
    k.laneCount = small(r);
    k.firstSlice = small(r);
    k.endSlice = small(r);
    k.extent = range(r);
    t.tracks.push_back(k);
}

void readLane(BlockReader& r, Trace& t) {
    Lane l;
    l.track = TrackId{small(r)};
    l.depth = static_cast<std::uint16_t>(r.number(0xFFFF));
    l.begin = small(r);
    l.end = small(r);
    t.lanes.push_back(l);
}

void readRawTrack(BlockReader& r, Trace& t) {
    RawTrack k;
    k.pid = r.signedNumber();
    k.tid = r.signedNumber();
    k.pidText = text(r, t);
    k.tidText = text(r, t);
    k.thread = TrackId{small(r)};
    t.rawTracks.push_back(k);
}

void readMetadata(BlockReader& r, Trace& t) {
    MetadataEvent m;
    m.name = text(r, t);
    m.pid = r.signedNumber();
    m.tid = r.signedNumber();
    m.pidText = text(r, t);
    m.tidText = text(r, t);
    m.args = text(r, t);
    t.metadata.push_back(m);
}

void readDevice(BlockReader& r, Trace& t) {
    DeviceInfo d;
    d.ordinal = r.signedNumber();
    d.name = r.text();
    d.memoryBytes = r.signedNumber();
    d.computeMajor = static_cast<int>(r.signedNumber());
    d.computeMinor = static_cast<int>(r.signedNumber());
    d.multiprocessors = static_cast<int>(r.signedNumber());
    t.devices.push_back(std::move(d));
}

void readStep(BlockReader& r, Trace& t) {
    Step s;
    s.number = r.signedNumber();
    s.slice = SliceId{small(r)};
    s.range = range(r);
    t.steps.push_back(s);
}

bool readShapes(std::uint32_t rows, BlockReader& r, Trace& t) {
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        std::vector<ArgShape::Field> fields(r.count(3));
        for (ArgShape::Field& f : fields) {
            f.key = text(r, t);
            f.kind = enumOf(r, ArgKind::Null);
            f.top = flag(r);
        }
        // A file of ours has each shape once.
        if (r.ok() && t.args.shape(fields) != i)
            return false;
    }
    return r.ok();
}

template <class T>
bool column(BlockReader& r, Column<T>& to, std::size_t from, std::size_t n) {
    return r.column(std::span<T>(to.data() + from, n));
}

/// The arguments of `n` rows, into refs.
bool readArgs(BlockReader& r, Trace& t, ArgStore::Ref* refs, std::size_t n) {
    ArgStore::Writer writer(t.args);
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> decimals;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t number = r.number(t.args.shapeCount());
        refs[i] = 0;
        if (number == 0)
            continue;
        const auto shape = static_cast<std::uint32_t>(number - 1);
        const auto& fields = t.args.shapeAt(shape).fields;
        values.assign(fields.size(), 0);
        decimals.assign(fields.size(), 0);
        for (std::size_t f = 0; f < fields.size(); ++f) {
            switch (fields[f].kind) {
            case ArgKind::Int:
            case ArgKind::UInt:
                values[f] = r.signedNumber();
                break;
            case ArgKind::Decimal: {
                constexpr std::uint64_t kMostDecimals = 18;
                decimals[f] = static_cast<std::uint8_t>(r.number(kMostDecimals));
                values[f] = r.signedNumber();
                break;
            }
            case ArgKind::Text:
            case ArgKind::Raw:
                values[f] = text(r, t).value;
                break;
            case ArgKind::True:
            case ArgKind::False:
            case ArgKind::Null:
                break;
            }
        }
        if (!r.ok())
            return false;
        refs[i] = writer.add(shape, fields, values, decimals);
    }
    return r.ok() && r.left() == 0;
}

/// Reads a chunk of small rows.
bool readSmall(const ChunkHeader& h, const std::string& raw, Trace& t, std::vector<Diagnostic>& diagnostics) {
    BlockReader r(raw);
    const auto each = [&](auto read) {
        for (std::uint32_t i = 0; i < h.rows && r.ok(); ++i)
            read(r, t);
        return r.ok();
    };
    switch (h.type) {
    case ChunkType::Head:
        readHead(r, t);
        return r.ok();
    case ChunkType::Strings:
        return readStringsChunk(h.rows, raw, t.strings.size(), [&](std::string_view s) {
            const std::size_t known = t.strings.size();
            return t.strings.intern(s).index() == known; // each once
        });
    case ChunkType::Shapes:
        return readShapes(h.rows, r, t);
    case ChunkType::Categories:
        return each([](BlockReader& in, Trace& to) {
            const StringId name = text(in, to);
            to.categories.push_back({name, enumOf(in, SliceKind::Overhead)});
        });
    case ChunkType::Processes:
        return each(&readProcess);
    case ChunkType::Tracks:
        return each(&readTrack);
    case ChunkType::Lanes:
        return each(&readLane);
    case ChunkType::RawTracks:
        return each(&readRawTrack);
    case ChunkType::Metadata:
        return each(&readMetadata);
    case ChunkType::Devices:
        return each(&readDevice);
    case ChunkType::Steps:
        return each(&readStep);
    case ChunkType::Properties:
        return readProperties(h.rows, raw, t.properties);
    case ChunkType::Diagnostics:
        return readDiagnostics(h.rows, raw, diagnostics);
    default:
        return true; // of a later version, and not needed
    }
}

/// Where the rows of one chunk go.
struct Piece {
    const StoredChunk* chunk = nullptr;
    std::size_t from = 0;
};

bool readSlices(BlockReader& r, Trace& t, std::size_t from, std::size_t n) {
    SliceTable& s = t.slices;
    return r.number() == from && column(r, s.start, from, n) && column(r, s.duration, from, n) &&
           column(r, s.name, from, n) && column(r, s.parent, from, n) && column(r, s.category, from, n) &&
           column(r, s.flags, from, n) && readArgs(r, t, s.args.data() + from, n);
}

bool readMemory(BlockReader& r, Trace& t, std::size_t from, std::size_t n) {
    MemoryTable& m = t.memory;
    return column(r, m.time, from, n) && column(r, m.bytes, from, n) && column(r, m.address, from, n) &&
           column(r, m.totalAllocated, from, n) && column(r, m.totalReserved, from, n) &&
           column(r, m.device, from, n) && column(r, m.rawTrack, from, n) && column(r, m.name, from, n) &&
           readArgs(r, t, m.args.data() + from, n);
}

bool readFlows(BlockReader& r, Trace& t, std::size_t from, std::size_t n) {
    FlowTable& f = t.flows;
    return column(r, f.time, from, n) && column(r, f.id, from, n) && column(r, f.name, from, n) &&
           column(r, f.track, from, n) && column(r, f.category, from, n) && column(r, f.phase, from, n) &&
           column(r, f.bindEnclosing, from, n) && readArgs(r, t, f.args.data() + from, n);
}

void resize(Trace& t, std::size_t slices, std::size_t memory, std::size_t flows) {
    t.slices.start.reset(slices);
    t.slices.duration.reset(slices);
    t.slices.name.reset(slices);
    t.slices.parent.reset(slices);
    t.slices.args.reset(slices);
    t.slices.category.reset(slices);
    t.slices.flags.reset(slices);
    MemoryTable& m = t.memory;
    m.time.reset(memory);
    m.bytes.reset(memory);
    m.address.reset(memory);
    m.totalAllocated.reset(memory);
    m.totalReserved.reset(memory);
    m.device.reset(memory);
    m.rawTrack.reset(memory);
    m.args.reset(memory);
    m.name.reset(memory);
    FlowTable& f = t.flows;
    f.time.reset(flows);
    f.id.reset(flows);
    f.name.reset(flows);
    f.track.reset(flows);
    f.category.reset(flows);
    f.phase.reset(flows);
    f.bindEnclosing.reset(flows);
    f.args.reset(flows);
}

/// Lets lanes and tracks end where the rows do.
void cutTo(Trace& t, std::uint32_t rows) {
    for (Lane& l : t.lanes) {
        l.begin = std::min(l.begin, rows);
        l.end = std::min(l.end, rows);
    }
    for (Track& k : t.tracks) {
        k.firstSlice = std::min(k.firstSlice, rows);
        k.endSlice = std::min(k.endSlice, rows);
    }
}

constexpr std::size_t kLinkTables = 5;

LinkTable& linkTable(Trace& t, std::uint64_t which) {
    LinkTable* tables[kLinkTables] = {&t.links.launch, &t.links.call, &t.links.op, &t.links.forward,
                                      &t.links.flow};
    return *tables[which];
}

/// Links come after the slices, so that a number of links out of all proportion is seen.
bool readLinks(const ChunkHeader& h, BlockReader& r, Trace& t, std::array<std::size_t, kLinkTables>& filled) {
    const std::uint64_t which = r.number(kLinkTables - 1);
    const std::uint64_t size = r.number(0xFFFFFFFF);
    const std::uint64_t from = r.number();
    constexpr std::size_t kBytes = 12;
    if (!r.ok() || from != filled[which] || h.rows > size - std::min(size, from) ||
        h.rows > r.left() / kBytes)
        return false;
    LinkTable& table = linkTable(t, which);
    if (from == 0) {
        table.from.reset(size);
        table.to.reset(size);
        table.byTo.reset(size);
    }
    if (table.size() != size)
        return false;
    filled[which] += h.rows;
    return column(r, table.from, from, h.rows) && column(r, table.to, from, h.rows) &&
           column(r, table.byTo, from, h.rows);
}

struct CounterPart {
    std::vector<TimeNs> time;
    std::vector<double> value;
};

bool readCounter(const ChunkHeader& h, BlockReader& r, Trace& t, CounterPart& part) {
    const auto finish = [&] {
        if (t.counters.empty())
            return;
        CounterTrack& c = t.counters.back();
        c.time.reset(part.time.size());
        c.value.reset(part.value.size());
        std::copy(part.time.begin(), part.time.end(), c.time.begin());
        std::copy(part.value.begin(), part.value.end(), c.value.begin());
    };
    if (h.type != ChunkType::Counters) { // the end
        finish();
        return true;
    }
    const bool first = flag(r);
    CounterTrack track;
    track.process = small(r);
    track.name = text(r, t);
    track.series = text(r, t);
    if (first) {
        finish();
        part = {};
        t.counters.push_back(std::move(track));
    } else if (t.counters.empty()) {
        return false;
    }
    const auto times = r.columnOf<TimeNs>(h.rows);
    const auto values = r.columnOf<double>(h.rows);
    part.time.insert(part.time.end(), times.begin(), times.end());
    part.value.insert(part.value.end(), values.begin(), values.end());
    return r.ok() && part.time.size() == part.value.size();
}

} // namespace

std::shared_ptr<Trace> readTables(const std::vector<StoredChunk>& chunks, bool whole, unsigned threads,
                                  std::optional<BadChunk>& bad) {
    auto trace = std::make_shared<Trace>();
    Trace& t = *trace;
    std::vector<Piece> pieces;
    std::size_t slices = 0;
    std::size_t memory = 0;
    std::size_t flows = 0;
    std::vector<const StoredChunk*> later; // links and counters
    std::vector<Diagnostic> diagnostics;
    const auto refuse = [&](const StoredChunk& chunk) {
        bad = BadChunk{chunk.offset, chunk.header.type};
        return nullptr;
    };
    for (const StoredChunk& chunk : chunks) {
        std::size_t* rows = nullptr;
        switch (chunk.header.type) {
        case ChunkType::Slices:
            rows = &slices;
            break;
        case ChunkType::Memory:
            rows = &memory;
            break;
        case ChunkType::Flows:
            rows = &flows;
            break;
        case ChunkType::Links:
        case ChunkType::Counters:
            later.push_back(&chunk);
            continue;
        default:
            break;
        }
        if (rows != nullptr) {
            // Each row takes bytes of its own: a chunk cannot claim more rows than it has bytes.
            if (chunk.header.rows > chunk.header.rawBytes || *rows + chunk.header.rows > 0xFFFFFFFE)
                return refuse(chunk);
            pieces.push_back({&chunk, *rows});
            *rows += chunk.header.rows;
            continue;
        }
        const auto raw = chunk.unpack();
        if (!raw || !readSmall(chunk.header, *raw, t, diagnostics))
            return refuse(chunk);
    }
    resize(t, slices, memory, flows);
    std::atomic<const StoredChunk*> wrong{nullptr};
    parallelFor(pieces.size(), threads, [&](std::size_t i) {
        if (wrong != nullptr)
            return;
        const StoredChunk& chunk = *pieces[i].chunk;
        const auto raw = chunk.unpack();
        bool ok = raw.has_value();
        if (ok) {
            BlockReader r(*raw);
            const std::size_t n = chunk.header.rows;
            ok = chunk.header.type == ChunkType::Slices   ? readSlices(r, t, pieces[i].from, n)
                 : chunk.header.type == ChunkType::Memory ? readMemory(r, t, pieces[i].from, n)
                                                          : readFlows(r, t, pieces[i].from, n);
        }
        if (!ok)
            wrong = &chunk;
    });
    if (wrong != nullptr)
        return refuse(*wrong.load());
    std::array<std::size_t, kLinkTables> filled{};
    CounterPart part;
    for (const StoredChunk* chunk : later) {
        const auto raw = chunk->unpack();
        BlockReader r(raw ? std::string_view(*raw) : std::string_view());
        const bool ok =
            raw && (chunk->header.type == ChunkType::Links ? readLinks(chunk->header, r, t, filled)
                                                           : readCounter(chunk->header, r, t, part));
        if (!ok)
            return refuse(*chunk);
    }
    BlockReader none({});
    (void)readCounter(ChunkHeader{}, none, t, part);
    for (std::size_t i = 0; i < kLinkTables; ++i) {
        if (filled[i] == linkTable(t, i).size())
            continue;
        if (whole)
            return refuse(chunks.front());
        linkTable(t, i) = {};
    }
    // Devices are the last of the small tables, which come before the long ones.
    if (!whole) {
        if (std::none_of(chunks.begin(), chunks.end(),
                         [](const StoredChunk& c) { return c.header.type == ChunkType::Devices; }))
            return refuse(chunks.back());
        cutTo(t, static_cast<std::uint32_t>(slices));
    }
    for (Diagnostic& d : diagnostics)
        t.diagnostics.set(std::move(d));
    if (!tablesFit(t))
        return refuse(chunks.front());
    return trace;
}

} // namespace warpline::wpl
