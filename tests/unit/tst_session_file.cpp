// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/base64.h"
#include "model/store/session_file.h"
#include "tests/support/files.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <string>

using namespace warpline;
using namespace std::string_literals;
namespace fs = std::filesystem;

/// Sessions are kept whole, found again after they moved, and refused with a sentence where they are damaged.
class TestSessionFile : public QObject {
    Q_OBJECT

  private slots:
    void init();
    void roundTrip();
    void pathsAreRelative();
    void movedTogether();
    void missingAndChanged();
    void laterKeysStay();
    void laterVersions();
    void damaged_data();
    void damaged();
    void cutAnywhere();
    void notWritten();
    void recognised();
    void base64();

  private:
    std::string write(const char* name, const char* text) const;
    std::unique_ptr<QTemporaryDir> m_folder;
};

namespace {

SessionFile example(const std::string& source) {
    SessionFile s;
    s.sources.push_back({source, "", 0, -17});
    s.sources.push_back({source, "", 0, 0});
    s.layout = "\0\x01\xFFlayout"s;
    s.visible = TimeRange{1'764'590'000'000'000'001, 1'764'590'000'000'000'999};
    s.pinned = {{0, "python 455", "main thread 455"}};
    s.hidden = {{1, "GPU 0", "stream 7"}, {0, "", ""}};
    s.marks.push_back({5, std::nullopt, "here it \"stalls\"\nsee", "#ff0000"});
    s.marks.push_back({-9, 12, "", ""});
    s.selection.range = TimeRange{3, 4};
    s.selection.tracks = {{1, "a", "b"}};
    s.selection.step = 4;
    s.selection.op = "aten::mm";
    s.selection.kernel = "gemm";
    s.selection.frame = "train.py(3): step";
    s.selection.block = "0x7f00";
    s.selection.search = "/dur>1ms/";
    s.settings = {{"flame.merge", "true"}, {"ops.columns", "[\"name\",{\"w\":1.50}]"}};
    return s;
}

} // namespace

void TestSessionFile::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}
std::string TestSessionFile::write(const char* name, const char* text) const {
    const fs::path path = fs::path(m_folder->path().toStdString()) / name;
    fs::create_directories(path.parent_path());
    QFile file(QString::fromStdString(path.string()));
    if (file.open(QIODevice::WriteOnly))
        file.write(text);
    return path.string();
}

void TestSessionFile::roundTrip() {
    const std::string source = write("data/trace.json", "[]");
    const std::string path = write("my.wps", "");
    const SessionFile before = example(source);
    QVERIFY(writeSession(before, path).ok());
    const auto read = readSession(path);
    QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
    const SessionFile& after = read.value();
    QCOMPARE(after.sources.size(), std::size_t{2});
    QCOMPARE(after.sources[0].path, source);
    QCOMPARE(after.sources[0].bytes, std::uint64_t{2});
    QCOMPARE(after.sources[0].shift, -17);
    QVERIFY(after.sources[0].checksum.starts_with("xxh3:") && after.sources[0].checksum.size() == 21);
    QCOMPARE(after.layout, before.layout);
    QCOMPARE(after.visible, before.visible);
    QCOMPARE(after.pinned, before.pinned);
    QCOMPARE(after.hidden, before.hidden);
    QCOMPARE(after.marks.size(), std::size_t{2});
    QCOMPARE(after.marks[0].note, before.marks[0].note);
    QCOMPARE(after.marks[0].colour, before.marks[0].colour);
    QVERIFY(!after.marks[0].end);
    QCOMPARE(after.marks[1].time, -9);
    QCOMPARE(after.marks[1].end, std::optional<TimeNs>(12));
    QCOMPARE(after.selection.range, before.selection.range);
    QCOMPARE(after.selection.tracks, before.selection.tracks);
    QCOMPARE(after.selection.step, before.selection.step);
    QCOMPARE(after.selection.op, before.selection.op);
    QCOMPARE(after.selection.kernel, before.selection.kernel);
    QCOMPARE(after.selection.frame, before.selection.frame);
    QCOMPARE(after.selection.block, before.selection.block);
    QCOMPARE(after.selection.search, before.selection.search);
    QCOMPARE(after.settings, before.settings);
    QVERIFY(checkSources(after).empty());
    // Written again it is the same text.
    QCOMPARE(sessionText(after, path), *test::readFile(path));
}

void TestSessionFile::pathsAreRelative() {
    const std::string source = write("data/trace.json", "[]");
    const std::string text = sessionText(example(source), write("sessions/my.wps", ""));
    QVERIFY(text.find("\"../data/trace.json\"") != std::string::npos);
    QVERIFY(text.find(m_folder->path().toStdString()) == std::string::npos);
    SessionFile pipe;
    pipe.sources.push_back({"-", "", 0, 0});
    QVERIFY(sessionText(pipe, "my.wps").find("\"-\"") != std::string::npos);
}

void TestSessionFile::movedTogether() {
    const std::string source = write("first/data/trace.json", "[1]");
    const std::string path = write("first/my.wps", "");
    QVERIFY(writeSession(example(source), path).ok());
    const fs::path root = m_folder->path().toStdString();
    fs::rename(root / "first", root / "second");
    const auto moved = readSession((root / "second" / "my.wps").string());
    QVERIFY(moved.ok());
    QCOMPARE(fs::path(moved.value().sources[0].path), root / "second" / "data" / "trace.json");
    QVERIFY(checkSources(moved.value()).empty());
}

void TestSessionFile::missingAndChanged() {
    const std::string source = write("trace.json", "[1]");
    const std::string other = write("other.json", "[2]");
    const std::string path = write("my.wps", "");
    SessionFile s;
    s.sources = {{source, "", 0, 0}, {other, "", 0, 0}, {"-", "", 0, 0}};
    QVERIFY(writeSession(s, path).ok());
    write("trace.json", "[3]"); // as long as before
    fs::remove(other);
    const auto troubles = checkSources(readSession(path).value());
    QCOMPARE(troubles.size(), std::size_t{3});
    QCOMPARE(troubles[0].kind, SourceTrouble::Kind::Changed);
    QVERIFY(troubles[0].message.find("trace.json") != std::string::npos);
    QCOMPARE(troubles[1].kind, SourceTrouble::Kind::Missing);
    QCOMPARE(troubles[1].source, std::size_t{1});
    QVERIFY(troubles[1].message.find("other.json") != std::string::npos);
    QCOMPARE(troubles[2].kind, SourceTrouble::Kind::Missing);
}

void TestSessionFile::laterKeysStay() {
    const auto read = parseSession(
        R"({"format":"warpline session","version":1,"sources":[],"colours":{"a":[1,2.50,null,true,"x"]}})",
        "s.wps");
    QVERIFY(read.ok());
    QVERIFY(sessionText(read.value(), "s.wps").find(R"("colours": {"a":[1,2.50,null,true,"x"]})") !=
            std::string::npos);
}

void TestSessionFile::laterVersions() {
    const auto read = parseSession(R"({"format":"warpline session","version":2,"sources":[]})", "s.wps");
    QVERIFY(!read.ok());
    QVERIFY(read.error().message.find("later version") != std::string::npos);
}

void TestSessionFile::damaged_data() {
    QTest::addColumn<QByteArray>("members");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* members, const char* sentence) {
        QTest::newRow(sentence) << QByteArray(members) << QString::fromUtf8(sentence);
    };
    row(R"("sources":5)", "\"sources\" is no list");
    row(R"("sources":[{"bytes":1}])", "has no \"path\"");
    row(R"("sources":[{"path":"a","bytes":"x"}])", "\"bytes\" is no whole number");
    row(R"("layout":"!!!!")", "\"layout\" is no base64");
    row(R"("visible":{"start_ns":5,"end_ns":1})", "\"visible\" is no range of times");
    row(R"("pinned":[{"source":3}])", "names a source that is not in the list");
    row(R"("marks":[{"note":"x"}])", "one of its \"marks\" has no time");
    row(R"("selection":[])", "\"selection\" is no object");
    row(R"("settings":"x")", "\"settings\" is no object");
}
void TestSessionFile::damaged() {
    QFETCH(QByteArray, members);
    QFETCH(QString, sentence);
    const auto read =
        parseSession(R"({"format":"warpline session","version":1,)" + members.toStdString() + "}", "s.wps");
    QVERIFY(!read.ok());
    QVERIFY2(QString::fromStdString(read.error().message).contains(sentence), read.error().message.c_str());
    QVERIFY(read.error().message.starts_with("s.wps: "));
}

void TestSessionFile::cutAnywhere() {
    const std::string text = sessionText(example("/data/trace.json"), "/data/my.wps");
    QVERIFY(parseSession(text, "/data/my.wps").ok());
    for (std::size_t n = 0; n + 2 < text.size(); ++n) {
        QVERIFY(!parseSession(std::string_view(text).substr(0, n), "s.wps").ok());
        std::string wrong = text;
        wrong[n] = static_cast<char>(wrong[n] ^ 0x11);
        const auto read = parseSession(wrong, "s.wps");
        QVERIFY(read.ok() || read.error().message.size() > 20);
    }
    QCOMPARE(parseSession(R"({"format":"other"})", "s.wps").error().kind, Error::Kind::WrongKind);
}

void TestSessionFile::notWritten() {
    // A source that cannot be read: no session, and the one that was there stays.
    const std::string path = write("my.wps", "as it was");
    QVERIFY(!writeSession(example(m_folder->path().toStdString() + "/gone.json"), path).ok());
    QCOMPARE(*test::readFile(path), std::string("as it was"));
    QVERIFY(!readSession(m_folder->path().toStdString() + "/none.wps").ok());
    QVERIFY(!fileChecksum(m_folder->path().toStdString()).ok());
}

void TestSessionFile::recognised() {
    QVERIFY(looksLikeSession(sessionText(SessionFile(), "s.wps")));
    QVERIFY(looksLikeSession(" \n{\"format\" : \"warpline session\""));
    for (const char* other :
         {"", "{", "[]", R"({"format":"warpline flame tree"})", R"({"traceEvents":[]})", R"({"format")"})
        QVERIFY2(!looksLikeSession(other), other);
}

void TestSessionFile::base64() {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        QCOMPARE(fromBase64(toBase64(bytes)), std::optional(bytes));
        QCOMPARE(toBase64(bytes), QByteArray::fromStdString(bytes).toBase64().toStdString());
        bytes.push_back(static_cast<char>(i * 37));
    }
    for (const char* wrong : {"A", "AA", "AAA", "A===", "AA=A", "=AAA", "AA==AAAA", "AA*A"})
        QVERIFY2(!fromBase64(wrong), wrong);
}

QTEST_GUILESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
