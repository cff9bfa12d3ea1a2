// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/buttons.h"

#include "views/theme.h"

#include <QPainter>

namespace warpline {
namespace {

void drawFocus(QPainter& painter, const QRectF& rect) {
    painter.setPen(QPen(Theme::current().accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(rect, 4, 4);
}

} // namespace

QFont sizedFont(int pixels, QFont::Weight weight) {
    QFont font = applicationFont();
    font.setPixelSize(pixels);
    font.setWeight(weight);
    return font;
}

CardButton::CardButton(const QString& title, const QString& key, const QString& explanation, QWidget* parent)
    : QPushButton(parent), m_title(title), m_key(key), m_explanation(explanation) {
    setAccessibleName(title);
    setAccessibleDescription(explanation);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize CardButton::sizeHint() const {
    return {400, 64};
}

void CardButton::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(underMouse() || isDown() ? theme.accent : theme.line);
    painter.setBrush(isDown() ? theme.chip : theme.pane);
    painter.drawRoundedRect(frame, 4, 4);
    const QRect inside = rect().adjusted(18, 11, -16, -11);
    painter.setFont(sizedFont(15, QFont::DemiBold));
    painter.setPen(theme.text);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignTop, m_title);
    painter.setFont(sizedFont(12));
    painter.setPen(theme.mute);
    painter.drawText(inside, Qt::AlignRight | Qt::AlignTop, m_key);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignBottom,
                     painter.fontMetrics().elidedText(m_explanation, Qt::ElideRight, inside.width()));
    if (hasFocus())
        drawFocus(painter, frame.adjusted(1, 1, -1, -1));
}

LinkButton::LinkButton(const QString& title, const QString& explanation, QWidget* parent)
    : QPushButton(title, parent), m_explanation(explanation) {
    setAccessibleName(title);
    setAccessibleDescription(explanation);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize LinkButton::sizeHint() const {
    return {320, m_explanation.isEmpty() ? 24 : 40};
}

void LinkButton::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont font = sizedFont(14, QFont::Medium);
    font.setUnderline(underMouse());
    painter.setFont(font);
    painter.setPen(theme.accent);
    const QRect inside = rect().adjusted(0, 1, 0, -1);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignTop,
                     painter.fontMetrics().elidedText(text(), Qt::ElideMiddle, inside.width()));
    painter.setFont(sizedFont(12));
    painter.setPen(theme.mute);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignBottom,
                     painter.fontMetrics().elidedText(m_explanation, Qt::ElideRight, inside.width()));
    if (hasFocus())
        drawFocus(painter, QRectF(rect()).adjusted(-3, 0.75, -0.75, -0.75));
}

} // namespace warpline
