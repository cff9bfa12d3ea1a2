// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/spans.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

#include <map>
#include <random>

using namespace warpline;
using warpline::test::TraceBuilder;

namespace {

__extension__ using Wide = __int128;

/// The pixel that a time falls in, by the plain definition.
std::int64_t pixelOf(TimeNs t, TimeRange range, int pixels) {
    if (t < range.begin)
        return 0;
    // The last p with begin + floor(p * length / pixels) <= t.
    const Wide length = range.duration();
    auto p = static_cast<std::int64_t>(Wide{t - range.begin} * pixels / length);
    while (p + 1 < pixels && range.begin + static_cast<TimeNs>(Wide{p + 1} * length / pixels) <= t)
        ++p;
    return std::min<std::int64_t>(p, pixels - 1);
}

bool isWide(TimeNs duration, TimeRange range, int pixels) {
    return Wide{duration} * pixels >= Wide{range.duration()};
}

/// What SpanIndex::spans() promises, worked out slice by slice.
std::vector<Span> reference(const Trace& trace, LaneId id, TimeRange range, int pixels) {
    const Lane& lane = trace.lanes[id.index()];
    std::vector<Span> out;
    bool mergeable = false;
    std::int64_t lastPixel = 0;
    TimeNs longest = 0;
    for (std::uint32_t row = lane.begin; row < lane.end; ++row) {
        const TimeNs start = trace.slices.start[row];
        const TimeNs duration = trace.slices.duration[row];
        if (!range.overlaps(start, start + duration))
            continue;
        const bool wide = isWide(duration, range, pixels);
        const std::int64_t pixel = pixelOf(start, range, pixels);
        if (!wide && mergeable && pixel == lastPixel) {
            Span& s = out.back();
            s.end = start + duration;
            ++s.count;
            s.busy += duration;
            if (duration > longest) {
                longest = duration;
                s.slice = SliceId::fromIndex(row);
            }
        } else {
            out.push_back({start, start + duration, SliceId::fromIndex(row), 1, duration});
            longest = duration;
        }
        mergeable = !wide;
        lastPixel = pixel;
    }
    return out;
}

struct Random {
    std::mt19937_64 engine;
    explicit Random(std::uint64_t seed) : engine(seed) {}
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
    }
    /// Spread over orders of magnitude, like real durations.
    TimeNs duration() { return below(4) == 0 ? below(2) : below(std::int64_t{1} << (1 + below(18))); }
};

/// Lanes of several tracks filled with slices that touch, nearly touch or stand far apart, and instants.
TracePtr randomTrace(std::uint64_t seed, int lanes, int slices) {
    Random random(seed);
    TraceBuilder builder;
    const std::uint32_t process = builder.process(1, false);
    for (int l = 0; l < lanes; ++l) {
        const TrackId track = builder.track(process, TrackKind::Thread, l);
        TimeNs t = 1'700'000'000'000'000'000 + random.below(1000);
        const int count = slices / 2 + static_cast<int>(random.below(slices));
        for (int i = 0; i < count; ++i) {
            const TimeNs gap = random.below(3) == 0   ? 0
                               : random.below(8) == 0 ? random.below(1 << 20)
                                                      : random.below(50);
            t += gap;
            if (random.below(10) == 0) {
                builder.addInstant(track, "other", "instant", t, 0);
                t += 1; // two instants never share a moment with what follows, so that the order is plain
            } else {
                const TimeNs d = 1 + random.duration();
                builder.add(track, "cpu_op", "op" + std::to_string(random.below(20)), t, d, {}, 0);
                t += d;
            }
        }
    }
    return builder.finish();
}

} // namespace

class TestSpans : public QObject {
    Q_OBJECT

  private slots:
    void matchesReferenceAtManyZooms();
    void handlesRangesOfFewNanoseconds();
    void nothingVanishes();
    void longestAndBusyAreExact();
    void firstFromFindsTheRow();
    void coveredIsClipped();
    void emptyAndOddRequests();
    void hugeDurationsDoNotOverflow();
    void rowsInFollowsOverlap();
    void hitTestPrefersWhatIsThere();
    void walksTheLane();
    void findsChildren();
    void walksByName();
    void givesLinks();
};

void TestSpans::matchesReferenceAtManyZooms() {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const TracePtr trace = randomTrace(seed, 4, 2500);
        const SpanIndex index(trace);
        Random random(seed + 100);
        for (int zoom = 0; zoom < 60; ++zoom) {
            const LaneId lane = LaneId::fromIndex(static_cast<std::size_t>(random.below(4)));
            TimeRange range = trace->extent;
            range.end += 1;
            if (zoom != 0) {
                const TimeNs length = 1 + (range.duration() >> random.below(24));
                range.begin += random.below(range.duration()) - length / 2;
                range.end = range.begin + length;
            }
            const int pixels = 1 + static_cast<int>(random.below(random.below(2) == 0 ? 40 : 2500));
            const std::vector<Span> expected = reference(*trace, lane, range, pixels);
            std::vector<Span> got;
            index.spans(lane, range, pixels, got);
            QCOMPARE(got.size(), expected.size());
            QVERIFY(got.size() <= 2 * static_cast<std::size_t>(pixels));
            for (std::size_t i = 0; i < got.size(); ++i) {
                QCOMPARE(got[i].start, expected[i].start);
                QCOMPARE(got[i].end, expected[i].end);
                QCOMPARE(got[i].slice, expected[i].slice);
                QCOMPARE(got[i].count, expected[i].count);
                QCOMPARE(got[i].busy, expected[i].busy);
            }
        }
    }
}

void TestSpans::handlesRangesOfFewNanoseconds() {
    TraceBuilder builder;
    const TrackId track = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    for (int i = 0; i < 40; ++i)
        builder.add(track, "cpu_op", "tick", 1000 + i, 1, {}, 0);
    const TracePtr trace = builder.finish();
    const SpanIndex index(trace);
    for (TimeNs length = 1; length <= 40; ++length) {
        std::vector<Span> got;
        index.spans(LaneId::fromIndex(0), {1000, 1000 + length}, 1920, got);
        QCOMPARE(got.size(),
                 static_cast<std::size_t>(length)); // pixels are finer than slices: all stand alone
        for (const Span& s : got)
            QCOMPARE(s.count, 1U);
    }
}

void TestSpans::nothingVanishes() {
    TraceBuilder builder;
    const TrackId track = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    builder.add(track, "cpu_op", "long", 0, 1'000'000'000, {}, 0);
    const auto tiny = builder.add(track, "cpu_op", "tiny", 5'000'000'000, 1, {}, 0);
    const auto moment = builder.addInstant(track, "cpu_op", "moment", 9'000'000'000, 0);
    const TracePtr trace = builder.finish();
    std::vector<Span> got;
    SpanIndex(trace).spans(LaneId::fromIndex(0), {0, 10'000'000'000}, 100, got);
    QCOMPARE(got.size(), std::size_t{3});
    QCOMPARE(got[1].slice, builder.id(tiny));
    QCOMPARE(got[1].busy, TimeNs{1});
    QCOMPARE(got[2].slice, builder.id(moment));
    QCOMPARE(got[2].busy, TimeNs{0});
}

void TestSpans::longestAndBusyAreExact() {
    const TracePtr trace = randomTrace(77, 3, 9000); // three levels of runs, lanes end inside runs
    const SpanIndex index(trace);
    Random random(5);
    for (int i = 0; i < 3000; ++i) {
        const Lane& lane = trace->lanes[static_cast<std::size_t>(random.below(3))];
        const std::int64_t n = lane.end - lane.begin;
        std::uint32_t begin = lane.begin + static_cast<std::uint32_t>(random.below(n));
        std::uint32_t end = lane.begin + static_cast<std::uint32_t>(random.below(n));
        if (i < 3) {
            begin = trace->lanes[static_cast<std::size_t>(i)].begin;
            end = trace->lanes[static_cast<std::size_t>(i)].end - 1;
        }
        if (begin > end)
            std::swap(begin, end);
        ++end;
        TimeNs busy = 0;
        std::uint32_t longest = begin;
        for (std::uint32_t row = begin; row < end; ++row) {
            busy += trace->slices.duration[row];
            if (trace->slices.duration[row] > trace->slices.duration[longest])
                longest = row;
        }
        QCOMPARE(index.busy(begin, end), busy);
        QCOMPARE(index.longest(begin, end), longest);
    }
}

void TestSpans::firstFromFindsTheRow() {
    const TracePtr trace = randomTrace(3, 3, 6000);
    const SpanIndex index(trace);
    const TimeNs* start = trace->slices.start.data();
    Random random(6);
    for (int i = 0; i < 5000; ++i) {
        const Lane& lane = trace->lanes[static_cast<std::size_t>(random.below(3))];
        const auto begin = lane.begin + static_cast<std::uint32_t>(random.below(lane.end - lane.begin + 1));
        const auto end = begin + static_cast<std::uint32_t>(random.below(lane.end - begin + 1));
        const TimeNs t = trace->extent.begin - 5 + random.below(trace->extent.duration() + 10);
        QCOMPARE(index.firstFrom(begin, end, t),
                 static_cast<std::uint32_t>(std::lower_bound(start + begin, start + end, t) - start));
    }
}

void TestSpans::coveredIsClipped() {
    const TracePtr trace = randomTrace(9, 2, 3000);
    const SpanIndex index(trace);
    Random random(10);
    for (int i = 0; i < 500; ++i) {
        const Lane& lane = trace->lanes[static_cast<std::size_t>(random.below(2))];
        TimeRange range;
        range.begin = trace->extent.begin + random.below(trace->extent.duration());
        range.end = range.begin + random.below(trace->extent.duration() >> random.below(20));
        TimeNs expected = 0;
        for (std::uint32_t row = lane.begin; row < lane.end; ++row) {
            const TimeRange part = range.intersected({trace->slices.start[row], trace->slices.end(row)});
            expected += part.empty() ? 0 : part.duration();
        }
        QCOMPARE(index.covered(lane, range), expected);
    }
}

void TestSpans::emptyAndOddRequests() {
    const TracePtr empty = TraceBuilder().finish();
    QCOMPARE(SpanIndex(empty).bytes(), std::size_t{0});

    const TracePtr trace = randomTrace(1, 1, 100);
    const SpanIndex index(trace);
    std::vector<Span> got;
    index.spans(LaneId{}, trace->extent, 100, got);
    index.spans(LaneId::fromIndex(0), trace->extent, 0, got);
    index.spans(LaneId::fromIndex(0), {5, 5}, 100, got);
    index.spans(LaneId::fromIndex(0), {trace->extent.end + 10, trace->extent.end + 20}, 100, got);
    QVERIFY(got.empty());
    index.spans(LaneId::fromIndex(0), {INT64_MIN, INT64_MAX}, 1, got);
    QCOMPARE(got.size(), std::size_t{1});
    QCOMPARE(got[0].count, trace->lanes[0].end);
}

void TestSpans::hugeDurationsDoNotOverflow() {
    TraceBuilder builder;
    const std::uint32_t process = builder.process(1, false);
    for (int l = 0; l < 40; ++l) {
        const TrackId track = builder.track(process, TrackKind::Thread, l);
        builder.add(track, "cpu_op", "huge", 0, INT64_MAX / 2, {}, 0);
        builder.add(track, "cpu_op", "small", INT64_MAX / 2, 10, {}, 0);
    }
    const TracePtr trace = builder.finish();
    const SpanIndex index(trace);
    for (const Lane& lane : trace->lanes)
        QCOMPARE(index.busy(lane.begin, lane.end), INT64_MAX / 2 + 10);
}

void TestSpans::rowsInFollowsOverlap() {
    const TracePtr trace = randomTrace(21, 1, 400);
    const Lane& lane = trace->lanes[0];
    Random random(22);
    for (int i = 0; i < 2000; ++i) {
        TimeRange range;
        range.begin = trace->extent.begin - 10 + random.below(trace->extent.duration() + 20);
        range.end = range.begin + 1 + random.below(2000);
        std::uint32_t count = 0;
        for (std::uint32_t row = lane.begin; row < lane.end; ++row)
            count += range.overlaps(trace->slices.start[row], trace->slices.end(row)) ? 1 : 0;
        const auto [first, last] = rowsIn(*trace, lane, range);
        QCOMPARE(last - first, count);
        for (std::uint32_t row = first; row < last; ++row)
            QVERIFY(range.overlaps(trace->slices.start[row], trace->slices.end(row)));
    }
}

void TestSpans::hitTestPrefersWhatIsThere() {
    TraceBuilder builder;
    const TrackId track = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    const auto a = builder.add(track, "cpu_op", "a", 100, 50, {}, 0);
    const auto b = builder.add(track, "cpu_op", "b", 150, 50, {}, 0);
    const auto moment = builder.addInstant(track, "cpu_op", "moment", 300, 0);
    const TracePtr trace = builder.finish();
    const LaneId lane = LaneId::fromIndex(0);
    QCOMPARE(hitTest(*trace, lane, 100, 0), builder.id(a));
    QCOMPARE(hitTest(*trace, lane, 149, 0), builder.id(a));
    QCOMPARE(hitTest(*trace, lane, 150, 10), builder.id(b));
    QCOMPARE(hitTest(*trace, lane, 99, 0), SliceId{});
    QCOMPARE(hitTest(*trace, lane, 95, 5), builder.id(a));
    QCOMPARE(hitTest(*trace, lane, 210, 9), SliceId{});
    QCOMPARE(hitTest(*trace, lane, 210, 10), builder.id(b));
    QCOMPARE(hitTest(*trace, lane, 255, 100), builder.id(moment));
    QCOMPARE(hitTest(*trace, lane, 245, 100), builder.id(b));
    QCOMPARE(hitTest(*trace, lane, 300, 0), builder.id(moment));
    QCOMPARE(hitTest(*trace, LaneId{}, 300, 0), SliceId{});
}

void TestSpans::walksTheLane() {
    TraceBuilder builder;
    const std::uint32_t process = builder.process(1, false);
    const TrackId one = builder.track(process, TrackKind::Thread, 1);
    const TrackId two = builder.track(process, TrackKind::Thread, 2);
    const auto a = builder.add(one, "cpu_op", "a", 0, 10);
    const auto b = builder.add(one, "cpu_op", "b", 20, 10);
    const auto c = builder.add(two, "cpu_op", "c", 40, 10);
    const TracePtr trace = builder.finish();
    QCOMPARE(nextInLane(*trace, builder.id(a)), builder.id(b));
    QCOMPARE(nextInLane(*trace, builder.id(b)), SliceId{}); // c is the next row, but of another lane
    QCOMPARE(previousInLane(*trace, builder.id(c)), SliceId{});
    QCOMPARE(previousInLane(*trace, builder.id(b)), builder.id(a));
    QCOMPARE(nextInLane(*trace, SliceId{}), SliceId{});
}

void TestSpans::findsChildren() {
    TraceBuilder builder;
    const TrackId track = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    const auto parent = builder.add(track, "cpu_op", "parent", 0, 100);
    const auto early = builder.add(track, "cpu_op", "early", 10, 30);
    const auto inner = builder.add(track, "cpu_op", "inner", 12, 5);
    builder.add(track, "cpu_op", "late", 50, 10);
    // Overlaps "early" without nesting, so it stands in another lane; its child starts before other rows
    // there.
    const auto askew = builder.add(track, "cpu_op", "askew", 35, 12);
    const TracePtr trace = builder.finish();
    QCOMPARE(firstChild(*trace, builder.id(parent)), builder.id(early));
    QCOMPARE(firstChild(*trace, builder.id(early)), builder.id(inner));
    QCOMPARE(firstChild(*trace, builder.id(inner)), SliceId{});
    QCOMPARE(firstChild(*trace, builder.id(askew)), SliceId{});
    QCOMPARE(firstChild(*trace, SliceId{}), SliceId{});
}

void TestSpans::walksByName() {
    TraceBuilder builder;
    Random random(4);
    const std::uint32_t process = builder.process(1, false);
    std::vector<TrackId> tracks;
    for (int i = 0; i < 3; ++i)
        tracks.push_back(builder.track(process, i == 2 ? TrackKind::Python : TrackKind::Thread, i));
    for (const TrackId track : tracks) {
        TimeNs t = 0;
        for (int i = 0; i < 60; ++i) {
            builder.add(track, "cpu_op", random.below(3) == 0 ? "a" : "b", t, 1 + random.below(3), {}, 0);
            t += 4 + random.below(3);
        }
    }
    const TracePtr trace = builder.finish();
    // All "a" of threads, by start and row.
    std::vector<std::pair<TimeNs, std::uint32_t>> order;
    for (std::uint32_t row = 0; row < trace->tracks[1].endSlice; ++row) {
        if (trace->name(SliceId::fromIndex(row)) == "a")
            order.emplace_back(trace->slices.start[row], row);
    }
    std::sort(order.begin(), order.end());
    QVERIFY(order.size() > 10);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const SliceId s = SliceId::fromIndex(order[i].second);
        QCOMPARE(nextOfName(*trace, s),
                 i + 1 < order.size() ? SliceId::fromIndex(order[i + 1].second) : SliceId{});
        QCOMPARE(previousOfName(*trace, s), i > 0 ? SliceId::fromIndex(order[i - 1].second) : SliceId{});
    }
}

void TestSpans::givesLinks() {
    TraceBuilder builder;
    const TrackId thread = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    const TrackId stream = builder.track(builder.process(0, true), TrackKind::Stream, 7);
    const auto op = builder.add(thread, "cpu_op", "aten::mm", 0, 100);
    const auto launch = builder.add(thread, "cuda_runtime", "cudaLaunchKernel", 10, 10);
    const auto kernel = builder.add(stream, "kernel", "gemm", 200, 50);
    builder.launch(launch, kernel);
    builder.op(op, kernel);
    for (int i = 0; i < 100; ++i)
        builder.flow(op, builder.add(stream, "kernel", "more", 300 + i * 10, 5));
    const TracePtr trace = builder.finish();
    const std::vector<LinkedSlice> ofKernel = linkedSlices(*trace, builder.id(kernel));
    QCOMPARE(ofKernel.size(), std::size_t{2});
    QVERIFY(ofKernel[0].kind == LinkedSlice::Kind::Launch && !ofKernel[0].outgoing);
    QCOMPARE(ofKernel[0].slice, builder.id(launch));
    QVERIFY(ofKernel[1].kind == LinkedSlice::Kind::Op && !ofKernel[1].outgoing);
    const std::vector<LinkedSlice> ofOp = linkedSlices(*trace, builder.id(op), 8);
    QCOMPARE(ofOp.size(), std::size_t{9}); // its kernel, and the limit of the flow arrows
    QVERIFY(ofOp[0].outgoing);
    QVERIFY(linkedSlices(*trace, SliceId{}).empty());
}

QTEST_APPLESS_MAIN(TestSpans)
#include "tst_spans.moc"
