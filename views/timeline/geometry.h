// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/theme.h"
#include "views/timeline/step_series.h"

#include <QRgb>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warpline {

/// A bar of a lane, in device pixels.
struct Bar {
    int x = 0;
    int width = 0;
    QRgb color = 0;
    SliceId slice; ///< the longest, where neighbours of one colour are drawn as one
    bool operator==(const Bar&) const = default;
};

/// A text that fits on a bar; the painter cuts it to the width.
struct BarLabel {
    int x = 0; ///< device pixels; where text may begin
    int width = 0;
    SliceId slice;
    bool operator==(const BarLabel&) const = default;
};

/// What one lane shows: either bars, or, where there are more of them than make sense one by one, a row of
/// colours, one a device pixel, to be stretched over the lane's height. Transparent where there is nothing;
/// a pixel that is covered for a part of its time only is pale. Labels come with both.
struct LaneGeometry {
    std::vector<Bar> bars;
    std::vector<QRgb> columns; ///< premultiplied
    std::vector<BarLabel> labels;
    [[nodiscard]] bool empty() const { return bars.empty() && columns.empty(); }
};

/// What the whole timeline is drawn for. Whatever depends on nothing else is kept until this changes.
struct PaintFrame {
    TimeRange range; ///< session time
    int width = 0;   ///< device pixels
    double dpr = 1;
    bool dark = false;
    std::uint64_t revision = 0; ///< of what is shown: another session, another number
    bool operator==(const PaintFrame&) const = default;
};

/// Colours of the families, paler the less of a pixel is covered.
class Shades {
  public:
    explicit Shades(const Theme& theme);
    [[nodiscard]] QRgb full(Family family) const { return m_full[static_cast<std::size_t>(family)]; }
    /// Premultiplied; a share of 0 still shows.
    [[nodiscard]] QRgb shade(Family family, float share) const {
        const int step = share >= 1 ? kSteps - 1 : share <= 0 ? 0 : static_cast<int>(share * (kSteps - 1));
        return m_shades[static_cast<std::size_t>(family)][static_cast<std::size_t>(step)];
    }

  private:
    static constexpr int kSteps = 64;
    std::array<QRgb, kFamilyCount> m_full;
    std::array<std::array<QRgb, kSteps>, kFamilyCount> m_shades;
};

/// Turns a lane's spans into geometry. Reused from lane to lane for its buffers.
class LaneBuilder {
  public:
    /// Bars at least this wide (logical pixels) carry a label.
    static constexpr int kLabelPixels = 30;

    /// `spans` at the source's own times; `range` likewise.
    void build(const Document::Item& item, const std::vector<Span>& spans, TimeRange range,
               const PaintFrame& frame, const Shades& shades, LaneGeometry& out);

  private:
    void buildColumns(const Document::Item& item, const std::vector<Span>& spans, TimeRange range,
                      const PaintFrame& frame, const Shades& shades, LaneGeometry& out);
    struct Pixel {
        float covered = 0;
        float most = 0;
        Family family = Family::OtherHost;
    };
    std::vector<Pixel> m_pixels;
};

/// Geometry of all lanes that were asked for since the frame changed.
class GeometryCache {
  public:
    /// Forgets what was made for another frame.
    void setFrame(const PaintFrame& frame);
    [[nodiscard]] const PaintFrame& frame() const { return m_frame; }
    /// Lane `lane` (index into Trace::lanes) of a source. The reference is good until the next setFrame.
    const LaneGeometry& lane(const Document::Item& item, int source, std::uint32_t lane);
    /// The columns of a series, one a device pixel; `key` tells series apart.
    const std::vector<StepSeries::Column>& series(const StepSeries* key, TimeNs shift);
    /// How many lanes were built since the start: what scrolling and hovering must not raise.
    [[nodiscard]] std::uint64_t builds() const { return m_builds; }

  private:
    PaintFrame m_frame;
    std::unique_ptr<Shades> m_shades;
    bool m_shadesDark = false;
    LaneBuilder m_builder;
    std::vector<Span> m_spans;
    std::unordered_map<std::uint64_t, std::size_t> m_laneAt; ///< (source, lane) -> index of m_lanes
    std::vector<std::unique_ptr<LaneGeometry>>
        m_lanes; ///< the first m_used are in use, the rest kept for their memory
    std::size_t m_used = 0;
    std::map<const StepSeries*, std::vector<StepSeries::Column>> m_series;
    std::uint64_t m_builds = 0;
};

/// Slices to be marked in the lanes (search hits), sorted out by lane once.
class MarkedSlices {
  public:
    void set(const std::vector<Document::Item>& items, const std::vector<SliceRef>& slices);
    [[nodiscard]] bool empty() const { return m_byLane.empty(); }
    /// Pixel stretches (x, width) of a lane's marks in the range (the source's own times), neighbours in
    /// one pixel once.
    void stretches(int source, std::uint32_t lane, TimeRange range, int width,
                   std::vector<std::pair<int, int>>& out) const;

  private:
    std::unordered_map<std::uint64_t, std::vector<TimeRange>> m_byLane; ///< by start
};

} // namespace warpline
