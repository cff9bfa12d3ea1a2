// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"

#include <fmt/format.h>

#include <QTest>

#include <map>
#include <string>

using namespace warpline;

namespace {

TracePtr open(std::string_view json, const ImportOptions& options = {}) {
    auto r = openTracesFromMemory(json, "test.json", options);
    if (!r.ok()) {
        qWarning("%s", r.error().message.c_str());
        return nullptr;
    }
    return r.value().front();
}

/// The row of the first slice of that name, or -1.
int rowOf(const Trace& t, std::string_view name) {
    for (std::size_t i = 0; i < t.slices.size(); ++i)
        if (t.strings.view(t.slices.name[i]) == name)
            return static_cast<int>(i);
    return -1;
}

SliceId slice(const Trace& t, std::string_view name) {
    const int row = rowOf(t, name);
    return row < 0 ? SliceId{} : SliceId::fromIndex(static_cast<std::size_t>(row));
}

int depthOf(const Trace& t, std::string_view name) {
    return t.lanes[t.laneOf(slice(t, name)).index()].depth;
}

std::uint64_t countOf(const Trace& t, std::string_view diagnostic) {
    const Diagnostic* d = t.diagnostics.find(diagnostic);
    return d == nullptr ? 0 : d->count;
}

bool linked(const LinkTable& links, SliceId from, SliceId to) {
    const auto [a, b] = links.leaving(from);
    bool forwards = false;
    for (std::size_t i = a; i < b; ++i)
        forwards = forwards || links.to[i] == to;
    bool backwards = false;
    const auto [c, d] = links.arriving(to);
    for (std::size_t i = c; i < d; ++i)
        backwards = backwards || links.from[links.byTo[i]] == from;
    return forwards && backwards;
}

} // namespace

class TestChromeImport : public QObject {
    Q_OBJECT
  private slots:
    void times_data();
    void times();
    void baseTimeMayFollowTheEvents();
    void identitiesOfAnyType();
    void beginsAndEnds();
    void asynchronousEvents();
    void nothingVanishesWhereEventsOverlap();
    void kernelsThatOverlapOnOneStreamGetLinesOfTheirOwn();
    void linksFollowIds();
    void arrowsJoinSlices();
    void countersAndMemory();
    void countersInTheOrderOfTheirNames();
    void everyArgumentIsKeptToTheDigit();
    /// The reader remembers what keys and values followed which: no such memory may show.
    void eventsThatAreAlmostAlike();
    void oddDurations();
    void unknownKeysBeforeTheEvents();
    void framesOfAnyKind_data();
    void framesOfAnyKind();
    /// Cuts between pieces are guessed: braces in names, objects in arrays, and events of any length must not
    /// matter, nor how many threads read.
    void piecesMayBeCutAnywhere();
    void brokenEventsAmongGoodOnes();
    void cancelling();
    void namesOfProcessesAndThreads();

  private:
    /// What every reader of lanes relies on.
    static void checkLanes(const Trace& t);
};

void TestChromeImport::times_data() {
    QTest::addColumn<QString>("ts");
    QTest::addColumn<qlonglong>("ns");
    QTest::newRow("integer") << "5250720675721" << qlonglong{5250720675721000};
    QTest::newRow("decimals") << "5250720675721.830" << qlonglong{5250720675721830};
    QTest::newRow("one decimal") << "12.5" << qlonglong{12500};
    QTest::newRow("sixteen digits, beyond a double")
        << "1606911006433120.123" << qlonglong{1606911006433120123};
    QTest::newRow("finer than a nanosecond") << "1.0009" << qlonglong{1000};
    QTest::newRow("text") << "\"1736412474607917.250\"" << qlonglong{1736412474607917250};
    QTest::newRow("exponent") << "1.5e3" << qlonglong{1500000};
    QTest::newRow("small exponent") << "1500e-3" << qlonglong{1500};
    QTest::newRow("negative") << "-2.5" << qlonglong{-2500};
}

void TestChromeImport::times() {
    QFETCH(QString, ts);
    QFETCH(qlonglong, ns);
    const auto t = open(
        fmt::format(R"([{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{},"dur":0.001}}])", ts.toStdString()));
    QVERIFY(t);
    QCOMPARE(t->slices.size(), std::size_t{1});
    QCOMPARE(static_cast<qlonglong>(t->slices.start[0]), ns);
    QCOMPARE(t->slices.duration[0], TimeNs{1});
}

void TestChromeImport::baseTimeMayFollowTheEvents() {
    const auto t = open(
        R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.5,"dur":2}],"displayTimeUnit":"ns",
                           "baseTimeNanoseconds":1790857026000000000,"distributedInfo":{"rank":3,"world_size":8}})");
    QVERIFY(t);
    QCOMPARE(t->slices.start[0], TimeNs{1790857026000001500});
    QCOMPARE(t->slices.duration[0], TimeNs{2000});
    QVERIFY(t->absoluteTime);
    QCOMPARE(t->rank, 3);
    QCOMPARE(t->worldSize, 8);
}

void TestChromeImport::identitiesOfAnyType() {
    const auto t = open(R"([
        {"ph":"X","name":"a","pid":"7","tid":"9","ts":0,"dur":1},
        {"ph":"X","name":"b","pid":7,"tid":9,"ts":5,"dur":1},
        {"ph":"X","name":"c","pid":"Spans","tid":"stream 7","ts":5,"dur":1},
        {"ph":"X","name":"d","pid":-1,"tid":15514734831341844875,"ts":5,"dur":1},
        {"ph":"X","name":"e","ts":5,"dur":1}])");
    QVERIFY(t);
    QCOMPARE(t->trackOf(slice(*t, "a")), t->trackOf(slice(*t, "b")));
    const Track& c = t->tracks[t->trackOf(slice(*t, "c")).index()];
    QCOMPARE(t->strings.view(c.tidText), std::string_view("stream 7"));
    QCOMPARE(t->strings.view(t->processes[c.process].pidText), std::string_view("Spans"));
    const Track& d = t->tracks[t->trackOf(slice(*t, "d")).index()];
    QCOMPARE(t->strings.view(d.tidText), std::string_view("15514734831341844875"));
    QCOMPARE(t->processes[d.process].pid, std::int64_t{-1});
    QVERIFY(slice(*t, "e"));
}

void TestChromeImport::beginsAndEnds() {
    const auto t = open(R"([
        {"ph":"B","name":"outer","pid":1,"tid":1,"ts":0,"args":{"x":1}},
        {"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
        {"ph":"E","pid":1,"tid":1,"ts":3},
        {"ph":"E","name":"outer","pid":1,"tid":1,"ts":10,"args":{"y":"z"}},
        {"ph":"E","pid":1,"tid":1,"ts":11},
        {"ph":"B","name":"open","pid":1,"tid":1,"ts":12},
        {"ph":"X","name":"last","pid":1,"tid":2,"ts":12,"dur":8}])");
    QVERIFY(t);
    QCOMPARE(t->eventCount, std::uint64_t{7});
    QCOMPARE(t->slices.size(), std::size_t{4});
    const auto outer = slice(*t, "outer").index();
    QCOMPARE(t->slices.duration[outer], TimeNs{10000});
    std::map<std::string, std::string> args;
    t->args.forEach(t->slices.args[outer], [&](const Arg& a) {
        args[std::string(t->strings.view(a.key))] = argText(t->strings, a);
    });
    QCOMPARE(args.at("x"), std::string("1"));
    QCOMPARE(args.at("y"), std::string("z"));
    const auto inner = slice(*t, "inner").index();
    QCOMPARE(t->slices.parent[inner], slice(*t, "outer"));
    QCOMPARE(t->slices.duration[inner], TimeNs{1000});
    const auto unfinished = slice(*t, "open").index();
    QCOMPARE(t->slices.end(unfinished), TimeNs{20000});
    QVERIFY(t->slices.flags[unfinished] & SliceFlag::Unfinished);
    QCOMPARE(countOf(*t, "end_without_begin"), std::uint64_t{1});
    QCOMPARE(countOf(*t, "begin_without_end"), std::uint64_t{1});
}

void TestChromeImport::asynchronousEvents() {
    const auto t = open(R"([
        {"ph":"b","cat":"net","id":"0x10","name":"request","pid":1,"tid":1,"ts":0},
        {"ph":"n","cat":"net","id":"0x10","name":"headers","pid":1,"tid":1,"ts":2},
        {"ph":"e","cat":"net","id":16,"name":"request","pid":1,"tid":2,"ts":5},
        {"ph":"S","cat":"old","id":1,"name":"legacy","pid":1,"tid":1,"ts":1},
        {"ph":"T","cat":"old","id":1,"name":"legacy","pid":1,"tid":1,"ts":2},
        {"ph":"F","cat":"old","id":1,"name":"legacy","pid":1,"tid":1,"ts":4},
        {"ph":"b","cat":"net","id2":{"local":"0x1"},"name":"mine","pid":1,"tid":1,"ts":0},
        {"ph":"e","cat":"net","id2":{"local":"0x1"},"name":"mine","pid":2,"tid":1,"ts":3},
        {"ph":"N","id":"0x9","name":"Object","pid":1,"tid":1,"ts":1},
        {"ph":"O","id":"0x9","name":"Object","pid":1,"tid":1,"ts":2,"args":{"snapshot":{"a":[1,2]}}},
        {"ph":"D","id":"0x9","name":"Object","pid":1,"tid":1,"ts":3}])");
    QVERIFY(t);
    QCOMPARE(t->slices.duration[slice(*t, "request").index()], TimeNs{5000});
    QCOMPARE(t->slices.duration[slice(*t, "legacy").index()], TimeNs{3000});
    QVERIFY(t->slices.flags[slice(*t, "headers").index()] & SliceFlag::Instant);
    // A local id is a process's own: the begin of one does not end in another.
    QVERIFY(t->slices.flags[slice(*t, "mine").index()] & SliceFlag::Unfinished);
    QCOMPARE(countOf(*t, "end_without_begin"), std::uint64_t{1});
    QCOMPARE(t->slices.duration[slice(*t, "Object").index()], TimeNs{2000});
    QCOMPARE(t->eventCount, std::uint64_t{11});
}

void TestChromeImport::nothingVanishesWhereEventsOverlap() {
    const auto t = open(R"([
        {"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},
        {"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":10},
        {"ph":"X","name":"c","pid":1,"tid":1,"ts":6,"dur":2},
        {"ph":"X","name":"d","pid":1,"tid":1,"ts":20,"dur":0},
        {"ph":"X","name":"e","pid":1,"tid":1,"ts":20,"dur":0},
        {"ph":"X","name":"f","pid":1,"tid":1,"ts":30,"dur":1}])");
    QVERIFY(t);
    QCOMPARE(t->slices.size(), std::size_t{6});
    QVERIFY(depthOf(*t, "b") > depthOf(*t, "a"));
    QVERIFY(!t->slices.parent[slice(*t, "b").index()]);
    QCOMPARE(t->slices.parent[slice(*t, "c").index()], slice(*t, "b"));
    QVERIFY(depthOf(*t, "d") != depthOf(*t, "e"));
    QCOMPARE(depthOf(*t, "f"), 0);
    checkLanes(*t);
}

void TestChromeImport::kernelsThatOverlapOnOneStreamGetLinesOfTheirOwn() {
    const auto t = open(R"([
        {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":0,"dur":10,"args":{"stream":7}},
        {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":2,"dur":3,"args":{"stream":7}},
        {"ph":"X","cat":"Memcpy","name":"c","pid":0,"tid":7,"ts":11,"dur":3}])");
    QVERIFY(t);
    QCOMPARE(t->tracks.size(), std::size_t{1});
    QCOMPARE(t->tracks[0].kind, TrackKind::Stream);
    QVERIFY(t->processes[0].device);
    // Work on a stream is not nested, however it lies.
    QVERIFY(!t->slices.parent[slice(*t, "b").index()]);
    QCOMPARE(depthOf(*t, "b"), 1);
    QCOMPARE(depthOf(*t, "c"), 0);
    checkLanes(*t);
}

void TestChromeImport::linksFollowIds() {
    const auto t = open(R"({"deviceProperties":[{"id":0,"name":"NVIDIA H200","numSms":132}],"traceEvents":[
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":0,"dur":10,"args":{"External id":5}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":2,"dur":3,"args":{"External id":5,"correlation":77}},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":4,"args":{"External id":5,"correlation":77}},
        {"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":20,"dur":4,"args":{"External id":5}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":9,"tid":9,"ts":30,"dur":3,"args":{"correlation":78}},
        {"ph":"X","cat":"kernel","name":"g1","pid":0,"tid":7,"ts":40,"dur":4,"args":{"correlation":78}},
        {"ph":"X","cat":"kernel","name":"g2","pid":0,"tid":7,"ts":25,"dur":4,"args":{"correlation":78}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":9,"tid":9,"ts":50,"dur":3,"args":{"correlation":79}},
        {"ph":"X","cat":"kernel","name":"orphan","pid":0,"tid":7,"ts":60,"dur":4,"args":{"correlation":99}}]})");
    QVERIFY(t);
    QVERIFY(linked(t->links.op, slice(*t, "aten::mm"), slice(*t, "gemm")));
    QVERIFY(linked(t->links.launch, slice(*t, "cudaLaunchKernel"), slice(*t, "gemm")));
    QVERIFY(linked(t->links.call, slice(*t, "aten::mm"), slice(*t, "cudaLaunchKernel")));
    QVERIFY(!linked(t->links.op, slice(*t, "aten::mm"), slice(*t, "step")));
    QVERIFY(linked(t->links.launch, slice(*t, "cudaGraphLaunch"), slice(*t, "g1")));
    QVERIFY(linked(t->links.launch, slice(*t, "cudaGraphLaunch"), slice(*t, "g2")));
    QCOMPARE(countOf(*t, "launch_without_kernel"), std::uint64_t{1});
    QCOMPARE(countOf(*t, "kernel_without_launch"), std::uint64_t{1});
    QCOMPARE(countOf(*t, "clock_inversion"), std::uint64_t{1});
    QCOMPARE(t->format, std::string("Kineto trace"));
    const Track& stream = t->tracks[t->trackOf(slice(*t, "gemm")).index()];
    QCOMPARE(t->processName(stream.process), std::string("GPU 0 · NVIDIA H200"));
}

void TestChromeImport::arrowsJoinSlices() {
    const auto t = open(R"([
        {"ph":"X","cat":"cpu_op","name":"fwd","pid":9,"tid":9,"ts":0,"dur":10},
        {"ph":"X","cat":"cpu_op","name":"bwd","pid":9,"tid":10,"ts":20,"dur":10},
        {"ph":"s","id":1,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":9,"ts":0},
        {"ph":"f","id":1,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":10,"ts":20,"bp":"e"},
        {"ph":"s","id":"0xff","cat":"mine","name":"m","pid":9,"tid":9,"ts":1},
        {"ph":"f","id":255,"cat":"mine","name":"m","pid":9,"tid":10,"ts":21},
        {"ph":"s","id":3,"cat":"mine","name":"m","pid":9,"tid":9,"ts":1}])");
    QVERIFY(t);
    QVERIFY(linked(t->links.forward, slice(*t, "fwd"), slice(*t, "bwd")));
    QVERIFY(linked(t->links.flow, slice(*t, "fwd"), slice(*t, "bwd")));
    QCOMPARE(countOf(*t, "dangling_flow"), std::uint64_t{1});
    QCOMPARE(t->flows.size(), std::size_t{5});
}

void TestChromeImport::countersAndMemory() {
    const auto t = open(R"([
        {"ph":"C","name":"load","pid":1,"ts":2,"args":{"user":3.5,"system":"1"}},
        {"ph":"C","name":"load","pid":1,"ts":1,"args":{"user":2}},
        {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":5,"args":{"Total Reserved":100,"Total Allocated":60,"Bytes":60,"Addr":139818566680576,"Device Id":1,"Device Type":1}},
        {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":4,"args":{"Total Allocated":7,"Bytes":-7,"Addr":64,"Device Id":-1,"Device Type":0}}])");
    QVERIFY(t);
    QCOMPARE(t->counterCount, std::uint64_t{2});
    QCOMPARE(t->counters.size(), std::size_t{2});
    for (const CounterTrack& c : t->counters) {
        if (t->strings.view(c.series) != "user")
            continue;
        QCOMPARE(c.time.size(), std::size_t{2});
        QCOMPARE(c.time[0], TimeNs{1000});
        QCOMPARE(c.value[1], 3.5);
    }
    QCOMPARE(t->memory.size(), std::size_t{2});
    QCOMPARE(int{t->memory.device[0]}, -1);
    QCOMPARE(t->memory.bytes[0], std::int64_t{-7});
    QCOMPARE(int{t->memory.device[1]}, 1);
    QCOMPARE(t->memory.address[1], std::uint64_t{139818566680576});
    QCOMPARE(t->memory.totalReserved[1], std::int64_t{100});
    QCOMPARE(t->slices.size(), std::size_t{0});
}

void TestChromeImport::everyArgumentIsKeptToTheDigit() {
    const auto t = open(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1,"tts":12.50,"args":{
        "i":-42,"u":18446744073709551615,"f":0.005208333333333333,"g":"te\"xt\u00e9","b":true,"n":null,
        "l":[[8192, 2048],[1]],"o":{"k":"v"},"e":1e-7,"z":0.50}}])");
    QVERIFY(t);
    std::map<std::string, std::string> args;
    t->args.forEach(t->slices.args[0], [&](const Arg& a) {
        std::string json;
        appendArgJson(json, t->strings, a);
        args[(a.top ? "^" : "") + std::string(t->strings.view(a.key))] = json;
    });
    QCOMPARE(args.size(), std::size_t{11});
    QCOMPARE(args["^tts"], std::string("12.50"));
    QCOMPARE(args["i"], std::string("-42"));
    QCOMPARE(args["u"], std::string("18446744073709551615"));
    QCOMPARE(args["f"], std::string("0.005208333333333333"));
    QCOMPARE(args["g"], std::string("\"te\\\"xté\""));
    QCOMPARE(args["b"], std::string("true"));
    QCOMPARE(args["n"], std::string("null"));
    QCOMPARE(args["l"], std::string("[[8192, 2048],[1]]"));
    QCOMPARE(args["o"], std::string("{\"k\":\"v\"}"));
    QCOMPARE(args["e"], std::string("1e-7"));
    QCOMPARE(args["z"], std::string("0.50"));
}

void TestChromeImport::oddDurations() {
    const auto t = open(R"([
        {"ph":"X","cat":"kernel","name":"untimed","pid":0,"tid":7,"ts":0,"dur":0},
        {"ph":"X","name":"negative","pid":1,"tid":1,"ts":200000000000,"dur":-5},
        {"ph":"X","name":"none","pid":1,"tid":1,"ts":200000000001},
        {"ph":"X","name":"timeless","pid":1,"tid":1,"dur":3},
        {"ph":"?","name":"unknown","pid":1,"tid":1,"ts":200000000002},
        {}])");
    QVERIFY(t);
    QCOMPARE(t->eventCount, std::uint64_t{6});
    QVERIFY(t->slices.flags[slice(*t, "negative").index()] & SliceFlag::NegativeDuration);
    QVERIFY(t->slices.flags[slice(*t, "none").index()] & SliceFlag::NoDuration);
    QVERIFY(t->slices.flags[slice(*t, "unknown").index()] & SliceFlag::Instant);
    QVERIFY(t->slices.flags[slice(*t, "untimed").index()] & SliceFlag::Untimed);
    QVERIFY(t->extent.begin >= TimeNs{200000000000000});
    QVERIFY(t->extent.duration() < 10000);
    for (const char* id :
         {"negative_duration", "missing_duration", "missing_time", "unknown_phase", "empty_event"})
        QCOMPARE(countOf(*t, id), std::uint64_t{1});
    QVERIFY(t->diagnostics.hasLoss());
    QVERIFY(t->diagnostics.find("missing_time")->firstOffset != Diagnostic::kNoOffset);
}

void TestChromeImport::framesOfAnyKind_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<int>("slices");
    const QByteArray a = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1})";
    const QByteArray b = R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":5,"dur":1})";
    QTest::newRow("empty array") << QByteArray("[]") << 0;
    QTest::newRow("empty object") << QByteArray(R"({"traceEvents":[]})") << 0;
    QTest::newRow("array") << "[" + a + "," + b + "]" << 2;
    QTest::newRow("trailing comma") << "[" + a + "," + b + ",]" << 2;
    QTest::newRow("no end") << "[" + a + ",\n" + b << 2;
    QTest::newRow("no end, comma") << "[" + a + ",\n" + b + ",\n" << 2;
    QTest::newRow("two arrays") << "[" + a + "][" + b + "]" << 2;
    QTest::newRow("two objects") << R"({"traceEvents":[)" + a + R"(]}{"traceEvents":[)" + b + "]}" << 2;
    QTest::newRow("events without a list") << a + "\n" + b << 2;
    QTest::newRow("events without a list, name first") << b + "\n" + a << 2;
    QTest::newRow("no comma") << "[" + a + "\n" + b + "]" << 2;
    QTest::newRow("bad property") << R"({"x": "a)"
                                     "\x01"
                                     R"(b", "traceEvents":[)" +
                                         a + "," + b + "]}"
                                  << 2;
    QTest::newRow("bracket in a name after the events")
        << R"({"traceEvents":[)" + a + "," + b + R"(],"traceName":"a]b{"})" << 2;
    QTest::newRow("byte order mark") << "\xEF\xBB\xBF[" + a + "]" << 1;
}

void TestChromeImport::framesOfAnyKind() {
    QFETCH(QByteArray, json);
    QFETCH(int, slices);
    const auto t = open({json.constData(), static_cast<std::size_t>(json.size())});
    QVERIFY(t);
    QCOMPARE(static_cast<int>(t->slices.size()), slices);
    QCOMPARE(static_cast<int>(t->eventCount), slices);
}

void TestChromeImport::piecesMayBeCutAnywhere() {
    std::string json = R"({"schemaVersion":1,"traceEvents":[)";
    const int count = 12000;
    std::uint32_t seed = 1;
    const auto random = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 8; };
    for (int i = 0; i < count; ++i) {
        if (i > 0)
            json += ",\n  ";
        json += fmt::format(
            R"({{"ph":"X","name":"n{}}},{{\"ph\": [","pid":1,"tid":{},"ts":{},"dur":1,"args":{{"i":{},"list":[)",
            i % 50, i % 3, i * 2, i);
        const std::uint32_t items = random() % 30 == 0 ? 600 : random() % 12;
        for (std::uint32_t k = 0; k < items; ++k)
            json += fmt::format(R"({}{{"ph":"X", "a":{}}})", k > 0 ? ", " : "", k);
        json += "]}}";
    }
    // One event longer than a piece.
    json += R"(,{"ph":"X","name":"long","pid":1,"tid":9,"ts":1,"dur":1,"args":{"text":")" +
            std::string(5 << 20, 'x') + "\"}}";
    json += "],\"traceName\":\"x\"}";
    QVERIFY(json.size() > std::size_t{8} << 20);
    for (const unsigned threads : {1u, 2u, 5u}) {
        ImportOptions options;
        options.threads = threads;
        const auto t = open(json, options);
        QVERIFY(t);
        QCOMPARE(t->eventCount, static_cast<std::uint64_t>(count + 1));
        QCOMPARE(t->slices.size(), static_cast<std::size_t>(count + 1));
        QVERIFY(t->diagnostics.rows().empty());
        const StringId key = t->strings.find("i");
        std::vector<bool> seen(count, false);
        for (std::size_t row = 0; row < t->slices.size(); ++row)
            if (const auto arg = t->args.find(t->slices.args[row], key))
                seen[static_cast<std::size_t>(arg->integer)] = true;
        QVERIFY(std::find(seen.begin(), seen.end(), false) == seen.end());
        checkLanes(*t);
    }
}

void TestChromeImport::countersInTheOrderOfTheirNames() {
    std::string json = "[";
    for (int i = 0; i < 200; ++i)
        json +=
            fmt::format(R"({}{{"ph":"C","name":"c{:03}","pid":1,"ts":{},"args":{{"v":{},"why":"text"}}}})",
                        i > 0 ? "," : "", 199 - i, i, i);
    const auto t = open(json + "]");
    QVERIFY(t);
    QCOMPARE(t->counters.size(), std::size_t{200});
    for (std::size_t i = 0; i < 200; ++i)
        QCOMPARE(std::string(t->strings.view(t->counters[i].name)), fmt::format("c{:03}", i));
    QCOMPARE(countOf(*t, "counter_without_number"), std::uint64_t{200});
}

void TestChromeImport::eventsThatAreAlmostAlike() {
    // Each way of writing comes twice and after others that begin alike.
    const std::vector<std::pair<std::string, std::string>> ways = {
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":[1]}})", "d=[1]"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":[1,2]}})", "d=[1,2]"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":[[1],2]}})", "d=[[1],2]"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":"[1]"}})", "d=\"[1]\""},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":1}})", "d=1"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":1.50}})", "d=1.50"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":null}})", "d=null"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":1e3}})", "d=1e3"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d" : [1] }})", "d=[1]"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":   7}})", "d=7"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"\u0064":8}})", "d=8"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{}})", ""},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":5})", "args=5"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"id":5})", "id=5"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"id":null})", ""},
        {R"({"ph":"i","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"id":null})", "dur=1"},
        {R"({"ph":"i","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"id":5})", "dur=1 id=5"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"name2":5})", "name2=5"},
        {R"({"ph":"X","name":"b","name":"a","pid":1,"tid":1,"ts":9,"dur":1,"ts":1})", ""},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":9,"dur":1,"ts":"1"})", ""},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":12345678901234567890}})",
         "d=12345678901234567890"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":-0}})", "d=-0"},
        {R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"d":1234567890.123456789012}})",
         "d=1234567890.123456789012"},
    };
    for (std::size_t first = 0; first < ways.size(); ++first) {
        std::string json = "[";
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < ways.size() * 2; ++i) {
            const auto& [text, args] = ways[(first + i * 5) % ways.size()];
            json += (i > 0 ? "," : "") + text;
            expected.push_back(args);
        }
        ImportOptions options;
        options.threads = 1;
        const auto t = open(json + "]", options);
        QVERIFY(t);
        QVERIFY(t->diagnostics.rows().empty());
        std::vector<std::string> found;
        for (std::size_t row = 0; row < t->slices.size(); ++row) {
            QCOMPARE(t->slices.start[row], TimeNs{1000});
            std::string args;
            t->args.forEach(t->slices.args[row], [&](const Arg& arg) {
                args += std::string(args.empty() ? "" : " ") + std::string(t->strings.view(arg.key)) + "=";
                appendArgJson(args, t->strings, arg);
            });
            found.push_back(args);
        }
        // All at one time: spans and moments stand on lines of their own, in any order.
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        QVERIFY(found == expected);
    }
}

void TestChromeImport::unknownKeysBeforeTheEvents() {
    // Far more of them than is read to tell what a file is.
    std::string keys;
    for (int i = 0; i < 40000; ++i)
        keys += fmt::format(R"("key{}": {{"a": [1, 2, "{}"]}}, )", i, i);
    QVERIFY(keys.size() > std::size_t{1} << 20);
    const auto t =
        open("{" + keys + R"("traceEvents": [{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})");
    QVERIFY(t);
    QCOMPARE(t->slices.size(), std::size_t{1});
    QCOMPARE(t->properties.size(), std::size_t{40000});
    const auto none = openTracesFromMemory("{" + keys + "\"last\": 1}", "file", {});
    QVERIFY(!none.ok());
    QCOMPARE(none.error().kind, Error::Kind::WrongKind);
    QVERIFY(none.error().message.find("no \"traceEvents\" at its top") != std::string::npos);
}

void TestChromeImport::brokenEventsAmongGoodOnes() {
    std::string json = "[";
    for (int i = 0; i < 4000; ++i) {
        if (i % 100 == 7)
            json += "{\"ph\":\"X\",\"name\":\"bad\x01\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(i * 2) +
                    ",\"dur\":NaN,},\n";
        else
            json += fmt::format(
                "{{\"ph\":\"X\",\"name\":\"good\",\"pid\":1,\"tid\":1,\"ts\":{},\"dur\":1}},\n", i * 2);
    }
    json += "]";
    const auto t = open(json);
    QVERIFY(t);
    QCOMPARE(t->eventCount, std::uint64_t{4000});
    QCOMPARE(t->slices.size(), std::size_t{4000});
    QCOMPARE(countOf(*t, "control_character"), std::uint64_t{40});
    QCOMPARE(countOf(*t, "bare_number"), std::uint64_t{40});
    QCOMPARE(countOf(*t, "missing_duration"), std::uint64_t{40});
    QCOMPARE(t->diagnostics.find("control_character")->firstOffset,
             static_cast<std::uint64_t>(json.find("bad")) - std::string("{\"ph\":\"X\",\"name\":\"").size());
}

void TestChromeImport::cancelling() {
    std::stop_source source;
    source.request_stop();
    ImportOptions options;
    options.stop = source.get_token();
    std::string json = "[";
    for (int i = 0; i < 1000; ++i)
        json += R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},)";
    const auto r = openTracesFromMemory(json + "]", "x", options);
    QVERIFY(!r.ok());
    QVERIFY(r.cancelled());
}

void TestChromeImport::namesOfProcessesAndThreads() {
    const auto t = open(R"([
        {"ph":"X","name":"a","pid":42,"tid":42,"ts":0,"dur":1},
        {"ph":"X","name":"b","pid":42,"tid":50,"ts":0,"dur":1},
        {"ph":"X","cat":"python_function","name":"f","pid":42,"tid":42,"ts":0,"dur":1},
        {"ph":"M","name":"process_name","pid":42,"args":{"name":"python3"}},
        {"ph":"M","name":"thread_name","pid":42,"tid":50,"args":{"name":"worker"}},
        {"ph":"M","name":"thread_name","pid":42,"tid":50,"args":{"name":"worker"}}])");
    QVERIFY(t);
    QCOMPARE(t->metadataCount, std::uint64_t{3});
    QCOMPARE(t->metadata.size(), std::size_t{2});
    QCOMPARE(t->processName(0), std::string("python3 42"));
    QCOMPARE(t->trackName(t->trackOf(slice(*t, "b"))), std::string("worker 50"));
    QCOMPARE(t->tracks[t->trackOf(slice(*t, "f")).index()].kind, TrackKind::Python);
    QVERIFY(t->trackOf(slice(*t, "a")) < t->trackOf(slice(*t, "b")));
}

void TestChromeImport::checkLanes(const Trace& t) {
    std::uint32_t row = 0;
    for (std::size_t l = 0; l < t.lanes.size(); ++l) {
        const Lane& lane = t.lanes[l];
        QCOMPARE(lane.begin, row);
        row = lane.end;
        for (std::uint32_t r = lane.begin; r + 1 < lane.end; ++r)
            QVERIFY(std::max(t.slices.end(r), t.slices.start[r] + 1) <= t.slices.start[r + 1]);
        for (std::uint32_t r = lane.begin; r < lane.end; ++r) {
            const SliceId parent = t.slices.parent[r];
            if (!parent)
                continue;
            QVERIFY(t.slices.start[parent.index()] <= t.slices.start[r]);
            QVERIFY(t.slices.end(parent.index()) >= t.slices.end(r));
            QVERIFY(t.lanes[t.laneOf(parent).index()].depth < lane.depth);
        }
    }
    QCOMPARE(row, static_cast<std::uint32_t>(t.slices.size()));
}

QTEST_GUILESS_MAIN(TestChromeImport)
#include "tst_chrome_import.moc"
