// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/label_font.h"

#include "views/text.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr std::size_t kCacheLimit = 4096;

std::string_view shortKernel(std::string_view name) {
    constexpr std::string_view returned = "void ";
    if (name.starts_with(returned))
        name.remove_prefix(returned.size());
    // Qualifiers end where template arguments or parameters begin; "(anonymous namespace)" is one of them.
    constexpr std::string_view anonymous = "(anonymous namespace)::";
    std::size_t begin = 0;
    std::size_t i = 0;
    while (i < name.size()) {
        if (name.substr(i).starts_with(anonymous)) {
            i += anonymous.size();
            begin = i;
        } else if (name.substr(i).starts_with("::")) {
            i += 2;
            begin = i;
        } else if (name[i] == '<' || name[i] == '(' || name[i] == ' ') {
            break;
        } else {
            ++i;
        }
    }
    return begin < name.size() ? name.substr(begin) : name;
}

} // namespace

std::string_view shortName(SliceKind kind, std::string_view name) {
    if (kind == SliceKind::Kernel)
        return shortKernel(name);
    if (kind == SliceKind::Python) {
        // "torch/nn/modules/module.py(1527): _call_impl"
        const std::size_t at = name.find("): ");
        if (at != std::string_view::npos && at + 3 < name.size())
            return name.substr(at + 3);
    }
    return name;
}

LabelFont::LabelFont(const QFont& font) : m_font(font), m_raw(QRawFont::fromFont(font)) {
    QString ascii;
    for (unsigned c = kFirst; c <= kLast; ++c)
        ascii.append(QChar(c));
    const QList<quint32> glyphs = m_raw.glyphIndexesForString(ascii);
    const QList<QPointF> advances = m_raw.advancesForGlyphIndexes(glyphs);
    for (qsizetype i = 0; i < std::min<qsizetype>(glyphs.size(), static_cast<qsizetype>(m_glyph.size()));
         ++i) {
        m_glyph[static_cast<std::size_t>(i)] = glyphs[i];
        m_advance[static_cast<std::size_t>(i)] = static_cast<float>(advances[i].x());
    }
    const QList<quint32> ellipsis = m_raw.glyphIndexesForString(QStringLiteral("…"));
    if (!ellipsis.isEmpty() && ellipsis[0] != 0) {
        m_ellipsis = ellipsis[0];
        m_ellipsisWidth = m_raw.advancesForGlyphIndexes(ellipsis).value(0).x();
    } else {
        m_ellipsis = m_glyph['.' - kFirst];
        m_ellipsisWidth = m_advance['.' - kFirst];
    }
    m_capHeight = QFontMetricsF(m_font).capHeight();
}

bool LabelFont::plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u >= kFirst && u <= kLast;
    });
}

double LabelFont::baseline(double top, double height) const {
    return std::round(top + (height + m_capHeight) / 2);
}

double LabelFont::width(std::string_view text) const {
    if (!plain(text))
        return QFontMetricsF(m_font).horizontalAdvance(toQString(text));
    double width = 0;
    for (const char c : text)
        width += static_cast<double>(m_advance[static_cast<unsigned char>(c) - kFirst]);
    return width;
}

std::size_t LabelFont::fitting(std::string_view text, double width, bool& fits) const {
    double at = 0;
    std::size_t withEllipsis = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        at += static_cast<double>(m_advance[static_cast<unsigned char>(text[i]) - kFirst]);
        if (at > width) {
            fits = false;
            return withEllipsis;
        }
        if (at + m_ellipsisWidth <= width)
            withEllipsis = i + 1;
    }
    fits = true;
    return text.size();
}

QString LabelFont::cut(std::string_view text, double width) const {
    if (!plain(text))
        return QFontMetricsF(m_font).elidedText(toQString(text), Qt::ElideRight, width);
    bool fits = false;
    const std::size_t n = fitting(text, width, fits);
    if (fits)
        return toQString(text);
    return n < 2 ? QString() : QString(toQString(text.substr(0, n)) % QStringLiteral("…"));
}

double LabelFont::draw(QPainter& painter, double x, double baseline, double width, std::string_view text) {
    if (text.empty() || width <= 0)
        return 0;
    // What is longer than any screen is wide is never drawn whole.
    text = text.substr(0, 2000);
    if (!plain(text)) {
        const std::string key = std::to_string(static_cast<int>(width)) + ' ' + std::string(text);
        auto it = m_cutCache.find(key);
        if (it == m_cutCache.end()) {
            if (m_cutCache.size() >= kCacheLimit)
                m_cutCache.clear();
            it = m_cutCache.emplace(key, cut(text, width)).first;
        }
        painter.setFont(m_font);
        painter.drawText(QPointF(x, baseline), it->second);
        return QFontMetricsF(m_font).horizontalAdvance(it->second);
    }
    bool fits = false;
    const std::size_t n = fitting(text, width, fits);
    if (n == 0 || (!fits && n < 2))
        return 0;
    m_glyphs.clear();
    m_positions.clear();
    double at = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t c = static_cast<unsigned char>(text[i]) - kFirst;
        m_glyphs.push_back(m_glyph[c]);
        m_positions.emplace_back(at, 0);
        at += static_cast<double>(m_advance[c]);
    }
    if (!fits) {
        m_glyphs.push_back(m_ellipsis);
        m_positions.emplace_back(at, 0);
        at += m_ellipsisWidth;
    }
    QGlyphRun run;
    run.setRawFont(m_raw);
    run.setRawData(m_glyphs.data(), m_positions.data(), static_cast<int>(m_glyphs.size()));
    painter.drawGlyphRun(QPointF(x, baseline), run);
    return at;
}

} // namespace warpline
