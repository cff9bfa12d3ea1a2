// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/legend.h"

#include "views/text.h"
#include "views/theme.h"
#include "views/timeline/timeline_state.h"

#include <QPainter>

#include <algorithm>
#include <array>

namespace warpline {

namespace {

/// So many slices of a track are looked at, evenly spread: enough to meet every family that can be seen.
constexpr std::uint32_t kLooked = 4096;

} // namespace

Legend::Legend(TimelineState* state, QWidget* parent) : QWidget(parent), m_state(state), m_font(laneFont()) {
    setObjectName(QStringLiteral("timelineLegend"));
    setAccessibleName(tr("Colours"));
    setFixedHeight(kHeight);
    connect(&state->document(), &Document::sessionChanged, this, &Legend::takeSession);
    takeSession();
}

void Legend::takeSession() {
    std::array<bool, kFamilyCount> found{};
    for (const Document::Item& item : m_state->document().items()) {
        for (const Track& track : item.trace->tracks) {
            const std::uint32_t rows = track.endSlice - track.firstSlice;
            const std::uint32_t stride = std::max(1U, rows / kLooked);
            for (std::uint32_t row = track.firstSlice; row < track.endSlice; row += stride)
                found[static_cast<std::size_t>(item.families->of(*item.trace, row))] = true;
        }
    }
    m_families.clear();
    QStringList names;
    for (std::size_t f = 0; f < found.size(); ++f) {
        if (!found[f])
            continue;
        m_families.push_back(static_cast<Family>(f));
        names << toQString(familyName(static_cast<Family>(f)));
    }
    setAccessibleDescription(names.join(QStringLiteral(", ")));
    setToolTip(names.join(QStringLiteral(", ")));
    update();
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.pane);
    painter.fillRect(QRect(0, 0, width(), 1), theme.line);
    double x = 10;
    for (const Family family : m_families) {
        const std::string name = familyName(family);
        const double wide = m_font.width(name);
        if (x + 16 + wide > width() - 8)
            break; // the tooltip has them all
        painter.fillRect(QRectF(x, 9, 10, 10), theme.color(family));
        painter.setPen(theme.mute);
        m_font.draw(painter, x + 15, m_font.baseline(0, height()), wide + 1, name);
        x += wide + 32;
    }
}

} // namespace warpline
