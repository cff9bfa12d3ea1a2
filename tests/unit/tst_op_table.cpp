// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/ops.h"
#include "model/import/import.h"

#include <QTest>

#include <map>
#include <string>

using namespace warpline;

namespace {

/// Events of one thread and one stream, small enough to sum by hand. Times in microseconds.
constexpr std::string_view kTrace = R"json([
  {"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":9,"tid":9,"ts":0,"dur":100,"args":{"External id":1}},
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":9,"ts":10,"dur":40,"args":{"External id":2,"Input Dims":[[4, 4]]}},
  {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":9,"tid":9,"ts":15,"dur":30,"args":{"External id":3,"Input Dims":[[4], [4, 4]]}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":20,"dur":5,"args":{"External id":3,"correlation":70}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":77,"ts":30,"dur":5,"args":{"External id":3,"correlation":71}},
  {"ph":"X","cat":"cpu_op","name":"detach","pid":9,"tid":9,"ts":60,"dur":10,"args":{"External id":4}},
  {"ph":"X","cat":"cpu_op","name":"detach","pid":9,"tid":9,"ts":61,"dur":5,"args":{"External id":5}},
  {"ph":"X","cat":"cpu_op","name":"aten::is_leaf","pid":9,"tid":9,"ts":80,"dur":5,"args":{"External id":6}},
  {"ph":"X","cat":"python_function","name":"train.py(3): main","pid":9,"tid":9,"ts":0,"dur":100},
  {"ph":"X","cat":"python_function","name":"train.py(9): step","pid":9,"tid":9,"ts":5,"dur":60},
  {"ph":"X","cat":"overhead","name":"Activity Buffer Request","pid":-1,"tid":0,"ts":12,"dur":9},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":110,"dur":20,"args":{"External id":3,"correlation":70}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":8,"ts":120,"dur":20,"args":{"External id":3,"correlation":71}},
  {"ph":"X","cat":"gpu_memset","name":"Memset (Device)",
                           "pid" : 0, "tid" : 7, "ts" : 140, "dur" : 4, "args" : {
    "External id" : 5
}
},
  {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#3","pid":0,"tid":7,"ts":110,"dur":34,"args":{"External id":1}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":77,"ts":20,"args":{"Bytes":512,"Addr":1,"Device Id":0,"Device Type":1}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":45,"args":{"Bytes":-128,"Addr":2,"Device Id":0,"Device Type":1}},
  {"ph":"i","s":"t","name":"[memory]","pid":9,"tid":9,"ts":48,"args":{"Bytes":64,"Addr":3,"Device Id":-1,"Device Type":0}}
])json";

struct Fixture {
    TracePtr trace;
    OpTreePtr tree;
    Fixture() {
        auto r = openTracesFromMemory(kTrace, "t", {});
        trace = r.value().front();
        tree = OpTree::build(trace);
    }
    std::map<std::string, OpRow> rows(const OpQuery& query) const {
        std::map<std::string, OpRow> out;
        const auto table = opTable(*tree, query);
        for (const OpRow& row : table.value().rows) {
            std::string key(trace->strings.view(row.name));
            if (row.shape)
                key += " " + std::string(trace->strings.view(row.shape));
            out[key] = row;
        }
        return out;
    }
};

constexpr TimeNs us(int n) {
    return TimeNs{n} * 1000;
}

} // namespace

class TestOpTable : public QObject {
    Q_OBJECT

  private slots:
    void ops() {
        const Fixture f;
        const auto rows = f.rows({});
        QCOMPARE(rows.size(), std::size_t{3});
        const OpRow& linear = rows.at("aten::linear");
        QCOMPARE(linear.cpuTotal, us(40));
        QCOMPARE(linear.selfCpu, us(10));
        QCOMPARE(linear.selfDevice, us(0));
        QCOMPARE(linear.deviceTotal, us(40));
        // Two kernels overlap by ten microseconds: busy time is less than their sum.
        QCOMPARE(linear.deviceBusy, us(30));
        const OpRow& addmm = rows.at("aten::addmm");
        // Both launches count as its children, the one on another thread too.
        QCOMPARE(addmm.selfCpu, us(20));
        QCOMPARE(addmm.selfDevice, us(40));
        // An only child of its parent's name is the same call.
        const OpRow& detach = rows.at("detach");
        QCOMPARE(detach.count, std::uint64_t{1});
        QCOMPARE(detach.selfCpu, us(10));
        QCOMPARE(detach.selfDevice, us(4));
    }

    void memoryIsWhatHappenedWhileAnEventWasOpen() {
        const Fixture f;
        const auto rows = f.rows({});
        QCOMPARE(rows.at("aten::addmm").deviceMemory, std::int64_t{384});
        QCOMPARE(rows.at("aten::linear").deviceMemory, std::int64_t{384});
        QCOMPARE(rows.at("aten::linear").selfDeviceMemory, std::int64_t{0});
        QCOMPARE(rows.at("aten::linear").selfCpuMemory, std::int64_t{64});
        // The runtime call took place while 512 bytes were allocated: torch takes them from its parent's own.
        QCOMPARE(rows.at("aten::addmm").selfDeviceMemory, std::int64_t{-128});
    }

    void otherRows() {
        const Fixture f;
        OpQuery query;
        query.rows = OpRows::Annotations;
        auto rows = f.rows(query);
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows.at("ProfilerStep*").selfCpu, us(50));
        QCOMPARE(rows.at("ProfilerStep*").deviceTotal, us(44));
        QCOMPARE(rows.at("ProfilerStep*").deviceSpan, us(34));
        query.rows = OpRows::Kernels;
        rows = f.rows(query);
        QCOMPARE(rows.size(), std::size_t{2});
        QCOMPARE(rows.at("gemm").count, std::uint64_t{2});
        QCOMPARE(rows.at("gemm").deviceTotal, us(40));
        QCOMPARE(rows.at("gemm").deviceBusy, us(30));
        query.rows = OpRows::Runtime;
        rows = f.rows(query);
        QCOMPARE(rows.at("cudaLaunchKernel").selfCpu, us(10));
        query.rows = OpRows::Python;
        rows = f.rows(query);
        QCOMPARE(rows.at("train.py(3): main").selfCpu, us(40));
        QCOMPARE(rows.at("train.py(9): step").cpuTotal, us(60));
    }

    void byShape() {
        const Fixture f;
        OpQuery query;
        query.group = OpGroup::Shape;
        const auto rows = f.rows(query);
        QVERIFY(rows.contains("aten::linear [[4, 4]]"));
        QVERIFY(rows.contains("aten::addmm [[4], [4, 4]]"));
        QVERIFY(rows.contains("detach"));
    }

    void totals() {
        const Fixture f;
        const auto table = opTable(*f.tree, {});
        QCOMPARE(table.value().selfDeviceTotal, us(44));
        QCOMPARE(table.value().deviceBusy, us(34));
        // Self times make up the thread's whole time: nothing is counted twice.
        QCOMPARE(table.value().selfCpuTotal, us(100));
    }

    void aRangeTakesWhatStartsInIt() {
        const Fixture f;
        OpQuery query;
        query.range = TimeRange{us(55), us(100)};
        const auto rows = f.rows(query);
        QCOMPARE(rows.size(), std::size_t{1});
        QVERIFY(rows.contains("detach"));
        query.range = TimeRange{us(1000), us(2000)};
        QVERIFY(f.rows(query).empty());
    }

    void aChainLeadsFromTheOutermostOpToTheNode() {
        const Fixture f;
        const auto& nodes = f.tree->nodes();
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            if (f.trace->name(nodes.slice[i]) != "aten::addmm")
                continue;
            const auto chain = f.tree->chain(i);
            QCOMPARE(chain.size(), std::size_t{3});
            QCOMPARE(f.trace->name(chain[0]), std::string_view("ProfilerStep#3"));
            QCOMPARE(f.trace->name(chain[2]), std::string_view("aten::addmm"));
            return;
        }
        QFAIL("no such node");
    }
};

QTEST_GUILESS_MAIN(TestOpTable)
#include "tst_op_table.moc"
