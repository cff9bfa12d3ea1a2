// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QByteArray>
#include <QString>

#include <cstdint>

namespace warpline::test {

/// A trace as torch.profiler writes it, of any size, with counts and times that a test can work out: `steps`
/// steps of a millisecond, each with `ops` times aten::linear > aten::addmm > cudaLaunchKernel, and a kernel
/// of half the slot's length. addmm allocates 1024 bytes of device memory, linear frees them after it.
struct KinetoText {
    int steps = 3;
    int ops = 5;
    bool device = true;
    bool memory = true;

    static constexpr std::int64_t kStep = 1'000'000;
    [[nodiscard]] std::int64_t slot() const { return 980'000 / ops; }
    [[nodiscard]] std::int64_t linear() const { return slot() * 9 / 10; }
    [[nodiscard]] std::int64_t addmm() const { return slot() * 7 / 10; }
    [[nodiscard]] std::int64_t kernel() const { return slot() / 2; }
    [[nodiscard]] int calls() const { return steps * ops; }

    [[nodiscard]] QByteArray text() const {
        QByteArray out = R"json({"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
"displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 455, "tid": 0, "ts": 0.000, "args": {"name": "python3"}},
{"ph": "M", "name": "thread_name", "pid": 455, "tid": 455, "ts": 0.000, "args": {"name": "thread 455 (python3)"
    }},
{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0.000, "args": {"name": "python3"}},
{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0.000, "args": {"labels": "GPU 0"}},
)json";
        std::int64_t id = 1;
        for (int s = 0; s < steps; ++s) {
            const std::int64_t begin = (s + 1) * kStep;
            event(out, "user_annotation", QByteArray("ProfilerStep#") + QByteArray::number(s + 1), 455, 455,
                  begin, kStep - 1000, "\"External id\": " + QByteArray::number(id++));
            for (int k = 0; k < ops; ++k) {
                const std::int64_t at = begin + 10'000 + k * slot();
                event(out, "cpu_op", "aten::linear", 455, 455, at, linear(),
                      "\"External id\": " + QByteArray::number(id++) +
                          R"(, "Input Dims": [[8, 16], [16, 32], []], "Ev Idx": 1)");
                const QByteArray external = QByteArray::number(id++);
                event(out, "cpu_op", "aten::addmm", 455, 455, at + slot() / 20, addmm(),
                      "\"External id\": " + external + R"(, "Input Dims": [[)" +
                          QByteArray::number(k % 2 == 0 ? 8 : 64) + R"(, 16], [16, 32]], "Ev Idx": 2)");
                if (memory) {
                    instant(out, at + slot() / 10, 1024, 4096 + 1024);
                    instant(out, at + slot() * 8 / 10, -1024, 4096);
                }
                if (!device)
                    continue;
                const QByteArray correlation = QByteArray::number(id++);
                event(out, "cuda_runtime", "cudaLaunchKernel", 455, 455, at + slot() / 10, slot() / 5,
                      "\"External id\": " + external + ", \"cbid\": 211, \"correlation\": " + correlation);
                event(out, "kernel", "void gemm_kernel<" + QByteArray::number(k % 3) + ">(float*)", 0, 7,
                      at + slot() * 3 / 10, kernel(),
                      "\"External id\": " + external +
                          ", \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " + correlation +
                          ", \"registers per thread\": 36, \"shared memory\": 128, \"grid\": [4096, 1, 1], "
                          "\"block\": "
                          "[128, 1, 1], \"est. achieved occupancy %\": 50");
            }
        }
        out.chop(2); // the last comma
        out += "\n], \"traceName\": \"test.json\"}\n";
        return out;
    }

  private:
    static QByteArray micros(std::int64_t ns) {
        return QByteArray::number(ns / 1000) + '.' + QByteArray::number(ns % 1000).rightJustified(3, '0');
    }
    static void event(QByteArray& out, const QByteArray& cat, const QByteArray& name, int pid, int tid,
                      std::int64_t ts, std::int64_t dur, const QByteArray& args) {
        out += R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": )" +
               QByteArray::number(pid) + ", \"tid\": " + QByteArray::number(tid) + ", \"ts\": " + micros(ts) +
               ", \"dur\": " + micros(dur) + ", \"args\": {" + args + "}},\n";
    }
    static void instant(QByteArray& out, std::int64_t ts, std::int64_t bytes, std::int64_t allocated) {
        out +=
            R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 455, "tid": 455, "ts": )" +
            micros(ts) + R"(, "args": {"Total Reserved": 2097152, "Total Allocated": )" +
            QByteArray::number(allocated) + ", \"Bytes\": " + QByteArray::number(bytes) +
            R"(, "Device Id": 0, "Device Type": 1, "Addr": 139818566680576, "Ev Idx": 9}},)" + '\n';
    }
};

} // namespace warpline::test
