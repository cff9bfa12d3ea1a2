// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"
#include "tests/support/check_trace.h"
#include "tests/support/pack.h"

#include <fmt/format.h>
#include <fstream>
#include <QtTest>

using namespace warpline;

/// Files made to be hard to read: they end in sensible time and memory, whatever they are opened as.
class TestHostile : public QObject {
    Q_OBJECT

  private slots:
    void endsInTime_data();
    void endsInTime();
    void bombsPassThrough_data();
    void bombsPassThrough();
};

namespace {

/// The most memory that the process had at any time so far, in bytes.
std::size_t peakMemory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:"))
            return std::stoull(line.substr(6)) << 10;
    return 0;
}

/// Starts measuring peakMemory() anew.
void forgetPeak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

std::string repeated(const std::string& start, const std::string& piece, std::size_t size) {
    std::string text = start;
    text.reserve(size + piece.size());
    while (text.size() < size)
        text += piece;
    return text;
}

/// A gzip that unpacks to `head` and then `gibibytes` GiB of `fill`.
std::string bomb(const std::string& head, char fill, int gibibytes) {
    const std::string member = pack::gzip(std::string(64 << 20, fill));
    std::string out = pack::gzip(head);
    for (int i = 0; i < 16 * gibibytes; ++i)
        out += member;
    return out;
}

} // namespace

void TestHostile::endsInTime_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const std::string& start, const std::string& piece,
                        std::size_t size = 1 << 20) {
        QTest::newRow(name) << QByteArray::fromStdString(repeated(start, piece, size));
    };
    row("lists", "", "[]");
    row("lists of an event", "", "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"}]");
    row("lists with commas", "[", "],[");
    row("objects", "", "{\"traceEvents\":[]}", 200'000);
    row("objects of an event", "", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}\n", 200'000);
    row("brackets", "[", "[");
    row("braces", "[", "{");
    row("members of depth", "", "{\"a\":");
    row("arguments of depth", "[{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":", "[");
    row("quotes", "[", "\"");
    row("commas", "[", ",");
    row("empty events", "[", "{},");
    row("begins", "[", "{\"ph\":\"B\",\"ts\":1,\"pid\":1,\"tid\":1,\"name\":\"a\"},");
    row("spans that overlap", "[", "{\"ph\":\"X\",\"ts\":1,\"dur\":5,\"pid\":1,\"tid\":1,\"name\":\"a\"},");
    row("an event that never ends", "[{\"ph\":\"X\",\"name\":\"", "x");
    row("unescaped quotes", "[{\"ph\":\"X\",\"name\":\"", "a \"b\" ");
    row("zero bytes", "[{\"ph\":\"X\",\"ts\":1}", std::string(1, '\0'));
    row("members of a frame", "{", "\"a\":1,");
    row("a key that never ends", "{\"", "a");
    // Every thread is another one, every name too.
    std::string text = "[";
    for (int i = 0; text.size() < (1 << 20); ++i)
        text += fmt::format(
            R"({{"ph":"X","ts":{0},"dur":1,"pid":{0},"tid":{0},"name":"n{0}","cat":"c{0}"}},)", i);
    QTest::newRow("threads, names and categories") << QByteArray::fromStdString(text);
    // The first one is open until the end, so that each of the others must find a line of its own.
    text = "[";
    for (int i = 0; text.size() < (1 << 20); ++i)
        text += fmt::format(R"({{"ph":"X","ts":{},"dur":{},"pid":1,"tid":1,"cat":"kernel","name":"a"}},)", i,
                            1'000'000);
    QTest::newRow("a staircase") << QByteArray::fromStdString(text);
}

void TestHostile::endsInTime() {
    QFETCH(QByteArray, text);
    QElapsedTimer timer;
    timer.start();
    const auto traces =
        openTracesFromMemory({text.constData(), static_cast<std::size_t>(text.size())}, "hostile", {});
    // A machine under load, or a sanitizer, takes its time; what grows with the square takes minutes.
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QStringLiteral("%1 ms").arg(timer.elapsed())));
    if (!traces.ok()) {
        QVERIFY(traces.error().message.size() > 20);
        return;
    }
    for (const TracePtr& trace : traces.value()) {
        const std::string broken = test::brokenPromise(*trace);
        QVERIFY2(broken.empty(), broken.c_str());
    }
}

void TestHostile::bombsPassThrough_data() {
    QTest::addColumn<QByteArray>("packed");
    const auto row = [](const char* name, const std::string& packed) {
        QTest::newRow(name) << QByteArray::fromStdString(packed);
    };
    row("a name without an end", bomb("[{\"ph\":\"X\",\"name\":\"", 'x', 1));
    row("a list without an end", bomb("[{\"ph\":\"X\",\"args\":{\"a\":[", '[', 1));
    row("zero bytes", bomb("[{\"ph\":\"X\",\"ts\":1}", '\0', 1));
    row("a property without an end", bomb("{\"schemaVersion\":1,\"a\":\"", 'x', 1));
    row("no trace", bomb("hello\n", 'x', 1));
}

void TestHostile::bombsPassThrough() {
    QFETCH(QByteArray, packed);
    forgetPeak();
    const std::size_t before = peakMemory();
    const auto traces =
        openTracesFromMemory({packed.constData(), static_cast<std::size_t>(packed.size())}, "bomb", {});
    const std::size_t grown = peakMemory() - std::min(before, peakMemory());
#ifdef __SANITIZE_ADDRESS__
    qInfo("%zu MiB, most of it the sanitizer's", grown >> 20);
#else
    QVERIFY2(grown < std::size_t{600} << 20, qPrintable(QStringLiteral("%1 MiB").arg(grown >> 20)));
#endif
    if (!traces.ok())
        QVERIFY(traces.error().message.size() > 20);
}

QTEST_GUILESS_MAIN(TestHostile)
#include "tst_hostile.moc"
