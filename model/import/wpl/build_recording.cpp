// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/wpl/build_recording.h"

#include "model/base/parallel.h"
#include "model/import/chrome/builder.h"
#include "model/import/chrome/registry.h"

#include <algorithm>
#include <thread>

namespace warpline::wpl {

namespace {

static_assert(kNoCorrelation == chrome::kNoId);

/// The dictionary's things as the trace has them.
struct Mapped {
    std::vector<StringId> strings; ///< by Text
    struct Shape {
        std::uint32_t number = 0;
        std::vector<ArgShape::Field> fields;
    };
    std::vector<Shape> shapes;
    std::vector<std::uint32_t> rawTracks;
    std::vector<std::uint32_t> tracks;
};

Mapped map(Trace& trace, chrome::Registry& registry, const Dictionary& d) {
    Mapped m;
    m.strings.push_back({});
    for (const std::string& s : d.strings)
        m.strings.push_back(trace.strings.intern(s));
    for (const RecordedShape& s : d.shapes) {
        Mapped::Shape shape;
        for (const auto& f : s.fields)
            shape.fields.push_back({m.strings[f.key], f.kind, false});
        shape.number = trace.args.shape(shape.fields);
        m.shapes.push_back(std::move(shape));
    }
    for (const RecordedCategory& c : d.categories)
        trace.categories.push_back({m.strings[c.name], c.kind});
    for (const RecordedRawTrack& t : d.rawTracks)
        m.rawTracks.push_back(
            registry.rawTrack({t.pid, m.strings[t.pidText]}, {t.tid, m.strings[t.tidText]}));
    for (const RecordedTrack& t : d.tracks)
        m.tracks.push_back(registry.track(m.rawTracks[t.rawTrack], t.kind, m.strings[t.group]));
    return m;
}

/// Takes the arguments of one row after the other.
class ArgsReader {
  public:
    ArgsReader(Trace& trace, const Mapped& mapped, const std::vector<std::int64_t>& values)
        : m_writer(trace.args), m_mapped(mapped), m_at(values.data()) {}
    ArgStore::Ref next(std::uint32_t shape) {
        if (shape == 0)
            return 0;
        const Mapped::Shape& s = m_mapped.shapes[shape - 1];
        m_values.assign(m_at, m_at + s.fields.size());
        m_at += s.fields.size();
        for (std::size_t i = 0; i < s.fields.size(); ++i)
            if (s.fields[i].kind == ArgKind::Text || s.fields[i].kind == ArgKind::Raw)
                m_values[i] = m_mapped.strings[static_cast<std::size_t>(m_values[i])].value;
        m_decimals.resize(s.fields.size());
        return m_writer.add(s.number, s.fields, m_values, m_decimals);
    }

  private:
    ArgStore::Writer m_writer;
    const Mapped& m_mapped;
    const std::int64_t* m_at;
    std::vector<std::int64_t> m_values;
    std::vector<std::uint8_t> m_decimals;
};

void addEvents(Trace& trace, const Mapped& m, const EventBlock& block, chrome::OpenBatch& batch) {
    ArgsReader args(trace, m, block.values);
    batch.spans.reserve(block.events.size());
    for (const RecordedEvent& e : block.events) {
        chrome::ParsedSpan s;
        s.start = e.start;
        s.duration = e.duration;
        s.external = chrome::kNoId;
        s.correlation = e.correlation;
        s.name = m.strings[e.name];
        s.track = m.tracks[e.track];
        s.args = args.next(e.shape);
        s.category = e.category;
        s.flags = e.flags;
        s.phase = e.phase;
        if (e.phase == 'b' || e.phase == 'e')
            batch.async.push_back({static_cast<std::uint32_t>(batch.spans.size()), e.id});
        batch.spans.push_back(s);
    }
    batch.events = block.events.size() + block.memory.size() + block.counters.size();
}

void addTables(Trace& trace, const Mapped& m, const EventBlock& block, chrome::OpenBatch& batch) {
    ArgsReader args(trace, m, block.memoryValues);
    for (const RecordedMemory& r : block.memory)
        batch.memory.push_back({r.time, r.bytes, r.totalAllocated, r.totalReserved, r.address,
                                m.strings[r.name], m.rawTracks[r.rawTrack], args.next(r.shape), r.device});
    ArgStore::Writer writer(trace.args);
    for (const RecordedCounter& c : block.counters) {
        const ArgShape::Field field{m.strings[c.series], ArgKind::Int, false};
        const std::int64_t value = c.value;
        const std::uint8_t decimals = 0;
        const ArgStore::Ref ref =
            writer.add(trace.args.shape({&field, 1}), {&field, 1}, {&value, 1}, {&decimals, 1});
        batch.counters.push_back({c.time, m.strings[c.name], m.rawTracks[c.rawTrack], ref});
    }
}

} // namespace

Result<std::shared_ptr<Trace>> buildRecording(const Dictionary& dictionary,
                                              const std::vector<EventBlockPtr>& blocks,
                                              const ImportOptions& options) {
    auto trace = std::make_shared<Trace>();
    chrome::Registry registry(*trace);
    const Mapped mapped = map(*trace, registry, dictionary);
    trace->properties = dictionary.properties;

    const unsigned threads =
        options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    std::vector<chrome::OpenBatch> open(blocks.size() + 1);
    parallelFor(blocks.size(), threads, [&](std::size_t i) {
        if (options.stop.stop_requested())
            return;
        addEvents(*trace, mapped, *blocks[i], open[i]);
        addTables(*trace, mapped, *blocks[i], open[i]);
    });
    if (options.stop.stop_requested())
        return Error::cancelled();
    for (const RecordedMetadata& m : dictionary.metadata)
        open.back().metadata.push_back({mapped.strings[m.name], m.pid, m.tid, mapped.strings[m.pidText],
                                        mapped.strings[m.tidText], mapped.strings[m.args]});
    // Blocks of a live recording are many and small: packed one after the other they share their memory.
    std::vector<chrome::Batch> batches;
    batches.reserve(open.size());
    chrome::BatchPacker packer;
    for (chrome::OpenBatch& batch : open) {
        batches.push_back(packer.pack(batch));
        batch = {};
    }
    chrome::BuildInput input{std::move(batches), registry, {}, options};
    if (auto done = chrome::build(*trace, std::move(input)); !done.ok())
        return done.error();
    trace->format = "Warpline recording";
    for (const Diagnostic& d : dictionary.diagnostics)
        trace->diagnostics.set(d);
    return trace;
}

} // namespace warpline::wpl
