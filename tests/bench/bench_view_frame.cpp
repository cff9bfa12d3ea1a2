// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
// How long a frame of the timeline takes: a scripted tour over a trace, from the whole of it to single
// kernels and back, with panning at every zoom, painted through the widget into a picture of 1920 x 1080.
// Every track is unfolded, so that every lane is in view where they fit.
//
//   bench_view_frame [--trace FILE] [--events N] [--size WxH] [--dpr N] [--png PREFIX] [--json]
//
// Without --trace it makes one in memory. Run it bound to one core (taskset -c 0).
#include "model/import/import.h"
#include "views/document.h"
#include "views/theme.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/timeline_panel.h"
#include "views/timeline/timeline_view.h"

#include <fmt/core.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QImage>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace warpline;

namespace {

using Clock = std::chrono::steady_clock;

/// Time this thread ran, without what other programs took: what a frame costs on a core of its own.
double threadMs() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// A thread of nested ops with launches, and three streams of kernels: `events` in all.
std::string makeTrace(std::size_t events) {
    std::mt19937_64 random(1);
    const auto upTo = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    std::string json = R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"Bench"}],"traceEvents":[)";
    json.reserve(events * 120);
    const auto add = [&json](const char* cat, const char* name, std::int64_t pid, std::int64_t tid,
                             std::int64_t ts, std::int64_t dur) {
        json += fmt::format(
            R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03}}},)", cat,
            name, pid, tid, ts / 1000, ts % 1000, dur / 1000, dur % 1000);
    };
    const char* ops[] = {"aten::mm", "aten::add", "aten::gelu", "aten::native_layer_norm", "aten::copy_"};
    const char* kernels[] = {"sm90_gemm_bf16", "vectorized_elementwise_kernel", "reduce_kernel",
                             "layer_norm_kernel", "flash_fwd_kernel"};
    std::int64_t now = 1'000'000;
    std::int64_t gpu = now;
    for (std::size_t made = 0; made + 8 <= events; made += 8) {
        const std::int64_t inner = 500 + upTo(3000);
        for (int depth = 0; depth < 6; ++depth) {
            const std::int64_t margin = 200 * depth;
            add("cpu_op", ops[upTo(5)], 10, depth % 2 == 0 ? 10 : 11, now + margin,
                inner + 2 * (1200 - margin));
        }
        add("cuda_runtime", "cudaLaunchKernel", 10, 10, now + 1200, inner);
        gpu = std::max(gpu, now + 4000);
        const std::int64_t length = 300 + upTo(upTo(20) == 0 ? 60000 : 4000);
        add("kernel", kernels[upTo(5)], 0, upTo(8) == 0 ? 20 : 7, gpu, length);
        gpu += length + upTo(300);
        now += inner + 3000 + upTo(upTo(100) == 0 ? 400000 : 2000);
    }
    json.pop_back();
    json += R"(,{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}}]})";
    return json;
}

struct Frames {
    std::vector<double> ms;
    [[nodiscard]] double at(double share) const {
        std::vector<double> sorted = ms;
        std::sort(sorted.begin(), sorted.end());
        const auto i = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
        return sorted[i];
    }
};

class Tour {
  public:
    Tour(Document& document, TimelineView& view, QImage& image, QString prefix)
        : m_document(document), m_view(view), m_image(image), m_prefix(std::move(prefix)) {}

    /// From the whole to `around` and back in steps of a tenth, panning on the way.
    void run(TimeNs around) {
        const TimeRange whole = m_document.extent();
        TimeRange range = whole;
        show(whole);
        int step = 0;
        while (range.duration() > 20'000) {
            range = coordinates::zoomed(range, around, 1.1);
            show(range);
            if (++step % 24 == 0)
                pan(range);
        }
        pan(range);
        while (range.duration() < whole.duration()) {
            range = coordinates::zoomed(range, around, 1 / 1.1);
            show(range);
        }
    }
    [[nodiscard]] const Frames& frames() const { return m_frames; }
    [[nodiscard]] const Frames& cpu() const { return m_cpu; }

  private:
    void pan(TimeRange range) {
        for (int i = 0; i < 20; ++i) {
            range = coordinates::panned(range, i < 10 ? 0.03 : -0.06);
            show(range);
        }
    }
    void show(TimeRange range) {
        const auto begin = Clock::now();
        const double cpuBegin = threadMs();
        m_document.setVisible(range);
        m_view.viewport()->render(&m_image);
        m_cpu.ms.push_back(threadMs() - cpuBegin);
        m_frames.ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        if (!m_prefix.isEmpty() && m_frames.ms.size() % 50 == 1)
            m_image.save(m_prefix + QString::number(m_frames.ms.size()) + QStringLiteral(".png"));
    }

    Document& m_document;
    TimelineView& m_view;
    QImage& m_image;
    QString m_prefix;
    Frames m_frames;
    Frames m_cpu;
};

/// A moment in the middle of a slice about so far into the recording.
TimeNs momentAt(const Document& document, double share) {
    const Trace& trace = *document.items().front().trace;
    const TimeRange extent = document.extent();
    const TimeNs wanted = extent.begin + coordinates::rounded(static_cast<double>(extent.duration()) * share);
    for (const Track& track : trace.tracks) {
        if (track.kind == TrackKind::Stream && track.laneCount > 0) {
            const SliceId near =
                hitTest(trace, LaneId::fromIndex(track.firstLane), wanted, extent.duration());
            if (near)
                return document.sliceRange({0, near}).begin;
        }
    }
    return wanted;
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    const auto option = [&parser](const char* name, const char* value, const char* fallback) {
        const QCommandLineOption o(QString::fromLatin1(name), {}, QString::fromLatin1(value),
                                   QString::fromLatin1(fallback));
        parser.addOption(o);
        return o;
    };
    const auto trace = option("trace", "FILE", "");
    const auto events = option("events", "N", "1000000");
    const auto size = option("size", "WxH", "1920x1080");
    const auto dpr = option("dpr", "N", "1");
    const auto png = option("png", "PREFIX", "");
    const QCommandLineOption json(QStringLiteral("json"));
    parser.addOption(json);
    parser.process(app);

    auto opened = parser.isSet(trace)
                      ? openTraces(parser.value(trace).toStdString())
                      : openTracesFromMemory(makeTrace(parser.value(events).toULongLong()), "made.json");
    if (!opened.ok()) {
        fmt::print(stderr, "{}\n", opened.error().message);
        return 1;
    }
    const TracePtr first = opened.value().front();
    Document document;
    document.set(Document::prepare({std::move(opened).value(), {}, {}}));
    TimelinePanel panel(&document);
    panel.setAnimated(false);
    panel.state()->changeLayout([&](TrackLayout& layout) {
        const std::vector<Row> rows = layout.rows();
        for (const Row& row : rows)
            layout.setFolded(row.id, false);
    });
    const QStringList sides = parser.value(size).split(QLatin1Char('x'));
    const QSize wanted(sides.value(0).toInt(), sides.value(1).toInt());
    TimelineView& view = *panel.view();
    view.setParent(nullptr);
    view.resize(wanted.width() + 20, wanted.height());
    view.viewport()->resize(wanted);
    const double ratio = parser.value(dpr).toDouble();
    QImage image(view.viewport()->size() * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);

    std::size_t lanes = 0;
    for (const Row& row : panel.state()->layout().rows())
        lanes += static_cast<std::size_t>(row.lanes);
    view.viewport()->render(&image); // fonts and buffers, once a program's life
    Tour tour(document, view, image, parser.value(png));
    for (const double share : {0.5, 0.1, 0.9})
        tour.run(momentAt(document, share));
    const Frames& frames = tour.frames();
    const Frames& cpu = tour.cpu();
    if (parser.isSet(json)) {
        fmt::print(
            "{{\"slices\": {}, \"lanes\": {}, \"frames\": {}, \"median_ms\": {:.3f}, \"p95_ms\": {:.3f}, "
            "\"p99_ms\": {:.3f}, \"max_ms\": {:.3f}, \"cpu_median_ms\": {:.3f}, \"cpu_p99_ms\": {:.3f}}}\n",
            first->slices.size(), lanes, frames.ms.size(), frames.at(0.5), frames.at(0.95), frames.at(0.99),
            frames.at(1), cpu.at(0.5), cpu.at(0.99));
        return 0;
    }
    fmt::print("{} slices, {} lanes, rows {} px high, {} frames of {} x {}\n", first->slices.size(), lanes,
               panel.state()->layout().height(), frames.ms.size(), image.width(), image.height());
    for (const auto& [name, f] : {std::pair("clock", &frames), std::pair("thread", &cpu)})
        fmt::print("{:>6}: median {:.2f} ms, p95 {:.2f} ms, p99 {:.2f} ms, longest {:.2f} ms\n", name,
                   f->at(0.5), f->at(0.95), f->at(0.99), f->at(1));
    return 0;
}
