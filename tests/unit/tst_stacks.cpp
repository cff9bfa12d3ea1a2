// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"
#include "model/analysis/stacks.h"
#include "model/import/import.h"

#include <QTest>

#include <filesystem>
#include <string>

using namespace warpline;
namespace fs = std::filesystem;

/// What stack a slice has, for each way in which a trace can say it.
class TestStacks : public QObject {
    Q_OBJECT

  private slots:
    void kernelStandsUnderWhatLaunchedIt();
    void backwardBorrowsTheForwardStack();
    void backwardFindsItsThread();
    void laterForwardOpsAreNotTaken();
    void arrowsServeWhereNumbersDoNot();
    void pythonIdsBeatContainment();
    void overlapIsCut();
    void textsOfOldTraces();
    void graphsAndLostLaunches();
    void callsOnOtherThreads();
    void allocations();
    void stepsCountAsOne();
    void ownRecordingIsNoWork();
    void damagedIds();
    void emptyTrace();
    void recordedTraces_data();
    void recordedTraces();
    void cancelled();
};

namespace {

TracePtr traceOf(const std::string& events) {
    auto opened = openTracesFromMemory("[" + events + "]", "t.json");
    return opened.ok() ? opened.value().front() : nullptr;
}
TraceStacksPtr stacksOf(const TracePtr& trace) {
    return TraceStacks::build(trace).value();
}

/// The slice of a name that starts first.
SliceId sliceOf(const Trace& trace, std::string_view name) {
    SliceId found;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
        const SliceId id = SliceId::fromIndex(row);
        if (trace.name(id) == name && (!found || trace.slices.start[row] < trace.slices.start[found.index()]))
            found = id;
    }
    return found;
}

QString text(const TraceStacks& stacks, StackId stack) {
    QStringList names;
    for (const FrameId frame : stacks.stacks().path(stack))
        names << QString::fromStdString(std::string(stacks.frames().name(frame)));
    return names.join(QStringLiteral(" > "));
}
QString stackText(const TraceStacks& stacks, std::string_view name) {
    return text(stacks, stacks.stackOf(sliceOf(stacks.trace(), name)));
}

std::string entry(const char* cat, const char* name, int tid, double ts, double dur,
                  const std::string& args = "{}", int pid = 9) {
    return QString::fromUtf8(
               R"({"ph":"X","cat":"%1","name":"%2","pid":%3,"tid":%4,"ts":%5,"dur":%6,"args":%7})")
        .arg(QString::fromUtf8(cat), QString::fromUtf8(name))
        .arg(pid)
        .arg(tid)
        .arg(ts, 0, 'f', 3)
        .arg(dur, 0, 'f', 3)
        .arg(QString::fromStdString(args))
        .toStdString();
}

template <class... More>
std::string list(const std::string& first, const More&... more) {
    std::string out = first;
    ((out += std::string(",\n") + more), ...);
    return out;
}

/// The sum over a trace, told by stacks, of one weight.
std::int64_t sum(const TraceStacks& stacks, FlameWeight weight) {
    std::int64_t total = 0;
    const std::vector<StackWeight> weights = stackWeights(stacks, weight).value();
    for (const StackWeight& w : weights)
        total += w.weight;
    return total;
}

std::string forwardAndBackward() {
    return list(
        entry("python_function", "train.py(3): step", 1, 0, 50),
        entry("python_function", "nn.Module: Net_0", 1, 5, 20),
        entry("cpu_op", "aten::linear", 1, 6, 10,
              R"({"External id":1,"Sequence number":7,"Fwd thread id":0})"),
        entry("cpu_op", "aten::addmm", 1, 7, 8, R"({"External id":2,"Sequence number":7,"Fwd thread id":0})"),
        entry("cpu_op", "aten::relu", 1, 18, 2, R"({"External id":3,"Sequence number":8,"Fwd thread id":0})"),
        entry("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, 60, 20,
              R"({"External id":4,"Sequence number":7,"Fwd thread id":1})"),
        entry("cpu_op", "AddmmBackward0", 2, 61, 18,
              R"({"External id":5,"Sequence number":7,"Fwd thread id":1})"),
        entry("cpu_op", "aten::mm", 2, 62, 10, R"({"External id":6})"),
        entry("cuda_runtime", "cudaLaunchKernel", 2, 63, 2, R"({"External id":6,"correlation":70})"),
        entry("kernel", "gemm", 7, 70, 5, R"({"External id":6,"correlation":70})", 0));
}

} // namespace

void TestStacks::kernelStandsUnderWhatLaunchedIt() {
    const TracePtr trace = traceOf(list(
        entry("python_function", "train.py(3): step", 1, 0, 100),
        entry("user_annotation", "forward", 1, 1, 90), entry("python_function", "nn.Module: Net_0", 1, 2, 80),
        entry("python_function", "train.py(9): forward", 1, 3, 70),
        entry("cpu_op", "aten::linear", 1, 4, 50, R"({"External id":1})"),
        entry("cpu_op", "aten::addmm", 1, 5, 40, R"({"External id":2})"),
        entry("cuda_runtime", "cudaLaunchKernel", 1, 6, 3, R"({"External id":2,"correlation":70})"),
        entry("kernel", "gemm", 7, 200, 20, R"({"External id":2,"correlation":70})", 0)));
    const TraceStacksPtr stacks = stacksOf(trace);
    QCOMPARE(stackText(*stacks, "gemm"),
             QStringLiteral(
                 "train.py(3): step > forward > Net_0 > train.py(9): forward > aten::linear > aten::addmm "
                 "> cudaLaunchKernel > gemm"));
    QCOMPARE(stacks->launchOf(sliceOf(*trace, "gemm")), sliceOf(*trace, "cudaLaunchKernel"));
    QCOMPARE(stacks->hostParent(sliceOf(*trace, "forward")), sliceOf(*trace, "train.py(3): step"));
    const FrameTable& frames = stacks->frames();
    const StackId kernel = stacks->stackOf(sliceOf(*trace, "gemm"));
    const std::vector<FrameId> path = stacks->stacks().path(kernel);
    QCOMPARE(frames.at(path[0]).kind, FrameKind::Python);
    QCOMPARE(frames.file(path[0]), std::string_view("train.py"));
    QCOMPARE(frames.at(path[0]).line, 3U);
    QVERIFY(frames.at(path[0]).script);
    QCOMPARE(frames.at(path[2]).kind, FrameKind::Module);
    QCOMPARE(frames.name(frames.at(path[2]).family), std::string_view("Net"));
    QCOMPARE(frames.at(path[7]).kind, FrameKind::Kernel);
    QVERIFY(!stacks->isBackward(kernel));
}

void TestStacks::backwardBorrowsTheForwardStack() {
    const TraceStacksPtr stacks = stacksOf(traceOf(forwardAndBackward()));
    QCOMPARE(stackText(*stacks, "gemm"),
             QStringLiteral(
                 "train.py(3): step > Net_0 > aten::linear > aten::addmm > autograd::engine::"
                 "evaluate_function: AddmmBackward0 > AddmmBackward0 > aten::mm > cudaLaunchKernel > gemm"));
    QVERIFY(stacks->isBackward(stacks->stackOf(sliceOf(stacks->trace(), "gemm"))));
    // Where it ran is kept.
    const StackId outer =
        stacks->stackOf(sliceOf(stacks->trace(), "autograd::engine::evaluate_function: AddmmBackward0"));
    QVERIFY(!stacks->stacks().own(outer));
    QVERIFY(stacks->stacks().parent(outer));
}

void TestStacks::backwardFindsItsThread() {
    // Two threads count their own sequence numbers; the arrow tells which of them is thread 1.
    const TracePtr trace = traceOf(
        list(entry("cpu_op", "aten::first", 1, 0, 5, R"({"Sequence number":7,"Fwd thread id":0})"),
             entry("cpu_op", "aten::second", 2, 1, 5, R"({"Sequence number":7,"Fwd thread id":0})"),
             entry("cpu_op", "aten::other", 1, 10, 5, R"({"Sequence number":8,"Fwd thread id":0})"),
             entry("cpu_op", "FirstBackward0", 3, 30, 5, R"({"Sequence number":7,"Fwd thread id":1})"),
             entry("cpu_op", "OtherBackward0", 3, 40, 5, R"({"Sequence number":8,"Fwd thread id":1})"),
             R"({"ph":"s","id":1,"pid":9,"tid":1,"ts":10,"cat":"fwdbwd","name":"fwdbwd"})",
             R"({"ph":"f","id":1,"pid":9,"tid":3,"ts":40,"cat":"fwdbwd","name":"fwdbwd","bp":"e"})"));
    QCOMPARE(stackText(*stacksOf(trace), "FirstBackward0"), QStringLiteral("aten::first > FirstBackward0"));
}

void TestStacks::laterForwardOpsAreNotTaken() {
    // The last forward op with the number before the backward op; the number comes again afterwards.
    const TracePtr trace =
        traceOf(list(entry("cpu_op", "aten::a", 1, 0, 5, R"({"Sequence number":7,"Fwd thread id":0})"),
                     entry("cpu_op", "aten::b", 1, 10, 5, R"({"Sequence number":7,"Fwd thread id":0})"),
                     entry("cpu_op", "XBackward0", 2, 30, 5, R"({"Sequence number":7,"Fwd thread id":1})"),
                     entry("cpu_op", "aten::c", 1, 50, 5, R"({"Sequence number":7,"Fwd thread id":0})")));
    QCOMPARE(stackText(*stacksOf(trace), "XBackward0"), QStringLiteral("aten::b > XBackward0"));
}

void TestStacks::arrowsServeWhereNumbersDoNot() {
    const TracePtr trace =
        traceOf(list(entry("cpu_op", "aten::a", 1, 0, 5), entry("cpu_op", "ABackward0", 2, 30, 5),
                     R"({"ph":"s","id":1,"pid":9,"tid":1,"ts":0,"cat":"fwdbwd","name":"fwdbwd"})",
                     R"({"ph":"f","id":1,"pid":9,"tid":2,"ts":30,"cat":"fwdbwd","name":"fwdbwd","bp":"e"})"));
    QCOMPARE(stackText(*stacksOf(trace), "ABackward0"), QStringLiteral("aten::a > ABackward0"));
}

void TestStacks::pythonIdsBeatContainment() {
    // By its times the helper lies within inner; its id says that outer called it.
    const TracePtr trace = traceOf(list(
        entry("python_function", "a.py(1): outer", 1, 0, 100, R"({"Python id":1,"Python parent id":null})"),
        entry("python_function", "a.py(2): inner", 1, 10, 50, R"({"Python id":2,"Python parent id":1})"),
        entry("python_function", "a.py(3): helper", 1, 20, 10, R"({"Python id":3,"Python parent id":1})"),
        entry("cpu_op", "aten::x", 1, 22, 2)));
    const TraceStacksPtr stacks = stacksOf(trace);
    QCOMPARE(stackText(*stacks, "aten::x"), QStringLiteral("a.py(1): outer > a.py(3): helper > aten::x"));
    QCOMPARE(sum(*stacks, FlameWeight::CpuTime), 100'000);
}

void TestStacks::overlapIsCut() {
    // The annotation begins inside enter and outlasts it: what is left of enter is the annotation's.
    const TracePtr trace =
        traceOf(list(entry("python_function", "a.py(1): f", 1, 0, 100),
                     entry("python_function", "a.py(2): enter", 1, 10, 10),
                     entry("user_annotation", "phase", 1, 15, 50), entry("cpu_op", "aten::x", 1, 17, 2)));
    const TraceStacksPtr stacks = stacksOf(trace);
    QCOMPARE(stackText(*stacks, "phase"), QStringLiteral("a.py(1): f > phase"));
    QCOMPARE(stackText(*stacks, "aten::x"), QStringLiteral("a.py(1): f > phase > aten::x"));
    QCOMPARE(stacks->cuts().size(), std::size_t{1});
    const auto weights = stackWeights(*stacks, FlameWeight::CpuTime).value();
    const auto weightOf = [&](const char* name) {
        for (const StackWeight& w : weights)
            if (w.stack == stacks->stackOf(sliceOf(*trace, name)))
                return w.weight;
        return std::int64_t{-1};
    };
    QCOMPARE(weightOf("a.py(2): enter"), 5'000);
    QCOMPARE(weightOf("phase"), 48'000);
    QCOMPARE(weightOf("a.py(1): f"), 45'000);
    QCOMPARE(sum(*stacks, FlameWeight::CpuTime), 100'000);
    // Two outermost spans count whole each.
    const TraceStacksPtr roots =
        stacksOf(traceOf(list(entry("cpu_op", "aten::a", 1, 0, 10), entry("cpu_op", "aten::b", 1, 5, 10))));
    QCOMPARE(sum(*roots, FlameWeight::CpuTime), 20'000);
}

void TestStacks::textsOfOldTraces() {
    const TracePtr trace = traceOf(list(
        entry(
            "cpu_op", "aten::conv2d", 1, 0, 50,
            R"({"Call stack":"torch/nn/conv.py(9): forward;train.py(4): step;\r\ntrain.py(1): <module>","Module Hierarchy":"TOP(Net)::forward.conv1(Conv2d)::forward.SELF(Conv2d)::_conv_forward"})"),
        entry("cpu_op", "aten::convolution", 1, 5, 20,
              R"({"Call stack":"train.py(4): step","Module Hierarchy":""})")));
    const TraceStacksPtr stacks = stacksOf(trace);
    QCOMPARE(stackText(*stacks, "aten::convolution"),
             QStringLiteral(
                 "train.py(1): <module> > train.py(4): step > torch/nn/conv.py(9): forward > TOP(Net) > "
                 "conv1(Conv2d) > aten::conv2d > aten::convolution"));
}

void TestStacks::graphsAndLostLaunches() {
    const TracePtr trace = traceOf(list(
        entry("cpu_op", "run", 1, 0, 20, R"({"External id":5})"),
        entry("cuda_runtime", "cudaGraphLaunch", 1, 1, 9, R"({"External id":5,"correlation":70})"),
        entry("kernel", "in_graph", 7, 20, 5, R"({"correlation":70,"graph id":3,"graph node id":12})", 0),
        entry("kernel", "by_op", 7, 30, 5, R"({"External id":5,"correlation":71})", 0),
        entry("gpu_memcpy", "lost", 7, 40, 5, R"({"correlation":99})", 0)));
    const TraceStacksPtr stacks = stacksOf(trace);
    QCOMPARE(stackText(*stacks, "in_graph"),
             QStringLiteral("run > cudaGraphLaunch > CUDA graph 3 > in_graph"));
    QCOMPARE(stackText(*stacks, "by_op"), QStringLiteral("run > by_op"));
    QCOMPARE(stackText(*stacks, "lost"), QStringLiteral("(no launch recorded) > lost"));
    const auto weights = stackWeights(*stacks, FlameWeight::GpuTime).value();
    const FlameCoverage coverage = flameCoverage(stacks->frames(), stacks->stacks(), weights);
    QCOMPARE(coverage.total, 15'000);
    QCOMPARE(coverage.missing, 5'000);
}

void TestStacks::callsOnOtherThreads() {
    const TracePtr trace = traceOf(
        list(entry("cpu_op", "aten::a", 1, 0, 20, R"({"External id":5})"),
             entry("cuda_runtime", "cudaLaunchKernel", 2, 3, 2, R"({"External id":5,"correlation":70})"),
             entry("kernel", "k", 7, 20, 5, R"({"External id":5,"correlation":70})", 0)));
    QCOMPARE(stackText(*stacksOf(trace), "k"), QStringLiteral("aten::a > cudaLaunchKernel > k"));
}

void TestStacks::allocations() {
    const auto record = [](int tid, double ts, int bytes) {
        return QStringLiteral(
                   R"({"ph":"i","s":"t","name":"[memory]","pid":9,"tid":%1,"ts":%2,"args":{"Bytes":%3,)"
                   R"("Addr":1,"Device Id":0,"Device Type":1}})")
            .arg(tid)
            .arg(ts)
            .arg(bytes)
            .toStdString();
    };
    const TracePtr trace = traceOf(list(
        entry("cpu_op", "aten::empty", 1, 10, 10), entry("cpu_op", "aten::inner", 1, 12, 4),
        record(1, 13, 512), record(1, 18, 64), record(1, 19, -512), record(1, 40, 8), record(2, 13, 16)));
    const TraceStacksPtr stacks = stacksOf(trace);
    std::map<std::int64_t, QString> byBytes;
    for (std::size_t i = 0; i < trace->memory.size(); ++i)
        byBytes[trace->memory.bytes[i]] = text(*stacks, stacks->stackOfMemory(i));
    QCOMPARE(byBytes[512], QStringLiteral("aten::empty > aten::inner"));
    QCOMPARE(byBytes[64], QStringLiteral("aten::empty"));
    QCOMPARE(byBytes[8], QString());
    QCOMPARE(byBytes[16], QString());
    QCOMPARE(sum(*stacks, FlameWeight::Allocated), 512 + 64 + 8 + 16);
}

void TestStacks::stepsCountAsOne() {
    const TraceStacksPtr stacks = stacksOf(traceOf(
        list(entry("user_annotation", "ProfilerStep#3", 1, 0, 10), entry("cpu_op", "aten::a", 1, 1, 2),
             entry("user_annotation", "ProfilerStep#4", 1, 10, 10), entry("cpu_op", "aten::a", 1, 11, 2))));
    QCOMPARE(stackText(*stacks, "aten::a"), QStringLiteral("ProfilerStep* > aten::a"));
    const auto weights = stackWeights(*stacks, FlameWeight::CpuTime).value();
    QCOMPARE(weights.size(), std::size_t{2});
}

void TestStacks::ownRecordingIsNoWork() {
    const TraceStacksPtr stacks = stacksOf(traceOf(list(
        R"x({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":1000})x",
        entry("cpu_op", "aten::a", 1, 1, 2))));
    QCOMPARE(sum(*stacks, FlameWeight::CpuTime), 2'000);
}

void TestStacks::damagedIds() {
    // Frames that call themselves or each other, a backward op that is its own forward op.
    const TracePtr trace = traceOf(list(
        entry("python_function", "a.py(1): a", 1, 0, 100, R"({"Python id":1,"Python parent id":2})"),
        entry("python_function", "a.py(2): b", 1, 0, 100, R"({"Python id":2,"Python parent id":1})"),
        entry("python_function", "a.py(3): c", 1, 5, 10, R"({"Python id":3,"Python parent id":3})"),
        entry("python_function", "a.py(4): d", 1, 6, 2, R"({"Python id":99999999999,"Python parent id":-4})"),
        entry("cpu_op", "X", 1, 20, 9, R"({"Sequence number":7,"Fwd thread id":1})"),
        entry("cpu_op", "Y", 1, 21, 3, R"({"Sequence number":"seven","Fwd thread id":"one"})")));
    const TraceStacksPtr stacks = stacksOf(trace);
    for (std::size_t row = 0; row < trace->slices.size(); ++row)
        QVERIFY(stacks->stacks().path(stacks->stackOf(SliceId::fromIndex(row))).size() <= 6);
    QCOMPARE(sum(*stacks, FlameWeight::CpuTime), 100'000);
}

void TestStacks::emptyTrace() {
    const TraceStacksPtr stacks = stacksOf(traceOf(""));
    QVERIFY(stackWeights(*stacks, FlameWeight::GpuTime).value().empty());
    QCOMPARE(sum(*stacks, FlameWeight::CpuTime), 0);
}

void TestStacks::recordedTraces_data() {
    QTest::addColumn<double>("least");
    QTest::newRow("gpt.json.gz") << 0.99;
    QTest::newRow("cnn.json.gz") << 0.99;
    QTest::newRow("large.json.gz") << 0.99;
    QTest::newRow("compiled.json") << 0.0;
}
void TestStacks::recordedTraces() {
    QFETCH(double, least);
    const fs::path path = fs::path(WARPLINE_SHARED_DATA) / "h200" / QTest::currentDataTag();
    if (!fs::exists(path))
        QSKIP("the folder h200 is not there; set WARPLINE_SHARED_DATA to run this");
    const auto opened = openTraces(path.string());
    QVERIFY(opened.ok());
    const TracePtr trace = opened.value().front();
    const TraceStacksPtr stacks = stacksOf(trace);
    std::int64_t device = 0;
    for (std::size_t row = 0; row < trace->slices.size(); ++row)
        if (isDeviceWork(trace->kind(row)))
            device += trace->slices.duration[row];
    const auto weights = stackWeights(*stacks, FlameWeight::GpuTime).value();
    const FlameCoverage coverage = flameCoverage(stacks->frames(), stacks->stacks(), weights);
    QCOMPARE(coverage.total, device);
    const double share = static_cast<double>(coverage.scriptOrModule) / static_cast<double>(device);
    qInfo().noquote() << QTest::currentDataTag() << "with a line of the program or a module:" << share;
    QVERIFY(share >= least);
    QVERIFY(coverage.backward > device / 4);
    const std::vector<StackWeight> cpuWeights = stackWeights(*stacks, FlameWeight::CpuTime).value();
    for (const StackWeight& w : cpuWeights)
        QVERIFY(w.weight >= 0);
}

void TestStacks::cancelled() {
    std::stop_source stop;
    stop.request_stop();
    const auto stacks = TraceStacks::build(traceOf(forwardAndBackward()), stop.get_token());
    QVERIFY(stacks.cancelled());
}

QTEST_GUILESS_MAIN(TestStacks)
#include "tst_stacks.moc"
