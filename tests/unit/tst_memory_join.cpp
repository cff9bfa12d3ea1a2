// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_from_trace.h"
#include "model/analysis/memory_holders.h"
#include "model/analysis/memory_join.h"
#include "model/analysis/memory_peaks.h"
#include "model/store/session.h"
#include "tests/support/check_memory.h"
#include "tests/support/memory_files.h"

#include <QtTest>

using namespace warpline;

/// A snapshot and a trace of one run: the same clock, and each allocation in its op.
class TestMemoryJoin : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void oneClock();
    void peakIsInItsOpAndStep();
    void everyRecordedAllocation();
    void backFromTheOp();
    void bytesByOp();
    void historyOfTheTrace();
    void otherRunIsRefused();
    void apartWithoutOverlap();

  private:
    TracePtr m_trace;
    MemoryHistoryPtr m_memory;
    MemoryJoinPtr m_join;
};

void TestMemoryJoin::initTestCase() {
    const std::string folder = WARPLINE_SHARED_DATA "/h200/";
    m_memory = test::memoryOf(openFile(folder + "gpt.snapshot.pickle"));
    if (m_memory == nullptr)
        QSKIP("no recorded snapshots; set WARPLINE_SHARED_DATA to run this");
    auto opened = openFile(folder + "gpt.json.gz");
    QVERIFY(opened.ok());
    m_trace = opened.value().traces.at(0);
    auto join = MemoryJoin::build(m_memory, m_trace);
    QVERIFY2(join.ok(), join.ok() ? "" : join.error().message.c_str());
    m_join = join.value();
}

void TestMemoryJoin::oneClock() {
    const auto session = Session::of({m_trace}, {m_memory});
    QCOMPARE(session->sources.size(), std::size_t(2));
    QVERIFY(session->sources[0].trace && !session->sources[0].memory);
    QVERIFY(session->sources[1].memory && !session->sources[1].trace);
    QCOMPARE(session->sources[0].shift, TimeNs(0));
    QCOMPARE(session->sources[1].shift, TimeNs(0));
    QVERIFY(session->notes.empty());
    QCOMPARE(session->extent.begin, std::min(m_trace->extent.begin, m_memory->extent.begin));
}

void TestMemoryJoin::peakIsInItsOpAndStep() {
    // The highest moment that the trace has recorded as well.
    const MemoryDevice& d = m_memory->devices[0];
    Moment peak = 0;
    for (Moment m = 1; m <= d.lastMoment(); ++m)
        if (m_trace->extent.contains(d.timeOf(m)) && d.events.action[m - 1] == MemoryAction::Alloc &&
            (peak == 0 || d.curves.requested[m] > d.curves.requested[peak]))
            peak = m;
    QVERIFY(peak > 0);
    const EventPlace place = m_join->place(0, peak - 1);
    QCOMPARE(place.by, EventPlace::By::Record);
    QVERIFY(place.op);
    // Checked against the instant of the same address and bytes: its thread, and the ops open there then.
    const MemoryTable& memory = m_trace->memory;
    std::size_t row = memory.size();
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (memory.address[i] == d.events.address[peak - 1] && memory.bytes[i] >= d.events.size[peak - 1] &&
            (row == memory.size() ||
             std::abs(memory.time[i] - d.timeOf(peak)) < std::abs(memory.time[row] - d.timeOf(peak))))
            row = i;
    QVERIFY(row < memory.size());
    QCOMPARE(place.thread, m_trace->rawTracks[memory.rawTrack[row]].thread);
    QVERIFY(m_trace->range(place.op).contains(memory.time[row]));
    QVERIFY(std::abs(memory.time[row] - d.timeOf(peak)) < 100'000);
    QVERIFY(place.step >= 0);
    QVERIFY(m_trace->steps[static_cast<std::size_t>(place.step)].range.contains(memory.time[row]));
    QVERIFY2(m_join->opName(place).starts_with("aten::"), std::string(m_join->opName(place)).c_str());
}

void TestMemoryJoin::everyRecordedAllocation() {
    QVERIFY2(m_join->matched() * 100 >= m_join->allocations() * 99, m_join->evidence().c_str());
    QVERIFY(m_join->allocations() > 1600);
}

void TestMemoryJoin::backFromTheOp() {
    const MemoryDevice& d = m_memory->devices[0];
    std::size_t checked = 0;
    for (std::uint32_t i = 0; i < d.events.count(); i += 7) {
        if (d.events.action[i] != MemoryAction::Alloc)
            continue;
        const EventPlace place = m_join->place(0, i);
        if (!place.op)
            continue;
        const auto back = m_join->allocationsOf(place.op);
        QVERIFY(std::find(back.begin(), back.end(), std::pair<std::size_t, std::uint32_t>(0, i)) !=
                back.end());
        if (place.python) {
            const auto ofFrame = m_join->allocationsOf(place.python);
            QVERIFY(std::find(ofFrame.begin(), ofFrame.end(), std::pair<std::size_t, std::uint32_t>(0, i)) !=
                    ofFrame.end());
        }
        ++checked;
    }
    QVERIFY(checked > 100);
}

void TestMemoryJoin::bytesByOp() {
    const MemoryDevice& d = m_memory->devices[0];
    const TimeRange range = m_trace->extent;
    std::int64_t allocated = 0, freed = 0;
    for (std::size_t i = 0; i < d.events.count(); ++i) {
        if (!range.contains(d.events.time[i]))
            continue;
        if (d.events.action[i] == MemoryAction::Alloc)
            allocated += d.events.size[i];
        else if (d.events.action[i] == MemoryAction::FreeCompleted)
            freed += d.blocks.size[d.events.block[i].index()];
    }
    std::int64_t a = 0, f = 0;
    for (const OpBytes& op : m_join->bytesByOp(range)) {
        a += op.allocated;
        f += op.freed;
    }
    QCOMPARE(a, allocated);
    QCOMPARE(f, freed);
    QVERIFY(m_join->bytesByOp(range, 5).empty());
}

void TestMemoryJoin::historyOfTheTrace() {
    const MemoryHistoryPtr h = memoryOfTrace(m_trace);
    QVERIFY(h != nullptr && h->fromTrace);
    QCOMPARE(QString::fromStdString(test::brokenPromise(*h)), QString());
    QCOMPARE(h->devices.size(), std::size_t(1));
    const MemoryDevice& d = h->devices[0];
    // The instants' own totals, less what was there before, are the curve.
    std::size_t event = 0;
    const std::int64_t before = [&] {
        for (std::size_t i = 0; i < m_trace->memory.size(); ++i)
            if (m_trace->memory.device[i] == 0)
                return m_trace->memory.totalAllocated[i] - d.curves.requested[1];
        return std::int64_t(0);
    }();
    for (std::size_t i = 0; i < m_trace->memory.size(); ++i) {
        if (m_trace->memory.device[i] != 0)
            continue;
        ++event;
        QCOMPARE(d.curves.requested[event] + before, m_trace->memory.totalAllocated[i]);
        QCOMPARE(d.curves.reserved[event], m_trace->memory.totalReserved[i]);
    }
    QCOMPARE(event, d.events.count());
    HolderQuery query;
    query.group = HolderGroup::Op;
    const Holders holders = holdersAt(*h, d, LiveIndex(d), d.peakRequested.moment, query);
    QVERIFY2(holders.rows.at(0).label.starts_with("aten::"), holders.rows.at(0).label.c_str());
    const auto join = MemoryJoin::build(h, m_trace);
    QVERIFY(join.ok());
    QCOMPARE(join.value()->matched(), join.value()->allocations());
}

void TestMemoryJoin::otherRunIsRefused() {
    const MemoryHistoryPtr other = test::memoryOf(openFile(WARPLINE_SHARED_DATA "/h200/cnn.snapshot.pickle"));
    QVERIFY(other != nullptr);
    const auto join = MemoryJoin::build(other, m_trace);
    QVERIFY(!join.ok() && join.error().message.find("do not overlap") != std::string::npos);
    const MemoryHistoryPtr timeless = test::memoryOfText(
        R"({"segments":[],"device_traces":[[{"action":"alloc","addr":1,"size":2,"stream":0}]]})");
    const auto none = MemoryJoin::build(timeless, m_trace);
    QVERIFY(!none.ok() && none.error().message.find("no times") != std::string::npos);
}

void TestMemoryJoin::apartWithoutOverlap() {
    const MemoryHistoryPtr other = test::memoryOf(openFile(WARPLINE_SHARED_DATA "/h200/cnn.snapshot.pickle"));
    QVERIFY(other != nullptr);
    const auto session = Session::of({m_trace}, {other});
    QVERIFY(session->sources[1].shift != 0);
    QCOMPARE(session->notes.size(), std::size_t(1));
    QCOMPARE(other->extent.begin + session->sources[1].shift, m_trace->extent.begin);
    const MemoryHistoryPtr timeless = test::memoryOfText(
        R"({"segments":[],"device_traces":[[{"action":"alloc","addr":1,"size":2,"stream":0}]]})");
    const auto placed = Session::of({m_trace}, {timeless});
    QCOMPARE(placed->extent, m_trace->extent);
    QVERIFY(placed->notes.at(0).find("no times") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestMemoryJoin)
#include "tst_memory_join.moc"
