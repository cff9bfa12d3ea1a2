// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/memory/memory_focus.h"
#include "views/theme.h"

#include <QColor>
#include <QString>

#include <vector>

namespace warpline {

/// The colour of each block of a device in one way of colouring, and what the colours mean. Blocks of one
/// colour that lie on one another are told apart by a hairline, and every meaning stands in words in the
/// legend, the table and the tooltip.
class BlockColors {
  public:
    struct Meaning {
        QString name;
        QColor color;
    };
    BlockColors() = default;
    BlockColors(const Theme& theme, const MemoryHistory& history, const MemoryDevice& device,
                MemoryFocus::Colour by);

    [[nodiscard]] QRgb of(BlockId block) const { return m_color[m_class[block.index()]]; }
    /// The same, mixed with the ground: the edge between two bands.
    [[nodiscard]] QRgb edgeOf(BlockId block) const { return m_edge[m_class[block.index()]]; }
    [[nodiscard]] const std::vector<Meaning>& legend() const { return m_legend; }

    [[nodiscard]] static QColor category(const Theme& theme, MemoryCategory category);

  private:
    void add(const Theme& theme, const QString& name, const QColor& color);

    std::vector<std::uint8_t> m_class; ///< by row of the block table
    std::vector<QRgb> m_color;
    std::vector<QRgb> m_edge;
    std::vector<Meaning> m_legend; ///< those that occur
};

} // namespace warpline
