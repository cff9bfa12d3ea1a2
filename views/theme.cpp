// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/theme.h"

#include <QFontDatabase>
#include <QGuiApplication>

namespace warpline {

namespace {

// Okabe and Ito's hues, washed out for light and deepened for dark until the text keeps 4.5 : 1 on each, then
// moved apart until no two kernel families look alike to people without red or green cones. Even so no place
// tells a family by its colour alone.
Theme makeLight() {
    Theme t;
    t.background = QColor(0xffffff);
    t.pane = QColor(0xf7f8fa);
    t.head = QColor(0xeef0f4);
    t.line = QColor(0xe2e5ea);
    t.text = QColor(0x1b2028);
    t.mute = QColor(0x6a7482);
    t.accent = QColor(0x1f66d6);
    t.selection = QColor(0x0b3f9e);
    t.warn = QColor(0xb4540a);
    t.grid = QColor(0xf0f2f5);
    t.band = QColor(0xf3f6fc);
    t.chip = QColor(0xe6eefc);
    t.area = QColor(0x7aa7e8);
    t.area2 = QColor(0xd6e4f9);
    t.bar = QColor(0xcfe0f8);
    const auto set = [&t](Family f, unsigned rgb) { t.family[static_cast<std::size_t>(f)] = QColor(rgb); };
    set(Family::Matmul, 0x9cc3f5);
    set(Family::Attention, 0xc095fc);
    set(Family::Convolution, 0x85bfd4);
    set(Family::Elementwise, 0xc9dc89);
    set(Family::Reduction, 0xe0c16a);
    set(Family::Normalisation, 0xf5a491);
    set(Family::CopySet, 0xc5cdc7);
    set(Family::Communication, 0xed99b6);
    set(Family::Optimiser, 0xb1e6ab);
    set(Family::Compiled, 0xf6e16b);
    set(Family::OtherKernel, 0xdde1e7);
    set(Family::Aten, 0xb9d4f3);
    set(Family::Autograd, 0xcfd9ea);
    set(Family::User, 0xd9e8d3);
    set(Family::Runtime, 0xe3e0f0);
    set(Family::Sync, 0xf5c9a0);
    set(Family::Python, 0xe6e8ec);
    set(Family::Overhead, 0xeadfd4);
    set(Family::OtherHost, 0xdfe4ea);
    return t;
}

Theme makeDark() {
    Theme t;
    t.dark = true;
    t.background = QColor(0x14171c);
    t.pane = QColor(0x191d23);
    t.head = QColor(0x20252d);
    t.line = QColor(0x2b313b);
    t.text = QColor(0xe4e8ee);
    t.mute = QColor(0x8f99a8);
    t.accent = QColor(0x6ea8ff);
    t.selection = QColor(0xa9caff);
    t.warn = QColor(0xf0a35e);
    t.grid = QColor(0x1a1e25);
    t.band = QColor(0x181d27);
    t.chip = QColor(0x22304a);
    t.area = QColor(0x3f74bf);
    t.area2 = QColor(0x22344f);
    t.bar = QColor(0x27456f);
    const auto set = [&t](Family f, unsigned rgb) { t.family[static_cast<std::size_t>(f)] = QColor(rgb); };
    set(Family::Matmul, 0x2f62a3);
    set(Family::Attention, 0x473fb6);
    set(Family::Convolution, 0x176a7f);
    set(Family::Elementwise, 0x4d6f41);
    set(Family::Reduction, 0x78641a);
    set(Family::Normalisation, 0x813c1c);
    set(Family::CopySet, 0x4c565f);
    set(Family::Communication, 0x79276e);
    set(Family::Optimiser, 0x335a3a);
    set(Family::Compiled, 0x635800);
    set(Family::OtherKernel, 0x3a414c);
    set(Family::Aten, 0x2b5386);
    set(Family::Autograd, 0x38465c);
    set(Family::User, 0x36523a);
    set(Family::Runtime, 0x3b3755);
    set(Family::Sync, 0x80501e);
    set(Family::Python, 0x2c323b);
    set(Family::Overhead, 0x453a31);
    set(Family::OtherHost, 0x343c47);
    return t;
}

bool g_dark = false;

QFont sized(int pixels) {
    QFont font = applicationFont();
    font.setPixelSize(pixels);
    return font;
}

} // namespace

QPalette Theme::palette() const {
    QPalette p;
    p.setColor(QPalette::Window, pane);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, background);
    p.setColor(QPalette::AlternateBase, band);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::PlaceholderText, mute);
    p.setColor(QPalette::Button, dark ? head : pane);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, warn);
    p.setColor(QPalette::ToolTipBase, dark ? head : background);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Highlight, chip);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::LinkVisited, selection);
    p.setColor(QPalette::Light, dark ? line.lighter(120) : background);
    p.setColor(QPalette::Midlight, head);
    p.setColor(QPalette::Mid, line);
    p.setColor(QPalette::Dark, dark ? line.darker(120) : line.darker(115));
    p.setColor(QPalette::Shadow, dark ? QColor(Qt::black) : mute);
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        p.setColor(QPalette::Disabled, role, mute);
    return p;
}

const Theme& Theme::light() {
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::darkTheme() {
    static const Theme theme = makeDark();
    return theme;
}

const Theme& Theme::current() {
    return g_dark ? darkTheme() : light();
}

void Theme::setDark(bool dark) {
    g_dark = dark;
}

QFont applicationFont() {
    static const bool inter = QFontDatabase::hasFamily(QStringLiteral("Inter"));
    QFont font = QGuiApplication::font();
    if (inter)
        font.setFamilies({QStringLiteral("Inter")});
    return font;
}

QFont laneFont() {
    return sized(11);
}
QFont smallFont() {
    return sized(10);
}

} // namespace warpline
