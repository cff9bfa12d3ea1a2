// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "tests/support/check_trace.h"
#include "tests/support/event_counter.h"
#include "tests/support/files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <QtTest>
#include <random>
#include <zlib.h>

using namespace warpline;
namespace fs = std::filesystem;

/// Public trace files, good, odd and broken: each opens with all its events, or is refused by a true
/// sentence; each opens up to the byte where it is cut.
class TestCorpus : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void opens_data() { files(); }
    void opens();
    void cutAnywhere_data() { files(); }
    void cutAnywhere();
    void cutInsideGzip_data() { files(); }
    void cutInsideGzip();

  private:
    void files() const;

    fs::path m_root;
};

namespace {

const std::map<std::string, QString>& refused() {
    static const std::map<std::string, QString> kRefused = {
        {"chrome/speedscope_invalid_out_of_order.json", "This is a speedscope profile without times"},
        {"chrome/tracelens_rocprofv3_results.json.gz", "This is the JSON output of AMD's rocprofv3."},
        {"kineto/hta_memory_timeline_raw.json.gz",
         "This is PyTorch's raw memory timeline (export_memory_timeline)."},
        {"kineto/intel_xpu_profiler_mock_events.json",
         "This is a dump of profiler events as PyTorch's own tests keep them."},
        {"kineto/malformed_empty_0_bytes_msprof.json", "This file is empty (0 bytes)"},
        {"kineto/malformed_macos_appledouble__huvideo_rank_0.json", "AppleDouble"},
    };
    return kRefused;
}

std::string bytesOf(const fs::path& path) {
    return test::readFile(path.string()).value_or("");
}

/// Unpacks gzip as far as it goes, with nothing but zlib.
std::string gunzip(std::string_view bytes) {
    std::string out;
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string block(1 << 20, '\0');
    int code = Z_OK;
    while (code == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(block.data());
        stream.avail_out = static_cast<uInt>(block.size());
        code = inflate(&stream, Z_NO_FLUSH);
        out.append(block, 0, block.size() - stream.avail_out);
        if (code == Z_STREAM_END && stream.avail_in > 0)
            code = inflateReset(&stream);
    }
    inflateEnd(&stream);
    return out;
}

std::string documentOf(const fs::path& path) {
    std::string bytes = bytesOf(path);
    return bytes.starts_with("\x1F\x8B") ? gunzip(bytes) : bytes;
}

/// The same cuts every time, on every machine.
std::uint64_t seedOf(const QString& name, std::uint64_t salt) {
    std::uint64_t seed = 0xCBF29CE484222325ULL ^ salt;
    for (const char c : name.toStdString())
        seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return seed;
}

Result<std::vector<TracePtr>> openText(std::string_view text) {
    ImportOptions options;
    options.threads = 2;
    return openTracesFromMemory(text, "cut", options);
}

/// Compares what a cut text gave with what is whole in it. An event that the cut went through may count too.
QString compare(const Result<std::vector<TracePtr>>& opened, const EventCounter& whole, std::size_t cut) {
    if (!opened.ok()) {
        // Before the list there need not be anything that says what it is.
        const bool early = cut < whole.listBegin;
        return early && opened.error().message.size() > 20 ? QString()
                                                           : QString::fromStdString(opened.error().message);
    }
    if (opened.value().size() != 1)
        return QStringLiteral("%1 traces").arg(opened.value().size());
    const Trace& trace = *opened.value().front();
    const std::size_t expected = whole.before(cut);
    if (trace.eventCount != expected && trace.eventCount != expected + 1)
        return QStringLiteral("%1 events where %2 are whole").arg(trace.eventCount).arg(expected);
    if (cut > whole.listBegin && cut < whole.listEnd && trace.diagnostics.rows().empty())
        return QStringLiteral("nothing says that it is cut");
    return QString::fromStdString(test::brokenPromise(trace));
}

} // namespace

void TestCorpus::initTestCase() {
    m_root = fs::path(WARPLINE_SHARED_DATA) / "corpus";
    if (!fs::exists(m_root))
        QSKIP("the corpus folder is not there; set WARPLINE_SHARED_DATA to run this");
}

void TestCorpus::files() const {
    QTest::addColumn<QString>("name");
    std::vector<std::string> names;
    for (const char* folder : {"kineto", "chrome"})
        for (const auto& entry : fs::directory_iterator(m_root / folder))
            names.push_back(std::string(folder) + "/" + entry.path().filename().string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestCorpus::opens() {
    QFETCH(QString, name);
    const fs::path path = m_root / name.toStdString();
    const auto opened = openTraces(path.string());
    if (const auto it = refused().find(name.toStdString()); it != refused().end()) {
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().kind, Error::Kind::WrongKind);
        QVERIFY2(opened.error().message.find(it->second.toStdString()) != std::string::npos,
                 opened.error().message.c_str());
        return;
    }
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    if (name.endsWith(".tar.gz")) {
        // Eight ranks; what is in them is counted through the source that unpacks them.
        QCOMPARE(opened.value().size(), std::size_t{8});
        std::size_t at = 0;
        const auto walked = forEachByteSource(path.string(), [&](ByteSource& source) -> Result<Done> {
            std::string text;
            std::string block(1 << 20, '\0');
            for (;;) {
                auto got = source.read(block.data(), block.size());
                if (!got.ok())
                    return got.error();
                if (got.value() == 0)
                    break;
                text.append(block, 0, got.value());
            }
            const Trace& trace = *opened.value().at(at++);
            if (trace.eventCount != EventCounter(text).ends.size() || trace.path != source.name)
                return Error::failed(source.name);
            return Done{};
        });
        QVERIFY2(walked.ok(), walked.ok() ? "" : walked.error().message.c_str());
        return;
    }
    QCOMPARE(opened.value().size(), std::size_t{1});
    const Trace& trace = *opened.value().front();
    const EventCounter count(documentOf(path));
    QVERIFY(!count.ends.empty());
    QCOMPARE(trace.eventCount, static_cast<std::uint64_t>(count.ends.size()));
    const auto phases = [&](std::string_view which) {
        std::uint64_t sum = 0;
        for (const auto& [phase, n] : count.phases)
            if (which.find(phase) != std::string_view::npos)
                sum += n;
        return sum;
    };
    QCOMPARE(trace.counterCount, phases("C"));
    QCOMPARE(static_cast<std::uint64_t>(trace.flows.size()), phases("stf"));
    const std::string broken = test::brokenPromise(trace);
    QVERIFY2(broken.empty(), broken.c_str());
    // No view is empty without a reason.
    const bool metadataOnly = phases("M") == count.ends.size();
    QVERIFY(trace.slices.size() > 0 || trace.counterCount > 0 || metadataOnly ||
            !trace.diagnostics.rows().empty());
}

void TestCorpus::cutAnywhere() {
    QFETCH(QString, name);
    if (refused().contains(name.toStdString()) || name.endsWith(".tar.gz"))
        return;
    const std::string text = documentOf(m_root / name.toStdString());
    const EventCounter whole(text);
    std::mt19937_64 random(seedOf(name, 1));
    for (int i = 0; i < 20; ++i) {
        // Long files are cut near their start, so that this ends in time, but for the last two cuts.
        const std::size_t range = i < 18 ? std::min<std::size_t>(text.size(), 3 << 20)
                                         : std::min<std::size_t>(text.size(), 40 << 20);
        const std::size_t cut = 1 + static_cast<std::size_t>(random() % (range - 1));
        const QString wrong = compare(openText(std::string_view(text).substr(0, cut)), whole, cut);
        QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("cut at byte %1: %2").arg(cut).arg(wrong)));
    }
}

void TestCorpus::cutInsideGzip() {
    QFETCH(QString, name);
    if (refused().contains(name.toStdString()) || !name.endsWith("gz") || name.endsWith(".tar.gz"))
        return;
    const std::string packed = bytesOf(m_root / name.toStdString());
    const EventCounter whole(gunzip(packed));
    std::mt19937_64 random(seedOf(name, 2));
    for (int i = 0; i < 5; ++i) {
        const std::size_t range = std::min<std::size_t>(packed.size(), 500'000);
        const std::string_view cut =
            std::string_view(packed).substr(0, 20 + static_cast<std::size_t>(random() % (range - 20)));
        const std::size_t length = gunzip(cut).size();
        const auto opened = openText(cut);
        const QString wrong = compare(opened, whole, length);
        QVERIFY2(wrong.isEmpty(),
                 qPrintable(QStringLiteral("cut at byte %1: %2").arg(cut.size()).arg(wrong)));
        if (opened.ok())
            QVERIFY(opened.value().front()->diagnostics.find("compressed_stream_damaged") != nullptr);
    }
}

QTEST_GUILESS_MAIN(TestCorpus)
#include "tst_corpus.moc"
