// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/families.h"

#include <QColor>
#include <QFont>
#include <QPalette>

#include <array>

namespace warpline {

/// The colours and fonts of one appearance, light or dark. Views take colours from here and from nowhere
/// else.
struct Theme {
    bool dark = false;
    QColor background, pane, head, line, text, mute, accent, selection, warn, grid, band, chip, area, area2,
        bar;
    std::array<QColor, kFamilyCount> family; ///< bar colours; text on them is `text`

    [[nodiscard]] QColor color(Family f) const { return family[static_cast<std::size_t>(f)]; }
    [[nodiscard]] QPalette palette() const;

    static const Theme& light();
    static const Theme& darkTheme();
    /// The one in use; set by the application from the desktop's palette or the user's choice.
    static const Theme& current();
    static void setDark(bool dark);
};

/// The one font of the program: Inter where it is installed, else the desktop's. Cached.
QFont applicationFont();
/// The font of lanes (11 px) and of tables, with tabular figures where the font has them.
QFont laneFont();
QFont smallFont();

} // namespace warpline
