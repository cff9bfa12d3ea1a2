// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_flame.h"
#include "model/analysis/ops.h"
#include "model/analysis/slice_filter.h"
#include "model/import/import.h"

#include <QTest>

#include <numeric>
#include <set>
#include <string>

using namespace warpline;

/// What an op, a kernel, a frame or tracks leave of a trace, against the stacks of each event.
class TestSliceFilter : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void nothingAskedLeavesAll();
    void op();
    void kernel();
    void frames();
    void orderOfFramesCounts();
    void moduleClasses();
    void tracks();
    void allMustHold();
    void tablesFollow();
    void whatIsNotThere();

  private:
    [[nodiscard]] SliceMask mask(const SliceFilter& filter) const {
        return sliceMask(*m_stacks, filter).value();
    }
    [[nodiscard]] std::size_t count(const SliceMask& mask) const {
        return static_cast<std::size_t>(std::accumulate(mask.begin(), mask.end(), 0));
    }
    /// The names in a slice's stack, outermost first.
    [[nodiscard]] std::vector<std::string> stackOf(std::size_t row) const {
        std::vector<std::string> names;
        const StackId stack = m_stacks->stackOf(SliceId::fromIndex(row));
        for (const FrameId frame : stack ? m_stacks->stacks().path(stack) : std::vector<FrameId>())
            names.emplace_back(m_stacks->frames().name(frame));
        return names;
    }
    [[nodiscard]] std::string longestKernel() const {
        SliceId best;
        for (std::size_t row = 0; row < m_trace->slices.size(); ++row) {
            if (m_trace->kind(row) == SliceKind::Kernel &&
                (!best || m_trace->slices.duration[row] > m_trace->slices.duration[best.index()]))
                best = SliceId::fromIndex(row);
        }
        return std::string(m_trace->name(best));
    }

    TracePtr m_trace;
    TraceStacksPtr m_stacks;
};

void TestSliceFilter::initTestCase() {
    auto opened = openTraces(WARPLINE_TEST_DATA "/../../resources/samples/gpt.json.gz");
    QVERIFY(opened.ok());
    m_trace = opened.value().front();
    m_stacks = TraceStacks::build(m_trace).value();
}

void TestSliceFilter::nothingAskedLeavesAll() {
    QVERIFY(SliceFilter().empty());
    QCOMPARE(count(mask({})), m_trace->slices.size());
}

void TestSliceFilter::op() {
    SliceFilter filter;
    filter.op = "aten::addmm";
    const SliceMask left = mask(filter);
    std::size_t kernels = 0;
    for (std::size_t row = 0; row < left.size(); ++row) {
        bool under = false;
        const StackId stack = m_stacks->stackOf(SliceId::fromIndex(row));
        for (const FrameId frame : stack ? m_stacks->stacks().path(stack) : std::vector<FrameId>())
            under = under || (m_stacks->frames().name(frame) == filter.op &&
                              (m_stacks->frames().at(frame).kind == FrameKind::Op ||
                               m_stacks->frames().at(frame).kind == FrameKind::Backward));
        QCOMPARE(left[row] != 0, under);
        kernels += under && m_trace->kind(row) == SliceKind::Kernel ? 1 : 0;
    }
    QVERIFY(kernels > 0);
}

void TestSliceFilter::kernel() {
    SliceFilter filter;
    filter.kernel = longestKernel();
    const SliceMask left = mask(filter);
    std::set<std::size_t> want;
    for (std::size_t row = 0; row < left.size(); ++row) {
        if (m_trace->kind(row) != SliceKind::Kernel ||
            m_trace->name(SliceId::fromIndex(row)) != filter.kernel)
            continue;
        for (SliceId at = SliceId::fromIndex(row); at; at = m_stacks->hostParent(at))
            want.insert(at.index());
    }
    QVERIFY(want.size() > 2);
    for (std::size_t row = 0; row < left.size(); ++row)
        QCOMPARE(left[row] != 0, want.contains(row));
}

void TestSliceFilter::frames() {
    // The way to an event, with a frame left out in between, leads to it.
    std::size_t deep = 0;
    for (std::size_t row = 0; row < m_trace->slices.size(); ++row) {
        if (m_trace->kind(row) == SliceKind::Kernel && stackOf(row).size() > 6)
            deep = row;
    }
    SliceFilter filter;
    filter.frames = stackOf(deep);
    filter.frames.erase(filter.frames.begin() + 2);
    const SliceMask left = mask(filter);
    QVERIFY(left[deep] != 0);
    for (std::size_t row = 0; row < left.size(); ++row) {
        const std::vector<std::string> names = stackOf(row);
        std::size_t found = 0;
        for (const std::string& name : names)
            found += found < filter.frames.size() && name == filter.frames[found] ? 1 : 0;
        if (names.empty())
            QVERIFY(left[row] == 0);
        else if (found == filter.frames.size())
            QVERIFY(left[row] != 0);
    }
    QVERIFY(count(left) < m_trace->slices.size() / 2);
}

void TestSliceFilter::orderOfFramesCounts() {
    std::size_t deep = 0;
    for (std::size_t row = 0; row < m_trace->slices.size(); ++row) {
        if (m_trace->kind(row) == SliceKind::Kernel && stackOf(row).size() > 6)
            deep = row;
    }
    const std::vector<std::string> names = stackOf(deep);
    SliceFilter filter;
    filter.frames = {names.front(), names.back()};
    QVERIFY(mask(filter)[deep] != 0);
    filter.frames = {names.back(), names.front()};
    QCOMPARE(count(mask(filter)), std::size_t{0});
}

void TestSliceFilter::moduleClasses() {
    SliceFilter one;
    SliceFilter all;
    one.frames = {"Block_0"};
    all.frames = {"Block"};
    const SliceMask ofOne = mask(one);
    const SliceMask ofAll = mask(all);
    QVERIFY(count(ofOne) > 0);
    QVERIFY(count(ofAll) > count(ofOne));
    for (std::size_t row = 0; row < ofOne.size(); ++row)
        QVERIFY(ofOne[row] <= ofAll[row]);
}

void TestSliceFilter::tracks() {
    std::size_t kernels = 0;
    for (std::size_t t = 0; t < m_trace->tracks.size(); ++t) {
        const Track& track = m_trace->tracks[t];
        if (track.kind != TrackKind::Thread || track.endSlice == track.firstSlice)
            continue;
        SliceFilter filter;
        filter.tracks = {TrackId::fromIndex(t)};
        const SliceMask left = mask(filter);
        for (std::uint32_t row = track.firstSlice; row < track.endSlice; ++row)
            QVERIFY(left[row] != 0);
        for (std::size_t row = 0; row < left.size(); ++row) {
            if (!isDeviceWork(m_trace->kind(row)))
                continue;
            const SliceId launch = m_stacks->launchOf(SliceId::fromIndex(row));
            QCOMPARE(left[row] != 0, launch && m_trace->trackOf(launch) == filter.tracks.front());
            kernels += left[row] != 0 ? 1 : 0;
        }
    }
    QVERIFY(kernels > 0);
}

void TestSliceFilter::allMustHold() {
    SliceFilter op;
    op.op = "aten::addmm";
    SliceFilter module;
    module.frames = {"Block_0"};
    SliceFilter both;
    both.op = op.op;
    both.frames = module.frames;
    const SliceMask a = mask(op);
    const SliceMask b = mask(module);
    const SliceMask left = mask(both);
    QVERIFY(count(left) > 0);
    for (std::size_t row = 0; row < left.size(); ++row)
        QCOMPARE(left[row] != 0, a[row] != 0 && b[row] != 0);
}

void TestSliceFilter::tablesFollow() {
    SliceFilter filter;
    filter.op = "aten::addmm";
    const SliceMask left = mask(filter);
    const KernelTable kernels = kernelTable(*m_trace, {}, {}, left).value();
    OpQuery query;
    query.only = left;
    const OpTable ops = opTable(*OpTree::build(m_trace), query).value();
    TimeNs device = 0;
    for (std::size_t row = 0; row < left.size(); ++row) {
        if (left[row] != 0 && isDeviceWork(m_trace->kind(row)))
            device += m_trace->slices.duration[row];
    }
    QVERIFY(device > 0);
    QCOMPARE(kernels.total, device);
    QCOMPARE(ops.selfDeviceTotal, device);
    QVERIFY(!ops.rows.empty());
    for (const OpRow& row : ops.rows)
        QVERIFY(left[row.longest.index()] != 0);
}

void TestSliceFilter::whatIsNotThere() {
    SliceFilter filter;
    filter.op = "no such op";
    QCOMPARE(count(mask(filter)), std::size_t{0});
    filter = {};
    filter.kernel = "no such kernel";
    QCOMPARE(count(mask(filter)), std::size_t{0});
    filter = {};
    filter.tracks = {TrackId{}};
    QCOMPARE(count(mask(filter)), std::size_t{0});
    std::stop_source stop;
    stop.request_stop();
    filter.op = "aten::mm";
    QVERIFY(!sliceMask(*m_stacks, filter, stop.get_token()).ok());
}

QTEST_GUILESS_MAIN(TestSliceFilter)
#include "tst_slice_filter.moc"
