// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "tests/views/sample_document.h"
#include "views/theme.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/geometry.h"
#include "views/timeline/label_font.h"
#include "views/timeline/ruler.h"
#include "views/timeline/step_series.h"
#include "views/timeline/track_layout.h"
#include "views/timeline/track_names.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace warpline;
using namespace warpline::test;
using coordinates::Scale;

namespace {

constexpr TimeNs kFirst = std::numeric_limits<TimeNs>::min();
constexpr TimeNs kLast = std::numeric_limits<TimeNs>::max();

double luminance(const QColor& c) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QStringList names(const std::vector<Row>& rows) {
    QStringList list;
    for (const Row& row : rows)
        list << row.name;
    return list;
}

const Row& rowNamed(const TrackLayout& layout, const QString& name) {
    for (const std::vector<Row>* part : {&layout.pinnedRows(), &layout.rows()}) {
        for (const Row& row : *part) {
            if (row.name == name)
                return row;
        }
    }
    qFatal("no row %s", qPrintable(name));
}

/// A thread with `count` events of `duration` every `period` nanoseconds, all of one kind.
TracePtr regular(int count, TimeNs period, TimeNs duration, const char* category = "cpu_op") {
    TraceBuilder b;
    const TrackId t = b.track(b.process(1, false), TrackKind::Thread, 1);
    for (int i = 0; i < count; ++i)
        b.add(t, category, "aten::mm", SampleTrace::kStart + i * period, duration, {}, 0);
    return b.finish();
}

PaintFrame frameOf(TimeRange range, int width, double dpr = 1) {
    return {range, width, dpr, false, 1};
}

} // namespace

class TimelineDataTest : public QObject {
    Q_OBJECT

  private slots:
    void scaleKeepsNanoseconds() {
        // A double holds this epoch to 256 ns only; a difference to the origin is exact.
        const Scale scale{{SampleTrace::kStart, SampleTrace::kStart + 1000}, 1000};
        QCOMPARE(scale.x(SampleTrace::kStart + 1), 1.0);
        QCOMPARE(scale.x(SampleTrace::kStart + 999), 999.0);
        for (int x = 0; x < 1000; ++x)
            QCOMPARE(scale.at(x), SampleTrace::kStart + x);
    }

    void extremesDoNotWrap() {
        QCOMPARE(coordinates::add(kLast, 1), kLast);
        QCOMPARE(coordinates::add(kFirst, -1), kFirst);
        QCOMPARE(coordinates::subtract(kFirst, 1), kFirst);
        QCOMPARE(coordinates::subtract(kLast, -1), kLast);
        QCOMPARE(coordinates::rounded(std::numeric_limits<double>::quiet_NaN()), TimeNs{0});
        const Scale scale{{0, 10}, 100};
        QVERIFY(std::isfinite(scale.x(kLast)));
        QVERIFY(scale.x(kLast) > 1e6);
        QVERIFY(scale.x(kFirst) < -1e6);
    }

    void zoomKeepsTheAnchor() {
        const TimeRange range{1000, 2000};
        for (const TimeNs anchor : {1000, 1250, 1777, 2000}) {
            for (const double factor : {1.5, 3.0, 0.4}) {
                const TimeRange zoomed = coordinates::zoomed(range, anchor, factor);
                const double before = static_cast<double>(anchor - range.begin) / 1000;
                const double after =
                    static_cast<double>(anchor - zoomed.begin) / static_cast<double>(zoomed.duration());
                QVERIFY(std::abs(before - after) < 0.01);
            }
        }
    }

    void zoomNeverSticks() {
        TimeRange range{0, 3};
        range = coordinates::zoomed(range, 1, 1.1);
        QCOMPARE(range.duration(), TimeNs{2});
        range = coordinates::zoomed(coordinates::zoomed(range, 1, 1.1), 1, 1.1);
        QCOMPARE(range.duration(), TimeNs{1});
        QCOMPARE(coordinates::zoomed(range, 0, 1 / 1.1).duration(), TimeNs{2});
        QCOMPARE(coordinates::panned({0, 3}, 0.01), (TimeRange{1, 4}));
        QCOMPARE(coordinates::panned({0, 3}, -0.01), (TimeRange{-1, 2}));
    }

    void ticks() {
        QCOMPARE(coordinates::tickStep(1, 100), TimeNs{100});
        QCOMPARE(coordinates::tickStep(1.01, 100), TimeNs{200});
        QCOMPARE(coordinates::tickStep(0.001, 100), TimeNs{1});
        QVERIFY(coordinates::tickStep(1e17, 100) > 0);
        QCOMPARE(tickText(0, 5'000'000, 40'000'000), QStringLiteral("0"));
        QCOMPARE(tickText(5'000'000, 5'000'000, 40'000'000), QStringLiteral("5 ms"));
        QCOMPARE(tickText(63'123'400, 100, 63'124'000), QStringLiteral("63.1234 ms"));
        QCOMPARE(tickText(-250, 50, 300), QStringLiteral("-250 ns"));
        QCOMPARE(tickText(1'500'000'000, 500'000'000, 3'000'000'000), QStringLiteral("1.5 s"));
    }

    void seriesAgreesWithEverySample() {
        std::mt19937 random(7);
        std::vector<TimeNs> time;
        std::vector<double> value;
        TimeNs t = 100;
        for (int i = 0; i < 5000; ++i) {
            t += static_cast<TimeNs>(random() % 4);
            time.push_back(t);
            value.push_back(static_cast<double>(random() % 1000));
        }
        const StepSeries series(time, value);
        for (const TimeRange range :
             {TimeRange{0, t + 100}, TimeRange{500, 900}, TimeRange{t - 50, t + 50}}) {
            std::vector<StepSeries::Column> columns;
            const int pixels = 97;
            series.columns(range, pixels, columns);
            QCOMPARE(columns.size(), std::size_t{97});
            const Scale scale{range, static_cast<double>(pixels)};
            for (int x = 0; x < pixels; ++x) {
                const TimeNs begin = x == 0 ? range.begin : scale.at(x);
                const TimeNs end = x + 1 == pixels ? range.end : scale.at(x + 1);
                double lo = 1e9;
                double hi = -1e9;
                std::optional<double> carried;
                bool atEdge = false;
                for (std::size_t i = 0; i < time.size(); ++i) {
                    if (time[i] < begin)
                        carried = value[i];
                    else if (time[i] < end) {
                        atEdge = atEdge || time[i] == begin;
                        lo = std::min(lo, value[i]);
                        hi = std::max(hi, value[i]);
                    }
                }
                if (carried && !atEdge) {
                    lo = std::min(lo, *carried);
                    hi = std::max(hi, *carried);
                }
                QCOMPARE(columns[static_cast<std::size_t>(x)].filled, lo <= hi);
                if (lo <= hi) {
                    QCOMPARE(columns[static_cast<std::size_t>(x)].min, lo);
                    QCOMPARE(columns[static_cast<std::size_t>(x)].max, hi);
                }
            }
        }
        QVERIFY(!series.at(99));
        QCOMPARE(series.at(t + 5).value(), value.back());
        const StepSeries odd(std::vector<TimeNs>{1, 2}, std::vector<double>{std::nan(""), 3});
        QCOMPARE(odd.max(), 3.0);
        QCOMPARE(StepSeries().max(), 0.0);
    }

    void layoutHasEveryRowOnce() {
        const SampleTrace s = SampleTrace::make();
        TrackLayout layout;
        layout.setItems({itemOf(s.trace)}, {});
        QCOMPARE(names(layout.rows()), QStringList({QStringLiteral("python3"), QStringLiteral("main thread"),
                                                    QStringLiteral("Python"), QStringLiteral("queue"),
                                                    QStringLiteral("GPU 0 · NVIDIA H200"),
                                                    QStringLiteral("stream 7"), QStringLiteral("memory")}));
        int y = 0;
        for (const Row& row : layout.rows()) {
            QCOMPARE(row.top, y);
            y = row.bottom();
        }
        QCOMPARE(layout.height(), y);
        const Row& thread = rowNamed(layout, QStringLiteral("main thread"));
        QCOMPARE(thread.detail, QStringLiteral("tid 455"));
        QCOMPARE(thread.lanes, 3);
        QCOMPARE(thread.laneHeight, 18);
        QCOMPARE(rowNamed(layout, QStringLiteral("stream 7")).laneHeight, 22);
        // Frames are folded until asked for.
        const Row python = rowNamed(layout, QStringLiteral("Python"));
        QVERIFY(python.folded);
        QCOMPARE(python.lanes, 1);
        const int before = layout.height();
        layout.setFolded(python.id, false);
        QCOMPARE(rowNamed(layout, QStringLiteral("Python")).lanes, 3);
        QCOMPARE(layout.height(), before + 2 * 18);
    }

    void layoutFoldsHidesPinsMovesFilters() {
        const SampleTrace s = SampleTrace::make();
        TrackLayout layout;
        layout.setItems({itemOf(s.trace)}, {});
        const RowId gpu = rowNamed(layout, QStringLiteral("GPU 0 · NVIDIA H200")).id;
        const RowId host = rowNamed(layout, QStringLiteral("python3")).id;
        const RowId thread = rowNamed(layout, QStringLiteral("main thread")).id;
        const RowId queue = rowNamed(layout, QStringLiteral("queue")).id;
        const RowId stream = rowNamed(layout, QStringLiteral("stream 7")).id;

        layout.setFolded(gpu, true);
        QVERIFY(layout.find(stream) == nullptr);
        QVERIFY(layout.find(gpu) != nullptr);
        layout.setFilter(QStringLiteral("STREAM"));
        QCOMPARE(names(layout.rows()),
                 QStringList({QStringLiteral("GPU 0 · NVIDIA H200"), QStringLiteral("stream 7")}));
        layout.setFilter(QStringLiteral("no such"));
        QVERIFY(layout.rows().empty());
        layout.setFilter({});
        layout.setFolded(gpu, false);

        layout.setHidden(thread, true);
        QVERIFY(layout.find(thread) == nullptr);
        QCOMPARE(layout.hiddenCount(), std::size_t{1});
        layout.setHidden(gpu, true);
        QVERIFY(layout.find(stream) == nullptr);
        layout.showAll();
        QVERIFY(layout.find(stream) != nullptr);

        layout.setPinned(stream, true);
        QCOMPARE(names(layout.pinnedRows()), QStringList{QStringLiteral("stream 7")});
        QCOMPARE(layout.pinnedHeight(), layout.pinnedRows().front().height);
        QVERIFY(!names(layout.rows()).contains(QStringLiteral("stream 7")));
        layout.setPinned(gpu, true); // headings stay where they are
        QCOMPARE(layout.pinnedRows().size(), std::size_t{1});
        layout.setPinned(stream, false);

        QVERIFY(layout.move(queue, thread));
        QCOMPARE(names(layout.rows()).mid(1, 2),
                 QStringList({QStringLiteral("queue"), QStringLiteral("main thread")}));
        QVERIFY(layout.move(queue, std::nullopt));
        QCOMPARE(names(layout.rows()).at(3), QStringLiteral("queue"));
        QVERIFY(!layout.move(queue, stream)); // another group's
        QVERIFY(layout.moveBy(queue, -1));
        QCOMPARE(names(layout.rows()).at(2), QStringLiteral("queue"));
        QVERIFY(layout.moveBy(queue, 1));
        QVERIFY(!layout.moveBy(queue, 1));
        QVERIFY(layout.move(gpu, host)); // a group takes its rows along
        QCOMPARE(names(layout.rows()).mid(0, 4),
                 QStringList({QStringLiteral("GPU 0 · NVIDIA H200"), QStringLiteral("stream 7"),
                              QStringLiteral("memory"), QStringLiteral("python3")}));
        QVERIFY(layout.moveBy(gpu, 1));
        QCOMPARE(layout.rows().front().id, host);
    }

    void layoutUncoversWhatIsAskedFor() {
        const SampleTrace s = SampleTrace::make();
        TrackLayout layout;
        layout.setItems({itemOf(s.trace)}, {});
        const Row python = rowNamed(layout, QStringLiteral("Python"));
        layout.setFilter(QStringLiteral("stream"));
        layout.setHidden(python.id, true);
        layout.setFolded(rowNamed(layout, QStringLiteral("GPU 0 · NVIDIA H200")).id, true);
        layout.uncover(0, *s.trace, LaneId::fromIndex(python.firstLane + 2));
        const Row* row = layout.rowOf(0, s.python);
        QVERIFY(row != nullptr);
        QCOMPARE(row->lanes, 3);
        QVERIFY(layout.filter().isEmpty());
    }

    void rowsAreFoundByHeight() {
        const SampleTrace s = SampleTrace::make();
        TrackLayout layout;
        layout.setItems({itemOf(s.trace)}, {});
        for (const Row& row : layout.rows()) {
            QCOMPARE(layout.rowAt(row.top, false)->id, row.id);
            QCOMPARE(layout.rowAt(row.bottom() - 1, false)->id, row.id);
        }
        QVERIFY(layout.rowAt(layout.height(), false) == nullptr);
        QVERIFY(layout.rowAt(-1, false) == nullptr);
        QVERIFY(layout.rowAt(0, true) == nullptr);
    }

    void severalSourcesHaveHeadings() {
        const SampleTrace s = SampleTrace::make();
        TrackLayout layout;
        layout.setItems({itemOf(s.trace), itemOf(s.trace)}, {});
        QCOMPARE(names(layout.rows()).count(QStringLiteral("built.json")), 2);
        QCOMPARE(names(layout.rows()).count(QStringLiteral("stream 7")), 2);
        layout.setFolded(layout.rows().front().id, true);
        QCOMPARE(names(layout.rows()).count(QStringLiteral("stream 7")), 1);
    }

    void wideEventsAreBarsWithLabels() {
        const SampleTrace s = SampleTrace::make();
        GeometryCache cache;
        const TimeNs t0 = SampleTrace::kStart;
        cache.setFrame(frameOf({t0, t0 + 100 * SampleTrace::kMs}, 1000));
        const Document::Item item = itemOf(s.trace);
        const Trace& trace = *s.trace;
        const auto lane = static_cast<std::uint32_t>(trace.laneOf(s.mm).index());
        const LaneGeometry& g = cache.lane(item, 0, lane);
        QVERIFY(g.columns.empty());
        QCOMPARE(g.bars.size(), std::size_t{3}); // mm 20..120, add 200..250, mm 400..450
        QCOMPARE(g.bars[0].x, 20);
        QCOMPARE(g.bars[0].width, 99); // a pixel is left free
        QCOMPARE(g.bars[0].slice, s.mm);
        QCOMPARE(QColor::fromRgb(g.bars[0].color), Theme::light().color(Family::Aten));
        QCOMPARE(g.labels.size(), std::size_t{3});
        // The geometry is kept while the frame stays and made anew when it changes.
        const std::uint64_t builds = cache.builds();
        (void)cache.lane(item, 0, lane);
        cache.setFrame(cache.frame());
        (void)cache.lane(item, 0, lane);
        QCOMPARE(cache.builds(), builds);
        cache.setFrame(frameOf({t0, t0 + 50 * SampleTrace::kMs}, 1000));
        QCOMPARE(cache.lane(item, 0, lane).bars[0].x, 40);
        QCOMPARE(cache.builds(), builds + 1);
    }

    void labelsBeginInView() {
        const SampleTrace s = SampleTrace::make();
        GeometryCache cache;
        const TimeNs t0 = SampleTrace::kStart;
        cache.setFrame(frameOf({t0 + 10 * SampleTrace::kMs, t0 + 20 * SampleTrace::kMs}, 500, 2));
        const auto lane = static_cast<std::uint32_t>(s.trace->laneOf(s.forward).index());
        const LaneGeometry& g = cache.lane(itemOf(s.trace), 0, lane);
        QCOMPARE(g.labels.size(), std::size_t{1});
        QCOMPARE(g.labels[0].x, 0);
        QCOMPARE(g.labels[0].width, 499);
        QVERIFY(g.bars[0].x <= 0 && g.bars[0].x + g.bars[0].width >= 499);
        QVERIFY(g.bars[0].width < 510);
    }

    void denseLanesAreOneRowOfColumns() {
        const int events = 20000;
        const TracePtr trace = regular(events, 1000, 500);
        GeometryCache cache;
        cache.setFrame(frameOf(trace->extent, 800));
        const LaneGeometry& g = cache.lane(itemOf(trace), 0, 0);
        QVERIFY(g.bars.empty());
        QVERIFY(g.labels.empty());
        QCOMPARE(g.columns.size(), std::size_t{800});
        // Half of every pixel is covered, and looks it: between faint and full.
        for (const QRgb c : g.columns) {
            QVERIFY(qAlpha(c) > 100);
            QVERIFY(qAlpha(c) < 240);
        }
        const TracePtr full = regular(events, 1000, 1000);
        cache.setFrame(frameOf(full->extent, 801));
        for (const QRgb c : cache.lane(itemOf(full), 0, 0).columns)
            QVERIFY(qAlpha(c) > 245);
    }

    void nothingVanishes() {
        // One event of a nanosecond in ten seconds still shows, alone and among many.
        TraceBuilder b;
        const TrackId t = b.track(b.process(1, false), TrackKind::Thread, 1);
        b.add(t, "cpu_op", "aten::mm", SampleTrace::kStart, 1, {}, 0);
        b.add(t, "cpu_op", "aten::mm", SampleTrace::kStart + 5'000'000'000, 1, {}, 0);
        b.add(t, "cpu_op", "aten::mm", SampleTrace::kStart + 10'000'000'000, 1, {}, 0);
        const TracePtr trace = b.finish();
        GeometryCache cache;
        cache.setFrame(frameOf(trace->extent, 1000));
        const LaneGeometry& g = cache.lane(itemOf(trace), 0, 0);
        QCOMPARE(g.bars.size(), std::size_t{3});
        QCOMPARE(g.bars[1].x, 500);
        for (const Bar& bar : g.bars) {
            QVERIFY(bar.width >= 1);
            QVERIFY(qAlpha(bar.color) >= 70);
        }
    }

    void equalNeighboursAreOneBar() {
        const TracePtr trace = regular(40, 1000, 1000);
        GeometryCache cache;
        cache.setFrame(frameOf({trace->extent.begin, trace->extent.begin + 4'000'000}, 1000));
        const LaneGeometry& g = cache.lane(itemOf(trace), 0, 0);
        QVERIFY(g.columns.empty());
        QVERIFY(g.bars.size() <= 2); // ten pixels, fully covered but for rounding at the ends
        QCOMPARE(g.bars.front().x, 0);
    }

    void marksOfOnePixelAreOne() {
        const TracePtr trace = regular(10000, 1000, 500);
        std::vector<SliceRef> hits;
        for (std::size_t i = 0; i < 10000; ++i)
            hits.push_back({0, SliceId::fromIndex(i)});
        MarkedSlices marked;
        marked.set({itemOf(trace)}, hits);
        std::vector<std::pair<int, int>> stretches;
        marked.stretches(0, 0, trace->extent, 100, stretches);
        QVERIFY(stretches.size() >= 99 && stretches.size() <= 101);
        marked.stretches(0, 0, {trace->extent.begin + 5'000, trace->extent.begin + 7'000}, 100, stretches);
        QCOMPARE(stretches.size(), std::size_t{2});
        QCOMPARE(stretches[1].first, 50);
        QCOMPARE(stretches[1].second, 25);
        marked.stretches(0, 1, trace->extent, 100, stretches);
        QVERIFY(stretches.empty());
    }

    void labelsAreReadableOnEveryFamily() {
        for (const Theme* theme : {&Theme::light(), &Theme::darkTheme()}) {
            for (std::size_t f = 0; f < kFamilyCount; ++f) {
                const double c = contrast(theme->text, theme->family[f]);
                QVERIFY2(c >= 4.5, qPrintable(QStringLiteral("%1: %2")
                                                  .arg(QLatin1String(familyName(static_cast<Family>(f))))
                                                  .arg(c)));
            }
            for (const QColor& ground : {theme->background, theme->pane, theme->head}) {
                QVERIFY(contrast(theme->text, ground) >= 7);
                QVERIFY(contrast(theme->mute, ground) >= 4);
            }
            QVERIFY(contrast(theme->mute, theme->background) >= 4.5);
        }
    }

    void kernelFamiliesDiffer() {
        // Told apart without hue too: as someone sees them who has no red or no green cones (Machado 2009).
        const auto seen = [](const QColor& c, const std::array<double, 9>& m) {
            const double r = c.redF(), g = c.greenF(), b = c.blueF();
            return std::array{m[0] * r + m[1] * g + m[2] * b, m[3] * r + m[4] * g + m[5] * b,
                              m[6] * r + m[7] * g + m[8] * b};
        };
        const std::array<std::array<double, 9>, 3> eyes{
            std::array{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
            std::array{0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116,
                       1.051998},
            std::array{0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
                       0.968881}};
        const std::array common{Family::Matmul,      Family::Attention,     Family::Convolution,
                                Family::Elementwise, Family::Reduction,     Family::Normalisation,
                                Family::CopySet,     Family::Communication, Family::Optimiser,
                                Family::Compiled,    Family::OtherKernel};
        for (const Theme* theme : {&Theme::light(), &Theme::darkTheme()}) {
            for (const auto& eye : eyes) {
                for (std::size_t i = 0; i < common.size(); ++i) {
                    for (std::size_t k = i + 1; k < common.size(); ++k) {
                        const auto a = seen(theme->color(common[i]), eye);
                        const auto b = seen(theme->color(common[k]), eye);
                        const double d = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
                        QVERIFY2(d > 0.1, qPrintable(QStringLiteral("%1 %2 %3").arg(i).arg(k).arg(d)));
                    }
                }
            }
        }
    }

    void shortNames() {
        QCOMPARE(shortName(SliceKind::Kernel, "void at::native::(anonymous namespace)::foo<float, 4>(int)"),
                 std::string_view("foo<float, 4>(int)"));
        QCOMPARE(shortName(SliceKind::Kernel, "nvjet_tst_64x8"), std::string_view("nvjet_tst_64x8"));
        QCOMPARE(shortName(SliceKind::Kernel, "a::"), std::string_view("a::"));
        QCOMPARE(shortName(SliceKind::Python, "torch/nn/modules/module.py(1): _call_impl"),
                 std::string_view("_call_impl"));
        QCOMPARE(shortName(SliceKind::CpuOp, "aten::mm"), std::string_view("aten::mm"));
    }

    void labelsAreCutToTheirBar() {
        LabelFont font(laneFont());
        const std::string text = "aten::scaled_dot_product_attention";
        QCOMPARE(font.cut(text, 1000), QString::fromStdString(text));
        const QString cut = font.cut(text, 80);
        QVERIFY(cut.endsWith(QChar(0x2026)));
        QVERIFY(font.width(cut.chopped(1).toStdString()) <= 80);
        QVERIFY(font.cut(text, 8).isEmpty());
        // What is drawn lies inside of the width, in plain and in other letters.
        for (const std::string& s : {text, std::string("κόσμος_kernel_with_a_long_name")}) {
            QImage image(200, 20, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.setPen(Qt::black);
            const double used = font.draw(painter, 10, 14, 80, s);
            painter.end();
            QVERIFY(used > 40 && used <= 80.5);
            int last = 0;
            for (int x = 0; x < image.width(); ++x) {
                for (int y = 0; y < image.height(); ++y) {
                    if (qGray(image.pixel(x, y)) < 200)
                        last = x;
                }
            }
            QVERIFY(last > 50);
            QVERIFY(last <= 91);
        }
    }

    void titles() {
        const SampleTrace s = SampleTrace::make();
        QCOMPARE(processTitle(*s.trace, 0).detail, QStringLiteral("pid 455 · 1 thread"));
        QCOMPARE(trackPlace(*s.trace, s.stream), QStringLiteral("GPU 0 · NVIDIA H200, stream 7"));
        QCOMPARE(trackPlace(*s.trace, s.thread), QStringLiteral("python3, main thread (tid 455)"));
        Track waits;
        waits.kind = TrackKind::GpuSync;
        waits.tid = 1'000'007;
        QCOMPARE(streamNumber(waits), std::int64_t{7});
    }
};

QTEST_MAIN(TimelineDataTest)
#include "tst_timeline_data.moc"
