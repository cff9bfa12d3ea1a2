// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/ops.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

using namespace warpline;
using warpline::test::TraceBuilder;
using B = TraceBuilder;

class TestKernels : public QObject {
    Q_OBJECT

  private slots:
    void sumsByNameAndDevice();
    void launchArguments();
    void onlyWhatStartsInTheRange();
    void emptyAndStopped();
};

namespace {

const KernelRow* rowOf(const Trace& trace, const KernelTable& table, std::string_view name,
                       std::uint32_t process) {
    for (const KernelRow& row : table.rows) {
        if (trace.strings.view(row.name) == name && row.process == process)
            return &row;
    }
    return nullptr;
}

} // namespace

void TestKernels::sumsByNameAndDevice() {
    TraceBuilder b;
    const TrackId thread = b.track(b.process(9, false), TrackKind::Thread, 9);
    const std::uint32_t gpu0 = b.process(0, true);
    const std::uint32_t gpu1 = b.process(1, true);
    const TrackId s7 = b.track(gpu0, TrackKind::Stream, 7);
    const TrackId s20 = b.track(gpu0, TrackKind::Stream, 20);
    const TrackId other = b.track(gpu1, TrackKind::Stream, 7);
    b.add(thread, "cpu_op", "volta_sgemm_64x64_tn", 0, 1000); // an op of a kernel's name is no kernel
    b.add(s20, "kernel", "volta_sgemm_64x64_tn", 100, 30);
    const auto longest = b.add(s7, "kernel", "volta_sgemm_64x64_tn", 200, 40);
    b.add(s7, "kernel", "volta_sgemm_64x64_tn", 300, 10);
    b.add(s7, "kernel", "volta_sgemm_64x64_tn", 400, 21);
    b.add(other, "kernel", "volta_sgemm_64x64_tn", 100, 7);
    b.add(s7, "gpu_memcpy", "Memcpy HtoD", 500, 92);
    b.add(s7, "gpu_memset", "Memset (Device)", 700, 0);
    const TracePtr trace = b.finish();
    const Result<KernelTable> r = kernelTable(*trace);
    QVERIFY(r.ok());
    const KernelTable& table = r.value();
    QCOMPARE(table.total, TimeNs{30 + 40 + 10 + 21 + 7 + 92});
    QCOMPARE(table.rows.size(), std::size_t{4});
    QCOMPARE(trace->strings.view(table.rows[0].name), std::string_view("volta_sgemm_64x64_tn"));
    QCOMPARE(trace->strings.view(table.rows[3].name), std::string_view("Memset (Device)"));

    const KernelRow& gemm = table.rows[0];
    QCOMPARE(gemm.process, gpu0);
    QCOMPARE(gemm.streams, (std::vector<std::int64_t>{7, 20}));
    QCOMPARE(gemm.count, std::uint64_t{4});
    QCOMPARE(gemm.total, TimeNs{101});
    QCOMPARE(gemm.average, TimeNs{25}); // 25.25
    QCOMPARE(gemm.min, TimeNs{10});
    QCOMPARE(gemm.median, TimeNs{21}); // the second of four
    QCOMPARE(gemm.max, TimeNs{40});
    QCOMPARE(gemm.share, 101.0 / 200.0);
    QCOMPARE(gemm.longest, b.id(longest));
    QVERIFY(gemm.kind == SliceKind::Kernel);
    QVERIFY(gemm.tensorCore == KernelRow::TensorCore::No);
    QCOMPARE(gemm.occupancyPercent, -1.0);
    QCOMPARE(gemm.registers, std::int64_t{-1});
    QCOMPARE(gemm.sharedMemoryBytes, std::int64_t{-1});

    const KernelRow* far = rowOf(*trace, table, "volta_sgemm_64x64_tn", gpu1);
    QVERIFY(far != nullptr);
    QCOMPARE(far->total, TimeNs{7});
    QVERIFY(rowOf(*trace, table, "Memcpy HtoD", gpu0)->kind == SliceKind::Copy);
    const KernelRow* set = rowOf(*trace, table, "Memset (Device)", gpu0);
    QCOMPARE(set->total, TimeNs{0});
    QVERIFY(set->kind == SliceKind::Set && set->longest);
}

void TestKernels::launchArguments() {
    TraceBuilder b;
    const TrackId s = b.track(b.process(0, true), TrackKind::Stream, 7);
    const auto launch = [](std::int64_t occupancy, std::int64_t registers, std::int64_t shared) {
        return std::vector<B::Argument>{B::number("device", 0), B::number("registers per thread", registers),
                                        B::number("shared memory", shared), B::raw("grid", "[1, 1, 1]"),
                                        B::number("est. achieved occupancy %", occupancy)};
    };
    b.add(s, "kernel", "k", 0, 300, launch(80, 32, 1024), 0);
    b.add(s, "kernel", "k", 400, 100, launch(40, 64, 1024), 0);
    b.add(s, "kernel", "k", 600, 1000, {B::number("device", 0)}, 0); // says nothing, weighs nothing
    b.add(s, "kernel", "still", 2000, 0, launch(50, 16, 0), 0);      // no duration to weigh by
    b.add(s, "kernel", "halves", 3000, 10, {B::decimal("est. achieved occupancy %", 125, 1)}, 0);
    const TracePtr trace = b.finish();
    const Result<KernelTable> r = kernelTable(*trace);
    QVERIFY(r.ok());
    const KernelRow* k = rowOf(*trace, r.value(), "k", 0);
    QCOMPARE(k->occupancyPercent, 70.0); // (80 * 300 + 40 * 100) / 400
    QCOMPARE(k->registers, std::int64_t{40});
    QCOMPARE(k->sharedMemoryBytes, std::int64_t{1024});
    const KernelRow* still = rowOf(*trace, r.value(), "still", 0);
    QCOMPARE(still->occupancyPercent, 50.0);
    QCOMPARE(still->sharedMemoryBytes, std::int64_t{0});
    const KernelRow* halves = rowOf(*trace, r.value(), "halves", 0);
    QCOMPARE(halves->occupancyPercent, 12.5);
    QCOMPARE(halves->registers, std::int64_t{-1});
}

void TestKernels::onlyWhatStartsInTheRange() {
    TraceBuilder b;
    const TrackId s = b.track(b.process(0, true), TrackKind::Stream, 7);
    b.add(s, "kernel", "k", 0, 150); // reaches into the range, but starts before it
    b.add(s, "kernel", "k", 160, 100);
    b.add(s, "kernel", "l", 300, 100); // begins where the range ends
    const TracePtr trace = b.finish();
    const Result<KernelTable> r = kernelTable(*trace, TimeRange{100, 300});
    QVERIFY(r.ok());
    QCOMPARE(r.value().rows.size(), std::size_t{1});
    QCOMPARE(r.value().rows[0].total, TimeNs{100});
    QCOMPARE(r.value().rows[0].share, 1.0);
}

void TestKernels::emptyAndStopped() {
    const TracePtr empty = TraceBuilder().finish();
    const Result<KernelTable> r = kernelTable(*empty);
    QVERIFY(r.ok() && r.value().rows.empty() && r.value().total == 0);

    TraceBuilder b;
    b.add(b.track(b.process(0, true), TrackKind::Stream, 7), "kernel", "k", 0, 10);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(kernelTable(*b.finish(), {}, stop.get_token()).cancelled());
}

QTEST_APPLESS_MAIN(TestKernels)
#include "tst_kernels.moc"
