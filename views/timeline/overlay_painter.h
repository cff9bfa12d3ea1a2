// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/lane_painter.h"

#include <optional>
#include <vector>

namespace warpline {

/// What lies over the lanes and changes with every click and move.
struct Overlay {
    SliceRef selected;
    std::vector<SliceRef> outgoing; ///< linked slices that come after the selected one
    std::vector<SliceRef> incoming;
    SliceRef hovered;
    std::optional<TimeRange> range; ///< selected or being measured
    bool measuring = false;
};

/// The selected slice outlined and the rest dimmed, links as curves, the selected range, marks and the
/// pointer's line.
class OverlayPainter {
  public:
    void paint(QPainter& painter, const Scene& scene, const Overlay& overlay, LanePainter& lanes);

  private:
    void paintVeils(QPainter& painter, const Scene& scene, const Overlay& overlay);
    void paintRange(QPainter& painter, const Scene& scene, const Overlay& overlay, LabelFont& font);
    void paintSelection(QPainter& painter, const Scene& scene, const Overlay& overlay, LanePainter& lanes);
    void paintLink(QPainter& painter, const Scene& scene, const QRectF& from, const QRectF& to);
};

/// A hairline frame in device pixels just inside of a rectangle.
void drawOutline(QPainter& painter, const QRectF& rect, const QColor& color, double width);

} // namespace warpline
