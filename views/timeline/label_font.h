// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <QFont>
#include <QGlyphRun>
#include <QPainter>
#include <QRawFont>
#include <QString>

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpline {

/// The part of a slice's name that tells most in little room: a kernel without "void" and namespaces, a
/// Python frame's function before its file.
std::string_view shortName(SliceKind kind, std::string_view name);

/// Draws the thousands of short texts of the lanes. Names are nearly always ASCII: for those the glyphs and
/// their widths are known beforehand, so that cutting and drawing one costs no text layout. Other texts go
/// the usual way, through a cache of what they were cut to.
class LabelFont {
  public:
    explicit LabelFont(const QFont& font);

    /// Draws what fits into `width` from `x` on, with "…" where something is left out; nothing where not even
    /// two letters fit. Returns the width used. The pen is the painter's.
    double draw(QPainter& painter, double x, double baseline, double width, std::string_view text);
    [[nodiscard]] double width(std::string_view text) const;
    /// What draw() shows of a text.
    [[nodiscard]] QString cut(std::string_view text, double width) const;
    /// Where the baseline stands for text to look centred on a height.
    [[nodiscard]] double baseline(double top, double height) const;
    [[nodiscard]] const QFont& font() const { return m_font; }

  private:
    static constexpr unsigned kFirst = 32;
    static constexpr unsigned kLast = 126;
    /// How many letters fit, given that the text is plain; `fits` tells whether all do.
    std::size_t fitting(std::string_view text, double width, bool& fits) const;
    [[nodiscard]] static bool plain(std::string_view text);

    QFont m_font;
    QRawFont m_raw;
    std::array<quint32, kLast - kFirst + 1> m_glyph{};
    std::array<float, kLast - kFirst + 1> m_advance{};
    quint32 m_ellipsis = 0;
    double m_ellipsisWidth = 0;
    double m_capHeight = 0;
    std::vector<quint32> m_glyphs;
    std::vector<QPointF> m_positions;
    std::unordered_map<std::string, QString> m_cutCache;
};

} // namespace warpline
