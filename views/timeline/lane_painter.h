// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/theme.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/geometry.h"
#include "views/timeline/label_font.h"
#include "views/timeline/timeline_state.h"

#include <QPainter>
#include <QRect>

#include <vector>

namespace warpline {

/// Where things are in the lanes' viewport, logical pixels: rows that are pinned stand at the top, the others
/// scroll beneath them.
struct Scene {
    const TimelineState* state = nullptr;
    QSize size;
    int scroll = 0;
    double dpr = 1;

    [[nodiscard]] coordinates::Scale scale() const {
        return {state->document().visible(), static_cast<double>(size.width())};
    }
    [[nodiscard]] int pinnedHeight() const;
    [[nodiscard]] int rowTop(const Row& row) const;
    /// Where a slice stands; its row may be scrolled out of view. Null without a row that shows it. A slice
    /// that a fold hides has the place of the folded lane.
    [[nodiscard]] std::optional<QRectF> rectOf(SliceRef ref, bool* folded = nullptr) const;
    [[nodiscard]] PaintFrame frame() const;
};

/// Paints bands, rows and lanes: all that does not change with selection and pointer. Replays what the cache
/// has.
class LanePainter {
  public:
    LanePainter();
    /// Returns how many lanes of those in view hold anything there.
    int paint(QPainter& painter, const Scene& scene, GeometryCache& cache);
    /// The headings of groups, which stay readable under what dims the lanes.
    void paintHeadings(QPainter& painter, const Scene& scene);
    /// A bar once more, over whatever covers it: full colour and label.
    void paintBar(QPainter& painter, const Scene& scene, SliceRef slice, const QRectF& rect);
    [[nodiscard]] LabelFont& font() { return m_font; }

  private:
    struct Text {
        double x;
        double baseline;
        double width;
        const Trace* trace;
        SliceId slice;
    };
    void paintBackdrop(QPainter& painter, const Scene& scene);
    int paintPart(QPainter& painter, const Scene& scene, GeometryCache& cache, bool pinned);
    int paintLanes(QPainter& painter, const Scene& scene, GeometryCache& cache, const Row& row, int top);
    void paintHeading(QPainter& painter, const Scene& scene, const Row& row, int top);
    void paintSeries(QPainter& painter, const Scene& scene, GeometryCache& cache, const Row& row, int top);
    void paintTexts(QPainter& painter);
    void drawName(QPainter& painter, const Text& text);

    LabelFont m_font;
    std::vector<Text> m_texts;
    std::vector<std::pair<int, int>> m_stretches;
};

} // namespace warpline
