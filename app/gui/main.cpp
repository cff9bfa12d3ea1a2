// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors

// The program with a window: reads the command line and wires the parts together.

#include "views/window/main_window.h"
#include "views/window/options.h"
#include "views/window/screenshot.h"

#include <QApplication>
#include <QIcon>
#include <QSettings>
#include <QTemporaryDir>
#include <QTextStream>

namespace {

void nameApplication() {
    QCoreApplication::setApplicationName(QStringLiteral("warpline"));
    QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
    QCoreApplication::setApplicationVersion(QStringLiteral(WARPLINE_VERSION));
}

warpline::ParsedOptions parse(int argc, char** argv) {
    // Help, versions and wrong usage need no display.
    const QCoreApplication core(argc, argv);
    nameApplication();
    return warpline::parseOptions(QCoreApplication::arguments());
}

} // namespace

int main(int argc, char** argv) {
    const warpline::ParsedOptions parsed = parse(argc, argv);
    if (!parsed.options) {
        QTextStream(parsed.status == 0 ? stdout : stderr) << parsed.text;
        return parsed.status;
    }
    const warpline::Options& options = *parsed.options;
    const bool picture = !options.screenshot.isEmpty();
    // A picture is the same wherever it is drawn, and opens no window.
    if (picture && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");

    const QApplication application(argc, argv);
    nameApplication();
    QApplication::setApplicationDisplayName(QStringLiteral("Warpline"));
    QApplication::setDesktopFileName(QStringLiteral("org.warpline.Warpline"));
    // Nor does a picture depend on what the user has set, or change it.
    const QTemporaryDir blank;
    if (picture) {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, blank.path());
    }
    warpline::Appearance appearance;
    if (options.appearance != warpline::Options::Appearance::Kept)
        appearance.choose(options.appearance == warpline::Options::Appearance::Dark
                              ? warpline::Appearance::Choice::Dark
                              : warpline::Appearance::Choice::Light,
                          false);
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/warpline.svg")));
    warpline::MainWindow window(&appearance);
    if (picture)
        return warpline::takeScreenshot(window, options);
    window.show();
    if (!options.files.isEmpty())
        window.open(options.files);
    return QApplication::exec();
}
