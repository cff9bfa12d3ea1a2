// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// The walk that people take through a trace and its snapshot: from a step to the allocation behind its
// heaviest op, and back to each stop. What each stop shows is checked against the model.
#include "model/analysis/ops.h"
#include "model/analysis/slice_filter.h"
#include "views/flame/flame_panel.h"
#include "views/flame/lazy_stacks.h"
#include "views/memory/allocation_view.h"
#include "views/memory/blocks_panel.h"
#include "views/tables/kernels_panel.h"
#include "views/tables/ops_panel.h"
#include "views/timeline/ruler.h"
#include "views/timeline/timeline_view.h"
#include "views/window/filter_chips.h"
#include "views/window/notice_bar.h"
#include "views/window/top_bar.h"
#include "window_bench.h"

using namespace warpline;
using warpline::test::trainingSample;
using warpline::test::WindowBench;

class TestWindowWalk : public QObject {
    Q_OBJECT

  private slots:
    void thereAndBack() {
        WindowBench bench(trainingSample());
        Document& document = bench.document();
        Workbench& work = *bench.window.workbench();
        const FilterChips& chips = *bench.window.topBar()->chips();
        const Document::Item item = document.items().front();
        const Trace& trace = *item.trace;
        const TraceStacksPtr stacks = item.stacks->get({}).value();
        QVERIFY(trace.steps.size() >= 2);
        const Step step = trace.steps[1];
        QVERIFY(bench.selection().same({}));

        // A step, by a click on its band in the timeline.
        auto* ruler = bench.window.findChild<Ruler*>();
        const TimeRange visible = document.visible();
        const double at = static_cast<double>(step.range.begin + step.range.duration() / 2 - visible.begin) /
                          static_cast<double>(visible.duration());
        const int x = static_cast<int>(at * work.timeline()->view()->viewport()->width());
        QTest::mouseClick(ruler, Qt::LeftButton, Qt::NoModifier,
                          QPoint(x, Ruler::kScaleHeight + Ruler::kStepsHeight / 2));
        bench.settle();
        QCOMPARE(document.range()->begin, step.range.begin);
        QCOMPARE(document.range()->end, step.range.end);
        QCOMPARE(bench.selection().step, std::optional(step.number));
        QVERIFY(chips.chip(FilterChips::Kind::Range)->isVisible());
        const Selection atStep = bench.selection();

        // The op that took most of its GPU time, by a click on the first row.
        bench.key(Qt::Key_1, Qt::AltModifier);
        OpQuery query;
        query.range = step.range;
        const OpTable table = opTable(*item.ops, query).value();
        const QString top =
            QString::fromUtf8(trace.strings.view(table.rows.front().name).data(),
                              static_cast<qsizetype>(trace.strings.view(table.rows.front().name).size()));
        QCOMPARE(work.ops()->opsModel()->nameAt(0), top);
        bench.clickRow(work.ops(), 0);
        QCOMPARE(bench.selection().op, top);
        QVERIFY(chips.chip(FilterChips::Kind::Op)->isVisible());
        const Selection atOp = bench.selection();

        // Its longest kernel: the kernels are those under it, and the timeline shows the longest.
        SliceFilter filter;
        filter.op = top.toStdString();
        const SliceMask under = sliceMask(*stacks, filter).value();
        SliceId longest;
        TimeNs sum = 0;
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            if (under[row] == 0 || !isDeviceWork(trace.kind(row)) ||
                !step.range.contains(trace.slices.start[row]))
                continue;
            sum += trace.slices.duration[row];
            if (!longest || trace.slices.duration[row] > trace.slices.duration[longest.index()])
                longest = SliceId::fromIndex(row);
        }
        QVERIFY(longest);
        bench.key(Qt::Key_2, Qt::AltModifier);
        QCOMPARE(work.kernels()->kernelsModel()->kernels().total, sum);
        bench.key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(document.selected(), (SliceRef{0, longest}));
        QVERIFY(document.visible().overlaps(document.sliceRange(document.selected()).begin,
                                            document.sliceRange(document.selected()).end));
        const Selection atKernel = bench.selection();

        // The Python line that it comes from, in the flame graph.
        const FrameId line = sourceOf(*stacks, stacks->stackOf(longest));
        QVERIFY(line);
        bench.key(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(WindowBench::seen(work.flame()->view()));
        QCOMPARE(bench.selection().frame.name().toStdString(), std::string(stacks->frames().name(line)));
        checkFlame(work, stacks->frames().name(line));
        QVERIFY(chips.chip(FilterChips::Kind::Frame)->isVisible() || chipsHidden(chips));
        const Selection atLine = bench.selection();

        // The largest block that was allocated in it.
        bench.key(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY2(WindowBench::seen(work.memory()->allocation()), qPrintable(bench.window.notice()->text()));
        const BlockRef block = bench.selection().block;
        QVERIFY(block);
        const MemoryItem& memory = document.memories()[static_cast<std::size_t>(block.memory)];
        const std::size_t device = memory.devices[static_cast<std::size_t>(block.device)].device;
        const EventPlace place = memory.join->allocationOf(device, block.block);
        QCOMPARE(place.step, std::int64_t{1});
        QVERIFY(hasFrame(*stacks, place.op, stacks->frames().name(line)));
        // The heaviest op copies and allocates nothing: its chip goes, the line's stays.
        QVERIFY(bench.selection().op.isEmpty());
        QVERIFY(bench.selection().frame == atLine.frame);
        BlocksPanel& blocks = *work.memory()->blocks();
        QVERIFY(WindowBench::seen(&blocks));
        QCOMPARE(blocks.blocksModel()->blockAt(blocks.view()->currentIndex().row()), block.block);
        const Selection atBlock = bench.selection();

        // And back, stop by stop, each in the view it was made in.
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QVERIFY(bench.selection().same(atLine));
        QVERIFY(WindowBench::seen(work.flame()->view()));
        QVERIFY(!WindowBench::seen(work.memory()->allocation()));
        checkFlame(work, stacks->frames().name(line));
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QVERIFY(bench.selection().same(atKernel));
        QVERIFY(QApplication::focusWidget() == work.timeline()->view());
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QVERIFY(bench.selection().same(atOp));
        QVERIFY(WindowBench::seen(work.ops()->view()));
        QCOMPARE(work.ops()->opsModel()->nameAt(work.ops()->view()->currentIndex().row()), top);
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QVERIFY(bench.selection().same(atStep));
        QVERIFY(!chips.active(FilterChips::Kind::Op));
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QVERIFY(bench.selection().same({}));
        QVERIFY(!document.back());
        // Forward again to the end.
        for (int i = 0; i < 5; ++i)
            bench.key(Qt::Key_Right, Qt::AltModifier);
        QVERIFY(bench.selection().same(atBlock));
        QVERIFY(WindowBench::seen(work.memory()->allocation()));
        QVERIFY(!document.forward());
    }

  private:
    static bool chipsHidden(const FilterChips& chips) {
        return chips.active(FilterChips::Kind::Frame); // behind the last one, where the bar is narrow
    }
    static void checkFlame(const Workbench& work, std::string_view name) {
        const FlameTreePtr& tree = work.flame()->view()->tree();
        QVERIFY(tree);
        const std::uint32_t node = work.flame()->view()->selected();
        QVERIFY(node != FlameTree::kRoot);
        QCOMPARE(std::string(tree->frames->name(tree->nodes[node].frame)), std::string(name));
    }
    static bool hasFrame(const TraceStacks& stacks, SliceId slice, std::string_view name) {
        const StackId stack = slice ? stacks.stackOf(slice) : StackId{};
        for (const FrameId frame : stack ? stacks.stacks().path(stack) : std::vector<FrameId>()) {
            if (stacks.frames().name(frame) == name)
                return true;
        }
        return false;
    }
};

QTEST_MAIN(TestWindowWalk)
#include "tst_window_walk.moc"
