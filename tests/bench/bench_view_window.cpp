// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// What the window costs: the longest time that its event loop stands still while a trace is opened, and the
// time to sort and to paint a table.
#include "tests/views/kineto_text.h"
#include "views/tables/ops_panel.h"
#include "views/window/main_window.h"

#include <benchmark/benchmark.h>

#include <QApplication>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <chrono>

namespace {

using namespace warpline;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

/// Opens a trace of about `megabytes` and waits until every view is ready.
void openTrace(benchmark::State& state) {
    const QTemporaryDir dir;
    const auto steps = static_cast<int>(state.range(0)) * 9;
    const QByteArray text = test::KinetoText{steps, 120}.text();
    QFile file(dir.filePath(QStringLiteral("trace.json")));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) {
        state.SkipWithError("the trace could not be written");
        return;
    }
    file.close();
    Appearance appearance;
    double longest = 0;
    for (auto _ : state) {
        MainWindow window(&appearance);
        window.resize(1600, 1000);
        window.show();
        QCoreApplication::processEvents();
        QTimer timer;
        Clock::time_point last = Clock::now();
        QObject::connect(&timer, &QTimer::timeout, [&] {
            const Clock::time_point now = Clock::now();
            longest = std::max(longest, milliseconds(now - last));
            last = now;
        });
        timer.start(1);
        window.open({file.fileName()});
        while (window.busy() || window.document()->empty())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QCoreApplication::processEvents();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * text.size());
    state.counters["longest_stall_ms"] = longest;
}
BENCHMARK(openTrace)->Arg(20)->Arg(100)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

OpsData manyRows(int count) {
    OpsData data;
    data.totals.hasDeviceTime = data.totals.hasMemory = true;
    data.totals.selfCpuTotal = data.totals.selfDeviceTotal = 1'000'000'000;
    for (int i = 0; i < count; ++i) {
        OpsRow row;
        row.name = QStringLiteral("aten::op_%1").arg(i);
        row.sums.count = static_cast<std::uint64_t>(i % 1000 + 1);
        row.sums.selfCpu = (i * 7919LL) % 1'000'003;
        row.sums.cpuTotal = row.sums.selfCpu * 2;
        row.sums.selfDevice = (i * 104'729LL) % 1'000'033;
        row.sums.deviceTotal = row.sums.selfDevice * 3;
        data.rows.push_back(row);
    }
    return data;
}

void sortTable(benchmark::State& state) {
    OpsModel model;
    model.set(manyRows(static_cast<int>(state.range(0))));
    int column = 0;
    for (auto _ : state) {
        model.sort(1 + column, column % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
        column = (column + 1) % 10;
    }
}
BENCHMARK(sortTable)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void paintTable(benchmark::State& state) {
    Document document;
    OpsModel model;
    model.set(manyRows(1000));
    TableView view(&model, QStringLiteral("bench"), QStringLiteral("self_cuda_ns"));
    view.resize(1600, 700);
    view.show();
    QImage image(view.size(), QImage::Format_RGB32);
    for (auto _ : state)
        view.render(&image);
}
BENCHMARK(paintTable)->Unit(benchmark::kMillisecond);

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
    QCoreApplication::setApplicationName(QStringLiteral("bench"));
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
