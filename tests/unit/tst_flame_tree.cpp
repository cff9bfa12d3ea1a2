// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"
#include "model/analysis/memory_flame.h"
#include "model/analysis/modules.h"
#include "model/analysis/ops.h"
#include "model/import/import.h"
#include "model/query/flame_layout.h"

#include <QTest>

#include <algorithm>
#include <string>

using namespace warpline;

/// Trees of weighed stacks, and what is asked of them.
class TestFlameTree : public QObject {
    Q_OBJECT

  private slots:
    void sumsUp();
    void callersFirst();
    void focus();
    void focusOnRecursion();
    void plumbing();
    void mergedModules();
    void byModule();
    void byPython();
    void byThread();
    void backwardWhereItRan();
    void withoutAStack();
    void ranges();
    void rangesAddUp();
    void difference();
    void placeIsKept();
    void layout();
    void layoutOfZoomed();
    void slivers();
    void search();
    void moduleRows();
    void opsByStackAndModule();
    void memoryOfSnapshots();
    void cancelled();
};

namespace {

/// A table of stacks from texts: "py a.py(1): f;mod Net_0;op aten::x" and weights.
struct Stacks {
    std::shared_ptr<FrameTable> frames = std::make_shared<FrameTable>();
    StackTable table;
    std::vector<StackWeight> weights;

    FrameId frame(const QString& text) {
        const QString kind = text.section(QLatin1Char(' '), 0, 0);
        const std::string name = text.section(QLatin1Char(' '), 1).toStdString();
        if (kind == QLatin1String("py"))
            return frames->intern(FrameKind::Python, name);
        if (kind == QLatin1String("mod"))
            return frames->intern(FrameKind::Python, "nn.Module: " + name);
        return frames->intern(kind == QLatin1String("kernel") ? FrameKind::Kernel : FrameKind::Op, name);
    }
    Stacks& add(const char* path, std::int64_t weight, FrameId root = {}) {
        StackId stack;
        for (const QString& part : QString::fromUtf8(path).split(QLatin1Char(';'), Qt::SkipEmptyParts))
            stack = table.push(stack, frame(part));
        weights.push_back({stack, weight, 1, root});
        return *this;
    }
    [[nodiscard]] FlameTree tree(const FlameShape& shape = {}) const {
        return flameTree(frames, table, weights, WeightUnit::Nanoseconds, shape).value();
    }
};

/// "name total/self" by depth first, children in parentheses.
QString outline(const FlameTree& tree, std::uint32_t node = FlameTree::kRoot) {
    const FlameTree::Node& n = tree.nodes[node];
    QString out = QStringLiteral("%1 %2").arg(QString::fromStdString(tree.label(node))).arg(n.total);
    if (n.self != 0 && n.childCount > 0)
        out += QStringLiteral("/%1").arg(n.self);
    QStringList children;
    for (std::uint32_t c = 0; c < n.childCount; ++c)
        children << outline(tree, n.firstChild + c);
    return children.isEmpty()
               ? out
               : out + QStringLiteral(" (") + children.join(QStringLiteral(", ")) + QLatin1Char(')');
}

std::uint32_t nodeOf(const FlameTree& tree, std::string_view label) {
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.label(i) == label)
            return i;
    return ~0U;
}

/// What must hold for every tree.
bool sound(const FlameTree& tree) {
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
        const FlameTree::Node& n = tree.nodes[i];
        std::int64_t total = n.self;
        for (std::uint32_t c = n.firstChild; c < n.firstChild + n.childCount; ++c) {
            if (c <= i || tree.nodes[c].parent != i || tree.nodes[c].depth != n.depth + 1)
                return false;
            if (c > n.firstChild && tree.nodes[c].total > tree.nodes[c - 1].total)
                return false;
            total += tree.nodes[c].total;
        }
        if (total != n.total)
            return false;
    }
    return true;
}

const char* const kTraining = R"json([
  {"ph":"X","cat":"python_function","name":"train.py(1): main","pid":9,"tid":1,"ts":0,"dur":100},
  {"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":9,"tid":1,"ts":10,"dur":40},
  {"ph":"X","cat":"python_function","name":"train.py(5): forward","pid":9,"tid":1,"ts":11,"dur":38},
  {"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":9,"tid":1,"ts":12,"dur":10},
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":1,"ts":13,"dur":8,"args":{"External id":1,"Sequence number":4,"Fwd thread id":0}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":14,"dur":2,"args":{"External id":1,"correlation":70}},
  {"ph":"X","cat":"python_function","name":"nn.Module: Linear_1","pid":9,"tid":1,"ts":30,"dur":10},
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":1,"ts":31,"dur":8,"args":{"External id":2,"Sequence number":5,"Fwd thread id":0}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":32,"dur":2,"args":{"External id":2,"correlation":71}},
  {"ph":"X","cat":"cpu_op","name":"LinearBackward0","pid":9,"tid":2,"ts":60,"dur":10,"args":{"External id":3,"Sequence number":5,"Fwd thread id":1}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":2,"ts":61,"dur":2,"args":{"External id":3,"correlation":72}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":7,"args":{"External id":1,"correlation":70}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":5,"args":{"External id":2,"correlation":71}},
  {"ph":"X","cat":"kernel","name":"gemm_bw","pid":0,"tid":7,"ts":70,"dur":11,"args":{"External id":3,"correlation":72}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":1,"ts":33,"args":{"Bytes":512,"Addr":1,"Device Id":0,"Device Type":1}}
])json";

TracePtr training() {
    return openTracesFromMemory(kTraining, "t.json").value().front();
}
TraceStacksPtr trainingStacks() {
    return TraceStacks::build(training()).value();
}

} // namespace

void TestFlameTree::sumsUp() {
    const FlameTree tree = Stacks()
                               .add("py a;op x", 5)
                               .add("py a;op y", 7)
                               .add("py a", 2)
                               .add("op z", 9)
                               .add("py a;op x", 1)
                               .tree();
    QCOMPARE(outline(tree), QStringLiteral("all 24 (a 15/2 (y 7, x 6), z 9)"));
    QVERIFY(sound(tree));
    QCOMPARE(tree.nodes[nodeOf(tree, "x")].count, std::uint64_t{2});
    QCOMPARE(tree.nodes[nodeOf(tree, "a")].totalCount, std::uint64_t{4});
    QCOMPARE(outline(Stacks().tree()), QStringLiteral("all 0"));
}

void TestFlameTree::callersFirst() {
    FlameShape shape;
    shape.bottomUp = true;
    const FlameTree tree = Stacks().add("op a;op x", 5).add("op b;op x", 7).add("op a", 2).tree(shape);
    QCOMPARE(outline(tree), QStringLiteral("all 14 (x 12 (b 7, a 5), a 2)"));
    QVERIFY(sound(tree));
}

void TestFlameTree::focus() {
    Stacks s;
    s.add("op a;op x;op k", 5).add("op b;op x", 7).add("op a", 2);
    FlameShape shape;
    shape.focus = s.frame(QStringLiteral("op x"));
    QCOMPARE(outline(s.tree(shape)), QStringLiteral("all 12 (x 12/7 (k 5))"));
    shape.bottomUp = true;
    QCOMPARE(outline(s.tree(shape)), QStringLiteral("all 12 (x 12 (b 7, a 5))"));
}

void TestFlameTree::focusOnRecursion() {
    Stacks s;
    s.add("op x;op y;op x;op k", 5);
    FlameShape shape;
    shape.focus = s.frame(QStringLiteral("op x"));
    QCOMPARE(s.tree(shape).total(), 5);
    shape.bottomUp = true;
    QCOMPARE(s.tree(shape).total(), 5);
}

void TestFlameTree::plumbing() {
    Stacks s;
    s.add("py a.py(1): f;py torch/nn/modules/module.py(9): _call_impl;op x", 5)
        .add("py a.py(1): f;py <built-in method mm>", 3)
        .add("py <built-in method only>", 4);
    FlameShape shape;
    QCOMPARE(s.tree(shape).nodes.size(), std::size_t{6});
    shape.hidePlumbing = true;
    const FlameTree tree = s.tree(shape);
    QCOMPARE(outline(tree), QStringLiteral("all 12 (a.py(1): f 8/3 (x 5), (hidden frames) 4)"));
}

void TestFlameTree::mergedModules() {
    Stacks s;
    s.add("mod Net_0;mod Block_0;op x", 5)
        .add("mod Net_0;mod Block_1;op x", 7)
        .add("mod Net_0;mod Block_1", 1)
        .add("mod Net_0;mod Head", 2);
    FlameShape shape;
    QCOMPARE(outline(s.tree(shape)),
             QStringLiteral("all 15 (Net_0 15 (Block_1 8/1 (x 7), Block_0 5 (x 5), Head 2))"));
    shape.mergeModules = true;
    const FlameTree tree = s.tree(shape);
    QCOMPARE(outline(tree), QStringLiteral("all 15 (Net_0 15 (Block \u00D72 13/1 (x 12), Head 2))"));
    shape.bottomUp = true;
    QCOMPARE(
        outline(s.tree(shape)),
        QStringLiteral("all 15 (x 12 (Block \u00D72 12 (Net_0 12)), Head 2 (Net_0 2), Block_1 1 (Net_0 1))"));
}

void TestFlameTree::byModule() {
    FlameQuery query;
    query.shape.frames = FlameShape::Frames::Modules;
    Stacks s;
    s.add("py a.py(1): f;mod Net_0;py a.py(2): g;op x", 5).add("py a.py(1): f;op x", 3).add("mod Net_0", 1);
    QCOMPARE(outline(s.tree(query.shape)),
             QStringLiteral("all 9 (Net_0 6/1 (x 5), (outside modules) 3 (x 3))"));
    query.shape.bottomUp = true;
    QCOMPARE(s.tree(query.shape).total(), 9);
}

void TestFlameTree::byPython() {
    FlameShape shape;
    shape.frames = FlameShape::Frames::Python;
    Stacks s;
    s.add("py a.py(1): f;mod Net_0;py a.py(2): g;op x", 5).add("op x", 3);
    QCOMPARE(outline(s.tree(shape)),
             QStringLiteral("all 8 (a.py(1): f 5 (a.py(2): g 5), (no Python line) 3)"));
}

void TestFlameTree::byThread() {
    FlameQuery query;
    query.weight = FlameWeight::CpuTime;
    query.shape.byThread = true;
    const TraceStacksPtr stacks = trainingStacks();
    const FlameTree tree = flameTree(*stacks, query).value();
    QVERIFY(sound(tree));
    QCOMPARE(tree.nodes[0].childCount, 2U);
    QCOMPARE(tree.nodes[1].total, 100'000);
    QCOMPARE(tree.nodes[2].total, 10'000);
    QCOMPARE(stacks->frames().at(tree.nodes[1].frame).kind, FrameKind::Thread);
    query.weight = FlameWeight::GpuTime;
    const FlameTree gpu = flameTree(*stacks, query).value();
    QCOMPARE(gpu.total(), 23'000);
    QCOMPARE(gpu.nodes[1].total, 12'000);
    QCOMPARE(gpu.nodes[2].total, 11'000);
}

void TestFlameTree::backwardWhereItRan() {
    FlameQuery query;
    const TraceStacksPtr stacks = trainingStacks();
    const FlameTree together = flameTree(*stacks, query).value();
    QCOMPARE(together.nodes[0].childCount, 1U);
    query.shape.backwardWithForward = false;
    const FlameTree apart = flameTree(*stacks, query).value();
    QCOMPARE(apart.nodes[0].childCount, 2U);
    QCOMPARE(apart.nodes[nodeOf(apart, "LinearBackward0")].total, 11'000);
    QCOMPARE(apart.nodes[nodeOf(apart, "LinearBackward0")].depth, 1U);
    QCOMPARE(apart.total(), together.total());
}

void TestFlameTree::withoutAStack() {
    QCOMPARE(outline(Stacks().add("", 4).add("op x", 3).tree()), QStringLiteral("all 7 ((no stack) 4, x 3)"));
    FlameShape shape;
    shape.bottomUp = true;
    QCOMPARE(outline(Stacks().add("", 4).add("op x", 3).tree(shape)),
             QStringLiteral("all 7 ((no stack) 4, x 3)"));
}

void TestFlameTree::ranges() {
    const TraceStacksPtr stacks = trainingStacks();
    FlameQuery query;
    query.weight = FlameWeight::CpuTime;
    query.range = TimeRange{35'000, 65'000};
    // Of the main thread all 30 us, of the other what lies in it.
    QCOMPARE(flameTree(*stacks, query).value().total(), 35'000);
    query.weight = FlameWeight::GpuTime;
    query.range = TimeRange{20'000, 41'000};
    QCOMPARE(flameTree(*stacks, query).value().total(), 12'000); // what starts in it, whole
    query.weight = FlameWeight::Calls;
    query.range = TimeRange{30'000, 33'000};
    QCOMPARE(flameTree(*stacks, query).value().total(), 3);
    query.weight = FlameWeight::Allocated;
    QCOMPARE(flameTree(*stacks, query).value().total(), 0);
    query.range.reset();
    const FlameTree bytes = flameTree(*stacks, query).value();
    QCOMPARE(bytes.total(), 512);
    QCOMPARE(bytes.unit, WeightUnit::Bytes);
    QVERIFY(nodeOf(bytes, "aten::linear") != ~0U);
}

void TestFlameTree::rangesAddUp() {
    const TraceStacksPtr stacks = trainingStacks();
    const TimeRange whole = stacks->trace().extent;
    for (const FlameWeight weight : {FlameWeight::CpuTime, FlameWeight::GpuTime, FlameWeight::Calls}) {
        FlameQuery query;
        query.weight = weight;
        const std::int64_t all = flameTree(*stacks, query).value().total();
        for (TimeNs at = whole.begin; at <= whole.end; at += 1'700) {
            query.range = TimeRange{whole.begin, at};
            const FlameTree before = flameTree(*stacks, query).value();
            query.range = TimeRange{at, whole.end + 1};
            const FlameTree after = flameTree(*stacks, query).value();
            QCOMPARE(before.total() + after.total(), all);
            QVERIFY(sound(before) && sound(after));
            for (const FlameTree::Node& n : before.nodes)
                QVERIFY(n.self >= 0);
        }
    }
}

void TestFlameTree::difference() {
    const FlameTree a = Stacks().add("op a;op x", 5).add("op b", 3).tree();
    const FlameTree b = Stacks().add("op a;op x", 8).add("op c", 1).tree();
    const FlameTree d = flameDifference(a, b).value();
    QVERIFY(d.difference);
    QCOMPARE(d.nodes[0].total, 9);
    QCOMPARE(d.nodes[0].baseTotal, 8);
    QCOMPARE(d.nodes[nodeOf(d, "x")].total, 8);
    QCOMPARE(d.nodes[nodeOf(d, "x")].baseTotal, 5);
    QCOMPARE(d.nodes[nodeOf(d, "b")].total, 0);
    QCOMPARE(d.nodes[nodeOf(d, "b")].baseSelf, 3);
    QCOMPARE(d.nodes[nodeOf(d, "c")].baseTotal, 0);
    FlameShape other;
    other.bottomUp = true;
    QVERIFY(!flameDifference(a, Stacks().add("op a", 1).tree(other)).ok());
}

void TestFlameTree::placeIsKept() {
    Stacks s;
    s.add("mod Net_0;mod Block_0;op x", 5).add("mod Net_0;mod Block_1;op x", 7);
    const FlameTree all = s.tree();
    FlameShape shape;
    shape.mergeModules = true;
    const FlameTree merged = s.tree(shape);
    QCOMPARE(merged.label(merged.find(all, nodeOf(all, "Block_0"))), std::string("Block \u00D72"));
    QCOMPARE(all.find(all, nodeOf(all, "x")), nodeOf(all, "x"));
    QCOMPARE(all.find(merged, FlameTree::kRoot), FlameTree::kRoot);
}

void TestFlameTree::layout() {
    const FlameTree tree = Stacks().add("op a;op x", 60).add("op a", 15).add("op b", 25).tree();
    const FlameLayout layout(tree, FlameTree::kRoot, 200, 1);
    QCOMPARE(layout.rows(), 3U);
    QCOMPARE(layout.boxes().size(), std::size_t{4});
    const FlameBox* b = layout.boxOf(nodeOf(tree, "b"));
    QVERIFY(b != nullptr);
    QCOMPARE(b->x, 150.0);
    QCOMPARE(b->width, 50.0);
    QCOMPARE(layout.boxAt(199, 1), b);
    QCOMPARE(layout.boxAt(10, 2)->node, nodeOf(tree, "x"));
    QVERIFY(layout.boxAt(130, 2) == nullptr); // a's own time
    QVERIFY(layout.boxAt(0, 3) == nullptr);
    QCOMPARE(flameDepth(tree), 3U);
    QCOMPARE(FlameLayout(tree, 99, 200, 1).rows(), 0U);
    QCOMPARE(FlameLayout(Stacks().tree(), 0, 200, 1).boxes().size(), std::size_t{1});
}

void TestFlameTree::layoutOfZoomed() {
    const FlameTree tree = Stacks().add("op a;op x;op k", 60).add("op a", 15).add("op b", 25).tree();
    const FlameLayout layout(tree, nodeOf(tree, "x"), 200, 1);
    QCOMPARE(layout.boxes().size(), std::size_t{4});
    for (const FlameBox& box : layout.boxes())
        QCOMPARE(box.width, 200.0);
    QVERIFY(layout.boxOf(nodeOf(tree, "b")) == nullptr);
    QCOMPARE(layout.boxAt(5, 3)->node, nodeOf(tree, "k"));
}

void TestFlameTree::slivers() {
    Stacks s;
    s.add("op big", 9000);
    for (int i = 0; i < 1000; ++i)
        s.add(qPrintable(QStringLiteral("op small%1").arg(i)), 1);
    const FlameTree tree = s.tree();
    const FlameLayout layout(tree, FlameTree::kRoot, 100, 1);
    QCOMPARE(layout.boxes().size(), std::size_t{3});
    const FlameBox& hidden = layout.boxes().back();
    QCOMPARE(hidden.hidden, 1000U);
    QCOMPARE(hidden.node, FlameTree::kRoot);
    QCOMPARE(hidden.total, 1000);
    QCOMPARE(hidden.x, 90.0);
    QCOMPARE(hidden.width, 10.0);
    QCOMPARE(layout.boxOf(FlameTree::kRoot), &layout.boxes().front());
}

void TestFlameTree::search() {
    const FlameTree tree = Stacks()
                               .add("op copy_;op inner;op copy_", 5)
                               .add("op a;op Copy_x", 7)
                               .add("py copy.py(1): f", 2)
                               .tree();
    const FlameMatches found = flameMatches(tree, "COPY").value();
    QCOMPARE(found.total, 14);
    QCOMPARE(found.count, std::size_t{4});
    QCOMPARE(found.places, std::size_t{3});
    QCOMPARE(flameMatches(tree, "/^copy_$/").value().total, 5);
    QCOMPARE(flameMatches(tree, "").value().count, std::size_t{0});
    QVERIFY(!flameMatches(tree, "/(/").ok());
    QCOMPARE(flameMatches(tree, "copy", nodeOf(tree, "a")).value().total, 7);
    QCOMPARE(flameMatches(tree, "inner", nodeOf(tree, "a")).value().total, 0);
}

void TestFlameTree::moduleRows() {
    ModuleTree tree = moduleTree(*trainingStacks()).value();
    QCOMPARE(tree.rows.size(), std::size_t{4});
    QVERIFY(tree.hasModules && tree.hasMemory);
    QCOMPARE(tree.label(0), std::string("all"));
    QCOMPARE(tree.rows[0].gpuTotal, 23'000);
    QCOMPARE(tree.rows[0].cpuTotal, 110'000);
    QCOMPARE(tree.rows[0].cpuSelf, 60'000);
    QCOMPARE(tree.label(1), std::string("Net_0"));
    QCOMPARE(tree.rows[1].calls, std::uint64_t{1});
    QCOMPARE(tree.label(2), std::string("Linear_1"));
    QCOMPARE(tree.rows[2].gpuTotal, 16'000);
    QCOMPARE(tree.rows[2].gpuBackward, 11'000);
    QCOMPARE(tree.rows[2].cpuTotal, 20'000);
    QCOMPARE(tree.rows[2].allocated, 512);
    QCOMPARE(tree.rows[2].kernels, std::uint64_t{2});
    ModuleQuery query;
    query.merge = true;
    tree = moduleTree(*trainingStacks(), query).value();
    QCOMPARE(tree.rows.size(), std::size_t{3});
    QCOMPARE(tree.label(2), std::string("Linear \u00D72"));
    QCOMPARE(tree.rows[2].calls, std::uint64_t{2});
    QCOMPARE(tree.rows[2].gpuTotal, 23'000);
}

void TestFlameTree::opsByStackAndModule() {
    const TracePtr trace = training();
    OpQuery query;
    query.group = OpGroup::Module;
    QVERIFY(!opTable(*OpTree::build(trace), query).ok());
    query.stacks = TraceStacks::build(trace).value();
    const auto frames = [&](const OpRow& row) {
        QStringList names;
        for (const FrameId f : opGroupFrames(*query.stacks, row.stack, query.group))
            names << QString::fromStdString(std::string(query.stacks->frames().name(f)));
        return names.join(QLatin1Char('<'));
    };
    OpTable table = opTable(*OpTree::build(trace), query).value();
    QCOMPARE(table.rows.size(), std::size_t{3});
    QCOMPARE(frames(table.rows[0]), QStringLiteral("Linear_1<Net_0"));
    QCOMPARE(trace->strings.view(table.rows[0].name), std::string_view("LinearBackward0"));
    QCOMPARE(query.stacks->frames().name(table.rows[0].source), std::string_view("train.py(5): forward"));
    query.group = OpGroup::Stack;
    table = opTable(*OpTree::build(trace), query).value();
    QCOMPARE(table.rows.size(), std::size_t{2});
    QCOMPARE(frames(table.rows[0]), QStringLiteral("train.py(5): forward<train.py(1): main"));
    // Sums are those of the table by name.
    OpQuery byName;
    const OpTable plain = opTable(*OpTree::build(trace), byName).value();
    const auto sum = [](const OpTable& t) {
        TimeNs s = 0;
        for (const OpRow& row : t.rows)
            s += row.selfCpu + row.selfDevice;
        return s;
    };
    QCOMPARE(sum(table), sum(plain));
}

void TestFlameTree::memoryOfSnapshots() {
    const std::string text =
        R"x({"segments":[],"device_traces":[[)x"
        R"x({"action":"alloc","addr":1,"size":100,"stream":0,"time_us":10,"frames":[{"filename":"a/b.py","line":7,"name":"inner"},{"filename":"train.py","line":3,"name":"step"}]},)x"
        R"x({"action":"alloc","addr":2,"size":50,"stream":0,"time_us":20,"frames":[{"filename":"??","line":0,"name":"c10::alloc"},{"filename":"train.py","line":3,"name":"step"}]},)x"
        R"x({"action":"free_completed","addr":1,"size":100,"stream":0,"time_us":30,"frames":[]},)x"
        R"x({"action":"alloc","addr":3,"size":7,"stream":0,"time_us":40,"frames":[]}]]})x";
    const auto opened = openFromMemory(text, "s.json");
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    const MemoryHistory& history = *opened.value().memory.front();
    const MemoryDevice& device = history.devices.front();
    const MemoryStacks stacks = memoryStacks(history);
    const auto tree = [&](const std::vector<StackWeight>& weights) {
        return outline(flameTree(stacks.frames, *stacks.stacks, weights, WeightUnit::Bytes).value());
    };
    QCOMPARE(tree(liveWeights(stacks, device, device.peakRequested.moment)),
             QStringLiteral("all 150 (train.py(3): step 150 (a/b.py(7): inner 100, c10::alloc 50))"));
    QCOMPARE(tree(liveWeights(stacks, device, device.lastMoment())),
             QStringLiteral("all 57 (train.py(3): step 50 (c10::alloc 50), (no stack) 7)"));
    QCOMPARE(tree(allocatedWeights(stacks, device, 1, 4)),
             QStringLiteral("all 57 (train.py(3): step 50 (c10::alloc 50), (no stack) 7)"));
    QCOMPARE(tree(allocatedWeights(stacks, device, kBeforeHistory, 1)),
             QStringLiteral("all 100 (train.py(3): step 100 (a/b.py(7): inner 100))"));
}

void TestFlameTree::cancelled() {
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(flameTree(*trainingStacks(), {}, stop.get_token()).cancelled());
    QVERIFY(moduleTree(*trainingStacks(), {}, stop.get_token()).cancelled());
}

QTEST_GUILESS_MAIN(TestFlameTree)
#include "tst_flame_tree.moc"
