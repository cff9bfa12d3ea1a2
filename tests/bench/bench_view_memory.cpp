// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
// How long a frame of the memory view takes, layout and painting together: a tour over a snapshot, from all
// of it down to a few events and back at four places, painted through the widget into a picture of 1920 x
// 1080.
//
//   bench_view_memory SNAPSHOT [PICTURE.png]
//
// Run it bound to one core (taskset -c 0).
#include "model/import/import.h"
#include "views/document.h"
#include "views/memory/allocation_view.h"
#include "views/memory/memory_focus.h"

#include <fmt/core.h>

#include <QApplication>
#include <QImage>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

using namespace warpline;

namespace {

/// Time this thread ran, without what other programs took: what a frame costs on a core of its own.
double threadMs() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

double at(std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    if (argc < 2) {
        fmt::print(stderr, "usage: bench_view_memory SNAPSHOT [PICTURE.png]\n");
        return 2;
    }
    auto opened = openFile(argv[1]);
    if (!opened.ok() || opened.value().memory.empty()) {
        fmt::print(stderr, "{}\n", opened.ok() ? "no snapshot in it" : opened.error().message);
        return 1;
    }
    Document document;
    MemoryFocus focus(&document);
    document.set(Document::prepare(std::move(opened).value()));
    AllocationView view(&focus);
    view.resize(1920, 1080);
    QWidget& widget = view; // whose render() paints; the view has one of its own
    QImage image(view.size(), QImage::Format_RGB32);
    widget.render(&image); // fonts and buffers, once a program's life

    std::vector<double> clock;
    std::vector<double> thread;
    const std::int64_t whole = focus.whole().end - focus.whole().begin;
    const auto show = [&](double length, double place) {
        const auto begin =
            focus.whole().begin + static_cast<std::int64_t>((static_cast<double>(whole) - length) * place);
        const auto start = std::chrono::steady_clock::now();
        const double cpu = threadMs();
        focus.setView(begin, begin + static_cast<std::int64_t>(length));
        widget.render(&image);
        thread.push_back(threadMs() - cpu);
        clock.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    };
    for (const double place : {0.0, 0.3, 0.7, 1.0}) {
        for (double length = static_cast<double>(whole); length > 50; length /= 1.1)
            show(length, place);
        for (double length = 50; length < static_cast<double>(whole); length *= 1.1)
            show(length, place);
    }
    if (argc > 2)
        image.save(QString::fromLocal8Bit(argv[2]));
    fmt::print("{} events, {} frames of {} x {}\n", focus.device().events.count(), clock.size(),
               image.width(), image.height());
    for (const auto& [name, ms] : {std::pair("clock", &clock), std::pair("thread", &thread)}) {
        std::sort(ms->begin(), ms->end());
        fmt::print("{:>6}: median {:.2f} ms, p95 {:.2f} ms, p99 {:.2f} ms, longest {:.2f} ms\n", name,
                   at(*ms, 0.5), at(*ms, 0.95), at(*ms, 0.99), ms->back());
    }
    return 0;
}
