// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_categories.h"
#include "model/analysis/memory_holders.h"
#include "model/analysis/memory_oom.h"
#include "model/query/memory_state.h"
#include "tests/support/memory_files.h"

#include <QtTest>

using namespace warpline;

/// Holders, growth, refusals and categories.
class TestMemoryAnalysis : public QObject {
    Q_OBJECT

  private slots:
    void holdersByEachGroup();
    void growth();
    void refusal();
    void categories();
    void unknownWithoutEvidence();
};

namespace {

/// Events and annotations as JSON, at a microsecond each.
class Snapshot {
  public:
    Snapshot& event(const char* action, std::int64_t addr, std::int64_t size, const std::string& frames = {},
                    const std::string& more = {}) {
        m_events += (m_events.empty() ? "" : ",") +
                    QString(R"({"action":"%1","addr":%2,"size":%3,"stream":0,"time_us":%4,"frames":[%5]%6})")
                        .arg(action)
                        .arg(addr)
                        .arg(size)
                        .arg(++m_time)
                        .arg(QString::fromStdString(frames), QString::fromStdString(more))
                        .toStdString();
        return *this;
    }
    Snapshot& mark(const char* name, const char* stage) {
        m_marks +=
            (m_marks.empty() ? "" : ",") + QString(R"({"name":"%1","stage":"%2","device":0,"time_us":%3})")
                                               .arg(name, stage)
                                               .arg(++m_time)
                                               .toStdString();
        return *this;
    }
    [[nodiscard]] MemoryHistoryPtr open(const std::string& segments = {}) const {
        return test::memoryOfText("{\"segments\":[" + segments + "],\"device_traces\":[[" + m_events +
                                  "]],\"external_annotations\":[" + m_marks + "]}");
    }

  private:
    std::string m_events, m_marks;
    long long m_time = 1790000000000000;
};

std::string frame(const char* file, int line, const char* name) {
    return QString(R"({"filename":"%1","line":%2,"name":"%3"})").arg(file).arg(line).arg(name).toStdString();
}
const std::string kStep = frame("/usr/lib/python3/site-packages/torch/optim/adam.py", 5, "step");
const std::string kForward =
    frame("/home/me/model.py", 40, "forward") + "," +
    frame("/usr/lib/python3/site-packages/torch/nn/modules/module.py", 1, "_call_impl");
const std::string kBackward =
    frame("/usr/lib/python3/site-packages/torch/autograd/graph.py", 7, "_engine_run_backward");
const std::string kBuild = frame("/usr/lib/python3/site-packages/torch/nn/modules/linear.py", 9, "__init__");

} // namespace

void TestMemoryAnalysis::holdersByEachGroup() {
    Snapshot s;
    s.event("alloc", 1 << 20, 1000, kForward)
        .event("alloc", 2 << 20, 3000, kForward)
        .event("alloc", 3 << 20, 6000, kBuild);
    s.event("alloc", 4 << 20, 0);
    const MemoryHistoryPtr h = s.open();
    QVERIFY(h != nullptr);
    const MemoryDevice& d = h->devices[0];
    const LiveIndex index(d);
    for (int g = 0; g < kHolderGroupCount; ++g) {
        HolderQuery query;
        query.group = static_cast<HolderGroup>(g);
        query.rows = true;
        const Holders all = holdersAt(*h, d, index, 4, query);
        QCOMPARE(all.bytes, std::int64_t(10000));
        std::int64_t bytes = 0;
        double share = 0;
        std::uint64_t blocks = 0;
        for (const Holder& holder : all.rows) {
            QVERIFY2(!holder.label.empty(), holderGroupName(query.group));
            QCOMPARE(holder.rows.size(), holder.blocks);
            bytes += holder.bytes;
            blocks += holder.blocks;
            share += holder.share;
        }
        QCOMPARE(bytes, all.bytes);
        QCOMPARE(blocks, std::uint64_t(4));
        QVERIFY(std::abs(share - 1) < 1e-9);
        QVERIFY(holderGroupOf(holderGroupName(query.group)) == query.group);
    }
    HolderQuery query;
    query.group = HolderGroup::Frame;
    const Holders frames = holdersAt(*h, d, index, 4, query);
    QCOMPARE(frames.rows[0].label, std::string("__init__ (linear.py:9)"));
    QCOMPARE(frames.rows[1].label, std::string("forward (model.py:40)"));
    QCOMPARE(frames.rows[1].bytes, std::int64_t(4000));
    QCOMPARE(frames.rows[1].largest, std::int64_t(3000));
    QCOMPARE(frames.rows[1].longestLife, TimeNs(3000));
    QCOMPARE(frames.rows[1].oldestBlock, BlockId::fromIndex(0));
}

void TestMemoryAnalysis::growth() {
    Snapshot s;
    s.event("alloc", 1 << 20, 50, kForward);
    for (int step = 0; step < 4; ++step) {
        s.mark("ProfilerStep#1", "START");
        s.event("alloc", (10 + step) << 20, 100, kForward).event("alloc", 99 << 20, 7, kBuild);
        s.event("alloc", (50 + step) << 20, 10, kForward).event("free_completed", (50 + step) << 20, 10);
        s.event("free_completed", 99 << 20, 7);
        s.mark("ProfilerStep#1", "END");
    }
    const MemoryHistoryPtr h = s.open();
    QVERIFY(h != nullptr);
    const MemoryDevice& d = h->devices[0];
    const auto grown = growthBetween(*h, d, LiveIndex(d), 1, d.lastMoment(), {});
    QCOMPARE(grown.size(), std::size_t(1)); // what was given back did not grow
    QCOMPARE(grown[0].holder.bytes, std::int64_t(400));
    QCOMPARE(grown[0].before, std::int64_t(50));
    QCOMPARE(grown[0].after, std::int64_t(450));
    QCOMPARE(grown[0].born, std::uint64_t(8));
    QCOMPARE(grown[0].returned, std::uint64_t(4));
    QVERIFY(grown[0].everyStep);
    QVERIFY(growthBetween(*h, d, LiveIndex(d), d.lastMoment(), d.lastMoment(), {}).empty());
}

void TestMemoryAnalysis::refusal() {
    const std::string path = WARPLINE_SHARED_DATA "/h200/oom.snapshot.pickle";
    const MemoryHistoryPtr h = test::memoryOf(openFile(path));
    if (h == nullptr)
        QSKIP("no recorded snapshots; set WARPLINE_SHARED_DATA to run this");
    const MemoryDevice& d = h->devices[0];
    QCOMPARE(d.outOfMemory.size(), std::size_t(1));
    const OutOfMemoryReport r = outOfMemoryReport(*h, d, LiveIndex(d), 0);
    QCOMPARE(r.event.requested, std::int64_t(16777216));
    QCOMPARE(r.event.deviceFree, std::int64_t(146111856640));
    std::int64_t sum = 0;
    for (const auto& u : r.unusable)
        sum += u.bytes;
    QCOMPARE(sum, r.reservedFree);
    sum = 0;
    for (const auto& s : r.segments)
        sum += s.free;
    QCOMPARE(sum, r.reservedFree);
    QVERIFY2(r.sentence.find("16.0 MiB were asked for") == 0, r.sentence.c_str());

    // A piece large enough, but on another stream; and right ones that are too small.
    Snapshot s;
    s.event("segment_alloc", 1 << 30, 64 << 20, {}, R"(,"pool_id":[0,0])");
    s.event("oom", 0, 8 << 20, {}, R"(,"stream":7,"device_free":100)");
    const MemoryHistoryPtr other = s.open();
    const MemoryDevice& o = other->devices[0];
    const OutOfMemoryReport report = outOfMemoryReport(*other, o, LiveIndex(o), 0);
    QCOMPARE(report.unusable.size(), std::size_t(1));
    QCOMPARE(report.unusable[0].reason, OutOfMemoryReport::Unusable::Reason::OtherStream);
    QCOMPARE(report.reservedFree, std::int64_t(64) << 20);
}

void TestMemoryAnalysis::categories() {
    Snapshot s;
    s.event("alloc", 1 << 20, 1, kBuild);   // 0 parameter
    s.event("alloc", 2 << 20, 1, kForward); // 1 activation
    s.event("alloc", 3 << 20, 1, kForward); // 2 temporary of the forward pass
    s.event("free_completed", 3 << 20, 1, kForward);
    s.mark("backward", "START");
    s.event("alloc", 4 << 20, 1); // 3 gradient: the engine's thread has no stack
    s.event("alloc", 5 << 20, 1); // 4 temporary of the backward pass
    s.event("free_completed", 5 << 20, 1).event("free_completed", 2 << 20, 1);
    s.mark("backward", "END");
    s.event("alloc", 6 << 20, 1, kBackward); // 5 gradient, kept
    s.mark("Optimizer.step#AdamW.step", "START");
    s.event("alloc", 7 << 20, 1, kStep).event("alloc", 8 << 20, 1, kStep); // 6 state, 7 scratch
    s.event("free_completed", 8 << 20, 1, kStep);
    s.mark("Optimizer.step#AdamW.step", "END");
    s.mark("Optimizer.zero_grad#AdamW.zero_grad", "START");
    s.event("free_completed", 4 << 20, 1);
    s.mark("Optimizer.zero_grad#AdamW.zero_grad", "END");
    s.event("alloc", 9 << 20, 1); // 8 nobody knows
    const MemoryHistoryPtr h = s.open();
    QVERIFY(h != nullptr);
    const MemoryDevice& d = h->devices[0];
    using C = MemoryCategory;
    const std::vector<C> want = {C::Parameter, C::Activation,     C::Temporary, C::Gradient, C::Temporary,
                                 C::Gradient,  C::OptimizerState, C::Temporary, C::Unknown};
    QCOMPARE(d.blocks.count(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
        QVERIFY2(d.blocks.category[i] == want[i],
                 qPrintable(QString("block %1: %2").arg(i).arg(memoryCategoryName(d.blocks.category[i]))));
        QVERIFY(categoryEvidence(*h, d, BlockId::fromIndex(i)).ends_with('.'));
        QCOMPARE(d.blocks.evidence[i] == CategoryEvidence::None, want[i] == C::Unknown);
    }
}

void TestMemoryAnalysis::unknownWithoutEvidence() {
    Snapshot s;
    s.event("alloc", 1 << 20, 10);
    for (int i = 0; i < 20; ++i)
        s.event("segment_alloc", (100 + i) << 21, 1 << 21);
    s.event("free_completed", 1 << 20, 10);
    const MemoryHistoryPtr h = s.open();
    QCOMPARE(h->devices[0].blocks.category[0], MemoryCategory::Unknown);
}

QTEST_GUILESS_MAIN(TestMemoryAnalysis)
#include "tst_memory_analysis.moc"
