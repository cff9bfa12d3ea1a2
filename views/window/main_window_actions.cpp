// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/capture_controller.h"
#include "views/flame/flame_panel.h"
#include "views/memory/allocation_view.h"
#include "views/memory/memory_panel.h"
#include "views/tables/details_panel.h"
#include "views/tables/hits_panel.h"
#include "views/tables/kernels_panel.h"
#include "views/tables/log_panel.h"
#include "views/tables/ops_panel.h"
#include "views/tables/stats_panel.h"
#include "views/timeline/timeline_panel.h"
#include "views/window/filter_chips.h"
#include "views/window/jumps.h"
#include "views/window/key_help.h"
#include "views/window/main_window.h"
#include "views/window/session_keeper.h"
#include "views/window/top_bar.h"

#include <QActionGroup>
#include <QApplication>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QTextBrowser>

namespace warpline {

QAction* MainWindow::add(QMenu* menu, const QString& name, const QString& text, const QKeySequence& key,
                         std::function<void()> run) {
    QAction* action = menu->addAction(text);
    action->setObjectName(name);
    if (!key.isEmpty())
        action->setShortcut(key);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    // In the window as well: a menu's own shortcuts die with a menu bar that is not shown.
    addAction(action);
    QString group = menu->title();
    group.remove(u'&');
    m_commands.push_back({action, group});
    return action;
}

void MainWindow::addMenus() {
    addFileMenu();
    addCaptureMenu();
    addSearchMenu();
    addViewMenu();
    // The timeline's own keys work while it has the focus; here they are found and read.
    QMenu* go = m_topBar->menuBar()->addMenu(tr("&Timeline"));
    for (QAction* action : m_workbench->timeline()->timelineActions()) {
        go->addAction(action);
        m_commands.push_back({action, tr("Timeline")});
    }
    addHelpMenu();
}

void MainWindow::addFileMenu() {
    QMenu* menu = m_topBar->menuBar()->addMenu(tr("&File"));
    add(menu, QStringLiteral("file.open"), tr("&Open…"), QKeySequence(Qt::CTRL | Qt::Key_O),
        [this] { chooseFiles(); });
    m_recentMenu = menu->addMenu(tr("Open &recent"));
    connect(&m_recent, &RecentFiles::changed, this, &MainWindow::fillRecentMenu);
    fillRecentMenu();
    add(menu, QStringLiteral("file.sample"), tr("Open the &sample"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), [this] { openSample(); });
    add(menu, QStringLiteral("file.sampleOom"), tr("Sample: out of &memory"), {},
        [this] { openSample(Sample::OutOfMemory); });
    menu->addSeparator();
    const auto session = [](QAction* action) { action->setProperty("session", true); };
    session(add(menu, QStringLiteral("file.saveSession"), tr("Save &session"),
                QKeySequence(Qt::CTRL | Qt::Key_S), [this] { saveSession(false); }));
    session(add(menu, QStringLiteral("file.saveSessionAs"), tr("Save session &as…"),
                QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S), [this] { saveSession(true); }));
    session(add(menu, QStringLiteral("file.reload"), tr("Read &again"), QKeySequence(Qt::Key_F5), [this] {
        if (m_loader.paths().contains(QStringLiteral("-")))
            return;
        m_failures.clear();
        m_keeper->keepState();
        m_loader.open(m_loader.paths());
    }));
    session(add(menu, QStringLiteral("file.close"), tr("&Close"), QKeySequence(Qt::CTRL | Qt::Key_W),
                [this] { closeSession(); }));
    menu->addSeparator();
    add(menu, QStringLiteral("file.quit"), tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q),
        [this] { close(); });
}

void MainWindow::fillRecentMenu() {
    m_recentMenu->clear();
    for (const RecentFiles::Entry& entry : m_recent.entries()) {
        QAction* action = m_recentMenu->addAction(QFileInfo(entry.path).fileName());
        action->setToolTip(entry.path);
        action->setStatusTip(entry.path);
        connect(action, &QAction::triggered, this, [this, path = entry.path] { open({path}); });
    }
    m_recentMenu->setToolTipsVisible(true);
    m_recentMenu->setEnabled(!m_recent.entries().empty());
    if (m_recent.entries().empty())
        return;
    m_recentMenu->addSeparator();
    connect(m_recentMenu->addAction(tr("Forget these")), &QAction::triggered, this,
            [this] { m_recent.clear(); });
}

void MainWindow::addCaptureMenu() {
    QMenu* menu = m_topBar->menuBar()->addMenu(tr("&Record"));
    add(menu, QStringLiteral("capture.launch"), tr("&Record a program…"), QKeySequence(Qt::CTRL | Qt::Key_R),
        [this] { record(false); });
    add(menu, QStringLiteral("capture.attach"), tr("&Attach…"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A), [this] { record(true); });
    QAction* again = add(menu, QStringLiteral("capture.again"), tr("Record a&gain"),
                         QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G), [this] { m_capture->again(); });
    menu->addSeparator();
    QAction* follow = add(menu, QStringLiteral("capture.follow"), tr("&Follow the newest"), {},
                          [this] { m_capture->setFollowing(!m_capture->following()); });
    QAction* mark = add(menu, QStringLiteral("capture.mark"), tr("&Mark this moment"),
                        QKeySequence(Qt::CTRL | Qt::Key_M), [this] { m_capture->mark(); });
    QAction* pause = add(menu, QStringLiteral("capture.pause"), tr("&Pause"), {},
                         [this] { m_capture->setPaused(!m_capture->paused()); });
    QAction* stop = add(menu, QStringLiteral("capture.stop"), tr("&Stop"),
                        QKeySequence(Qt::CTRL | Qt::Key_Period), [this] { m_capture->stop(); });
    const auto update = [this, again, follow, mark, pause, stop] {
        again->setEnabled(m_capture->canRepeat() && !m_capture->recording());
        for (QAction* action : {follow, mark, pause, stop})
            action->setEnabled(m_capture->recording());
    };
    for (const auto signal : {&CaptureController::started, &CaptureController::statusChanged})
        connect(m_capture, signal, this, update);
    connect(m_capture, &CaptureController::finished, this, update);
    connect(m_capture, &CaptureController::failed, this, update);
    update();
}

void MainWindow::addSearchMenu() {
    QMenu* menu = m_topBar->menuBar()->addMenu(tr("&Search"));
    const auto addHere = [&](const char* name, const QString& text, const QKeySequence& key,
                             std::function<void()> run) {
        add(menu, QString::fromLatin1(name), text, key, std::move(run))->setProperty("session", true);
    };
    addHere("search.find", tr("&Find…"), QKeySequence(Qt::CTRL | Qt::Key_F), [this] {
        m_topBar->searchField()->setFocus(Qt::ShortcutFocusReason);
        m_topBar->searchField()->selectAll();
    });
    addHere("search.next", tr("&Next hit"), QKeySequence(Qt::Key_F3), [this] { m_search.next(); });
    addHere("search.previous", tr("&Previous hit"), QKeySequence(Qt::SHIFT | Qt::Key_F3),
            [this] { m_search.previous(); });
    addHere("search.list", tr("&List all hits"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F), [this] {
        m_workbench->raisePanel(Workbench::Panel::Search);
        m_workbench->hits()->view()->setFocus();
    });
    menu->addSeparator();
    addHere("search.clear", tr("&Clear the search"), {}, [this] { m_topBar->searchField()->clear(); });
    addHere("selection.back", tr("Selection &before"), QKeySequence(Qt::ALT | Qt::Key_Left),
            [this] { m_document.back(); });
    addHere("selection.forward", tr("Selection &after"), QKeySequence(Qt::ALT | Qt::Key_Right),
            [this] { m_document.forward(); });
    addHere("go.kernel", tr("Longest &kernel of the selection"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_K), [this] { m_jumps->toKernel(); });
    addHere("go.line", tr("Its &Python line in the flame graph"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L), [this] { m_jumps->toLine(); });
    addHere("go.block", tr("Its largest &allocation in memory"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M), [this] { m_jumps->toBlock(); });
    menu->addSeparator();
    addHere("filter.takeOffLast", tr("Take off the last filter"), QKeySequence(Qt::CTRL | Qt::Key_Backspace),
            [this] { m_topBar->chips()->takeOffLast(); });
    addHere("filter.takeOffAll", tr("Take off all filters"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Backspace),
            [this] { m_topBar->chips()->takeOffAll(); });
    addHere("range.clear", tr("Clear the selected &range"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R),
            [this] { m_document.setRange(std::nullopt); });
    menu->addSeparator();
    addHere("details.copyText", tr("Copy the details as &text"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), [this] { m_workbench->details()->copyText(); });
    addHere("details.copyJson", tr("Copy the details as &JSON"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_J), [this] { m_workbench->details()->copyJson(); });
}

void MainWindow::addViewMenu() {
    QMenu* menu = m_topBar->menuBar()->addMenu(tr("&View"));
    const auto addHere = [&](const QString& name, const QString& text, const QKeySequence& key,
                             std::function<void()> run) {
        QAction* action = add(menu, name, text, key, std::move(run));
        action->setProperty("session", true);
        return action;
    };
    using Panel = Workbench::Panel;
    addHere(QStringLiteral("view.timeline"), tr("Go to the &timeline"), QKeySequence(Qt::ALT | Qt::Key_0),
            [this] { m_workbench->timeline()->setFocus(); });
    struct Place {
        Panel panel;
        QString name;
        QString text;
        QWidget* focus;
    };
    const std::initializer_list<Place> places{
        {Panel::Ops, QStringLiteral("view.ops"), tr("&Ops"), m_workbench->ops()->view()},
        {Panel::Kernels, QStringLiteral("view.kernels"), tr("&Kernels"), m_workbench->kernels()->view()},
        {Panel::Flame, QStringLiteral("view.flame"), tr("&Flame graph"), m_workbench->flame()->view()},
        {Panel::Memory, QStringLiteral("view.memory"), tr("&Memory"), m_workbench->memory()->allocation()},
        {Panel::Selection, QStringLiteral("view.selection"), tr("&Selection"), m_workbench->stats()->view()},
        {Panel::Search, QStringLiteral("view.search"), tr("Search &results"), m_workbench->hits()->view()},
        {Panel::Log, QStringLiteral("view.log"), tr("&Log"), m_workbench->log()->view()},
        {Panel::Details, QStringLiteral("view.details"), tr("&Details"), m_workbench->details()->browser()}};
    int digit = 1;
    for (const Place& place : places) {
        addHere(place.name, place.text,
                QKeySequence(QKeyCombination(Qt::ALT, static_cast<Qt::Key>(Qt::Key_0 + digit++))),
                [this, place] {
                    m_workbench->raisePanel(place.panel);
                    place.focus->setFocus();
                });
    }
    QMenu* panels = menu->addMenu(tr("Show or &hide"));
    for (int i = 0; i < Workbench::kPanels; ++i)
        panels->addAction(m_workbench->dock(static_cast<Panel>(i))->toggleViewAction());
    menu->addSeparator();
    addHere(QStringLiteral("layout.timeline"), tr("Layout: Timeline"), QKeySequence(Qt::CTRL | Qt::Key_1),
            [this] { m_workbench->applyLayout(Workbench::Layout::Timeline); });
    addHere(QStringLiteral("layout.ops"), tr("Layout: Ops"), QKeySequence(Qt::CTRL | Qt::Key_2),
            [this] { m_workbench->applyLayout(Workbench::Layout::Ops); });
    addHere(QStringLiteral("layout.memory"), tr("Layout: Memory"), QKeySequence(Qt::CTRL | Qt::Key_3),
            [this] { m_workbench->applyLayout(Workbench::Layout::Memory); });
    addHere(QStringLiteral("layout.flame"), tr("Layout: Flame graph"), QKeySequence(Qt::CTRL | Qt::Key_4),
            [this] { m_workbench->applyLayout(Workbench::Layout::Flame); });
    addHere(QStringLiteral("layout.reset"), tr("Reset layout"), QKeySequence(Qt::CTRL | Qt::Key_0), [this] {
        m_workbench->applyLayout(Workbench::Layout::Timeline);
        for (TablePanel* panel : m_workbench->findChildren<TablePanel*>())
            panel->view()->resetColumns();
    });
    menu->addSeparator();
    auto* group = new QActionGroup(this);
    using Choice = Appearance::Choice;
    for (const auto& [choice, name, text] : std::initializer_list<std::tuple<Choice, QString, QString>>{
             {Choice::System, QStringLiteral("appearance.system"), tr("Colours: as the desktop")},
             {Choice::Light, QStringLiteral("appearance.light"), tr("Colours: light")},
             {Choice::Dark, QStringLiteral("appearance.dark"), tr("Colours: dark")}}) {
        QAction* action =
            add(menu, name, text, {}, [this, choice = choice] { m_appearance->choose(choice); });
        action->setCheckable(true);
        action->setChecked(m_appearance->choice() == choice);
        group->addAction(action);
    }
    menu->addSeparator();
    add(menu, QStringLiteral("view.fullScreen"), tr("&Full screen"), QKeySequence(Qt::Key_F11),
        [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

void MainWindow::addHelpMenu() {
    QMenu* menu = m_topBar->menuBar()->addMenu(tr("&Help"));
    add(menu, QStringLiteral("help.commands"), tr("&Commands…"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P), [this] {
            auto* palette = new CommandPalette(commands(), this);
            palette->show();
            palette->field()->setFocus();
        });
    add(menu, QStringLiteral("help.keys"), tr("All &keys…"), QKeySequence(Qt::Key_Question), [this] {
        auto* help = new KeyHelp(commands(), this);
        help->show();
    });
    add(menu, QStringLiteral("help.about"), tr("&About Warpline"), {}, [this] {
        QMessageBox::about(
            this, tr("About Warpline"),
            tr("Warpline %1\nA native timeline and memory viewer for GPU traces.\nGPL-3.0-or-later; the "
               "model is Apache-2.0.")
                .arg(QApplication::applicationVersion()));
    });
}

std::vector<Command> MainWindow::commands() const {
    return m_commands;
}

QAction* MainWindow::action(const QString& name) const {
    for (const Command& command : m_commands) {
        if (command.action && command.action->objectName() == name)
            return command.action;
    }
    return nullptr;
}

} // namespace warpline
