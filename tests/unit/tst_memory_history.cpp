// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_state.h"
#include "tests/support/check_memory.h"
#include "tests/support/memory_files.h"
#include "tests/support/pack.h"
#include "tests/support/pickle.h"

#include <map>
#include <QtTest>
#include <random>

using namespace warpline;

/// What a snapshot's events and final segments add up to.
class TestMemoryHistory : public QObject {
    Q_OBJECT

  private slots:
    void liveBlocksSumToTheCurve();
    void backwardsEqualsForwards();
    void allocatedTwice();
    void freedWithoutAllocation();
    void preexistingFromSegments();
    void freeRequestedStillCounts();
    void reservedFollowsMappings();
    void expandableSegmentsJoin();
    void oldestForm();
    void pickleEqualsJson();
    void severalDevicesAndHost();
    void privatePools();
    void settingsAndRounding();
    void sharedStackIsOne();
    void contextsAndMetadata();
    void notASnapshot();
    void cutPickleGivesWhatItHas();
    void compressed();
};

namespace {

std::string entry(const char* action, std::uint64_t addr, std::int64_t size, const char* more = "") {
    static int time = 0;
    return QString(R"({"action":"%1","addr":%2,"size":%3,"stream":0,"time_us":%4%5})")
        .arg(action)
        .arg(addr)
        .arg(size)
        .arg(1790000000000000 + ++time)
        .arg(more)
        .toStdString();
}
std::string segment(std::uint64_t addr, std::int64_t size, const std::string& blocks, const char* more = "") {
    return QString(
               R"({"device":0,"address":%1,"total_size":%2,"allocated_size":0,"active_size":0,"stream":0,)"
               R"("segment_type":"large","blocks":[%3]%4})")
        .arg(addr)
        .arg(size)
        .arg(QString::fromStdString(blocks))
        .arg(more)
        .toStdString();
}
std::string block(std::uint64_t addr, std::int64_t size, std::int64_t requested, const char* state) {
    return QString(R"({"address":%1,"size":%2,"requested_size":%3,"state":"%4","frames":[]})")
        .arg(addr)
        .arg(size)
        .arg(requested)
        .arg(state)
        .toStdString();
}
std::string snapshot(const std::vector<std::string>& events, const std::vector<std::string>& segments = {}) {
    const auto join = [](const std::vector<std::string>& parts) {
        std::string out;
        for (const std::string& p : parts)
            out += (out.empty() ? "" : ",") + p;
        return out;
    };
    return "{\"segments\":[" + join(segments) + "],\"device_traces\":[[" + join(events) + "]]}";
}

std::vector<std::int64_t> requested(const MemoryDevice& d) {
    return {d.curves.requested.begin(), d.curves.requested.end()};
}

#define OPEN(name, text)                                                                                     \
    const MemoryHistoryPtr name = test::memoryOfText(text);                                                  \
    QVERIFY(name != nullptr);                                                                                \
    QCOMPARE(QString::fromStdString(test::brokenPromise(*name)), QString());

} // namespace

void TestMemoryHistory::liveBlocksSumToTheCurve() {
    const auto files = test::snapshotFiles(WARPLINE_SHARED_DATA);
    if (files.empty())
        QSKIP("no recorded snapshots; set WARPLINE_SHARED_DATA to run this");
    for (const auto& file : files) {
        const MemoryHistoryPtr h = test::memoryOf(openFile(file.string()));
        QVERIFY2(h != nullptr, file.c_str());
        QCOMPARE(QString::fromStdString(test::brokenPromise(*h)), QString());
        for (const MemoryDevice& d : h->devices) {
            // At every event, by the blocks alone.
            std::vector<std::int64_t> born(d.events.count() + 1), died(d.events.count() + 1);
            for (std::size_t i = 0; i < d.blocks.count(); ++i) {
                born[d.blocks.birth[i]] += d.blocks.size[i];
                if (d.blocks.death[i] != kAliveAtEnd)
                    died[d.blocks.death[i]] += d.blocks.size[i];
            }
            std::int64_t sum = 0;
            for (std::size_t m = 0; m < born.size(); ++m) {
                sum += born[m] - died[m];
                QVERIFY2(sum == d.curves.requested[m], file.c_str());
            }
            // And what the index says is alive is what sums to it.
            const LiveIndex index(d);
            std::mt19937 random(7);
            for (int i = 0; i < 50; ++i) {
                const auto m = static_cast<Moment>(random() % (d.lastMoment() + 1));
                std::vector<std::uint32_t> rows;
                index.live(m, rows);
                std::int64_t live = 0;
                for (const std::uint32_t row : rows)
                    live += d.blocks.size[row];
                QCOMPARE(live, d.curves.requested[m]);
            }
        }
    }
}

void TestMemoryHistory::backwardsEqualsForwards() {
    const auto files = test::snapshotFiles(WARPLINE_SHARED_DATA);
    if (files.empty())
        QSKIP("no recorded snapshots; set WARPLINE_SHARED_DATA to run this");
    for (const auto& file : files) {
        const MemoryHistoryPtr h = test::memoryOf(openFile(file.string()));
        QVERIFY2(h != nullptr, file.c_str());
        for (const MemoryDevice& d : h->devices) {
            if (d.events.count() > 20000 || d.implicitFrees > 0)
                continue;
            // From the state at the end, each event undone: addresses and sizes of blocks, bytes reserved.
            const LiveIndex index(d);
            const MemoryState end = memoryState(d, index, d.lastMoment());
            QCOMPARE(end.all.reserved, d.totals.reserved);
            std::map<std::uint64_t, std::int64_t> live;
            for (const std::uint32_t row : end.blocks)
                live[d.blocks.address[row]] = d.blocks.size[row];
            std::int64_t reserved = end.all.reserved;
            for (std::size_t i = d.events.count(); i-- > 0;) {
                const std::uint64_t address = d.events.address[i];
                switch (d.events.action[i]) {
                case MemoryAction::Alloc:
                    QVERIFY(live.erase(address) == 1);
                    break;
                case MemoryAction::FreeCompleted: // of the bytes that were allocated there
                    QVERIFY(d.events.block[i]);
                    live[address] = d.blocks.size[d.events.block[i].index()];
                    break;
                case MemoryAction::SegmentAlloc:
                case MemoryAction::SegmentMap:
                    reserved -= d.events.size[i];
                    break;
                case MemoryAction::SegmentFree:
                case MemoryAction::SegmentUnmap:
                    reserved += d.events.size[i];
                    break;
                default:
                    break;
                }
                if (i % 97 != 0 && i != 0)
                    continue;
                const MemoryState state = memoryState(d, index, static_cast<Moment>(i));
                std::map<std::uint64_t, std::int64_t> forwards;
                for (const std::uint32_t row : state.blocks)
                    forwards[d.blocks.address[row]] = d.blocks.size[row];
                QVERIFY2(forwards == live, file.c_str());
                QCOMPARE(state.all.reserved, reserved);
                QCOMPARE(state.reserved, reserved);
                std::int64_t pieces = 0;
                for (const SegmentPiece& p : state.pieces)
                    pieces += p.size;
                QCOMPARE(pieces, reserved);
            }
        }
    }
}

void TestMemoryHistory::allocatedTwice() {
    OPEN(h,
         snapshot({entry("alloc", 4096, 100), entry("alloc", 4096, 300), entry("free_completed", 4096, 300)}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(requested(d), (std::vector<std::int64_t>{0, 100, 300, 0}));
    QCOMPARE(d.implicitFrees, std::uint64_t(1));
    QCOMPARE(d.blocks.death[0], Moment(2));
    QVERIFY((d.blocks.flags[0] & BlockFlag::ImplicitFree) != 0);
    QVERIFY(h->diagnostics.find("implicit_frees") != nullptr);
    QVERIFY(!d.complete);
}

void TestMemoryHistory::freedWithoutAllocation() {
    OPEN(h, snapshot({entry("free_requested", 8192, 700), entry("free_completed", 8192, 700)}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(requested(d), (std::vector<std::int64_t>{700, 700, 0}));
    QCOMPARE(d.unmatchedFrees, std::uint64_t(1));
    QCOMPARE(d.preexistingBytes, std::int64_t(700));
    QCOMPARE(d.blocks.freeRequested[0], Moment(1));
    QCOMPARE(d.events.block[0], d.events.block[1]);
}

void TestMemoryHistory::preexistingFromSegments() {
    OPEN(h,
         snapshot({entry("alloc", 4096, 100)}, {segment(4096, 4096,
                                                        block(4096, 512, 100, "active_allocated") + "," +
                                                            block(4608, 1024, 1000, "active_pending_free") +
                                                            "," + block(5632, 2560, 0, "inactive"))}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(requested(d), (std::vector<std::int64_t>{1000, 1100}));
    QCOMPARE(d.blocks.allocated[0], std::int64_t(1024));
    QVERIFY((d.blocks.flags[0] & BlockFlag::PendingAtEnd) != 0);
    QCOMPARE(d.curves.allocated[1], std::int64_t(1536));
    QVERIFY(d.curves.allocatedExact);
    QCOMPARE(d.totals.largestFree, std::int64_t(2560));
    const MemoryState state = memoryState(d, LiveIndex(d), 1);
    QCOMPARE(state.pieces.size(), std::size_t(3));
    QCOMPARE(state.all.free, std::int64_t(2560));
    QCOMPARE(state.all.rounding(), std::int64_t(1536 - 1100));
}

void TestMemoryHistory::freeRequestedStillCounts() {
    OPEN(h, snapshot({entry("alloc", 4096, 100), entry("free_requested", 4096, 100),
                      entry("free_completed", 4096, 100)}))
    QCOMPARE(requested(h->devices[0]), (std::vector<std::int64_t>{0, 100, 100, 0}));
}

void TestMemoryHistory::reservedFollowsMappings() {
    OPEN(h, snapshot({entry("segment_map", 1 << 20, 4096), entry("segment_unmap", (1 << 20) + 1024, 1024),
                      entry("segment_free", 1 << 24, 8192)},
                     {segment(1 << 20, 1024, ""), segment((1 << 20) + 2048, 2048, "")}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE((std::vector<std::int64_t>{d.curves.reserved.begin(), d.curves.reserved.end()}),
             (std::vector<std::int64_t>{8192, 12288, 11264, 3072}));
    const LiveIndex index(d);
    for (Moment m = 0; m <= 3; ++m)
        QCOMPARE(memoryState(d, index, m).all.reserved, d.curves.reserved[m]);
}

void TestMemoryHistory::expandableSegmentsJoin() {
    OPEN(h, snapshot({entry("segment_map", 4096, 4096), entry("segment_map", 8192, 4096)},
                     {segment(4096, 8192, "", R"(,"is_expandable":true)")}))
    const MemoryDevice& d = h->devices[0];
    const MemoryState state = memoryState(d, LiveIndex(d), 2);
    QCOMPARE(state.segments.size(), std::size_t(1));
    QCOMPARE(state.segments[0].size, std::int64_t(8192));
    QCOMPARE(state.segments[0].largestFree, std::int64_t(8192));
}

void TestMemoryHistory::oldestForm() {
    // A bare list of segments; blocks without addresses, with a history.
    OPEN(h,
         R"([{"device":1,"address":4096,"total_size":3072,"allocated_size":1024,"active_size":1024,"stream":0,
        "segment_type":"small","blocks":[{"size":2048,"state":"inactive"},
        {"size":1024,"state":"active_allocated","history":[{"addr":6144,"real_size":900,
          "frames":[{"filename":"a.py","line":3,"name":"f"}]}]}]}])")
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(d.ordinal, std::int64_t(1));
    QCOMPARE(d.blocks.address[0], std::uint64_t(6144));
    QCOMPARE(d.blocks.size[0], std::int64_t(900));
    QVERIFY(!d.hasAddresses && !d.recorded && !d.hasTimes);
    QCOMPARE(h->frameText(h->stacks.node(d.blocks.stack[0]).frame), std::string("f (a.py:3)"));
    QVERIFY(h->diagnostics.find("state_only") != nullptr);
}

void TestMemoryHistory::pickleEqualsJson() {
    using namespace pickle;
    OPEN(h, pickle::snapshot(pickle::entry("alloc", -4096, 100, 1790000000000000) +
                             pickle::entry("free", -4096, 100, 1790000000000002)))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(requested(d), (std::vector<std::int64_t>{0, 100, 0}));
    QCOMPARE(d.events.address[0], ~std::uint64_t(0) - 4095); // C++ writes addresses as signed numbers
    QCOMPARE(d.events.time[0], TimeNs(1790000000000000000));
    QCOMPARE(h->format, std::string("PyTorch memory snapshot (pickle)"));
}

void TestMemoryHistory::severalDevicesAndHost() {
    OPEN(h, "{\"device_traces\":[[],[" + entry("alloc", 4096, 10) + "]],\"segments\":[],\"host_traces\":[[" +
                entry("alloc", 64, 33) + "]],\"host_segments\":[],\"future\":1}")
    QCOMPARE(h->devices.size(), std::size_t(2));
    QCOMPARE(h->devices[0].ordinal, std::int64_t(1));
    QVERIFY(h->devices[1].host);
    QCOMPARE(h->devices[1].peakRequested.requested, std::int64_t(33));
    QVERIFY(h->device(1) != nullptr && h->device(0) == nullptr);
    QVERIFY(h->diagnostics.find("unknown_keys") != nullptr);
}

void TestMemoryHistory::privatePools() {
    OPEN(h, snapshot({entry("alloc", 4096, 10), entry("alloc", 1 << 20, 10, R"(,"pool_id":[0,3])"),
                      entry("alloc", 1 << 30, 10), entry("free_completed", 1 << 30, 10)},
                     {segment(4096, 512, block(4096, 512, 10, "active_allocated"),
                              R"(,"segment_pool_id":[0,1])")}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(d.poolName(d.blocks.pool[0]), std::string("private (0, 1)"));
    QCOMPARE(d.poolName(d.blocks.pool[1]), std::string("private (0, 3)"));
    QCOMPARE(d.poolName(d.blocks.pool[2]), std::string("unknown"));
}

void TestMemoryHistory::settingsAndRounding() {
    OPEN(h, R"({"segments":[],"device_traces":[[{"action":"alloc","addr":1,"size":5242880,"stream":0},
        {"action":"alloc","addr":2,"size":1,"stream":0}]],
        "allocator_settings":{"expandable_segments":true,"roundup_power2_divisions":{"4":4},
        "trace_alloc_overflowed":true,"trace_alloc_max_entries":2}})")
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(d.blocks.allocated[0], std::int64_t(5242880)); // 5 MiB is a quarter step between 4 and 8
    QCOMPARE(d.blocks.allocated[1], std::int64_t(512));
    QVERIFY(!d.curves.allocatedExact);
    QVERIFY(h->diagnostics.hasLoss());
    QCOMPARE(h->settings[0], (std::pair<std::string, std::string>{"expandable_segments", "true"}));
}

void TestMemoryHistory::sharedStackIsOne() {
    using namespace pickle;
    const std::string frames =
        list(dict(item("filename", text("a.py")) + item("line", number(1)) + item("name", text("inner"))) +
             dict(item("filename", text("a.py")) + item("line", number(9)) + item("name", text("outer"))));
    const std::string first = dict(item("action", text("alloc")) + item("addr", number(1)) +
                                   item("size", number(5)) + item("frames", frames + "q\x07"));
    const std::string second = dict(item("action", text("alloc")) + item("addr", number(2)) +
                                    item("size", number(5)) + item("frames", "h\x07"));
    OPEN(h, pickle::snapshot(first + second))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(d.blocks.stack[0], d.blocks.stack[1]);
    QCOMPARE(h->stacks.stackCount(), std::size_t(2));
    const auto stack = h->stacks.frames(d.blocks.stack[0]);
    QCOMPARE(h->frameText(stack[0]), std::string("inner (a.py:1)"));
    QCOMPARE(h->frameText(stack[1]), std::string("outer (a.py:9)"));
    QVERIFY(!d.hasTimes);
}

void TestMemoryHistory::contextsAndMetadata() {
    OPEN(h, snapshot({entry("alloc", 1, 5,
                            R"(,"compile_context":"N/A","user_metadata":{"layer":3},"category":"GRADIENT")"),
                      entry("mystery", 1, 5, R"(,"compile_context":"0/1","forward_frames":["x","y"])")}))
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(h->strings.view(d.events.userMetadata[0]), std::string_view(R"({"layer": 3})"));
    QVERIFY(!d.events.compileContext[0]);
    QCOMPARE(h->strings.view(d.events.compileContext[1]), std::string_view("0/1"));
    QVERIFY(d.events.forwardStack[1]);
    QCOMPARE(d.blocks.category[0], MemoryCategory::Gradient);
    QCOMPARE(d.blocks.evidence[0], CategoryEvidence::FileSays);
    QVERIFY(h->diagnostics.find("unknown_actions") != nullptr);
}

void TestMemoryHistory::notASnapshot() {
    using namespace pickle;
    for (const std::string& text : {"\x80\x04" + dict(item("total_size_of_it", number(1))) + ".",
                                    "\x80\x04" + list(text("segments") + text("device_traces")) + ".",
                                    std::string(R"({"segments":7,"device_traces":8})")}) {
        const auto opened = openFromMemory(text, "x");
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().kind, Error::Kind::WrongKind);
        QVERIFY2(opened.error().message.find("not a PyTorch memory snapshot") != std::string::npos,
                 opened.error().message.c_str());
    }
    // And who wants a trace is told that it is none.
    const auto traces = openTracesFromMemory(pickle::snapshot(pickle::entry("alloc", 1, 1, 1)), "x");
    QVERIFY(!traces.ok() && traces.error().message.find("memory snapshot, not a trace") != std::string::npos);
}

void TestMemoryHistory::cutPickleGivesWhatItHas() {
    std::string events;
    for (int i = 0; i < 50; ++i)
        events += pickle::entry("alloc", 4096 * (i + 1), 100, 1790000000000000 + i);
    const std::string whole = pickle::snapshot(events);
    std::size_t before = 0;
    for (std::size_t n = whole.size() / 4; n < whole.size(); n += 11) {
        const auto opened = openFromMemory(std::string_view(whole).substr(0, n), "cut");
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
        const MemoryHistory& h = *opened.value().memory.at(0);
        QVERIFY(h.diagnostics.hasLoss());
        QVERIFY(h.devices.size() == 1 && h.devices[0].events.count() >= before);
        before = h.devices[0].events.count();
    }
    QCOMPARE(before, std::size_t(50));
}

void TestMemoryHistory::compressed() {
    const std::string whole = pickle::snapshot(pickle::entry("alloc", 4096, 100, 1790000000000000));
    for (const std::string& packed :
         {pack::gzip(whole), pack::zstd(whole), pack::zip({{"s.pickle", whole}, {"readme", "x"}})}) {
        OPEN(h, packed)
        QCOMPARE(h->devices[0].events.count(), std::size_t(1));
        QVERIFY(!h->compression.empty());
    }
}

QTEST_GUILESS_MAIN(TestMemoryHistory)
#include "tst_memory_history.moc"
