// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/tabular_text.h"

#include "views/theme.h"

#include <QGlyphRun>
#include <QPainter>
#include <QRawFont>

#include <algorithm>

namespace warpline {
namespace {

struct Figures {
    QFont font;
    QRawFont raw;
    qreal digit = 0; ///< the widest digit's advance
};

/// The figures of the font last asked for; tables use one.
const Figures& figuresOf(const QFont& font) {
    static Figures figures;
    if (figures.raw.isValid() && figures.font == font)
        return figures;
    figures.font = font;
    figures.raw = QRawFont::fromFont(font);
    figures.digit = 0;
    for (const QPointF advance :
         figures.raw.advancesForGlyphIndexes(figures.raw.glyphIndexesForString(QStringLiteral("0123456789"))))
        figures.digit = std::max(figures.digit, advance.x());
    return figures;
}

} // namespace

QFont tableFont() {
    QFont font = applicationFont();
    font.setPixelSize(12);
    return font;
}

void drawTabular(QPainter& painter, const QRectF& rect, const QString& text) {
    const Figures& figures = figuresOf(painter.font());
    const QList<quint32> glyphs = figures.raw.glyphIndexesForString(text);
    if (glyphs.size() != text.size() || glyphs.contains(0U)) {
        // A character that this font lacks: Qt's own drawing finds another.
        painter.drawText(rect, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine, text);
        return;
    }
    const QList<QPointF> advances = figures.raw.advancesForGlyphIndexes(glyphs);
    QList<QPointF> places(glyphs.size());
    qreal x = 0;
    for (qsizetype i = 0; i < glyphs.size(); ++i) {
        const qreal own = advances[i].x();
        const qreal width = text[i].isDigit() ? figures.digit : own;
        places[i] = QPointF(x + (width - own) / 2, 0);
        x += width;
    }
    QGlyphRun run;
    run.setRawFont(figures.raw);
    run.setGlyphIndexes(glyphs);
    run.setPositions(places);
    const qreal baseline = rect.center().y() + (figures.raw.ascent() - figures.raw.descent()) / 2;
    painter.drawGlyphRun(QPointF(rect.right() - x, baseline), run);
}

} // namespace warpline
