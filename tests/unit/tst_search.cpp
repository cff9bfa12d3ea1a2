// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/search.h"
#include "model/query/text_match.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

#include <random>
#include <set>

using namespace warpline;
using warpline::test::TraceBuilder;

class TestSearch : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void finds_data();
    void finds();
    void refuses_data();
    void refuses();
    void addressOfMemoryRecord();
    void catastrophicExpressionEnds();
    void cancels();
    void durations_data();
    void durations();
    void manyRowsAgainstReference();

  private:
    TracePtr m_trace;
};

void TestSearch::initTestCase() {
    TraceBuilder b;
    const TrackId main = b.track(b.process(10, false), TrackKind::Thread, 10);
    const TrackId stream = b.track(b.process(0, true), TrackKind::Stream, 7);
    using B = TraceBuilder;
    const auto op = b.add(main, "cpu_op", "aten::mm", 1000, 900,
                          {B::number("External id", 41), B::raw("Input Dims", "[[8, 16], [16, 4]]"),
                           B::text("dtype", "Float")});
    b.add(main, "cpu_op", "aten::addmm", 3000, 2'000'000, {B::number("External id", 42)});
    b.add(main, "cuda_runtime", "cudaLaunchKernel", 1200, 100,
          {B::number("correlation", 7), B::number("External id", 41)});
    b.add(main, "user_annotation", "my step = a=b", 3'000'000, 50);
    b.add(main, "python_function", "/usr/lib/python3/train.py(12): run<lambda>", 3'100'000, 50,
          {{"flag", ArgKind::True}, {"none", ArgKind::Null}});
    b.add(stream, "kernel", "void gemm<128, (Layout)1>(float*)", 2000, 20'000,
          {B::number("stream", 7),
           B::raw("grid", "[128, 1, 1]"),
           B::decimal("blocks per SM", 1500, 3),
           B::number("External id", 41),
           {"queued", ArgKind::UInt, -1},
           B::number("ptr", 0x7f3a8c000000)});
    b.add(stream, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 100'000, 5'000,
          {B::number("stream", 7), B::number("bytes", 2 << 20)});
    b.add(stream, "kernel", "tiny at 0x7F3A8C000000", 500, 1,
          {B::number("stream", 20), B::number("offset", -3)});
    // An allocation in the middle of aten::mm's launch.
    b.memory(1250, 4096, 0, main, 0x7f0000001000);
    (void)op;
    m_trace = b.finish();
}

void TestSearch::finds_data() {
    QTest::addColumn<QString>("query");
    QTest::addColumn<QStringList>("names");
    const QString mm = "aten::mm", addmm = "aten::addmm", launch = "cudaLaunchKernel", step = "my step = a=b",
                  run = "/usr/lib/python3/train.py(12): run<lambda>",
                  gemm = "void gemm<128, (Layout)1>(float*)", copy = "Memcpy HtoD (Pinned -> Device)",
                  tiny = "tiny at 0x7F3A8C000000";
    const auto row = [](const char* query, const QStringList& names) {
        QTest::newRow(query) << QString(query) << names;
    };
    // Names; the results are in the order of time.
    row("mm", {mm, gemm, addmm});
    row("MM", {mm, gemm, addmm});
    row("aten:: add", {addmm});
    row("aten::mm", {mm});
    row("\"hton\"", {});
    row("\"htod (pinned\"", {copy});
    row("\"(Layout)1", {gemm}); // a quote not closed yet
    row("name:gemm", {gemm});
    row("nothing", {});
    row("", {});
    row("   ", {});
    // What looks like a term, but is a part of a name.
    row("gemm<128,", {gemm});
    row("a=b", {step});
    row("run<lambda>", {run});
    row("/usr/lib", {run});
    // Regular expressions.
    row("/^aten::(add)?mm$/", {mm, addmm});
    row("/^ATEN/", {mm, addmm});
    row("/a{2}/", {});
    row("/htod \\(pinned/ stream=7", {copy});
    row("/lib\\/python/", {run});
    // Durations.
    row("dur>1ms", {addmm});
    row("dur>=2ms", {addmm});
    row("dur>2ms", {});
    row("dur<=1", {tiny});
    row("dur = 5us", {copy});
    row("dur > 4.9 us dur < 21 us", {gemm, copy});
    row("dur>4.9us mm", {gemm, addmm});
    row("duration<2ns", {tiny});
    // Categories: parts of the file's names, or our names of kinds.
    row("cat:kernel", {tiny, gemm});
    row("cat:gpu_", {copy});
    row("cat:\"runtime call\"", {launch});
    row("cat:kernel stream=7", {gemm});
    row("cat=cpu_op dur>1us", {addmm});
    // Arguments.
    row("stream=7", {gemm, copy});
    row("Stream=20", {tiny});
    row("\"External id\"=41", {mm, launch, gemm});
    row("external_id=41 cat:cpu_op", {mm});
    row("dtype=float", {mm});
    row("dtype=floa", {});
    row("dtype:floa", {mm});
    row("\"input dims\"=[[8,16],[16,4]]", {mm});
    row("input_dims=[[8, 16], [16, 4]]", {mm});
    row("input_dims:16", {mm});
    row("grid:128", {gemm});
    row("blocks_per_sm=1.5", {gemm});
    row("blocks_per_sm>1.4 blocks_per_sm<1.6", {gemm});
    row("blocks_per_sm>=1.5", {gemm});
    row("blocks_per_sm>1.5", {});
    row("bytes=2MiB", {copy});
    row("bytes>1MiB", {copy});
    row("bytes>2MiB", {});
    row("offset=-3", {tiny});
    row("offset<0", {tiny});
    row("queued=18446744073709551615", {gemm});
    row("flag=true", {run});
    row("none=null", {run});
    // Addresses: a number, wherever it is, and a text that holds it.
    row("0x7f3a8c000000", {tiny, gemm});
    row("139889433640960", {gemm});
    row("ptr=0x7f3a8c000000", {gemm});
    row("0x7f3a8c000000 cat:kernel stream=7", {gemm});
}

void TestSearch::finds() {
    QFETCH(QString, query);
    QFETCH(QStringList, names);
    const Result<std::vector<SliceId>> r = search(*m_trace, {query.toStdString()});
    QVERIFY2(r.ok(), r.ok() ? "" : r.error().message.c_str());
    QStringList got;
    for (const SliceId s : r.value())
        got << QString::fromUtf8(m_trace->name(s).data(), static_cast<qsizetype>(m_trace->name(s).size()));
    QCOMPARE(got, names);
}

void TestSearch::refuses_data() {
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("says");
    QTest::newRow("open group") << "/(/"
                                << "The regular expression /(/ cannot be read: ";
    QTest::newRow("nothing to repeat") << "mm /*a/"
                                       << "The regular expression /*a/ cannot be read: ";
    QTest::newRow("no duration") << "dur>"
                                 << "A duration is missing after \"dur>\"";
    QTest::newRow("odd duration") << "dur>=5 parsecs dur<1xs"
                                  << "\"1xs\" is no duration: write it like dur<250us.";
    QTest::newRow("no category") << "cat:"
                                 << "A category is missing";
    QTest::newRow("text compared") << "stream>seven"
                                   << "\"seven\" is no number to compare stream with.";
}

void TestSearch::refuses() {
    QFETCH(QString, query);
    QFETCH(QString, says);
    const Result<std::vector<SliceId>> r = search(*m_trace, {query.toStdString()});
    QVERIFY(!r.ok());
    QVERIFY(r.error().kind == Error::Kind::Failed);
    const QString message = QString::fromStdString(r.error().message);
    QVERIFY2(message.startsWith(says), qPrintable(message));
    QVERIFY2(message.endsWith('.') && !message.contains('\n'), qPrintable(message));
}

void TestSearch::addressOfMemoryRecord() {
    const Result<std::vector<SliceId>> r = search(*m_trace, {"0x7f0000001000"});
    QVERIFY(r.ok());
    QCOMPARE(r.value().size(), std::size_t{1});
    QCOMPARE(m_trace->name(r.value()[0]),
             std::string_view("cudaLaunchKernel")); // the innermost at that moment
}

void TestSearch::catastrophicExpressionEnds() {
    TraceBuilder b;
    const TrackId track = b.track(b.process(1, false), TrackKind::Thread, 1);
    b.add(track, "cpu_op", std::string(200, 'a') + "b", 0, 1);
    const TracePtr trace = b.finish();
    const Result<std::vector<SliceId>> r = search(*trace, {"/^(a+)+(a+)+(a|aa)+$/"});
    QVERIFY(!r.ok());
    QVERIFY(r.error().message.find("too long") != std::string::npos);
    // Deep nesting and long texts must not overflow the stack either.
    const Result<TextPattern> nested =
        TextPattern::regex(std::string(100'000, '(') + std::string(100'000, ')'));
    QVERIFY(!nested.ok());
    TraceBuilder longName;
    longName.add(longName.track(longName.process(1, false), TrackKind::Thread, 1), "cpu_op",
                 std::string(5'000'000, 'x'), 0, 1);
    const TracePtr longTrace = longName.finish();
    const Result<std::vector<SliceId>> l = search(*longTrace, {"/^(x|y)*$/"});
    QVERIFY(l.ok() || l.error().message.find("too long") != std::string::npos);
}

void TestSearch::cancels() {
    std::stop_source stop;
    stop.request_stop();
    const Result<std::vector<SliceId>> r = search(*m_trace, {"mm"}, stop.get_token());
    QVERIFY(r.cancelled());
}

void TestSearch::durations_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("ns");
    const auto row = [](const char* text, qint64 ns) {
        QTest::newRow(text) << QString::fromUtf8(text) << ns;
    };
    row("120", 120);
    row("250us", 250'000);
    row("1.5 ms", 1'500'000);
    row("2s", 2'000'000'000);
    row(" 3 ns ", 3);
    row("7µs", 7'000);
    row("7μs", 7'000); // the Greek letter
    row("1.0000005s", 1'000'000'500);
    row("0.4", 0);
    row("0.5", 1);
    row("2min", 120'000'000'000);
    row(".5us", 500);
    row("", -1);
    row("ms", -1);
    row("1.2.3s", -1);
    row("-1s", -1);
    row("1 parsec", -1);
    row("99999999999s", -1); // beyond 64 bits
    row("99999999999999999999999", -1);
}

void TestSearch::durations() {
    QFETCH(QString, text);
    QFETCH(qint64, ns);
    TimeNs out = -1;
    const bool ok = parseDuration(text.toStdString(), out);
    QCOMPARE(ok, ns >= 0);
    if (ok)
        QCOMPARE(out, TimeNs{ns});
}

/// Enough rows for several threads and lanes: the result is what a plain loop finds, ordered by start.
void TestSearch::manyRowsAgainstReference() {
    std::mt19937_64 random(8);
    TraceBuilder b;
    const std::uint32_t process = b.process(1, false);
    for (int t = 0; t < 5; ++t) {
        const TrackId track = b.track(process, TrackKind::Thread, t);
        TimeNs at = 0;
        for (int i = 0; i < 60'000; ++i) {
            const auto duration = static_cast<TimeNs>(random() % 100);
            b.add(track, random() % 2 ? "cpu_op" : "kernel", "name " + std::to_string(random() % 50), at,
                  duration, {TraceBuilder::number("stream", static_cast<std::int64_t>(random() % 4))}, 0);
            at += duration + static_cast<TimeNs>(random() % 3);
        }
    }
    const TracePtr trace = b.finish();
    const Result<std::vector<SliceId>> r = search(*trace, {"\"name 3\" dur>30 stream=2 cat:kernel"});
    QVERIFY(r.ok());
    std::vector<std::pair<TimeNs, std::uint32_t>> expected;
    const StringId key = trace->strings.find("stream");
    for (std::uint32_t row = 0; row < trace->slices.size(); ++row) {
        const std::string_view name = trace->strings.view(trace->slices.name[row]);
        if (name.find("name 3") != std::string_view::npos && trace->slices.duration[row] > 30 &&
            trace->kind(row) == SliceKind::Kernel &&
            trace->args.find(trace->slices.args[row], key)->integer == 2)
            expected.emplace_back(trace->slices.start[row], row);
    }
    std::sort(expected.begin(), expected.end());
    QVERIFY(expected.size() > 1000);
    QCOMPARE(r.value().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        QCOMPARE(r.value()[i], SliceId::fromIndex(expected[i].second));
}

QTEST_APPLESS_MAIN(TestSearch)
#include "tst_search.moc"
