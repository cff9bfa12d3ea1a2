// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/json.h"
#include "model/export/chrome_writer.h"
#include "model/import/import.h"

#include <fstream>
#include <QTemporaryDir>
#include <QtTest>
#include <sys/stat.h>
#include <unistd.h>

using namespace warpline;

namespace {

TracePtr opened(std::string_view bytes) {
    auto traces = openTracesFromMemory(bytes, "test");
    return traces.ok() && traces.value().size() == 1 ? traces.value().front() : nullptr;
}

std::string contents(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

/// One of everything that a file can hold.
std::string everything() {
    return contents(WARPLINE_TEST_DATA "/everything.json");
}

std::string argsText(const Trace& trace, ArgStore::Ref ref) {
    std::string out;
    if (ref != 0) {
        trace.args.forEach(ref, [&](const Arg& arg) {
            out += arg.top ? "^" : "";
            out += trace.strings.view(arg.key);
            out += '=';
            appendArgJson(out, trace.strings, arg);
            out += ' ';
        });
    }
    return out;
}

/// All that a trace holds as lines of text, so that a difference can be read.
std::vector<std::string> described(const Trace& trace, bool flags = true) {
    std::vector<std::string> lines;
    const auto text = [&](StringId id) { return std::string(trace.strings.view(id)); };
    for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        for (std::size_t row = track.firstSlice; row < track.endSlice; ++row) {
            const SliceTable& s = trace.slices;
            lines.push_back(QString("slice %1 pid %2%3 tid %4%5 %6 %7 %8+%9 flags %10 %11")
                                .arg(int(track.kind))
                                .arg(trace.processes[track.process].pid)
                                .arg(QString::fromStdString(text(trace.processes[track.process].pidText)))
                                .arg(track.tid)
                                .arg(QString::fromStdString(text(track.tidText)))
                                .arg(QString::fromStdString(text(trace.categories[s.category[row]].name)))
                                .arg(QString::fromStdString(text(s.name[row])))
                                .arg(s.start[row])
                                .arg(s.duration[row])
                                .arg(flags ? s.flags[row] & ~SliceFlag::FromPair : 0)
                                .arg(QString::fromStdString(argsText(trace, s.args[row])))
                                .toStdString());
        }
    }
    for (const CounterTrack& c : trace.counters)
        for (std::size_t i = 0; i < c.time.size(); ++i)
            lines.push_back("counter " + text(c.name) + " " + text(c.series) + " " +
                            std::to_string(c.time[i]) + " " + std::to_string(c.value[i]));
    for (std::size_t i = 0; i < trace.memory.size(); ++i)
        lines.push_back("memory " + std::to_string(trace.memory.time[i]) + " " +
                        std::to_string(trace.memory.bytes[i]) + argsText(trace, trace.memory.args[i]));
    for (std::size_t i = 0; i < trace.flows.size(); ++i)
        lines.push_back("flow " + text(trace.flows.name[i]) + trace.flows.phase[i] +
                        std::to_string(trace.flows.time[i]) + " " + std::to_string(trace.flows.id[i]) +
                        std::to_string(trace.flows.bindEnclosing[i]));
    for (const MetadataEvent& m : trace.metadata)
        lines.push_back("meta " + text(m.name) + std::to_string(m.pid) + text(m.tidText) + text(m.args));
    for (const auto& [key, json] : trace.properties)
        lines.push_back("property " + key + " " + json);
    for (const LinkTable* links :
         {&trace.links.launch, &trace.links.op, &trace.links.forward, &trace.links.flow})
        lines.push_back("links " + std::to_string(links->size()));
    std::sort(lines.begin(), lines.end());
    return lines;
}

void compare(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        QCOMPARE(a[i], b[i]);
    QCOMPARE(a.size(), b.size());
}

} // namespace

class TestChromeWriter : public QObject {
    Q_OBJECT
  private slots:
    void keepsEverything_data();
    void keepsEverything();
    void isStrictJsonThatOthersRead();
    void writesARange();
    void leavesNothingBehindOnFailure();
    void replacesOnlyWhenWhole();
    void writesManyPieces();

  private:
    QTemporaryDir m_dir;
};

void TestChromeWriter::keepsEverything_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("json") << "out.json";
    QTest::newRow("gzip") << "out.json.gz";
}

void TestChromeWriter::keepsEverything() {
    QFETCH(QString, name);
    const TracePtr first = opened(everything());
    QVERIFY(first);
    const std::string path = m_dir.filePath(name).toStdString();
    const auto done = writeChromeTrace(*first, path);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message.c_str());
    const TracePtr second = opened(contents(path));
    QVERIFY(second);
    QVERIFY(first->slices.size() >= 12);
    QCOMPARE(second->compression, std::string(name.endsWith(".gz") ? "gzip" : ""));
    compare(described(*second), described(*first));
    QCOMPARE(second->counterCount, first->counterCount);
    QCOMPARE(second->rank, first->rank);
    QCOMPARE(second->baseTime, first->baseTime);
    // A second time the text is the same, byte for byte.
    const std::string again = m_dir.filePath("again-" + name).toStdString();
    QVERIFY(writeChromeTrace(*second, again).ok());
    QCOMPARE(contents(again).size(), contents(path).size());
}

void TestChromeWriter::isStrictJsonThatOthersRead() {
    const TracePtr trace = opened(everything());
    const std::string path = m_dir.filePath("strict.json").toStdString();
    QVERIFY(writeChromeTrace(*trace, path).ok());
    const std::string text = contents(path);
    QVERIFY(isStrictJson(text));
    const auto document = parseJson(text);
    QVERIFY(document.has_value());
    const JsonValue* events = document->find("traceEvents");
    QVERIFY(events != nullptr);
    bool seen = false;
    for (const JsonValue& event : events->items) {
        const JsonValue* name = event.find("name");
        if (name == nullptr || name->string() != "aten::mm")
            continue;
        seen = true;
        // Digits as they stood: none gained, none lost.
        QCOMPARE(event.find("ts")->text, std::string("5250723381466.441"));
        QCOMPARE(event.find("dur")->text, std::string("204.850"));
        QCOMPARE(event.find("tts")->text, std::string("12"));
        const JsonValue* args = event.find("args");
        QCOMPARE(args->find("big")->text, std::string("18446744073709551615"));
        QCOMPARE(args->find("dec")->text, std::string("0.050"));
        QCOMPARE(args->find("exp")->text, std::string("1e-7"));
        QCOMPARE(args->find("s")->text, std::string("a\nb"));
    }
    QVERIFY(seen);
}

void TestChromeWriter::writesARange() {
    const TracePtr trace = opened(everything());
    const TimeNs base = 1790857026000000000 + 5250723381466000;
    ExportOptions options;
    options.range = TimeRange{base + 33'000, base + 40'000}; // the kernel, and what is still open then
    const std::string path = m_dir.filePath("range.json").toStdString();
    QVERIFY(writeChromeTrace(*trace, path, options).ok());
    const TracePtr cut = opened(contents(path));
    QVERIFY(cut);
    QStringList names;
    for (std::size_t row = 0; row < cut->slices.size(); ++row)
        names << QString::fromStdString(std::string(cut->strings.view(cut->slices.name[row])));
    names.sort();
    QCOMPARE(names.join(","), QString("aten::mm,gemm,open"));
    QCOMPARE(cut->flows.size(), std::size_t{0}); // one end of the arrow is out
    QCOMPARE(cut->metadata.size(), trace->metadata.size());
    QCOMPARE(cut->rank, std::int64_t{1});
}

void TestChromeWriter::leavesNothingBehindOnFailure() {
    const TracePtr trace = opened(everything());
    const auto missing = writeChromeTrace(*trace, m_dir.filePath("no/such/folder/x.json").toStdString());
    QVERIFY(!missing.ok());
    QVERIFY(missing.error().message.find("no/such/folder/x.json") != std::string::npos);
    if (::access("/dev/full", W_OK) != 0)
        QSKIP("needs /dev/full");
    const auto full = writeChromeTrace(*trace, "/dev/full");
    QVERIFY(!full.ok());
    QVERIFY(full.error().message.find("/dev/full") != std::string::npos);
}

void TestChromeWriter::replacesOnlyWhenWhole() {
    const TracePtr trace = opened(everything());
    QTemporaryDir dir;
    const std::string real = dir.filePath("real.json").toStdString();
    const std::string link = dir.filePath("link.json").toStdString();
    std::ofstream(real) << "old";
    QCOMPARE(::chmod(real.c_str(), 0640), 0);
    QCOMPARE(::symlink("real.json", link.c_str()), 0);
    QVERIFY(writeChromeTrace(*trace, link).ok());
    struct stat state {};
    QCOMPARE(::lstat(link.c_str(), &state), 0);
    QVERIFY(S_ISLNK(state.st_mode));
    QCOMPARE(::stat(real.c_str(), &state), 0);
    QCOMPARE(state.st_mode & 07777, mode_t{0640});
    QVERIFY(isStrictJson(contents(real)));
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 2);
}

/// Several pieces of a megabyte, packed side by side, are one stream.
void TestChromeWriter::writesManyPieces() {
    std::string json = "[";
    for (int i = 0; i < 60000; ++i)
        json += (i > 0 ? "," : "") + std::string("{\"ph\":\"X\",\"name\":\"op ") +
                std::to_string(i * 7919 % 60000) + "\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(i * 10) +
                ",\"dur\":9.5}";
    json += "]";
    const TracePtr first = opened(json);
    QVERIFY(first);
    const std::string path = m_dir.filePath("many.json.gz").toStdString();
    QVERIFY(writeChromeTrace(*first, path).ok());
    const TracePtr second = opened(contents(path));
    QVERIFY(second);
    QVERIFY(!second->diagnostics.hasLoss());
    compare(described(*second), described(*first));
}

QTEST_APPLESS_MAIN(TestChromeWriter)
#include "tst_chrome_writer.moc"
