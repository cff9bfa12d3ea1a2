// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QFont>
#include <QString>

class QPainter;
class QRectF;

namespace warpline {

/// The font of tables and forms.
QFont tableFont();

/// Draws a number right-aligned with all digits equally wide, so that columns of numbers line up in fonts
/// whose digits are not (Qt 6.4 cannot switch on a font's tabular figures).
void drawTabular(QPainter& painter, const QRectF& rect, const QString& text);

} // namespace warpline
