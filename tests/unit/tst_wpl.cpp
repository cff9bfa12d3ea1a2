// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/wpl_writer.h"
#include "model/import/import.h"
#include "model/store/wpl/block.h"
#include "model/store/wpl/chunk_reader.h"
#include "model/store/wpl/recording.h"
#include "tests/support/check_trace.h"
#include "tests/support/files.h"

#include <cstring>
#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <random>

using namespace warpline;

namespace {

TracePtr opened(const std::string& path) {
    auto traces = openTraces(path);
    if (!traces.ok()) {
        qWarning("%s", traces.error().message.c_str());
        return nullptr;
    }
    return traces.value().front();
}

std::string argsText(const Trace& trace, ArgStore::Ref ref) {
    std::string out;
    if (ref == 0)
        return out;
    trace.args.forEach(ref, [&](const Arg& arg) {
        out += arg.top ? "^" : "";
        out += trace.strings.view(arg.key);
        out += static_cast<char>('0' + static_cast<int>(arg.kind));
        appendArgJson(out, trace.strings, arg);
        out += ' ';
    });
    return out;
}

template <class T>
bool same(const Column<T>& a, const Column<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}
bool same(const LinkTable& a, const LinkTable& b) {
    return same(a.from, b.from) && same(a.to, b.to) && same(a.byTo, b.byTo);
}
bool sameArgs(const Trace& a, const Column<ArgStore::Ref>& refsA, const Trace& b,
              const Column<ArgStore::Ref>& refsB) {
    if (refsA.size() != refsB.size())
        return false;
    for (std::size_t i = 0; i < refsA.size(); ++i)
        if ((refsA[i] == 0) != (refsB[i] == 0) || argsText(a, refsA[i]) != argsText(b, refsB[i]))
            return false;
    return true;
}

void compareTables(const Trace& a, const Trace& b) {
    QCOMPARE(a.tracks.size(), b.tracks.size());
    for (std::size_t i = 0; i < a.tracks.size(); ++i) {
        const Track& x = a.tracks[i];
        const Track& y = b.tracks[i];
        QVERIFY(x.kind == y.kind && x.process == y.process && x.tid == y.tid && x.tidText == y.tidText &&
                x.name == y.name && x.sortIndex == y.sortIndex && x.firstLane == y.firstLane &&
                x.laneCount == y.laneCount && x.firstSlice == y.firstSlice && x.endSlice == y.endSlice &&
                x.extent == y.extent);
    }
    QCOMPARE(a.lanes.size(), b.lanes.size());
    for (std::size_t i = 0; i < a.lanes.size(); ++i)
        QVERIFY(a.lanes[i].track == b.lanes[i].track && a.lanes[i].depth == b.lanes[i].depth &&
                a.lanes[i].begin == b.lanes[i].begin && a.lanes[i].end == b.lanes[i].end);
    QCOMPARE(a.processes.size(), b.processes.size());
    for (std::size_t i = 0; i < a.processes.size(); ++i) {
        QCOMPARE(a.processName(i), b.processName(i));
        QCOMPARE(a.processes[i].device, b.processes[i].device);
        QCOMPARE(a.processes[i].labels, b.processes[i].labels);
        QCOMPARE(a.processes[i].sortIndex, b.processes[i].sortIndex);
    }
    QCOMPARE(a.rawTracks.size(), b.rawTracks.size());
    for (std::size_t i = 0; i < a.rawTracks.size(); ++i)
        QVERIFY(a.rawTracks[i].pid == b.rawTracks[i].pid && a.rawTracks[i].tid == b.rawTracks[i].tid &&
                a.rawTracks[i].thread == b.rawTracks[i].thread);
    QCOMPARE(a.metadata.size(), b.metadata.size());
    for (std::size_t i = 0; i < a.metadata.size(); ++i)
        QVERIFY(a.metadata[i].name == b.metadata[i].name && a.metadata[i].args == b.metadata[i].args &&
                a.metadata[i].pid == b.metadata[i].pid && a.metadata[i].tid == b.metadata[i].tid);
}

void compare(const Trace& a, const Trace& b) {
    QCOMPARE(a.format, b.format);
    QCOMPARE(a.eventCount, b.eventCount);
    QCOMPARE(a.counterCount, b.counterCount);
    QCOMPARE(a.metadataCount, b.metadataCount);
    QCOMPARE(a.baseTime, b.baseTime);
    QCOMPARE(a.absoluteTime, b.absoluteTime);
    QVERIFY(a.extent == b.extent);
    QCOMPARE(a.rank, b.rank);
    QCOMPARE(a.worldSize, b.worldSize);
    QVERIFY(a.properties == b.properties);
    QCOMPARE(a.strings.size(), b.strings.size());
    for (std::size_t i = 0; i < a.strings.size(); ++i)
        QVERIFY(a.strings.view(StringId::fromIndex(i)) == b.strings.view(StringId::fromIndex(i)));
    QCOMPARE(a.categories.size(), b.categories.size());
    for (std::size_t i = 0; i < a.categories.size(); ++i)
        QVERIFY(a.categories[i].name == b.categories[i].name && a.categories[i].kind == b.categories[i].kind);
    compareTables(a, b);
    QVERIFY(same(a.slices.start, b.slices.start) && same(a.slices.duration, b.slices.duration) &&
            same(a.slices.name, b.slices.name) && same(a.slices.parent, b.slices.parent) &&
            same(a.slices.category, b.slices.category) && same(a.slices.flags, b.slices.flags));
    QVERIFY(sameArgs(a, a.slices.args, b, b.slices.args));
    QVERIFY(same(a.links.launch, b.links.launch) && same(a.links.call, b.links.call) &&
            same(a.links.op, b.links.op) && same(a.links.forward, b.links.forward) &&
            same(a.links.flow, b.links.flow));
    QCOMPARE(a.counters.size(), b.counters.size());
    for (std::size_t i = 0; i < a.counters.size(); ++i)
        QVERIFY(a.counters[i].process == b.counters[i].process && a.counters[i].name == b.counters[i].name &&
                a.counters[i].series == b.counters[i].series &&
                same(a.counters[i].time, b.counters[i].time) &&
                same(a.counters[i].value, b.counters[i].value));
    const MemoryTable& m = a.memory;
    const MemoryTable& n = b.memory;
    QVERIFY(same(m.time, n.time) && same(m.bytes, n.bytes) && same(m.address, n.address) &&
            same(m.totalAllocated, n.totalAllocated) && same(m.totalReserved, n.totalReserved) &&
            same(m.device, n.device) && same(m.rawTrack, n.rawTrack) && same(m.name, n.name));
    QVERIFY(sameArgs(a, m.args, b, n.args));
    const FlowTable& f = a.flows;
    const FlowTable& g = b.flows;
    QVERIFY(same(f.time, g.time) && same(f.id, g.id) && same(f.name, g.name) && same(f.track, g.track) &&
            same(f.category, g.category) && same(f.phase, g.phase) && same(f.bindEnclosing, g.bindEnclosing));
    QVERIFY(sameArgs(a, f.args, b, g.args));
    QCOMPARE(a.devices.size(), b.devices.size());
    for (std::size_t i = 0; i < a.devices.size(); ++i)
        QVERIFY(a.devices[i].name == b.devices[i].name &&
                a.devices[i].memoryBytes == b.devices[i].memoryBytes &&
                a.devices[i].multiprocessors == b.devices[i].multiprocessors);
    QCOMPARE(a.steps.size(), b.steps.size());
    for (std::size_t i = 0; i < a.steps.size(); ++i)
        QVERIFY(a.steps[i].number == b.steps[i].number && a.steps[i].slice == b.steps[i].slice &&
                a.steps[i].range == b.steps[i].range);
    QCOMPARE(a.diagnostics.rows().size(), b.diagnostics.rows().size());
    for (std::size_t i = 0; i < a.diagnostics.rows().size(); ++i) {
        QCOMPARE(a.diagnostics.rows()[i].id, b.diagnostics.rows()[i].id);
        QCOMPARE(a.diagnostics.rows()[i].message, b.diagnostics.rows()[i].message);
        QCOMPARE(a.diagnostics.rows()[i].count, b.diagnostics.rows()[i].count);
    }
}

std::string fileHeader() {
    std::string out;
    wpl::ChunkWriter writer([&](std::string_view bytes) -> Result<Done> {
        out += bytes;
        return Done{};
    });
    (void)writer.begin();
    return out;
}

/// A recording of two launches, their kernels and a range that stays open, in two blocks.
struct SmallRecording {
    wpl::Dictionary dictionary;
    wpl::EventBlock first;
    wpl::EventBlock second;

    SmallRecording() {
        dictionary.strings = {"kernel", "cuda_runtime", "user_annotation", "saxpy",  "cudaLaunchKernel",
                              "step",   "bytes",        "[memory]",        "payload"};
        dictionary.shapes = {{{{7, ArgKind::Int}, {9, ArgKind::Text}}}};
        dictionary.categories = {{1, SliceKind::Kernel}, {2, SliceKind::Runtime}, {3, SliceKind::Annotation}};
        dictionary.rawTracks = {{100, 101, 0, 0}, {0, 7, 0, 0}};
        dictionary.tracks = {{0, TrackKind::Thread, 0}, {1, TrackKind::Stream, 0}};
        dictionary.properties = {{"deviceProperties", R"([{"id":0,"name":"H200"}])"}};
        dictionary.revision = 1;
        first.events = {{1000, 0, wpl::kNoCorrelation, 1, 6, 0, 0, 2, 0, 'b'},
                        {1010, 20, 5, 0, 5, 0, 0, 1, 0, 'X'},
                        {1100, 50, 5, 0, 4, 1, 1, 0, 0, 'X'},
                        {1200, 0, wpl::kNoCorrelation, 2, 6, 0, 0, 2, 0, 'b'}};
        first.values = {-4096, 4};
        first.memory = {{1005, 512, 512, -1, 0xFFFF800000000000, 0, 8, 0, 0}};
        second.events = {{1310, 20, 6, 0, 5, 0, 0, 1, 0, 'X'},
                         {1400, 50, 6, 0, 4, 1, 0, 0, 0, 'X'},
                         {1290, 0, wpl::kNoCorrelation, 1, 0, 0, 0, 2, 0, 'e'}};
    }
    [[nodiscard]] std::string bytes(bool whole) const {
        std::string out;
        wpl::ChunkWriter writer([&](std::string_view bytes) -> Result<Done> {
            out += bytes;
            return Done{};
        });
        (void)writer.begin();
        (void)writer.write(wpl::packRecordingHead());
        wpl::DictionaryMarks marks;
        for (const wpl::EventBlock* block : {&first, &second})
            for (const auto& chunk : wpl::packRecording(dictionary, marks, *block))
                (void)writer.write(chunk);
        if (whole)
            (void)writer.finish();
        return out;
    }
};

/// Each chunk's header and unpacked bytes.
std::vector<std::pair<wpl::ChunkHeader, std::string>> chunksOf(const std::string& file) {
    std::vector<std::pair<wpl::ChunkHeader, std::string>> out;
    std::size_t at = 0;
    wpl::ChunkReader reader([&](char* to, std::size_t size) -> Result<std::size_t> {
        const std::size_t n = std::min(size, file.size() - at);
        std::memcpy(to, file.data() + at, n);
        at += n;
        return n;
    });
    if (!reader.begin("test").ok())
        return out;
    for (;;) {
        auto chunk = reader.next();
        if (!chunk.ok() || !chunk.value())
            return out;
        out.emplace_back(chunk.value()->header, *chunk.value()->unpack());
    }
}

} // namespace

class TestWpl : public QObject {
    Q_OBJECT
  private slots:
    void columnsComeBack();
    void opensAgainEqual_data();
    void opensAgainEqual();
    void opensARecording();
    void opensACutRecording();
    void opensACutSavedTrace();
    void survivesDamage();
    void survivesHostileContent_data();
    void survivesHostileContent();
    void refusesWhatIsNewer();

  private:
    std::string save(const Trace& trace);
    QTemporaryDir m_dir;
};

std::string TestWpl::save(const Trace& trace) {
    const std::string path = m_dir.filePath("saved.wpl").toStdString();
    const auto done = writeWpl(trace, path);
    if (!done.ok())
        qWarning("%s", done.error().message.c_str());
    return path;
}

void TestWpl::columnsComeBack() {
    const std::vector<std::int64_t> wide{0, -1, INT64_MAX, INT64_MIN, 42};
    const std::vector<std::uint16_t> narrow{0, 65535, 7};
    const std::vector<double> real{1.5, -0.0, 1e300};
    wpl::BlockWriter w;
    w.column(std::span<const std::int64_t>(wide), true);
    w.column(std::span<const std::int64_t>(wide));
    w.column(std::span<const std::uint16_t>(narrow), true);
    w.column(std::span<const double>(real));
    w.signedNumber(INT64_MIN);
    w.text("text");
    const std::string bytes = w.take();
    wpl::BlockReader r(bytes);
    QVERIFY(r.columnOf<std::int64_t>(5) == wide);
    QVERIFY(r.columnOf<std::int64_t>(5) == wide);
    QVERIFY(r.columnOf<std::uint16_t>(3) == narrow);
    QVERIFY(r.columnOf<double>(3) == real);
    QCOMPARE(r.signedNumber(), INT64_MIN);
    QVERIFY(r.text() == "text" && r.ok() && r.left() == 0);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        wpl::BlockReader c(std::string_view(bytes).substr(0, cut));
        (void)c.columnOf<std::int64_t>(5);
        (void)c.columnOf<std::int64_t>(5);
        (void)c.columnOf<std::uint16_t>(3);
        (void)c.columnOf<double>(3);
        (void)c.signedNumber();
        (void)c.text();
        QVERIFY(!c.ok());
    }
}

void TestWpl::opensAgainEqual_data() {
    QTest::addColumn<QString>("path");
    for (const char* name : {"everything.json", "quick.json", "compiled.json", "streams.json"})
        QTest::newRow(name) << QString(WARPLINE_TEST_DATA "/%1").arg(name);
    for (const char* name : {"gpt.json.gz", "cnn.json.gz", "nccl.json.gz"}) {
        const QString path = QString(WARPLINE_SHARED_DATA "/h200/%1").arg(name);
        if (QFile::exists(path))
            QTest::newRow(name) << path;
    }
}

void TestWpl::opensAgainEqual() {
    QFETCH(QString, path);
    const TracePtr before = opened(path.toStdString());
    QVERIFY(before);
    const TracePtr after = opened(save(*before));
    QVERIFY(after);
    compare(*before, *after);
    QCOMPARE(test::brokenPromise(*after), std::string());
}

void TestWpl::opensARecording() {
    const SmallRecording recording;
    const auto traces = openTracesFromMemory(recording.bytes(true), "small.wpl");
    QVERIFY2(traces.ok(), traces.ok() ? "" : traces.error().message.c_str());
    const Trace& t = *traces.value().front();
    QCOMPARE(test::brokenPromise(t), std::string());
    QCOMPARE(t.slices.size(), 6U);
    QCOMPARE(t.links.launch.size(), 2U);
    QCOMPARE(t.memory.size(), 1U);
    QCOMPARE(t.memory.bytes[0], 512);
    QCOMPARE(t.devices.size(), 1U);
    QVERIFY(!t.diagnostics.find("recording_cut"));
    // The range that was closed runs to its end, the other one to the end of the trace.
    int closed = 0;
    int open = 0;
    for (std::size_t row = 0; row < t.slices.size(); ++row) {
        if (t.kind(row) != SliceKind::Annotation)
            continue;
        if ((t.slices.flags[row] & SliceFlag::Unfinished) != 0)
            ++open;
        else if (t.slices.duration[row] == 290)
            ++closed;
    }
    QCOMPARE(closed, 1);
    QCOMPARE(open, 1);
    std::string args;
    for (std::size_t row = 0; row < t.slices.size(); ++row)
        args += argsText(t, t.slices.args[row]);
    QVERIFY(args.find("-4096") != std::string::npos && args.find("\"saxpy\"") != std::string::npos);
    // Saved from the recording, it opens the same.
    compare(t, *opened(save(t)));
}

void TestWpl::opensACutRecording() {
    const SmallRecording recording;
    const std::string whole = recording.bytes(true);
    std::size_t slices = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto traces = openTracesFromMemory(std::string_view(whole).substr(0, size), "cut.wpl");
        if (!traces.ok()) {
            QVERIFY(traces.error().message.size() > 10);
            QVERIFY(slices == 0); // once something is there, more bytes never show less
            continue;
        }
        const Trace& t = *traces.value().front();
        if (t.format == "Chrome trace")
            continue; // too short to be told from another format
        QCOMPARE(test::brokenPromise(t), std::string());
        QVERIFY(t.diagnostics.find("recording_cut") != nullptr);
        QVERIFY(t.slices.size() >= slices);
        slices = t.slices.size();
    }
    QCOMPARE(slices, 6U);
}

void TestWpl::opensACutSavedTrace() {
    const std::string path = save(*opened(WARPLINE_TEST_DATA "/streams.json"));
    const std::string whole = *test::readFile(path);
    bool partly = false;
    for (std::size_t size = 16; size < whole.size(); size += 97) {
        const auto traces = openTracesFromMemory(std::string_view(whole).substr(0, size), "cut.wpl");
        if (!traces.ok()) {
            QVERIFY(traces.error().message.find("cut") != std::string::npos);
            continue;
        }
        const Trace& t = *traces.value().front();
        QCOMPARE(test::brokenPromise(t), std::string());
        QVERIFY(t.diagnostics.find("saved_trace_cut") != nullptr);
        partly |= t.slices.size() > 0;
    }
    QVERIFY(partly);
}

void TestWpl::survivesDamage() {
    const std::string whole = SmallRecording().bytes(true);
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        damaged[16 + random() % (whole.size() - 16)] ^= static_cast<char>(1u << (random() % 8));
        const auto traces = openTracesFromMemory(damaged, "damaged.wpl");
        if (!traces.ok())
            continue;
        const Trace& t = *traces.value().front();
        QCOMPARE(test::brokenPromise(t), std::string());
        QVERIFY(t.diagnostics.find("recording_damaged") || t.diagnostics.find("recording_cut"));
    }
}

void TestWpl::survivesHostileContent_data() {
    QTest::addColumn<bool>("recording");
    QTest::newRow("recording") << true;
    QTest::newRow("saved") << false;
}

void TestWpl::survivesHostileContent() {
    QFETCH(bool, recording);
    const std::string file = recording
                                 ? SmallRecording().bytes(true)
                                 : *test::readFile(save(*opened(WARPLINE_TEST_DATA "/everything.json")));
    const auto chunks = chunksOf(file);
    QVERIFY(chunks.size() > 5);
    std::mt19937 random(11);
    int opens = 0;
    for (int round = 0; round < 6000; ++round) {
        std::string out = fileHeader();
        const std::size_t victim = random() % chunks.size();
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            auto [header, raw] = chunks[i];
            if (i == victim) {
                if (random() % 8 == 0)
                    header.rows = static_cast<std::uint32_t>(random() >> (random() % 32));
                for (unsigned n = random() % 3 + 1; n > 0 && !raw.empty(); --n)
                    raw[random() % raw.size()] = static_cast<char>(random());
                if (random() % 8 == 0)
                    raw.resize(random() % (raw.size() + 1));
            }
            // The checksum is right: only the reader's own care helps.
            out += wpl::pack(header.type, header.rows, raw, 1, header.flags & wpl::ChunkFlag::Needed).bytes;
        }
        const auto traces = openTracesFromMemory(out, "hostile.wpl");
        if (!traces.ok())
            continue;
        ++opens;
        QCOMPARE(test::brokenPromise(*traces.value().front()), std::string());
    }
    QVERIFY(opens > 0);
}

void TestWpl::refusesWhatIsNewer() {
    std::string file = SmallRecording().bytes(true);
    file[8] = 2;
    auto traces = openTracesFromMemory(file, "newer.wpl");
    QVERIFY(!traces.ok());
    QVERIFY(traces.error().message.find("newer") != std::string::npos);
    // A chunk nobody knows is passed over, unless it says that it is needed.
    const auto type = static_cast<wpl::ChunkType>(wpl::fourLetters("WHAT"));
    const std::string begin = fileHeader() + wpl::packRecordingHead().bytes;
    QVERIFY(openTracesFromMemory(begin + wpl::pack(type, 0, "x", 1).bytes, "a.wpl").ok());
    traces = openTracesFromMemory(begin + wpl::pack(type, 0, "x", 1, wpl::ChunkFlag::Needed).bytes, "b.wpl");
    QVERIFY(!traces.ok());
    QVERIFY(traces.error().message.find("WHAT") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestWpl)
#include "tst_wpl.moc"
