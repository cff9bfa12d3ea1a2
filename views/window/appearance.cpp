// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/appearance.h"

#include "views/tables/tabular_text.h"
#include "views/theme.h"

#include <QApplication>
#include <QEvent>
#include <QProxyStyle>
#include <QScopedValueRollback>
#include <QSettings>
#include <QStyleFactory>

namespace warpline {
namespace {

/// Fusion without the lines under the letters of menus; the keys work as ever.
class QuietStyle : public QProxyStyle {
  public:
    QuietStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* data) const override {
        return hint == SH_UnderlineShortcut ? 0 : QProxyStyle::styleHint(hint, option, widget, data);
    }
};

QString settingsKey() {
    return QStringLiteral("appearance");
}

/// Fusion and the palette do nearly everything; these are the quiet details.
QString styleRules(const Theme& theme) {
    QString rules = QStringLiteral(R"(
QToolTip { border: 1px solid @line; background: @tip; color: @text; padding: 4px 6px; }
#topBar { background: @head; border-bottom: 1px solid @line; }
#topBar QMenuBar { background: transparent; }
#topBar QMenuBar::item { padding: 6px 8px; background: transparent; border-radius: 3px; color: @text; }
#topBar QMenuBar::item:selected { background: @line; }
QToolButton#chip { border: 1px solid @line; border-radius: 4px; background: @background; padding: 3px 8px; }
QToolButton#chip:hover, QToolButton#chip:focus { border-color: @accent; }
QToolButton#chip::menu-indicator, QToolButton#choice::menu-indicator { image: none; width: 0; }
QToolButton#rangeChip { border: 1px solid @chip; border-radius: 4px; background: @chip; color: @accent; padding: 3px 8px; }
QToolButton#rangeChip:hover, QToolButton#rangeChip:focus { border-color: @accent; }
QToolButton#choice { border: 1px solid transparent; border-radius: 3px; background: transparent; color: @text; padding: 2px 4px; }
QToolButton#choice:hover, QToolButton#choice:focus { border-color: @line; background: @head; }
QLineEdit { border: 1px solid @line; border-radius: 4px; background: @background; padding: 2px 6px; selection-background-color: @chip; selection-color: @text; }
QLineEdit:focus { border-color: @accent; }
QWidget#controlsRow { background: @pane; border-bottom: 1px solid @line; }
QLabel#footer { background: @pane; border-top: 1px solid @line; color: @mute; }
QLabel#emptyReason { color: @mute; background: @background; }
QTableView { background: @background; border: none; outline: none; }
QTableView QTableCornerButton::section { background: @pane; border: none; }
QHeaderView { background: @pane; border: none; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow#workbench > QTabBar { background: @pane; }
QMainWindow#workbench > QTabBar::tab { background: @pane; color: @mute; border: none; border-bottom: 2px solid transparent; padding: 6px 12px 5px 12px; }
QMainWindow#workbench > QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QMainWindow#workbench > QTabBar::tab:hover { color: @text; }
QTabWidget#memoryTabs::pane { border: none; border-top: 1px solid @line; }
QTabWidget#memoryTabs > QTabBar { background: @pane; }
QTabWidget#memoryTabs > QTabBar::tab { background: @pane; color: @mute; border: none; border-bottom: 2px solid transparent; padding: 6px 12px 5px 12px; }
QTabWidget#memoryTabs > QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabWidget#memoryTabs > QTabBar::tab:hover { color: @text; }
#blockDetails QTextBrowser, #flameDetails QTextBrowser { background: @pane; border: none; }
#oomPanel QTextBrowser { background: @background; border: none; }
QLabel#panelTitle { font-weight: 600; background: @pane; }
QLabel#facts { color: @mute; }
QLabel#memoryBanner { background: @band; color: @warn; border-bottom: 1px solid @line; }
#captureBar { background: @band; border-bottom: 1px solid @line; }
QLabel#captureTitle { color: @warn; font-weight: 600; }
QLabel#recordProblem { color: @warn; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget::title { background: @pane; padding: 7px 10px; border-bottom: 1px solid @line; text-align: left; }
#detailsPanel, #detailsPanel QTextBrowser { background: @pane; border: none; }
#noticeBar { background: @band; border-bottom: 1px solid @line; }
#noticeBar QLabel { color: @warn; }
QScrollBar:vertical { background: @background; width: 11px; border: none; margin: 0; }
QScrollBar:horizontal { background: @background; height: 11px; border: none; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 3px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: @mute; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { border: none; background: @line; border-radius: 3px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QPushButton { border: 1px solid @line; border-radius: 4px; background: @pane; padding: 5px 14px; }
QPushButton:hover, QPushButton:focus { border-color: @accent; }
QPushButton:pressed { background: @chip; }
QPushButton#recordButton { border: none; border-radius: 4px; background: @accent; color: @background; padding: 3px 14px; font-weight: 600; }
QPushButton#recordButton:hover, QPushButton#recordButton:focus { background: @accent; border: 1px solid @text; }
#commandPalette { background: @background; border: 1px solid @line; }
#commandPalette QListView { border: none; background: @background; outline: none; }
QMenu { background: @background; border: 1px solid @line; padding: 4px 0; }
QMenu::item { padding: 4px 24px 4px 24px; }
QMenu::item:selected { background: @chip; color: @text; }
QMenu::item:disabled { color: @mute; }
QMenu::separator { height: 1px; background: @line; margin: 4px 0; }
)");
    const std::pair<const char*, QColor> colours[] = {{"@background", theme.background},
                                                      {"@accent", theme.accent},
                                                      {"@chip", theme.chip},
                                                      {"@head", theme.head},
                                                      {"@line", theme.line},
                                                      {"@pane", theme.pane},
                                                      {"@text", theme.text},
                                                      {"@mute", theme.mute},
                                                      {"@warn", theme.warn},
                                                      {"@band", theme.band},
                                                      {"@tip", theme.dark ? theme.head : theme.background}};
    for (const auto& [name, colour] : colours)
        rules.replace(QLatin1String(name), colour.name());
    return rules;
}

} // namespace

Appearance::Appearance(QObject* parent) : QObject(parent) {
    QApplication::setStyle(new QuietStyle);
    const QString kept = QSettings().value(settingsKey()).toString();
    m_choice = kept == QLatin1String("dark")    ? Choice::Dark
               : kept == QLatin1String("light") ? Choice::Light
                                                : Choice::System;
    apply();
    qApp->installEventFilter(this);
}

bool Appearance::isDark(const QPalette& palette) {
    return palette.color(QPalette::WindowText).lightness() > palette.color(QPalette::Window).lightness();
}

void Appearance::choose(Choice choice, bool keep) {
    if (keep) {
        QSettings().setValue(settingsKey(), choice == Choice::Dark    ? QStringLiteral("dark")
                                            : choice == Choice::Light ? QStringLiteral("light")
                                                                      : QStringLiteral("system"));
    }
    if (choice == m_choice)
        return;
    m_choice = choice;
    apply();
}

void Appearance::apply() {
    const QScopedValueRollback applying(m_applying, true);
    bool dark = m_choice == Choice::Dark;
    if (m_choice == Choice::System) {
        // The desktop's own palette shows only without ours over it.
        QApplication::setPalette(QPalette());
        dark = isDark(QApplication::palette());
    }
    Theme::setDark(dark);
    const Theme& theme = Theme::current();
    QApplication::setFont(tableFont());
    QApplication::setPalette(theme.palette());
    qApp->setStyleSheet(styleRules(theme));
    emit changed();
}

bool Appearance::eventFilter(QObject* watched, QEvent* event) {
    // Qt 6.4 has no signal for the desktop's light and dark; its theme change reaches the windows.
    if (event->type() == QEvent::ThemeChange && !m_applying && m_choice == Choice::System)
        QMetaObject::invokeMethod(this, &Appearance::apply, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

} // namespace warpline
