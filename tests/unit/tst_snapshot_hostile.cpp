// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"
#include "tests/support/check_memory.h"
#include "tests/support/pickle.h"

#include <fstream>
#include <malloc.h>
#include <QElapsedTimer>
#include <QtTest>
#include <sys/resource.h>

using namespace warpline;
using namespace std::string_literals;

/// Pickles that no pickler writes: each ends soon, within ten times its size and 100 MB, in a history or in a
/// sentence.
class TestSnapshotHostile : public QObject {
    Q_OBJECT

  private slots:
    void code_data();
    void code();
    void bombs_data();
    void bombs();
};

namespace {

std::string repeated(std::string_view piece, std::size_t times) {
    std::string out;
    out.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i)
        out += piece;
    return out;
}

/// Bytes of this process's own pages now.
std::int64_t residentBytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t whole = 0, resident = 0;
    file >> whole >> resident;
    return resident * 4096;
}
/// The highest since reset, by the kernel's own account.
std::int64_t peakBytes() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmHWM:"))
            return std::stoll(line.substr(6)) * 1024;
    return 0;
}
bool resetPeak() {
    std::ofstream file("/proc/self/clear_refs");
    file << "5";
    file.flush();
    return file.good();
}

const std::string kKeys = pickle::text("segments") + pickle::text("device_traces") + "00";

} // namespace

void TestSnapshotHostile::code_data() {
    QTest::addColumn<QByteArray>("op");
    QTest::addColumn<QString>("name");
    const auto row = [](const char* name, const std::string& op) {
        QTest::newRow(name) << QByteArray::fromStdString(op) << QString(name);
    };
    row("GLOBAL", "cos\nsystem\n");
    row("STACK_GLOBAL", pickle::text("os") + pickle::text("system") + "\x93");
    row("REDUCE", "N)R");
    row("BUILD", "}}b");
    row("INST", "(ios\nsystem\n");
    row("OBJ", "(No");
    row("NEWOBJ", "N)\x81");
    row("NEWOBJ_EX", "N)}\x92");
    row("PERSID", "Pabc\n");
    row("BINPERSID", "NQ");
    row("EXT1", "\x82\x01");
    row("EXT2", "\x83\x01\x02");
    row("EXT4", "\x84\x01\x02\x03\x04");
    row("NEXT_BUFFER", "\x97");
    row("READONLY_BUFFER", "\x98");
}

void TestSnapshotHostile::code() {
    QFETCH(QByteArray, op);
    QFETCH(QString, name);
    const std::string text = "\x80\x04" + kKeys + op.toStdString() + ".";
    const auto opened = openFromMemory(text, "evil.pickle");
    QVERIFY(!opened.ok());
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains(" " + name + " at byte "), qPrintable(message));
    QVERIFY2(message.contains("nothing of it was run"), qPrintable(message));
}

void TestSnapshotHostile::bombs_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const std::string& body) {
        const std::string whole = "\x80\x04" + kKeys + body;
        QTest::newRow(name) << QByteArray(whole.data(), static_cast<qsizetype>(whole.size()));
    };
    const std::size_t many = 5'000'000;
    using namespace pickle;
    row("lists in lists, open", repeated("(]", many));
    row("lists on the stack", repeated("]", many));
    row("lists in lists, closed", repeated("]", many) + repeated("a", many - 1) + ".");
    row("dictionaries in tuples", repeated("}\x85", many) + ".");
    row("marks", repeated("(", many));
    row("memo of the same", "]" + repeated("\x94", many) + ".");
    row("memo and pop", repeated("]\x94"
                                 "0",
                                 many) +
                            ".");
    row("numbers", repeated("G\x40\x09\x21\xfb\x54\x44\x2d\x18", many / 9) + ".");
    row("memo far away", "]r\xFF\xFF\xFF\xFF.");
    row("memo not set", "h\x07.");
    row("memo with a gap", "]q\xC8"
                           "h\xC8"
                           "r\x00\x80\x00\x00j\x00\x70\x00\x00."s);
    row("text of 4 GiB", "X\xFF\xFF\xFF\xFF"
                         "abc");
    row("text of 2^63", "\x8d\0\0\0\0\0\0\0\x7F"s + "abc");
    row("bytes of 2^63", "\x8e\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                         "abc");
    row("long of 2 GiB", "\x8b\xFF\xFF\xFF\x7F"
                         "abc");
    row("long of a negative size", "\x8b\xFF\xFF\xFF\xFF"
                                   "abc");
    row("frame of 2^63", "\x95\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"
                         "abc");
    row("list in itself", "]\x94h\0a."s);
    row("dictionary in itself", "}\x94" + text("segments") + "h\0s"s + text("device_traces") + "h\0s."s);
    row("stack in itself",
        "]\x94h\0a"s + dict(item("action", text("alloc")) + item("frames", "h\0"s)) + "0.");
    row("same event a million times",
        dict(item("segments", "]") +
             item("device_traces",
                  "](" + ("](" + entry("alloc", 4096, 1, 1) + "\x94" + repeated("h\0"s, 2'000'000) + "e") +
                      "e")) +
            ".");
    row("same list of events twice", "](" + entry("alloc", 4096, 1, 1) + "e\x94" + "}(" + text("segments") +
                                         "]" + text("device_traces") + "](h\0h\0h\0eu."s);
    row("segments by the million",
        dict(item("device_traces", "]") +
             item("segments", "](" + repeated(dict(item("total_size", "K\x01")), 200'000) + "e")) +
            ".");
    row("blocks by the million",
        dict(item("device_traces", "]") +
             item("segments",
                  list(dict(
                      item("total_size", number(1)) +
                      item("blocks", "](" + repeated("}(\x8c\x05stateNX\4\0\0\0sizeNu"s, 200'000) + "e"))))) +
            ".");
    row("deep stack",
        dict(item("segments", "]") +
             item("device_traces",
                  list(list(dict(item("action", text("alloc")) +
                                 item("frames", "](" + dict(item("filename", text("a"))) + "\x94" +
                                                    repeated("h\0"s, 1'000'000) + "e")))))) +
            ".");
    row("setitems for no dictionary", "N(NNu.");
    row("setitems with a key only", "}(Nu.");
    row("append to a text", text("x") + "Na.");
    row("pop beneath the bottom", "0000000.");
    row("huge sizes",
        snapshot(entry("alloc", -1, INT64_MAX, INT64_MAX) + entry("alloc", -2, INT64_MIN, INT64_MIN) +
                 entry("segment_map", -4096, INT64_MAX, 0) + entry("segment_unmap", -8192, INT64_MAX, 0) +
                 entry("free_completed", -1, -5, 7))
            .substr(2));
    std::string pieces;
    for (int i = 0; i < 20'000; ++i)
        pieces += entry("segment_unmap", (i * 7919 % 20'000) * 4096, 2048, i) +
                  entry("segment_map", 0, 4096 * 30'000, i);
    row("maps over maps", snapshot(pieces).substr(2));
}

void TestSnapshotHostile::bombs() {
    QFETCH(QByteArray, text);
    ::malloc_trim(0);
    const bool measured = resetPeak();
    const std::int64_t before = residentBytes();
    QElapsedTimer timer;
    timer.start();
    const auto opened = openFromMemory({text.constData(), static_cast<std::size_t>(text.size())}, "hostile");
    const std::int64_t peak = peakBytes();
    QVERIFY2(timer.elapsed() < 20000, qPrintable(QString::number(timer.elapsed())));
    if (opened.ok()) {
        for (const MemoryHistoryPtr& h : opened.value().memory)
            QCOMPARE(QString::fromStdString(test::brokenPromise(*h)), QString());
    } else {
        const QString message = QString::fromStdString(opened.error().message);
        qInfo().noquote() << message;
        QVERIFY2(message.endsWith('.') && message.size() > 30 && !message.contains('\n'),
                 qPrintable(message));
    }
#ifndef __SANITIZE_ADDRESS__
    if (measured)
        QVERIFY2(peak - before <= 10 * text.size() + 100'000'000,
                 qPrintable(QString("%1 bytes for %2").arg(peak - before).arg(text.size())));
#else
    (void)measured, (void)peak, (void)before;
#endif
}

QTEST_GUILESS_MAIN(TestSnapshotHostile)
#include "tst_snapshot_hostile.moc"
