// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/protocol/wire.h"
#include "capture/recorder/decoder.h"
#include "capture/recorder/decoder_names.h"
#include "capture/recorder/kineto.h"
#include "capture/recorder/process_files.h"
#include "model/import/wpl/build_recording.h"
#include "tests/support/check_trace.h"

#include <cstring>
#include <QTemporaryDir>
#include <QtTest>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace warpline;
using namespace warpline::capture;

namespace {

template <class T>
void put(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void set(std::string& record, std::size_t at, T value) {
    std::memcpy(record.data() + at, &value, sizeof value);
}

std::string helloFrame(int pid) {
    std::string out;
    put(out, wire::HelloHeader{});
    out += "pid=" + std::to_string(pid);
    out.push_back('\0');
    out += "exe=/usr/bin/train";
    out.push_back('\0');
    return out;
}
std::string stringsFrame(std::uint32_t first, const std::vector<std::string>& texts) {
    std::string out;
    put(out, wire::StringsHeader{first, static_cast<std::uint32_t>(texts.size())});
    for (const std::string& t : texts) {
        put(out, static_cast<std::uint32_t>(t.size()));
        out += t;
    }
    return out;
}
std::string recordsFrame(const std::vector<std::string>& records) {
    std::string out;
    wire::RecordsHeader header;
    header.count = static_cast<std::uint32_t>(records.size());
    for (const std::string& r : records)
        header.bytes += static_cast<std::uint32_t>(r.size());
    put(out, header);
    for (const std::string& r : records)
        put(out, static_cast<std::uint16_t>(r.size()));
    out.resize((out.size() + 7) / 8 * 8);
    for (const std::string& r : records)
        out += r;
    return out;
}

std::string kernelRecord(std::size_t size, std::uint32_t correlation, std::uint64_t name) {
    std::string r(size, '\0');
    set<std::uint32_t>(r, 0, 10);
    set<std::uint64_t>(r, cupti::kernel::kStart, 2000 + correlation * 100);
    set<std::uint64_t>(r, cupti::kernel::kEnd, 2050 + correlation * 100);
    set<std::uint32_t>(r, cupti::kernel::kStream, 7);
    set<std::uint32_t>(r, cupti::kernel::kGrid, 4);
    set<std::uint32_t>(r, cupti::kernel::kCorrelation, correlation);
    set<std::uint64_t>(r, cupti::kernel::kName, name);
    return r;
}
std::string callRecord(std::uint32_t correlation, std::uint32_t thread) {
    std::string r(40, '\0');
    set<std::uint32_t>(r, 0, 5);
    set<std::uint32_t>(r, cupti::api::kCallback, 211);
    set<std::uint64_t>(r, cupti::api::kStart, 1000 + correlation * 100);
    set<std::uint64_t>(r, cupti::api::kEnd, 1010 + correlation * 100);
    set<std::uint32_t>(r, cupti::api::kThread, thread);
    set<std::uint32_t>(r, cupti::api::kCorrelation, correlation);
    return r;
}

TracePtr built(Collection& collection) {
    auto block = std::make_shared<wpl::EventBlock>(collection.take());
    auto trace = wpl::buildRecording(collection.dictionary(), {block}, {});
    return trace.ok() ? std::move(trace).value() : nullptr;
}

} // namespace

class TestCapture : public QObject {
    Q_OBJECT
  private slots:
    void namesOfCalls();
    void namesOfTorchOps();
    void recordsOfOlderVersions();
    void processesAreKeptApart();
    void survivesHostileFrames();
    void answersAsTheDaemon();
    void findsSymbols();
};

void TestCapture::namesOfCalls() {
    QCOMPARE(bareCallName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
    QCOMPARE(bareCallName("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync_ptsz");
    QCOMPARE(bareCallName("cuMemcpyHtoD_v2_ptds"), "cuMemcpyHtoD");
    QCOMPARE(bareCallName("cuLaunchKernel"), "cuLaunchKernel");
    QCOMPARE(bareCallName("v2"), "v2");
    QCOMPARE(copyName(1, 2, 3), std::string("Memcpy HtoD (Pinned -> Device)"));
    QCOMPARE(demangledName("_Z3fooi"), std::string("foo(int)"));
    QCOMPARE(demangledName("_Zbroken"), std::string("_Zbroken"));
    QCOMPARE(demangledName("sm90_gemm"), std::string("sm90_gemm"));
}

void TestCapture::namesOfTorchOps() {
    auto op = torchOp("aten::mm, seq = 4, op_id = 12, sizes = [[2, 3], [3, 2], []], input_op_ids = [(1,0)]");
    QVERIFY(op);
    QCOMPARE(op->name, "aten::mm");
    QCOMPARE(op->sequence, 4);
    QCOMPARE(op->sizes, "[[2, 3], [3, 2], []]");
    op = torchOp("aten::add, op_id = 3");
    QVERIFY(op && op->sequence == -1 && op->sizes.empty());
    QVERIFY(!torchOp("my range"));
    QVERIFY(!torchOp(", op_id = 3"));
    op = torchOp("x, op_id = 3, sizes = [[2, \"], 3");
    QVERIFY(op && op->sizes.empty());
}

void TestCapture::recordsOfOlderVersions() {
    // CUDA 11 to 13: records of the same kind grew from 144 to 216 bytes.
    for (const std::size_t size : {144U, 160U, 176U, 208U, 216U, 400U}) {
        Collection collection;
        Devices devices;
        Decoder decoder(collection, devices, 0);
        QVERIFY(decoder.hello(helloFrame(42)));
        QVERIFY(decoder.strings(stringsFrame(1, {"_Z3fooi"})));
        QVERIFY(decoder.records(recordsFrame({callRecord(1, 42), kernelRecord(size, 1, 1)})));
        const TracePtr t = built(collection);
        QVERIFY(t);
        QCOMPARE(t->links.launch.size(), 1U);
        QCOMPARE(t->name(t->links.launch.to[0]), "foo(int)");
        QCOMPARE(decoder.counts().unknown, 0U);
    }
    Collection collection;
    Devices devices;
    Decoder decoder(collection, devices, 0);
    QVERIFY(decoder.hello(helloFrame(42)));
    QVERIFY(decoder.records(recordsFrame({kernelRecord(112, 1, 0).substr(0, 100)})));
    QCOMPARE(decoder.counts().unknown, 1U); // too short to be one
}

void TestCapture::processesAreKeptApart() {
    Collection collection;
    Devices devices;
    Decoder a(collection, devices, 0);
    Decoder b(collection, devices, 1);
    QVERIFY(a.hello(helloFrame(42)) && b.hello(helloFrame(43)));
    for (Decoder* d : {&a, &b}) {
        QVERIFY(d->strings(stringsFrame(1, {"k"})));
        QVERIFY(d->records(recordsFrame({callRecord(1, d == &a ? 42 : 43), kernelRecord(216, 1, 1)})));
    }
    const TracePtr t = built(collection);
    QVERIFY(t);
    QCOMPARE(t->links.launch.size(), 2U); // not four: correlation ids are a process's own
    std::set<std::string> streams;
    for (std::size_t i = 0; i < t->tracks.size(); ++i)
        if (t->tracks[i].kind == TrackKind::Stream)
            streams.insert(t->trackName(TrackId::fromIndex(i)));
    QCOMPARE(streams.size(), 2U);
    QVERIFY(streams.contains("stream 7") && streams.contains("stream 7 of process 43"));
}

void TestCapture::survivesHostileFrames() {
    std::mt19937 random(3);
    const std::vector<std::string> good{helloFrame(42), stringsFrame(1, {"a", "b"}),
                                        recordsFrame({callRecord(1, 42), kernelRecord(216, 1, 1)})};
    for (int round = 0; round < 20'000; ++round) {
        Collection collection;
        Devices devices;
        Decoder decoder(collection, devices, 0);
        std::vector<std::string> frames = good;
        std::string& victim = frames[random() % frames.size()];
        for (unsigned n = random() % 4 + 1; n > 0; --n)
            victim[random() % victim.size()] = static_cast<char>(random());
        if (random() % 4 == 0)
            victim.resize(random() % victim.size() + 1);
        (void)decoder.hello(frames[0]);
        (void)decoder.strings(frames[1]);
        (void)decoder.records(frames[2]);
        (void)decoder.calls(frames[random() % 3]);
        (void)decoder.clock(frames[random() % 3]);
        (void)decoder.threads(frames[random() % 3]);
        decoder.finish();
        if (const TracePtr t = built(collection))
            QCOMPARE(test::brokenPromise(*t), std::string());
    }
}

void TestCapture::answersAsTheDaemon() {
    QTemporaryDir folder("/tmp/warpline-k-XXXXXX");
    KinetoDaemon daemon;
    QVERIFY(daemon.open(folder.path().toStdString()).ok());
    const int client = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    std::strcpy(own.sun_path, (folder.path().toStdString() + "/dynoconfigclient1").c_str());
    QCOMPARE(::bind(client, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strcpy(to.sun_path, (folder.path().toStdString() + "/dynolog").c_str());
    const auto ask = [&](const char* type, const std::string& payload) {
        std::string message;
        put(message, static_cast<std::uint64_t>(payload.size()));
        char name[32] = {};
        std::strcpy(name, type);
        message.append(name, sizeof name);
        message += payload;
        (void)::sendto(client, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&to),
                       sizeof to);
        daemon.serve(1000);
        std::string answer(4096, '\0');
        const ssize_t n = ::recv(client, answer.data(), answer.size(), MSG_DONTWAIT);
        answer.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return answer;
    };
    std::string context;
    put<std::int32_t>(context, 0);
    put<std::int32_t>(context, 4711);
    put<std::int64_t>(context, 0);
    std::string answer = ask("ctxt", context);
    QCOMPARE(answer.size(), 40U + sizeof(std::int32_t));
    std::string request;
    put<std::int32_t>(request, 3);
    put<std::int32_t>(request, 2);
    put<std::int64_t>(request, 0);
    put<std::int32_t>(request, 4711);
    put<std::int32_t>(request, 1);
    QCOMPARE(ask("req", request).size(), 40U); // nothing to do yet
    KinetoRequest wanted;
    wanted.output = "/tmp/out.json";
    wanted.durationMs = 400;
    daemon.arm(wanted);
    answer = ask("req", request);
    QVERIFY(answer.find("ACTIVITIES_DURATION_MSECS=400\n") != std::string::npos);
    QVERIFY(answer.find("ACTIVITIES_LOG_FILE=/tmp/out.json\n") != std::string::npos);
    QCOMPARE(ask("req", request).size(), 40U); // once a process
    QVERIFY(ask("req", "short").empty());
    QVERIFY(daemon.asked().contains(4711));
    ::close(client);
}

void TestCapture::findsSymbols() {
    // This program's own C library, by the same way as another program's.
    for (const Mapping& m : mappingsOf(::getpid())) {
        if (m.file() != "libc.so.6")
            continue;
        QVERIFY(symbolIn(m.path, "malloc") != 0);
        QCOMPARE(symbolIn(m.path, "no_such_function"), 0U);
        QCOMPARE(elfClassOf(m.path), 2);
        return;
    }
    QSKIP("no libc.so.6 is mapped");
}

QTEST_GUILESS_MAIN(TestCapture)
#include "tst_capture.moc"
