// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/lane_painter.h"

#include "views/text.h"

#include <QImage>

#include <algorithm>
#include <cmath>
#include <string>

namespace warpline {

using coordinates::Scale;

namespace {

constexpr int kBarGap = 2;    ///< between the lines of a track
constexpr int kTextInset = 4; ///< of a label in its bar
constexpr double kTickPixels = 110;

/// Paints in whole device pixels: no bar is blurred by a fractional scale.
class DevicePixels {
  public:
    DevicePixels(QPainter& painter, double dpr) : m_painter(painter), m_dpr(dpr) {
        m_painter.save();
        m_painter.scale(1 / dpr, 1 / dpr);
    }
    ~DevicePixels() { m_painter.restore(); }
    DevicePixels(const DevicePixels&) = delete;
    DevicePixels& operator=(const DevicePixels&) = delete;
    [[nodiscard]] int of(double logical) const { return static_cast<int>(std::lround(logical * m_dpr)); }

  private:
    QPainter& m_painter;
    double m_dpr;
};

/// A row of colours over a rectangle.
void drawColumns(QPainter& painter, int y, int height, const std::vector<QRgb>& columns) {
    const int width = static_cast<int>(columns.size());
    const auto* bytes = static_cast<const uchar*>(static_cast<const void*>(columns.data()));
    const QImage image(bytes, width, 1, width * 4, QImage::Format_ARGB32_Premultiplied);
    painter.drawImage(QRect(0, y, width, height), image);
}

} // namespace

int Scene::pinnedHeight() const {
    // Pinned rows leave room for the rest.
    return std::min(state->layout().pinnedHeight(), size.height() * 3 / 5);
}

int Scene::rowTop(const Row& row) const {
    return row.pinned ? row.top : pinnedHeight() + row.top - scroll;
}

std::optional<QRectF> Scene::rectOf(SliceRef ref, bool* folded) const {
    if (!ref || static_cast<std::size_t>(ref.source) >= state->document().items().size())
        return std::nullopt;
    const Trace& trace = *state->document().items()[static_cast<std::size_t>(ref.source)].trace;
    const Lane& lane = trace.lanes[trace.laneOf(ref.slice).index()];
    const Row* row = state->layout().rowOf(ref.source, lane.track);
    if (row == nullptr)
        return std::nullopt;
    if (folded != nullptr)
        *folded = lane.depth >= row->lanes;
    const TimeRange range = state->document().sliceRange(ref);
    const Scale s = scale();
    const double left = std::max(s.x(range.begin), -10.0);
    const double right = std::min(s.x(range.end), size.width() + 10.0);
    const int top = rowTop(*row) + row->laneTop(lane.depth) - row->top;
    return QRectF(left, top, std::max(right - left, 1.0), row->laneHeight - kBarGap);
}

PaintFrame Scene::frame() const {
    return {state->document().visible(), static_cast<int>(std::lround(size.width() * dpr)), dpr,
            Theme::current().dark, state->session()};
}

LanePainter::LanePainter() : m_font(laneFont()) {}

int LanePainter::paint(QPainter& painter, const Scene& scene, GeometryCache& cache) {
    cache.setFrame(scene.frame());
    paintBackdrop(painter, scene);
    int filled = paintPart(painter, scene, cache, false);
    if (scene.pinnedHeight() > 0)
        filled += paintPart(painter, scene, cache, true);
    return filled;
}

void LanePainter::paintBackdrop(QPainter& painter, const Scene& scene) {
    const Theme& theme = Theme::current();
    painter.fillRect(QRect(QPoint(0, 0), scene.size), theme.background);
    const Scale scale = scene.scale();
    const auto& steps = scene.state->steps();
    for (const StepBand& step : steps) {
        const double left = std::max(scale.x(step.range.begin), -1.0);
        const double right = std::min(scale.x(step.range.end), scene.size.width() + 1.0);
        if (right < 0 || left > scene.size.width() || right - left < 3 || step.number % 2 == 0)
            continue;
        painter.fillRect(
            QRectF(std::round(left), 0, std::round(right) - std::round(left), scene.size.height()),
            theme.band);
    }
    const TimeNs step = coordinates::tickStep(scale.nsPerPixel(), kTickPixels);
    const TimeNs origin = scene.state->origin();
    const TimeNs first = coordinates::subtract(scale.range.begin, origin) / step - 1;
    for (int i = 0; i < 1000; ++i) {
        const double x = scale.x(coordinates::add(origin, (first + i) * step));
        if (x > scene.size.width())
            break;
        painter.fillRect(QRectF(std::round(x), 0, 1, scene.size.height()), theme.grid);
    }
}

int LanePainter::paintPart(QPainter& painter, const Scene& scene, GeometryCache& cache, bool pinned) {
    const Theme& theme = Theme::current();
    const TrackLayout& layout = scene.state->layout();
    const int partTop = pinned ? 0 : scene.pinnedHeight();
    const int partBottom = pinned ? scene.pinnedHeight() : scene.size.height();
    painter.save();
    painter.setClipRect(QRect(0, partTop, scene.size.width(), partBottom - partTop));
    m_texts.clear();
    int filled = 0;
    const std::vector<Row>& rows = pinned ? layout.pinnedRows() : layout.rows();
    const int firstY = pinned ? 0 : scene.scroll;
    auto it = std::upper_bound(rows.begin(), rows.end(), firstY,
                               [](int y, const Row& row) { return y < row.bottom(); });
    for (; it != rows.end(); ++it) {
        const int top = scene.rowTop(*it);
        if (top >= partBottom)
            break;
        switch (it->id.kind) {
        case RowKind::Source:
        case RowKind::Group:
            continue; // paintHeadings(), later
        case RowKind::Track:
            filled += paintLanes(painter, scene, cache, *it, top);
            break;
        case RowKind::Counter:
        case RowKind::Memory:
            paintSeries(painter, scene, cache, *it, top);
            ++filled;
            break;
        }
        painter.fillRect(QRect(0, top + it->height - 1, scene.size.width(), 1), theme.line);
    }
    paintTexts(painter);
    if (pinned)
        painter.fillRect(QRect(0, partBottom - 2, scene.size.width(), 2), theme.line);
    painter.restore();
    return filled;
}

void LanePainter::paintHeadings(QPainter& painter, const Scene& scene) {
    const int partTop = scene.pinnedHeight();
    painter.save();
    painter.setClipRect(QRect(0, partTop, scene.size.width(), scene.size.height() - partTop));
    for (const Row& row : scene.state->layout().rows()) {
        const int top = scene.rowTop(row);
        if (top >= scene.size.height())
            break;
        const bool heading = row.id.kind == RowKind::Source || row.id.kind == RowKind::Group;
        if (heading && top + row.height > partTop)
            paintHeading(painter, scene, row, top);
    }
    painter.restore();
}

int LanePainter::paintLanes(QPainter& painter, const Scene& scene, GeometryCache& cache, const Row& row,
                            int top) {
    const Document::Item& item = scene.state->document().items()[static_cast<std::size_t>(row.id.source)];
    const TimeRange own{coordinates::subtract(scene.state->document().visible().begin, item.shift),
                        coordinates::subtract(scene.state->document().visible().end, item.shift)};
    const DevicePixels device(painter, scene.dpr);
    int filled = 0;
    for (int lane = 0; lane < row.lanes; ++lane) {
        const int laneTop = top + row.laneTop(lane) - row.top;
        if (laneTop + row.laneHeight <= 0)
            continue;
        if (laneTop >= scene.size.height())
            break;
        const std::uint32_t index = row.firstLane + static_cast<std::uint32_t>(lane);
        const LaneGeometry& geometry = cache.lane(item, row.id.source, index);
        const int y = device.of(laneTop);
        const int height = device.of(laneTop + row.laneHeight - kBarGap) - y;
        if (!geometry.columns.empty())
            drawColumns(painter, y, height, geometry.columns);
        for (const Bar& bar : geometry.bars)
            painter.fillRect(QRect(bar.x, y, bar.width, height), QColor::fromRgba(qUnpremultiply(bar.color)));
        for (const BarLabel& label : geometry.labels)
            m_texts.push_back({label.x / scene.dpr + kTextInset,
                               m_font.baseline(laneTop, row.laneHeight - kBarGap),
                               label.width / scene.dpr - 2 * kTextInset + 2, item.trace.get(), label.slice});
        filled += geometry.empty() ? 0 : 1;
        if (scene.state->hits().empty())
            continue;
        scene.state->hits().stretches(row.id.source, index, own, cache.frame().width, m_stretches);
        const int thick = std::max(2, device.of(2));
        for (const auto& [x, width] : m_stretches) {
            painter.fillRect(QRect(x, y + height - thick, std::max(width, thick), thick),
                             Theme::current().warn);
            if (width < 3 * thick)
                painter.fillRect(QRect(x, y, thick / 2, height), Theme::current().warn);
        }
    }
    return filled;
}

void LanePainter::paintHeading(QPainter& painter, const Scene& scene, const Row& row, int top) {
    const Theme& theme = Theme::current();
    painter.fillRect(QRect(0, top, scene.size.width(), row.height),
                     row.id.kind == RowKind::Source ? theme.chip : theme.head);
    QString text = row.detail;
    if (const auto busy = scene.state->busyShare(row.id)) {
        const QString share = TimelineState::tr("busy %1 of the time in view").arg(percentText(*busy));
        text = text.isEmpty() ? share : QString(text % QStringLiteral(" · ") % share);
    }
    painter.setPen(theme.mute);
    const std::string utf8 = text.toStdString();
    m_font.draw(painter, 10, m_font.baseline(top, row.height), scene.size.width() - 20, utf8);
}

void LanePainter::paintSeries(QPainter& painter, const Scene& scene, GeometryCache& cache, const Row& row,
                              int top) {
    const Theme& theme = Theme::current();
    const auto& series = scene.state->layout().seriesOf(row);
    const TimeNs shift = scene.state->document().items()[static_cast<std::size_t>(row.id.source)].shift;
    double lowest = 0;
    double highest = 0;
    for (const RowSeries& s : series) {
        lowest = std::min(lowest, s.values.min());
        highest = std::max(highest, s.values.max());
    }
    if (highest <= lowest)
        highest = lowest + 1;
    const DevicePixels device(painter, scene.dpr);
    const int floor = device.of(top + row.height - 4);
    const int room = floor - device.of(top + 8);
    const auto yOf = [&](double value) {
        return floor - static_cast<int>(std::lround((value - lowest) / (highest - lowest) * room));
    };
    const int zero = yOf(0);
    const int thick = std::max(1, device.of(1));
    const std::array<QColor, 4> lines{theme.area, theme.warn, theme.accent, theme.mute};
    for (std::size_t i = 0; i < series.size(); ++i) {
        const bool reserved = series[i].role == RowSeries::Role::Reserved;
        const bool filled = i == 0;
        const QColor line = reserved ? theme.mute : lines[i % lines.size()];
        const auto& columns = cache.series(&series[i].values, shift);
        int before = 0;
        bool hasBefore = false;
        for (std::size_t x = 0; x < columns.size();) {
            if (!columns[x].filled) {
                ++x;
                continue;
            }
            const int high = yOf(columns[x].max);
            const int low = yOf(columns[x].min);
            std::size_t end = x + 1;
            while (end < columns.size() && columns[end].filled && yOf(columns[end].max) == high &&
                   yOf(columns[end].min) == low)
                ++end;
            const int left = static_cast<int>(x);
            const int width = static_cast<int>(end - x);
            if (reserved) {
                // A dashed line, its dashes at fixed places so that they do not dance while panning slowly.
                const int dash = 4 * thick;
                for (int d = left / dash * dash; d < left + width; d += 2 * dash) {
                    const int from = std::max(d, left);
                    const int to = std::min(d + dash, left + width);
                    if (to > from)
                        painter.fillRect(QRect(from, high, to - from, thick), line);
                }
            } else {
                if (filled && zero != high)
                    painter.fillRect(QRect(left, std::min(high, zero), width, std::abs(zero - high)),
                                     theme.area2);
                painter.fillRect(QRect(left, high, width, std::max(thick, low - high)), line);
            }
            if (hasBefore && !reserved) {
                const int upper = std::min(before, high);
                const int lower = std::max(before, high);
                painter.fillRect(QRect(left, upper, thick, lower - upper + thick), line);
            }
            before = low;
            hasBefore = true;
            x = end;
        }
    }
}

void LanePainter::drawName(QPainter& painter, const Text& text) {
    const Trace& trace = *text.trace;
    const SliceKind kind = trace.kind(text.slice);
    const std::string_view name = shortName(kind, trace.name(text.slice));
    const double used = m_font.draw(painter, text.x, text.baseline, text.width, name);
    // The duration where there is room to spare.
    constexpr double distance = 10;
    const double left = text.width - used - distance;
    if (left < 40 || trace.slices.duration[text.slice.index()] <= 0)
        return;
    const std::string duration = formatDuration(trace.slices.duration[text.slice.index()]);
    const double needed = m_font.width(duration);
    if (needed > left)
        return;
    painter.setOpacity(0.75);
    m_font.draw(painter, text.x + used + distance, text.baseline, left, duration);
    painter.setOpacity(1);
}

void LanePainter::paintTexts(QPainter& painter) {
    painter.setPen(Theme::current().text);
    for (const Text& text : m_texts)
        drawName(painter, text);
}

void LanePainter::paintBar(QPainter& painter, const Scene& scene, SliceRef slice, const QRectF& rect) {
    const Document::Item& item = scene.state->document().items()[static_cast<std::size_t>(slice.source)];
    painter.fillRect(rect, Theme::current().color(item.families->of(*item.trace, slice.slice.index())));
    if (rect.width() < LaneBuilder::kLabelPixels)
        return;
    const double left = std::max(rect.left(), 0.0);
    const double right = std::min(rect.right(), static_cast<double>(scene.size.width()));
    painter.setPen(Theme::current().text);
    drawName(painter, {left + kTextInset, m_font.baseline(rect.top(), rect.height()),
                       right - left - 2 * kTextInset + 2, item.trace.get(), slice.slice});
}

} // namespace warpline
