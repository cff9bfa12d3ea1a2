// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/window/appearance.h"
#include "views/window/command_palette.h"
#include "views/window/loader.h"
#include "views/window/recent_files.h"
#include "views/window/sample.h"
#include "views/window/search_controller.h"
#include "views/window/workbench.h"

#include <QMainWindow>

#include <functional>

class QStackedWidget;

namespace warpline {

class FailurePage;
class LoadingPage;
class Jumps;
class NoticeBar;
class SessionKeeper;
class StartPage;
class TopBar;
class CaptureBar;
class CaptureController;
class LiveStream;

/// The program's window: the start page, the page of what is being read, the page of what could not be read,
/// or the views of the open session.
class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    /// `appearance` outlives the window.
    explicit MainWindow(Appearance* appearance, QWidget* parent = nullptr);
    ~MainWindow() override;

    void open(const QStringList& paths);
    void openSample(Sample sample = Sample::Training);
    void closeSession();
    /// Something is still being read, computed or searched; for tests and pictures.
    [[nodiscard]] bool busy() const;

    [[nodiscard]] Document* document() { return &m_document; }
    [[nodiscard]] Loader* loader() { return &m_loader; }
    [[nodiscard]] Workbench* workbench() const { return m_workbench; }
    [[nodiscard]] TopBar* topBar() const { return m_topBar; }
    [[nodiscard]] SearchController* search() { return &m_search; }
    [[nodiscard]] CaptureController* capture() const { return m_capture; }
    [[nodiscard]] NoticeBar* notice() const { return m_notice; }
    [[nodiscard]] Jumps* jumps() const { return m_jumps; }
    [[nodiscard]] SessionKeeper* sessionKeeper() const { return m_keeper; }
    /// Without it no dialog comes up: what would be asked is told in the notice bar.
    void setAsking(bool asking);
    void saveSession(bool choosePath);
    [[nodiscard]] FailurePage* failurePage() const { return m_failure; }
    [[nodiscard]] QWidget* currentPage() const;
    /// Every command of the window and its timeline, in the order of the menus.
    [[nodiscard]] std::vector<Command> commands() const;
    [[nodiscard]] QAction* action(const QString& name) const;

  protected:
    void closeEvent(QCloseEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void addMenus();
    QAction* add(QMenu* menu, const QString& name, const QString& text, const QKeySequence& key,
                 std::function<void()> run);
    void addFileMenu();
    void addSearchMenu();
    void addViewMenu();
    void addHelpMenu();
    void fillRecentMenu();
    void connectLoader();
    void chooseFiles();
    void sessionOpened(const Document::Prepared& prepared, const std::vector<OpenFailure>& failures);
    void showFailures(const std::vector<OpenFailure>& failures);
    void showNotice();
    void remember();
    void showPage(QWidget* page);
    void updateTitle();
    void setDropTarget(bool on);

    void addCaptureMenu();
    void connectStream();
    void connectCapture();
    void connectSelection();
    void record(bool attach);

    bool m_layoutByFile = false; ///< the layout was chosen by what was opened, not by the user
    Appearance* m_appearance;
    Document m_document;
    Loader m_loader;
    SearchController m_search;
    RecentFiles m_recent;
    LatestJob m_disposal{this}; ///< releases sessions, which may be large, off the GUI thread
    TopBar* m_topBar;
    QStackedWidget* m_pages;
    StartPage* m_start;
    LoadingPage* m_loading;
    FailurePage* m_failure;
    QWidget* m_session;
    NoticeBar* m_notice;
    SessionKeeper* m_keeper;
    Jumps* m_jumps;
    QStringList m_asked;                 ///< what was to be opened last, sessions among it
    std::vector<OpenFailure> m_failures; ///< of what is open: files that are not shown
    CaptureController* m_capture;
    CaptureBar* m_captureBar;
    LiveStream* m_stream;
    Workbench* m_workbench;
    QMenu* m_recentMenu = nullptr;
    std::vector<Command> m_commands;
};

} // namespace warpline
