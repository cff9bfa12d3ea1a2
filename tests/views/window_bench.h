// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/memory/memory_panel.h"
#include "views/tables/table_panel.h"
#include "views/timeline/timeline_panel.h"
#include "views/window/main_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace warpline::test {

/// A window of a test, with settings of its own and bundled samples open.
class WindowBench {
  public:
    explicit WindowBench(const QStringList& samples) {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_window"));
        window.setAsking(false);
        window.workbench()->timeline()->setAnimated(false);
        window.resize(1440, 900);
        window.show();
        window.activateWindow();
        QStringList paths;
        for (const QString& name : samples)
            paths.append(QStringLiteral(WARPLINE_TEST_DATA "/../../resources/samples/") + name);
        window.open(paths);
        settle();
    }

    /// Until nothing is computed any more.
    void settle() const {
        QElapsedTimer clock;
        clock.start();
        int quiet = 0;
        while (quiet < 4 && clock.elapsed() < 60'000) {
            QTest::qWait(5);
            quiet = window.busy() ? 0 : quiet + 1;
        }
        if (quiet < 4)
            qFatal("the window does not come to rest");
    }
    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::keyClick(&window, static_cast<Qt::Key>(key), modifiers);
        settle();
    }
    void clickRow(TablePanel* panel, int row) const {
        TableView* view = panel->view();
        const QRect cell = view->visualRect(view->model()->index(row, 0));
        QTest::mouseClick(view->viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
        settle();
    }
    [[nodiscard]] Document& document() { return *window.document(); }
    [[nodiscard]] const Selection& selection() { return document().selection(); }
    [[nodiscard]] static bool seen(const QWidget* widget) { return !widget->visibleRegion().isEmpty(); }

  private:
    QTemporaryDir m_settings;
    Appearance m_appearance;

  public:
    MainWindow window{&m_appearance};
};

inline QStringList trainingSample() {
    return {QStringLiteral("gpt.json.gz"), QStringLiteral("gpt.snapshot.pickle.zst")};
}

} // namespace warpline::test
