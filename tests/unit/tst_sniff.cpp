// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/byte_source.h"
#include "model/import/sniff.h"

#include <filesystem>
#include <map>
#include <QtTest>
#include <set>

using namespace warpline;
using namespace std::string_literals;

// Declared ahead of its functions: moc loses its way in their raw strings.
class TestSniff : public QObject {
    Q_OBJECT

  private slots:
    void chromeTraces_data();
    void chromeTraces();
    void others_data();
    void others();
    void everyCutOfATrace();
    void corpus();
    void recorded();
};

namespace {

/// "chrome", or the sentence; of profiles it ends in "not a trace."
QString verdict(std::string_view head, bool whole = true) {
    const Sniffed s = sniff(head, whole);
    return s.format == Sniffed::Format::ChromeTrace ? QStringLiteral("chrome")
                                                    : QString::fromStdString(s.sentence);
}

QStringList verdictsOf(const std::filesystem::path& path) {
    QStringList out;
    std::string buffer(1 << 20, '\0');
    const Result<Done> done = forEachByteSource(path.string(), [&](ByteSource& source) -> Result<Done> {
        std::size_t have = 0;
        for (;;) {
            Result<std::size_t> got = source.read(buffer.data() + have, buffer.size() - have);
            if (!got.ok())
                return got.error();
            have += got.value();
            if (got.value() == 0 || have == buffer.size())
                break;
        }
        out << verdict(std::string_view(buffer).substr(0, have), have < buffer.size());
        return Done{};
    });
    if (!done.ok())
        out << QString::fromStdString(done.error().message);
    return out;
}

} // namespace

void TestSniff::chromeTraces_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("whole");
    const auto row = [](const char* name, const std::string& text, bool whole = true) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << whole;
    };
    const std::string event = R"({"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1})";
    row("empty array", "[]");
    row("empty list", R"({"traceEvents":[]})");
    row("empty list, spaces", "\n { \"traceEvents\" : [ ] } \n");
    row("array of an empty event", "[{}]");
    row("array", "[" + event + "]");
    row("array without an end", "[" + event + ",");
    row("object", R"({"traceEvents":[)" + event + "]}");
    row("object without an end", R"({"traceEvents":[)" + event);
    row("cut in the first key", "[{\"na");
    row("cut before the phase", R"([{"pid": 1, "args": {"name": "x"}, "na)");
    row("cut after the first byte", "[");
    row("cut object", "{");
    row("cut in a header", R"({"schemaVersion": 1, "deviceProp)");
    row("cut in the devices", R"({"schemaVersion": 1, "deviceProperties": [ {"id": 0, "name": "H1)");
    row("a long header", R"({"distributedInfo": {"pg_config": [)" + std::string(5000, ' '), false);
    row("list after other things",
        R"({"metadata":{"a":[1,2,{"b":3}]},"other":"x","traceEvents":[)" + event + "]}");
    row("unknown header, events inside", R"({"what": "this "is" broken", "traceEvents": [)" + event + "]}");
    row("noise before it", "INFO: profiler started\n[" + event + "]");
    row("events without an array", event + ",\n" + event);
    row("events by line", event + "\n" + event + "\n");
    row("cut at its front", "1.0,\"pid\":1},\n" + event + "," + event + "]");
    row("concatenated", "[" + event + "][" + event + "]");
    row("events without a phase", R"([{"name":"a","ts":1,"dur":3}])");
    row("a raw zero byte in a name", "[{\"ph\":\"X\",\"name\":\"a\0b\",\"ts\":1}]"s);
    row("no colon spacing", R"([{"name":"x", "ph" : "B", "ts":1}])");
    row("nested lists", R"({"traceEvents":[[)");
}
void TestSniff::chromeTraces() {
    QFETCH(QByteArray, text);
    QFETCH(bool, whole);
    QCOMPARE(verdict(text.toStdString(), whole), QStringLiteral("chrome"));
}

void TestSniff::others_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const std::string& text, const char* expected) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QString::fromUtf8(expected);
    };
    row("empty", "", "empty (0 bytes)");
    row("white space", " \n\t\r\n", "nothing in this file but white space");
    row("zeros", std::string(4096, '\0'), "nothing but zero bytes");
    row("git lfs",
        "version https://git-lfs.github.com/spec/v1\noid "
        "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca2"
        "4d17e2393\nsize 135012345\n",
        "Git LFS pointer, not the file itself: run \"git lfs pull\" in its repository to fetch it (135 "
        "MB).");
    row("git lfs, small", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n",
        "(12 bytes)");
    row("git lfs, no size", "version https://git-lfs.github.com/spec/v1\n", "to fetch it.");
    row("html", "<!DOCTYPE html>\n<html><head><title> Sign in \n</title></head>", "titled \"Sign in\"");
    row("html without a type", "<html><body>404</body></html>", "web page (HTML),");
    row("xml", "<?xml version=\"1.0\"?><a/>", "an XML document");
    row("store", "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>",
        "error message of a file store");
    row("appledouble", "\0\5\x16\7\0\2\0\0Mac OS X"s, "AppleDouble");
    row("execution trace", R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1}]})",
        "PyTorch execution trace");
    row("old execution trace", R"({"schema": "1.0.1", "pid": 1, "time": "x", "nodes": [)",
        "PyTorch execution trace");
    row("google cloud", R"({"traces":[{"projectId":"p","traceId":"t","spans":[{"spanId":"1"}]}]})",
        "Google Cloud trace");
    row("google cloud, one", R"({"projectId":"p","traceId":"t","spans":[{"spanId":"1"}]})",
        "Google Cloud trace");
    row("open telemetry", R"({"resourceSpans":[{"resource":{}}]})", "OpenTelemetry");
    row("snapshot json", R"({"segments":[{"device":0,"total_size":2}],"device_traces":[[]]})",
        "memory snapshot (JSON)");
    row("snapshot pickle", "\x80\x04\x95\x11\0\0}\x94(\x8c\x08segments\x94]\x94}\x8c\x0atotal_size"s,
        "memory snapshot (pickle)");
    row("pickle", "\x80\x04\x95\x11\0\0\x8c\x05hello\x94."s, "a Python pickle, but not");
    row("raw timeline", "[[-1, 1, 37888, 7], [-1, 1, 512, 7], [3, 2, 512, 1]]", "raw memory timeline");
    row("timeline", "[[1796107749370810, 1796107749370811], [[0, 1], [2, 3]]]", "memory timeline (export");
    row("speedscope", R"({"version":"0.0.1","$schema":"https://www.speedscope.app/file-format-schema.json"})",
        "speedscope");
    row("cpuprofile",
        R"({"nodes":[{"id":1,"callFrame":{}}],"startTime":1,"endTime":2,"samples":[],"timeDeltas":[]})",
        ".cpuprofile");
    row("firefox", R"({"meta":{"interval":1,"preprocessedProfileVersion":49},"libs":[],"threads":[]})",
        "Firefox Profiler");
    row("rocprofv3", R"({"rocprofiler-sdk-tool":[{"metadata":{}}]})", "rocprofv3");
    row("hatchet", R"([{"children":[],"frame":{"name":"ROOT"},"metrics":{}}])", "Hatchet");
    row("notebook", R"({"cells":[],"metadata":{},"nbformat":4})", "Jupyter notebook");
    row("other object", R"({"b":1,"a":[{"c":2}],"d":"e"})",
        "with the keys \"b\", \"a\", \"d\", but no trace");
    row("many keys", R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1})", "\"d\", \"e\" and others");
    row("empty object", " {} ", "an empty JSON object");
    row("header without events", R"({"schemaVersion":1,"deviceProperties":[]})",
        "without the list of events");
    row("events further in", R"({"result":{"traceEvents":[]}})", "not at its top");
    row("objects", R"([{"key":"aten::add","count":3},{"key":"b"}])",
        "a list of objects with the keys \"key\", \"count\", but no trace");
    row("texts", R"(["a","b"])", "a list of texts");
    row("numbers", "[1,2,3]", "a list of numbers");
    row("arrays", R"([["a"],["b"]])", "a list of arrays");
    row("a number", "12", "a text file that begins with \"12\"");
    row("folded", "a;b;c 1\r\na;b;d 4\r\n", "folded stacks, as flame graphs are made from, not a trace");
    row("folded, comments", "# one\n// two\n// three\na;b;c 1\nnone\na;b 4.5\n", "folded stacks");
    row("folded, one frame each", "main 4\nidle 5\n", "folded stacks");
    row("words and numbers", "there were 4\nof them 5\n", "a text file");
    row("one word and a number", "main 4\n", "a text file");
    row("session", R"({"format":"warpline session","version":1})", "a session that Warpline saved");
    row("own tree", R"({"format":"warpline flame tree","version":1,"name":"all"})",
        "flame tree that Warpline wrote");
    row("csv", "a,b,c\n1,2,3\n", "a table (CSV) with the columns a,b,c.");
    row("nsys csv", "Time (%),Total Time (ns),Instances\n1,2,3\n", "nsys stats");
    row("text", "hello\nworld\n", "a text file that begins with \"hello\"");
    row("nsys", "NVIDIA Tegra Profiler Report 2024@6", "Nsight Systems report (.nsys-rep)");
    row("ncu", "NVR\0\2\0\0\0"s, "Nsight Compute report (.ncu-rep)");
    row("sqlite", "SQLite format 3\0abc"s, "neither an export of Nsight Systems nor a memory snapshot");
    row("sqlite nsys", "SQLite format 3\0 CREATE TABLE StringIds ( CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"s,
        "Nsight Systems export (SQLite)");
    row("xz",
        "\xFD"
        "7zXZ\0..."s,
        "xz-compressed");
    row("png", "\x89PNG\r\n\x1a\n", "a picture (PNG)");
    row("elf",
        "\x7F"
        "ELF\2\1\1\0"s,
        "ELF");
    row("xplane", "\x0a\x12\x12\x10/host:metadata00\x0a\x00"s, "xplane.pb");
    row("perfetto", "\x0a\x07\x40\x80\x01\x50\x01\x18\x02\x0a\x05\x40\x85\x01\x7a\x00\x0a\x02\x40\x09"s,
        "Perfetto trace (protobuf");
    row("binary", "\x01\x02\x03\x04\xFF"s, "a binary file of a kind");
}
void TestSniff::others() {
    QFETCH(QByteArray, text);
    QFETCH(QString, expected);
    const QString got = verdict(text.toStdString());
    QVERIFY2(got.contains(expected), qPrintable(got));
    QVERIFY2(got.endsWith('.') && !got.contains('\n'), qPrintable(got));
}

void TestSniff::everyCutOfATrace() {
    // Wherever a trace is cut, it is a trace that is cut.
    const std::string trace = R"(
{
  "schemaVersion": 1,
  "deviceProperties": [ {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320} ],
  "distributedInfo": {"backend": "nccl", "rank": 0},
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2, "args": {"a": [1, {"b": 2}]}},
  {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}
  ], "traceName": "x.json"})";
    for (std::size_t n = 2; n <= trace.size(); ++n)
        QVERIFY2(verdict(std::string_view(trace).substr(0, n)) == "chrome", trace.substr(0, n).c_str());
}

void TestSniff::corpus() {
    const std::filesystem::path root = std::filesystem::path(WARPLINE_SHARED_DATA) / "corpus";
    if (!std::filesystem::exists(root))
        QSKIP("the corpus folder is not there; set WARPLINE_SHARED_DATA to run this");
    // What is no Chrome trace, by path; all else under kineto and chrome is one.
    const std::map<std::string, QString> others = {
        {"chrome/speedscope_invalid_out_of_order.json", "speedscope profile"},
        {"chrome/tracelens_rocprofv3_results.json.gz", "AMD's rocprofv3"},
        {"kineto/hta_memory_timeline_raw.json.gz", "raw memory timeline"},
        {"kineto/intel_xpu_profiler_mock_events.json", "PyTorch's own tests"},
        {"kineto/malformed_empty_0_bytes_msprof.json", "empty (0 bytes)"},
        {"kineto/malformed_macos_appledouble__huvideo_rank_0.json", "AppleDouble"},
        {"flame/collapsed_crlf.txt", "folded stacks"},
        {"flame/collapsed_perf_vertx.txt", "folded stacks"},
        {"flame/collapsed_with_invalids.txt", "folded stacks"},
        {"flame/proton_tritonbench.hatchet", "Hatchet"},
        {"flame/samply_tiktoken_profile.json.gz", "Firefox Profiler"},
        {"flame/speedscope_simple_0.0.1.speedscope.json", "speedscope profile"},
        {"flame/speedscope_two_sampled_0.6.0.speedscope.json", "speedscope profile"},
        {"ncu/codegandee_k0001_details.csv", "ncu --csv"},
        {"ncu/codegandee_k0004_details.csv", "ncu --csv"},
        {"ncu/nsightful_copy_blocked_details.csv", "ncu --csv"},
        {"ncu/esmm_profile_small.ncu-rep", "Nsight Compute report"},
        {"ncu/julia_indexspaces_profile.ncu-rep", "Nsight Compute report"},
        {"ncu/pytorch_examples_alexnet_a100_ncu.txt", "text that Nsight Compute printed"},
        {"ncu/pytorch_examples_vgg11_v100_ncu_error.txt", "text that Nsight Compute printed"},
        {"nsys/codegandee_dsocr_cuda_gpu_kern_sum.csv", "nsys stats"},
        {"nsys/fuser_report1.nsys-rep", "Nsight Systems report"},
        {"nsys/ncar_matrix_add_openacc.nvvp", "nvprof"},
        {"nsys/nsysai_h100_2gpu_1s.sqlite", "Nsight Systems export"},
        {"nsys/nsysai_mock.sqlite", "Nsight Systems export"},
        {"nsys/pipit_cloverleaf_cuda_api_trace.csv", "a table (CSV)"},
        {"nsys/pipit_cloverleaf_gpu_trace.csv", "a table (CSV)"},
        {"other/jax_conv_mi300.xplane.pb", "xplane.pb"},
        {"other/roc_optiq_rocprof_compute.db", "rocprof-compute"},
        {"other/rocprofv3_kernel_trace.csv", "AMD's rocprofv3 (CSV)"},
    };
    int seen = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        const std::string name = std::filesystem::relative(entry.path(), root).generic_string();
        if (!entry.is_regular_file() || name == "MANIFEST.tsv")
            continue;
        ++seen;
        QString expected = "chrome";
        if (const auto other = others.find(name); other != others.end())
            expected = other->second;
        else if (name.starts_with("memory_snapshot/"))
            expected = "PyTorch memory snapshot (pickle)";
        const QStringList got = verdictsOf(entry.path());
        QVERIFY2(!got.isEmpty(), name.c_str());
        for (const QString& v : got) {
            qInfo().noquote() << QString::fromStdString(name) << v;
            QVERIFY2(v.contains(expected), qPrintable(QString::fromStdString(name) + ": " + v));
        }
    }
    QVERIFY(seen > 80);
}

void TestSniff::recorded() {
    const std::filesystem::path root = std::filesystem::path(WARPLINE_SHARED_DATA) / "h200";
    if (!std::filesystem::exists(root))
        QSKIP("the folder h200 is not there; set WARPLINE_SHARED_DATA to run this");
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        const std::string name = entry.path().filename().string();
        const QStringList got = verdictsOf(entry.path());
        QCOMPARE(got.size(), 1);
        QString expected = "chrome";
        if (name.find(".snapshot.pickle") != std::string::npos)
            expected = "PyTorch memory snapshot (pickle)";
        else if (name.find("memory_timeline") != std::string::npos)
            expected = "memory timeline";
        else if (name.ends_with(".averages.json") || name.ends_with(".ops.json"))
            expected = "a list of objects with the keys";
        else if (name.ends_with(".memory.json") || name.ends_with(".ref.json"))
            expected = "an object with the key";
        else if (name.ends_with(".txt"))
            expected = name.ends_with(".table.txt") ? "a table that torch.profiler printed" : "a text file";
        else if (name.find(".csv") != std::string::npos)
            expected = "ncu --csv";
        else if (name.find(".ncu-rep") != std::string::npos)
            expected = "Nsight Compute report";
        qInfo().noquote() << QString::fromStdString(name) << got[0];
        QVERIFY2(got[0].contains(expected), qPrintable(QString::fromStdString(name) + ": " + got[0]));
    }
}
QTEST_GUILESS_MAIN(TestSniff)
#include "tst_sniff.moc"
