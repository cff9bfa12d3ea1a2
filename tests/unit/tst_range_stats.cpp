// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/statistics.h"
#include "model/query/range_stats.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

#include <map>
#include <random>
#include <set>

using namespace warpline;
using warpline::test::TraceBuilder;

namespace {

struct Random {
    std::mt19937_64 engine;
    explicit Random(std::uint64_t seed) : engine(seed) {}
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
    }
};

/// Two threads with nested ops, two devices with three streams; names are shared between kinds.
TracePtr randomTrace(std::uint64_t seed, int perTrack = 400) {
    Random random(seed);
    TraceBuilder b;
    const std::uint32_t host = b.process(100, false);
    const std::uint32_t devices[] = {b.process(0, true), b.process(1, true)};
    for (int t = 0; t < 2; ++t) {
        const TrackId track = b.track(host, TrackKind::Thread, t);
        TimeNs at = 1000;
        for (int i = 0; i < perTrack; ++i) {
            const TimeNs d = 20 + random.below(200);
            b.add(track, "cpu_op", "op" + std::to_string(random.below(8)), at, d);
            TimeNs inner = at + random.below(5);
            while (inner + 5 < at + d) {
                const TimeNs id = random.below(at + d - inner);
                b.add(track, random.below(3) == 0 ? "user_annotation" : "cpu_op",
                      "op" + std::to_string(random.below(8)), inner, id);
                inner += id + 1 + random.below(9);
            }
            at += d + random.below(30);
        }
    }
    for (int s = 0; s < 4; ++s) {
        const TrackId track = b.track(devices[s / 3], TrackKind::Stream, s);
        TimeNs at = 1000 + random.below(300);
        for (int i = 0; i < perTrack; ++i) {
            const TimeNs d = random.below(150);
            b.add(track, random.below(4) == 0 ? "gpu_memcpy" : "kernel",
                  "k" + std::to_string(random.below(5)), at, d);
            // Now and then kernels of one stream overlap, and stand in two lanes.
            at += random.below(20) == 0 ? d / 2 : d + random.below(120);
        }
    }
    for (int i = 0; i < 300; ++i)
        b.memory(1000 + random.below(50'000), (random.below(2) ? 1 : -1) * (1 + random.below(4096)),
                 static_cast<int>(random.below(3)) - 1);
    b.memory(5000, 1 << 30, 0, {}, 0, "[OutOfMemory]");
    return b.finish();
}

/// The time in the range at which some stream of the device works, nanosecond by nanosecond.
std::vector<bool> busyBits(const Trace& trace, std::uint32_t process, TimeRange range) {
    std::vector<bool> bits(static_cast<std::size_t>(range.duration()));
    for (const Track& track : trace.tracks) {
        if (track.process != process || track.kind != TrackKind::Stream)
            continue;
        for (std::uint32_t row = track.firstSlice; row < track.endSlice; ++row) {
            const TimeRange r = range.intersected({trace.slices.start[row], trace.slices.end(row)});
            for (TimeNs t = r.begin; t < r.end; ++t)
                bits[static_cast<std::size_t>(t - range.begin)] = true;
        }
    }
    return bits;
}

TimeRange someRange(Random& random, const Trace& trace) {
    TimeRange r;
    r.begin = trace.extent.begin - 100 + random.below(trace.extent.duration());
    r.end = r.begin + 1 + random.below(trace.extent.duration() >> random.below(8));
    return r;
}

} // namespace

class TestRangeStats : public QObject {
    Q_OBJECT

  private slots:
    void nearestRanks();
    void namesMatchReference();
    void devicesMatchReference();
    void columnsMatchReference();
    void denseColumnsAreALowerBound();
    void memoryInRange();
    void childrenBeyondTheRange();
    void stopsAndEmpties();
};

void TestRangeStats::nearestRanks() {
    QCOMPARE(nearestRank(1, 50), std::size_t{0});
    QCOMPARE(nearestRank(2, 50), std::size_t{0});
    QCOMPARE(nearestRank(3, 50), std::size_t{1});
    QCOMPARE(nearestRank(4, 50), std::size_t{1});
    QCOMPARE(nearestRank(20, 95), std::size_t{18});
    QCOMPARE(nearestRank(21, 95), std::size_t{19});
    QCOMPARE(nearestRank(5, 0), std::size_t{0});
    QCOMPARE(nearestRank(5, 100), std::size_t{4});
}

void TestRangeStats::namesMatchReference() {
    struct Plain {
        std::vector<TimeNs> durations;
        TimeNs self = 0;
    };
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const TracePtr trace = randomTrace(seed);
        Random random(seed + 50);
        for (int round = 0; round < 25; ++round) {
            const TimeRange range = round == 0 ? TimeRange{0, INT64_MAX / 4} : someRange(random, *trace);
            std::vector<TrackId> tracks;
            std::set<std::size_t> wanted;
            if (round % 3 == 1) {
                for (std::size_t i = 0; i < trace->tracks.size(); i += 2) {
                    tracks.push_back(TrackId::fromIndex(i));
                    wanted.insert(i);
                }
                tracks.push_back(tracks.front()); // named twice, counted once
            }
            std::map<std::pair<std::uint32_t, SliceKind>, Plain> plain;
            std::uint64_t slices = 0;
            for (std::size_t row = 0; row < trace->slices.size(); ++row) {
                if (!range.contains(trace->slices.start[row]) ||
                    (!tracks.empty() && !wanted.contains(trace->trackOf(SliceId::fromIndex(row)).index())))
                    continue;
                Plain& p = plain[{trace->slices.name[row].value, trace->kind(row)}];
                p.durations.push_back(trace->slices.duration[row]);
                p.self += trace->slices.duration[row];
                ++slices;
                for (std::size_t child = 0; child < trace->slices.size() && round < 8; ++child) {
                    if (trace->slices.parent[child] == SliceId::fromIndex(row))
                        p.self -= trace->slices.duration[child];
                }
            }
            const RangeStats got = rangeStats(*trace, range, tracks);
            QCOMPARE(got.slices, slices);
            QCOMPARE(got.names.size(), plain.size());
            for (std::size_t i = 0; i < got.names.size(); ++i) {
                const NameStats& s = got.names[i];
                QVERIFY(i == 0 || got.names[i - 1].sum >= s.sum);
                Plain& p = plain.at({s.name.value, s.kind});
                std::sort(p.durations.begin(), p.durations.end());
                const std::size_t n = p.durations.size();
                QCOMPARE(s.count, static_cast<std::uint64_t>(n));
                QCOMPARE(s.sum, std::accumulate(p.durations.begin(), p.durations.end(), TimeNs{0}));
                QCOMPARE(s.min, p.durations.front());
                QCOMPARE(s.median, p.durations[(n + 1) / 2 - 1]);
                QCOMPARE(s.p95, p.durations[(95 * n + 99) / 100 - 1]);
                QCOMPARE(s.max, p.durations.back());
                if (round < 8)
                    QCOMPARE(s.self, p.self);
            }
        }
    }
}

void TestRangeStats::devicesMatchReference() {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const TracePtr trace = randomTrace(seed);
        const SpanIndex index(trace);
        Random random(seed);
        for (int round = 0; round < 20; ++round) {
            const TimeRange range = someRange(random, *trace);
            const RangeStats stats = rangeStats(*trace, range);
            QCOMPARE(stats.devices.size(), std::size_t{2});
            for (const DeviceStats& d : stats.devices) {
                const std::vector<bool> bits = busyBits(*trace, d.process, range);
                const auto busy = static_cast<TimeNs>(std::count(bits.begin(), bits.end(), true));
                std::uint64_t gaps = 0;
                TimeNs largest = 0;
                TimeNs largestStart = 0;
                std::int64_t lastBusy = -1;
                for (std::size_t i = 0; i < bits.size(); ++i) {
                    if (!bits[i])
                        continue;
                    const auto at = static_cast<std::int64_t>(i);
                    if (lastBusy >= 0 && at > lastBusy + 1) {
                        ++gaps;
                        if (at - lastBusy - 1 > largest) {
                            largest = at - lastBusy - 1;
                            largestStart = range.begin + lastBusy + 1;
                        }
                    }
                    lastBusy = at;
                }
                QCOMPARE(d.busy, busy);
                QCOMPARE(d.idle, range.duration() - busy);
                QCOMPARE(d.gaps, gaps);
                QCOMPARE(d.largestGap, largest);
                QCOMPARE(d.largestGapStart, largestStart);
                QCOMPARE(deviceBusyTime(*trace, d.process, range), busy);
            }
            // Device 1 has one stream: the union over the track is that of the device.
            QCOMPARE(busyTime(index, TrackId::fromIndex(5), range), deviceBusyTime(*trace, 2, range));
        }
        const RangeStats ofThread = rangeStats(*trace, trace->extent, {TrackId::fromIndex(0)});
        QVERIFY(ofThread.devices.empty());
    }
}

void TestRangeStats::columnsMatchReference() {
    const TracePtr trace = randomTrace(11);
    const SpanIndex index(trace);
    Random random(12);
    for (int round = 0; round < 30; ++round) {
        const TimeRange range = someRange(random, *trace);
        const int columns = 1 + static_cast<int>(random.below(300));
        for (std::uint32_t process = 1; process <= 2; ++process) {
            const std::vector<bool> bits = busyBits(*trace, process, range);
            const std::vector<float> got = deviceBusyColumns(index, process, range, columns);
            QCOMPARE(got.size(), static_cast<std::size_t>(columns));
            for (std::int64_t c = 0; c < columns; ++c) {
                const std::int64_t begin = c * range.duration() / columns;
                const std::int64_t end = (c + 1) * range.duration() / columns;
                const auto busy = std::count(bits.begin() + begin, bits.begin() + end, true);
                const float expected =
                    end > begin
                        ? static_cast<float>(static_cast<double>(busy) / static_cast<double>(end - begin))
                        : 0;
                QCOMPARE(got[static_cast<std::size_t>(c)], expected);
            }
        }
    }
    QVERIFY(deviceBusyColumns(index, 1, trace->extent, 0).empty());
    QCOMPARE(deviceBusyColumns(index, 1, {5, 5}, 3), std::vector<float>(3, 0.0F));
    QCOMPARE(deviceBusyColumns(index, 0, trace->extent, 3), std::vector<float>(3, 0.0F)); // a host
}

void TestRangeStats::denseColumnsAreALowerBound() {
    TraceBuilder b;
    const std::uint32_t device = b.process(0, true);
    // Two streams that take turns, with more slices than are counted one by one.
    const auto each = static_cast<int>(kExactBusyRows / 2) + 10;
    for (int s = 0; s < 2; ++s) {
        const TrackId track = b.track(device, TrackKind::Stream, s);
        for (int i = 0; i < each; ++i)
            b.add(track, "kernel", "k", TimeNs{i} * 10 + s * 5, 4, {}, 0);
    }
    const TracePtr trace = b.finish();
    const SpanIndex index(trace);
    for (const float share : deviceBusyColumns(index, device, {0, TimeNs{each} * 10}, 64))
        QVERIFY2(share > 0.399F && share < 0.401F, qPrintable(QString::number(share)));
    // A part of it is few enough slices to be exact.
    for (const float share : deviceBusyColumns(index, device, {0, TimeNs{each} * 5}, 64))
        QVERIFY2(share > 0.799F && share < 0.801F, qPrintable(QString::number(share)));
}

void TestRangeStats::memoryInRange() {
    const TracePtr trace = randomTrace(31);
    const TimeRange range{4000, 20'000};
    std::int64_t allocated = 0;
    std::int64_t freed = 0;
    for (std::size_t i = 0; i < trace->memory.size(); ++i) {
        if (range.contains(trace->memory.time[i]) && trace->memory.device[i] >= 0 &&
            trace->strings.view(trace->memory.name[i]) == "[memory]")
            (trace->memory.bytes[i] > 0 ? allocated : freed) += std::abs(trace->memory.bytes[i]);
    }
    QVERIFY(allocated > 0 && freed > 0 && allocated < (1 << 30));
    const RangeStats stats = rangeStats(*trace, range);
    QCOMPARE(stats.bytesAllocated, allocated);
    QCOMPARE(stats.bytesFreed, freed);
}

void TestRangeStats::childrenBeyondTheRange() {
    TraceBuilder b;
    const TrackId track = b.track(b.process(1, false), TrackKind::Thread, 1);
    b.add(track, "cpu_op", "parent", 0, 100);
    b.add(track, "cpu_op", "child", 10, 20);
    b.add(track, "cpu_op", "child", 60, 30); // starts after the range; its parent's self time is still 50
    b.add(track, "cpu_op", "grandchild", 65, 5);
    const TracePtr trace = b.finish();
    const RangeStats stats = rangeStats(*trace, {0, 50});
    QCOMPARE(stats.names.size(), std::size_t{2});
    QCOMPARE(trace->strings.view(stats.names[0].name), std::string_view("parent"));
    QCOMPARE(stats.names[0].self, TimeNs{50});
    QCOMPARE(stats.names[1].count, std::uint64_t{1});
    QCOMPARE(stats.names[1].self, TimeNs{20});
    // And the other way round: the parent starts before the range.
    const RangeStats later = rangeStats(*trace, {50, 100});
    QCOMPARE(later.names[0].self, TimeNs{25});
}

void TestRangeStats::stopsAndEmpties() {
    const TracePtr trace = randomTrace(1);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(rangeStats(*trace, trace->extent, {}, stop.get_token()).names.empty());
    const RangeStats nothing = rangeStats(*trace, {5, 5});
    QVERIFY(nothing.names.empty() && nothing.devices.empty() && nothing.slices == 0);
    const TracePtr empty = TraceBuilder().finish();
    QVERIFY(rangeStats(*empty, {0, 100}).names.empty());
}

QTEST_APPLESS_MAIN(TestRangeStats)
#include "tst_range_stats.moc"
