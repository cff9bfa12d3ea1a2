// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// One selection for all views: what is chosen in one narrows or marks the others, is seen as a chip, and is
// taken off there; bytes as the width of flames.
#include "model/analysis/slice_filter.h"
#include "views/flame/flame_panel.h"
#include "views/flame/lazy_stacks.h"
#include "views/memory/allocation_view.h"
#include "views/memory/blocks_panel.h"
#include "views/tables/kernels_panel.h"
#include "views/tables/ops_panel.h"
#include "views/timeline/timeline_state.h"
#include "views/window/filter_chips.h"
#include "views/window/notice_bar.h"
#include "views/window/top_bar.h"
#include "window_bench.h"

#include <QAction>
#include <QSignalSpy>

using namespace warpline;
using warpline::test::trainingSample;
using warpline::test::WindowBench;
using Kind = FilterChips::Kind;

class TestWindowSelection : public QObject {
    Q_OBJECT

  private slots:
    void init() { m_bench = std::make_unique<WindowBench>(trainingSample()); }
    void cleanup() { m_bench.reset(); }

    void aModuleOfTheFlameGraphNarrowsTheTables() {
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        const TimeNs all = kernelTotal();
        work.raisePanel(Workbench::Panel::Flame);
        bench.settle();
        FlameView& view = *work.flame()->view();
        const std::uint32_t node = nodeOf(*view.tree(), "Block_2");
        QVERIFY(node != 0);
        const std::int64_t total = view.tree()->nodes[node].total;
        const auto rect = view.rectOf(node);
        QVERIFY(rect);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, rect->center().toPoint());
        bench.settle();
        QCOMPARE(bench.selection().frame.name(), QStringLiteral("Block_2"));
        QVERIFY(bench.selection().view == ViewKind::Flame);
        // The tables hold what the flame is wide, to the nanosecond.
        QCOMPARE(kernelTotal(), total);
        QVERIFY(total < all);
        work.raisePanel(Workbench::Panel::Ops);
        bench.settle();
        QCOMPARE(work.ops()->opsModel()->ops().totals.selfDeviceTotal, total);
        QVERIFY(work.ops()->footer().contains(QStringLiteral("Block_2")));
        // Escape in the graph zooms out, then lets go.
        work.raisePanel(Workbench::Panel::Flame);
        bench.settle();
        while (view.zoomed() != 0)
            QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(bench.selection().frame);
        QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(!bench.selection().frame);
        QCOMPARE(kernelTotal(), all);
    }

    void anOpNarrowsKernelsAndFlames() {
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        const int ops = work.ops()->model()->rowCount();
        bench.clickRow(work.ops(), 2);
        const QString name = bench.selection().op;
        // Its events are marked in the timeline, all of them and no others.
        const MarkedSlices& marked = work.timeline()->state()->hits();
        const Trace& trace = *bench.document().items().front().trace;
        const std::string wanted = name.toStdString();
        std::size_t lanes = 0;
        for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
            bool holds = false;
            for (std::uint32_t row = trace.lanes[lane].begin; row < trace.lanes[lane].end; ++row)
                holds = holds || trace.name(SliceId::fromIndex(row)) == wanted;
            std::vector<std::pair<int, int>> stretches;
            marked.stretches(0, static_cast<std::uint32_t>(lane), trace.extent, 1000, stretches);
            QCOMPARE(!stretches.empty(), holds);
            lanes += holds ? 1 : 0;
        }
        QVERIFY(lanes > 0);
        QCOMPARE(name, work.ops()->opsModel()->nameAt(2));
        QCOMPARE(work.ops()->model()->rowCount(), ops); // its own table stays whole
        const TimeNs left = kernelTotal();
        work.raisePanel(Workbench::Panel::Flame);
        bench.settle();
        QCOMPARE(work.flame()->view()->tree()->total(), left);
        QVERIFY(work.flame()->summary().contains(name));
        // A kernel narrows the ops to those that launched it.
        bench.document().selectOp({});
        bench.settle();
        QVERIFY(marked.empty());
        work.raisePanel(Workbench::Panel::Kernels);
        bench.settle();
        bench.clickRow(work.kernels(), 0);
        const KernelsRow row = work.kernels()->kernelsModel()->kernels().rows.front();
        QCOMPARE(bench.selection().kernel, row.name);
        work.raisePanel(Workbench::Panel::Ops);
        bench.settle();
        QVERIFY(work.ops()->model()->rowCount() < ops);
        QCOMPARE(work.ops()->opsModel()->ops().totals.selfDeviceTotal, row.sums.total);
    }

    void aTrackNarrowsByKey() {
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        const Trace& trace = *bench.document().items().front().trace;
        const TimeNs all = kernelTotal();
        // A thread that launches something, by one of its events.
        const TraceStacksPtr stacks = bench.document().items().front().stacks->get({}).value();
        SliceId launch;
        for (std::size_t row = 0; row < trace.slices.size() && !launch; ++row) {
            if (isDeviceWork(trace.kind(row)))
                launch = stacks->launchOf(SliceId::fromIndex(row));
        }
        bench.document().reveal({0, launch});
        for (QAction* action : work.timeline()->timelineActions()) {
            if (action->objectName() == QStringLiteral("timeline.onlyTrack"))
                action->trigger();
        }
        bench.settle();
        QCOMPARE(bench.selection().tracks.size(), std::size_t{1});
        QVERIFY(bench.selection().tracks.front().track == trace.trackOf(launch));
        const TimeNs left = kernelTotal();
        QVERIFY(left > 0 && left < all);
        QVERIFY(chips().active(Kind::Tracks));
        chips().takeOff(Kind::Tracks);
        QCOMPARE(kernelTotal(), all);
    }

    void chipsComeOffOneByOne() {
        WindowBench& bench = *m_bench;
        bench.window.resize(1920, 900);
        Document& document = bench.document();
        const Trace& trace = *document.items().front().trace;
        document.setRange(trace.steps.front().range, QStringLiteral("ProfilerStep#2"));
        document.selectOp(QStringLiteral("aten::addmm"));
        document.selectFrame({{QStringLiteral("Block_1")}, -1});
        bench.window.topBar()->searchField()->setText(QStringLiteral("addmm"));
        bench.window.workbench()->memory()->blocks()->setQuery(QStringLiteral("size>1MiB"));
        bench.settle();
        for (const Kind kind : {Kind::Range, Kind::Op, Kind::Frame, Kind::Search, Kind::Blocks})
            QVERIFY2(chips().chip(kind)->isVisible(), qPrintable(chips().chip(kind)->label()));
        QVERIFY(!chips().chip(Kind::Kernel)->isVisible());
        QCOMPARE(chips().chip(Kind::Op)->label(), QStringLiteral("aten::addmm"));
        QCOMPARE(chips().chip(Kind::Frame)->label(), QStringLiteral("under Block_1"));
        // By click, by key, by command.
        QTest::mouseClick(chips().chip(Kind::Op), Qt::LeftButton);
        QVERIFY(bench.selection().op.isEmpty());
        QVERIFY(!chips().chip(Kind::Op)->isVisible());
        QTest::keyClick(chips().chip(Kind::Frame), Qt::Key_Delete);
        QVERIFY(!bench.selection().frame);
        QVERIFY(bench.selection().range);
        bench.key(Qt::Key_Backspace, Qt::ControlModifier);
        QVERIFY(bench.window.workbench()->memory()->blocks()->query().isEmpty());
        bench.key(Qt::Key_Backspace, Qt::ControlModifier);
        QVERIFY(bench.window.topBar()->searchField()->text().isEmpty());
        bench.key(Qt::Key_Backspace, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!bench.selection().range);
        for (int i = 0; i < FilterChips::kKinds; ++i)
            QVERIFY(!chips().chip(static_cast<Kind>(i))->isVisible());
        // What was taken off is a step back away.
        document.back();
        QVERIFY(bench.selection().range);
    }

    void narrowBarsKeepEveryChip() {
        WindowBench& bench = *m_bench;
        bench.window.resize(1000, 700);
        Document& document = bench.document();
        document.setRange(TimeRange{document.extent().begin, document.extent().begin + 5'000'000});
        document.selectOp(QStringLiteral("aten::_scaled_dot_product_flash_attention_backward"));
        document.selectKernel(QStringLiteral("a kernel of a long name"));
        document.selectFrame({{QStringLiteral("Block_1")}, -1});
        bench.settle();
        QAction* off = nullptr;
        for (QAction* action : chips().findChildren<QAction*>()) {
            if (action->text().contains(QStringLiteral("under Block_1")))
                off = action;
        }
        QVERIFY(off != nullptr);
        QVERIFY(!chips().chip(Kind::Frame)->isVisible());
        off->trigger();
        QVERIFY(!bench.selection().frame);
        for (int i = 0; i < FilterChips::kKinds; ++i) {
            const FilterChip* chip = chips().chip(static_cast<Kind>(i));
            QVERIFY(!chip->isVisible() || chips().rect().contains(chip->geometry()));
        }
    }

    void blocksFollowAndAreInTheHistory() {
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        work.raisePanel(Workbench::Panel::Memory);
        bench.settle();
        BlocksPanel& blocks = *work.memory()->blocks();
        MemoryFocus& focus = *work.memory()->focus();
        const Trace& trace = *bench.document().items().front().trace;
        focus.setMoment(
            focus.device().momentAt(trace.steps[1].range.begin + trace.steps[1].range.duration() / 2));
        bench.settle();
        const int before = blocks.model()->rowCount();
        QVERIFY(before > 10);
        bench.document().selectOp(QStringLiteral("aten::addmm"));
        bench.settle();
        const int left = blocks.model()->rowCount();
        QVERIFY2(left > 0 && left < before, qPrintable(blocks.message()));
        const MemoryItem& item = focus.item();
        const TraceStacksPtr stacks = bench.document().items().front().stacks->get({}).value();
        SliceFilter filter;
        filter.op = "aten::addmm";
        const SliceMask mask = sliceMask(*stacks, filter).value();
        for (int row = 0; row < left; ++row) {
            const EventPlace place =
                item.join->allocationOf(focus.deviceItem().device, blocks.blocksModel()->blockAt(row));
            QVERIFY(place.op && mask[place.op.index()] != 0);
        }
        // Two blocks, then back: to the first, in the memory view.
        const BlockId first = blocks.blocksModel()->blockAt(0);
        const BlockId second = blocks.blocksModel()->blockAt(left - 1);
        focus.select(first);
        focus.select(second);
        bench.key(Qt::Key_1, Qt::AltModifier);
        QVERIFY(!WindowBench::seen(work.memory()->allocation()));
        bench.key(Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(focus.selected(), first);
        QVERIFY(WindowBench::seen(work.memory()->allocation()));
        bench.key(Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(focus.selected(), second);
    }

    void jumpsSayWhyThereIsNothing() {
        WindowBench& bench = *m_bench;
        bench.key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(bench.window.notice()->isVisible());
        QVERIFY(bench.window.notice()->text().contains(QStringLiteral("Select an op")));
        QVERIFY(bench.selection().same({}));
    }

    void bytesAsWidthOfFlames() {
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        work.raisePanel(Workbench::Panel::Flame);
        FlamePanel& flame = *work.flame();
        MemoryFocus& focus = *work.memory()->focus();
        flame.setMeasure(FlameMeasure::Live);
        bench.settle();
        QCOMPARE(flame.view()->tree()->total(), focus.bytesAtMoment());
        QVERIFY(flame.summary().contains(QStringLiteral("live at the peak")));
        focus.setMoment(focus.moment() / 2);
        bench.settle();
        QCOMPARE(flame.view()->tree()->total(), focus.bytesAtMoment());
        // Between marks: the sum of what was allocated there.
        focus.setMarks(200, 900);
        flame.setMeasure(FlameMeasure::Between);
        bench.settle();
        std::int64_t want = 0;
        const MemoryBlockTable& table = focus.device().blocks;
        for (std::size_t row = 0; row < table.count(); ++row)
            want += table.birth[row] > 200 && table.birth[row] <= 900 ? table.size[row] : 0;
        QCOMPARE(flame.view()->tree()->total(), want);
        // A frame of it narrows the list of blocks, and not the tables of the trace.
        const FlameTree& tree = *flame.view()->tree();
        std::uint32_t node = 1;
        while (tree.frames->at(tree.nodes[node].frame).kind != FrameKind::Python)
            ++node;
        emit flame.view()->chosen(node);
        bench.settle();
        QVERIFY(bench.selection().frame.memory >= 0);
        QVERIFY(work.ops()->model()->rowCount() > 5);
        // By the trace's own records, in the selected range.
        bench.document().setRange(bench.document().items().front().trace->steps.front().range);
        flame.setMeasure(FlameMeasure::Allocated);
        bench.settle();
        QVERIFY(flame.view()->tree()->total() > 0);
        QVERIFY(flame.summary().startsWith(QStringLiteral("Bytes allocated")));
    }

    void aSnapshotAloneHasFlames() {
        m_bench.reset();
        m_bench = std::make_unique<WindowBench>(QStringList{QStringLiteral("gpt.snapshot.pickle.zst")});
        WindowBench& bench = *m_bench;
        Workbench& work = *bench.window.workbench();
        work.raisePanel(Workbench::Panel::Flame);
        bench.settle();
        FlamePanel& flame = *work.flame();
        QCOMPARE(flame.message(), QString());
        QCOMPARE(flame.measure(), FlameMeasure::Live);
        QCOMPARE(flame.view()->tree()->total(), work.memory()->focus()->bytesAtMoment());
        // A frame's blocks, by its double click.
        std::uint32_t node = 1;
        while (flame.view()->tree()->frames->at(flame.view()->tree()->nodes[node].frame).kind !=
               FrameKind::Python)
            ++node;
        const std::int64_t bytes = flame.view()->tree()->nodes[node].total;
        emit flame.view()->activated(node);
        bench.settle();
        BlocksPanel& blocks = *work.memory()->blocks();
        QVERIFY(WindowBench::seen(&blocks));
        std::int64_t listed = 0;
        for (int row = 0; row < blocks.model()->rowCount(); ++row)
            listed +=
                work.memory()->focus()->device().blocks.size[blocks.blocksModel()->blockAt(row).index()];
        QCOMPARE(listed, bytes);
        QVERIFY(chips().active(Kind::Frame));
    }

  private:
    [[nodiscard]] FilterChips& chips() const { return *m_bench->window.topBar()->chips(); }
    /// The sum of the kernels table, brought up to date by being looked at.
    TimeNs kernelTotal() {
        Workbench& work = *m_bench->window.workbench();
        work.raisePanel(Workbench::Panel::Kernels);
        m_bench->settle();
        return work.kernels()->kernelsModel()->kernels().total;
    }
    static std::uint32_t nodeOf(const FlameTree& tree, std::string_view name) {
        std::uint32_t best = 0;
        for (std::uint32_t n = 1; n < tree.nodes.size(); ++n) {
            if (tree.label(n) == name && (best == 0 || tree.nodes[n].total > tree.nodes[best].total))
                best = n;
        }
        return best;
    }

    std::unique_ptr<WindowBench> m_bench;
};

QTEST_MAIN(TestWindowSelection)
#include "tst_window_selection.moc"
