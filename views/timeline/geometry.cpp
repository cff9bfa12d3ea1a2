// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/geometry.h"

#include "views/timeline/coordinates.h"

#include <algorithm>
#include <cmath>

namespace warpline {

using coordinates::Scale;

namespace {

/// A lane with more narrow spans than one a so many pixels becomes columns.
constexpr std::size_t kPixelsPerBar = 12;
/// Bars of so many device pixels and more give one away, so that neighbours can be told apart.
constexpr int kGapFrom = 4;
/// How strongly something shows that covers next to nothing of its pixel.
constexpr float kFaintest = 0.3F;

std::uint64_t laneKey(int source, std::uint32_t lane) {
    return static_cast<std::uint64_t>(source) << 32U | lane;
}

struct Pixels {
    int x;
    int width;
};

/// The scale with its division done beforehand: it is asked several times a span.
class LaneScale {
  public:
    LaneScale(TimeRange range, int width)
        : m_begin(range.begin), m_perNs(1 / Scale{range, static_cast<double>(width)}.nsPerPixel()) {}
    [[nodiscard]] double x(TimeNs t) const {
        return static_cast<double>(coordinates::subtract(t, m_begin)) * m_perNs;
    }
    [[nodiscard]] double nsPerPixel() const { return 1 / m_perNs; }

  private:
    TimeNs m_begin;
    double m_perNs;
};

/// A stretch of time in whole device pixels, cut a little outside of the frame; at least one pixel.
Pixels pixelsOf(const LaneScale& scale, TimeNs begin, TimeNs end, int frameWidth) {
    const double limit = static_cast<double>(frameWidth) + 2;
    const double left = std::clamp(scale.x(begin), -2.0, limit);
    const double right = std::clamp(scale.x(end), -2.0, limit);
    const int x0 = static_cast<int>(std::lround(left));
    const int x1 = static_cast<int>(std::lround(right));
    return {x0, std::max(1, x1 - x0)};
}

} // namespace

Shades::Shades(const Theme& theme) {
    for (std::size_t f = 0; f < kFamilyCount; ++f) {
        const QColor color = theme.family[f];
        m_full[f] = color.rgb();
        for (int step = 0; step < kSteps; ++step) {
            const float share = static_cast<float>(step) / (kSteps - 1);
            QColor shade = color;
            shade.setAlphaF(kFaintest + (1 - kFaintest) * share);
            m_shades[f][static_cast<std::size_t>(step)] = qPremultiply(shade.rgba());
        }
    }
}

void LaneBuilder::build(const Document::Item& item, const std::vector<Span>& spans, TimeRange range,
                        const PaintFrame& frame, const Shades& shades, LaneGeometry& out) {
    out.bars.clear();
    out.columns.clear();
    out.labels.clear();
    if (spans.empty() || frame.width <= 0)
        return;
    const LaneScale scale(range, frame.width);
    const Trace& trace = *item.trace;
    const int labelFrom = static_cast<int>(std::lround(kLabelPixels * frame.dpr));
    const auto nsPerPixel = static_cast<float>(scale.nsPerPixel());
    std::size_t narrow = 0;
    for (const Span& span : spans) {
        // The family is asked for in the next pass; in a large trace every span's row is a cache line of its
        // own.
        __builtin_prefetch(trace.slices.name.data() + span.slice.index());
        __builtin_prefetch(trace.slices.category.data() + span.slice.index());
        const Pixels at = pixelsOf(scale, span.start, span.end, frame.width);
        if (at.width < kGapFrom)
            ++narrow;
        if (span.count == 1 && at.width >= labelFrom) {
            const int left = std::max(at.x, 0);
            const int right = std::min(at.x + at.width, frame.width);
            if (right - left >= labelFrom)
                out.labels.push_back({left, right - left - 1, span.slice});
        }
    }
    if (narrow > static_cast<std::size_t>(frame.width) / kPixelsPerBar) {
        buildColumns(item, spans, range, frame, shades, out);
        return;
    }
    TimeNs longest = 0; // of those in the last bar
    for (const Span& span : spans) {
        Pixels at = pixelsOf(scale, span.start, span.end, frame.width);
        const Family family = item.families->of(trace, span.slice.index());
        const bool instant = span.count == 1 && span.end == span.start;
        if (instant && (trace.slices.flags[span.slice.index()] & SliceFlag::Instant) != 0)
            at.width = std::max(at.width, static_cast<int>(std::lround(2 * frame.dpr)));
        if (at.width >= kGapFrom)
            --at.width;
        const float share = at.width > 2 || instant
                                ? 1
                                : static_cast<float>(span.busy) / (nsPerPixel * static_cast<float>(at.width));
        const QRgb color = share >= 1 ? shades.full(family) : shades.shade(family, share);
        const TimeNs duration = trace.slices.duration[span.slice.index()];
        if (!out.bars.empty()) {
            // Neighbours too narrow for a gap, of one colour: one bar.
            Bar& last = out.bars.back();
            const int reach = last.x + last.width;
            if (last.color == color && at.width < kGapFrom - 1 && reach >= at.x) {
                last.width = std::max(reach, at.x + at.width) - last.x;
                if (duration > longest) {
                    last.slice = span.slice;
                    longest = duration;
                }
                continue;
            }
        }
        out.bars.push_back({at.x, at.width, color, span.slice});
        longest = duration;
    }
}

void LaneBuilder::buildColumns(const Document::Item& item, const std::vector<Span>& spans, TimeRange range,
                               const PaintFrame& frame, const Shades& shades, LaneGeometry& out) {
    const LaneScale scale(range, frame.width);
    const auto nsPerPixel = static_cast<float>(scale.nsPerPixel());
    const Trace& trace = *item.trace;
    m_pixels.assign(static_cast<std::size_t>(frame.width), {});
    const auto cover = [this](int x, float share, Family family) {
        Pixel& pixel = m_pixels[static_cast<std::size_t>(x)];
        pixel.covered += share;
        if (share > pixel.most) {
            pixel.most = share;
            pixel.family = family;
        }
    };
    for (const Span& span : spans) {
        const Family family = item.families->of(trace, span.slice.index());
        const double left = std::max(scale.x(span.start), -2.0);
        const double right = std::min(scale.x(span.end), frame.width + 2.0);
        if (right - left >= 2) {
            const Pixels at = pixelsOf(scale, span.start, span.end, frame.width);
            const int end = std::min(at.x + at.width - (at.width >= kGapFrom ? 1 : 0), frame.width);
            for (int x = std::max(at.x, 0); x < end; ++x)
                cover(x, 1, family);
            continue;
        }
        const int x = static_cast<int>(std::floor(left));
        if (x >= frame.width)
            continue;
        // What reaches into the next pixel counts there.
        const float share = std::max(static_cast<float>(span.busy) / nsPerPixel, 0.01F);
        const auto room = static_cast<float>(x + 1 - left);
        if (x >= 0)
            cover(x, std::min(share, room), family);
        for (int next = std::max(x + 1, 0); next < frame.width && right > next + 0.02; ++next)
            cover(next, static_cast<float>(std::min(right - next, 1.0)), family);
    }
    out.columns.resize(static_cast<std::size_t>(frame.width));
    for (std::size_t x = 0; x < out.columns.size(); ++x) {
        const Pixel& pixel = m_pixels[x];
        out.columns[x] = pixel.covered > 0 ? shades.shade(pixel.family, pixel.covered) : 0;
    }
}

void GeometryCache::setFrame(const PaintFrame& frame) {
    if (frame == m_frame && m_shades)
        return;
    m_frame = frame;
    if (!m_shades || m_shadesDark != frame.dark) {
        m_shades = std::make_unique<Shades>(frame.dark ? Theme::darkTheme() : Theme::light());
        m_shadesDark = frame.dark;
    }
    m_laneAt.clear();
    m_used = 0;
    m_series.clear();
}

const LaneGeometry& GeometryCache::lane(const Document::Item& item, int source, std::uint32_t lane) {
    const auto [it, isNew] = m_laneAt.try_emplace(laneKey(source, lane), m_used);
    if (!isNew)
        return *m_lanes[it->second];
    if (m_used == m_lanes.size())
        m_lanes.push_back(std::make_unique<LaneGeometry>());
    LaneGeometry& geometry = *m_lanes[m_used++];
    ++m_builds;
    const TimeRange range{coordinates::subtract(m_frame.range.begin, item.shift),
                          coordinates::subtract(m_frame.range.end, item.shift)};
    m_spans.clear();
    item.spans->spans(LaneId::fromIndex(lane), range, m_frame.width, m_spans);
    m_builder.build(item, m_spans, range, m_frame, *m_shades, geometry);
    return geometry;
}

const std::vector<StepSeries::Column>& GeometryCache::series(const StepSeries* key, TimeNs shift) {
    const auto [it, isNew] = m_series.try_emplace(key);
    if (isNew)
        key->columns({coordinates::subtract(m_frame.range.begin, shift),
                      coordinates::subtract(m_frame.range.end, shift)},
                     m_frame.width, it->second);
    return it->second;
}

void MarkedSlices::set(const std::vector<Document::Item>& items, const std::vector<SliceRef>& slices) {
    m_byLane.clear();
    for (const SliceRef& ref : slices) {
        if (!ref || static_cast<std::size_t>(ref.source) >= items.size())
            continue;
        const Trace& trace = *items[static_cast<std::size_t>(ref.source)].trace;
        const auto lane = static_cast<std::uint32_t>(trace.laneOf(ref.slice).index());
        m_byLane[laneKey(ref.source, lane)].push_back(trace.range(ref.slice));
    }
    for (auto& [key, ranges] : m_byLane)
        std::sort(ranges.begin(), ranges.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
}

void MarkedSlices::stretches(int source, std::uint32_t lane, TimeRange range, int width,
                             std::vector<std::pair<int, int>>& out) const {
    out.clear();
    const auto found = m_byLane.find(laneKey(source, lane));
    if (found == m_byLane.end() || width <= 0)
        return;
    const std::vector<TimeRange>& marks = found->second;
    const LaneScale scale(range, width);
    // Slices of a lane do not overlap, so their ends ascend with their starts.
    auto it = std::partition_point(marks.begin(), marks.end(),
                                   [&](TimeRange mark) { return mark.end < range.begin; });
    while (it != marks.end() && it->begin < range.end) {
        const Pixels at = pixelsOf(scale, it->begin, it->end, width);
        if (!out.empty() && out.back().first + out.back().second > at.x && at.width == 1) {
            // Within the last mark's pixel: go on behind it.
            const TimeNs pixelEnd =
                Scale{range, static_cast<double>(width)}.at(out.back().first + out.back().second);
            it = std::partition_point(it + 1, marks.end(),
                                      [&](TimeRange mark) { return mark.begin < pixelEnd; });
            continue;
        }
        out.emplace_back(at.x, at.width);
        ++it;
    }
}

} // namespace warpline
