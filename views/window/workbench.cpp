// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/workbench.h"

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
#include "views/timeline/timeline_view.h"

#include <QSettings>
#include <QTabBar>
#include <QTimer>

namespace warpline {
namespace {

/// Of the saved state; a state of another version is not restored.
constexpr int kLayoutVersion = 2;

QString stateKey() {
    return QStringLiteral("window/docks");
}

} // namespace

Workbench::Workbench(Document* document, QWidget* parent) : QMainWindow(parent), m_document(document) {
    setObjectName(QStringLiteral("workbench"));
    setWindowFlags(Qt::Widget);
    setDockNestingEnabled(true);
    setDocumentMode(true);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setAnimated(false);

    m_timeline = new TimelinePanel(document, this);
    setCentralWidget(m_timeline);
    m_ops = new OpsPanel(document, this);
    m_kernels = new KernelsPanel(document, this);
    // Before the flame graph, whose bytes are those that it looks at.
    m_memory = new MemoryPanel(document, this);
    m_flame = new FlamePanel(document, m_memory->focus(), this);
    m_stats = new StatsPanel(document, this);
    m_hits = new HitsPanel(document, this);
    m_log = new LogPanel(document, this);
    m_details = new DetailsPanel(document, this);
    addPanel(Panel::Ops, QStringLiteral("dockOps"), tr("Ops"), m_ops);
    addPanel(Panel::Kernels, QStringLiteral("dockKernels"), tr("Kernels"), m_kernels);
    addPanel(Panel::Flame, QStringLiteral("dockFlame"), tr("Flame graph"), m_flame);
    addPanel(Panel::Memory, QStringLiteral("dockMemory"), tr("Memory"), m_memory);
    addPanel(Panel::Selection, QStringLiteral("dockSelection"), tr("Selection"), m_stats);
    addPanel(Panel::Search, QStringLiteral("dockSearch"), tr("Search results"), m_hits);
    addPanel(Panel::Log, QStringLiteral("dockLog"), tr("Log"), m_log);
    addPanel(Panel::Details, QStringLiteral("dockDetails"), tr("Details"), m_details);
    for (TablePanel* panel : std::initializer_list<TablePanel*>{m_ops, m_kernels, m_stats, m_hits, m_log}) {
        connect(static_cast<QDockWidget*>(panel->parentWidget()), &QDockWidget::visibilityChanged, panel,
                [panel](bool visible) {
                    if (visible)
                        panel->catchUp();
                });
    }
    connect(dock(Panel::Flame), &QDockWidget::visibilityChanged, m_flame, &FlamePanel::catchUp,
            Qt::QueuedConnection);
    connect(dock(Panel::Memory), &QDockWidget::visibilityChanged, m_memory, &MemoryPanel::catchUp,
            Qt::QueuedConnection);
    connect(dock(Panel::Details), &QDockWidget::visibilityChanged, m_details, &DetailsPanel::catchUp,
            Qt::QueuedConnection);
    applyLayout(Layout::Timeline);

    connect(document, &Document::viewRequested, this, &Workbench::showView);
    connect(m_flame, &FlamePanel::blocksRequested, this, [this] {
        m_memory->showTab(MemoryPanel::Tab::Blocks);
        showView(ViewKind::Memory);
    });
    connect(document, &Document::sessionChanged, this, [this] {
        const int findings = m_log->logModel()->sourceRows();
        dock(Panel::Log)->setWindowTitle(findings > 0 ? tr("Log %1").arg(findings) : tr("Log"));
    });
}

void Workbench::addPanel(Panel panel, const QString& name, const QString& title, QWidget* widget) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setAccessibleName(title);
    dock->setWidget(widget);
    dock->setMinimumSize(120, 80);
    m_docks[static_cast<std::size_t>(panel)] = dock;
    for (const auto signal : {&QDockWidget::topLevelChanged, &QDockWidget::visibilityChanged})
        connect(dock, signal, this, &Workbench::updateTitles);
    connect(dock, &QDockWidget::dockLocationChanged, this,
            [this] { QTimer::singleShot(0, this, &Workbench::updateTitles); });
}

void Workbench::updateTitles() {
    for (QDockWidget* dock : m_docks) {
        if (dock == nullptr)
            continue;
        const bool inTab = !dock->isFloating() && !tabifiedDockWidgets(dock).isEmpty();
        if (inTab == (dock->titleBarWidget() != nullptr))
            continue;
        QWidget* old = dock->titleBarWidget();
        dock->setTitleBarWidget(inTab ? new QWidget(dock) : nullptr);
        delete old;
    }
    // The tab bars come and go with the docks.
    for (QTabBar* bar : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        bar->setExpanding(false);
        bar->setDrawBase(false);
        bar->setAccessibleName(tr("Panels"));
    }
}

void Workbench::applyLayout(Layout layout) {
    m_layout = layout;
    for (QDockWidget* dock : m_docks) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    addDockWidget(Qt::RightDockWidgetArea, dock(Panel::Details));
    addDockWidget(Qt::BottomDockWidgetArea, dock(Panel::Ops));
    for (const Panel panel :
         {Panel::Kernels, Panel::Flame, Panel::Memory, Panel::Selection, Panel::Search, Panel::Log})
        tabifyDockWidget(dock(Panel::Ops), dock(panel));
    for (QDockWidget* dock : m_docks)
        dock->show();
    // The table has the window's width where it is what one looks at.
    dock(Panel::Details)->setVisible(layout == Layout::Timeline);
    dock(layout == Layout::Memory  ? Panel::Memory
         : layout == Layout::Flame ? Panel::Flame
                                   : Panel::Ops)
        ->raise();
    m_placed = false;
    placeSizes();
    updateTitles();
}

void Workbench::placeSizes() {
    // Without a trace the timeline has nothing to say; else its streams stay in sight above memory and
    // flames.
    const bool alone = (m_layout == Layout::Memory || m_layout == Layout::Flame) &&
                       m_document->items().empty() && !m_document->empty();
    const int percent = alone ? 100 : m_layout == Layout::Timeline ? 28 : m_layout == Layout::Ops ? 66 : 70;
    const int bottom = height() * percent / 100;
    centralWidget()->setVisible(!alone);
    resizeDocks({dock(Panel::Ops)}, {bottom}, Qt::Vertical);
    resizeDocks({dock(Panel::Details)}, {std::clamp(width() * 18 / 100, 240, 340)}, Qt::Horizontal);
}

void Workbench::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (!m_placed)
        placeSizes();
}

void Workbench::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    updateTitles();
    if (!m_placed) {
        // Sizes can be given to docks only once the layout has laid them out.
        QTimer::singleShot(0, this, [this] {
            placeSizes();
            m_placed = true;
        });
    }
}

void Workbench::raisePanel(Panel panel) {
    dock(panel)->show();
    dock(panel)->raise();
}

void Workbench::showView(ViewKind view) {
    switch (view) {
    case ViewKind::None:
        return;
    case ViewKind::Timeline:
        m_timeline->view()->setFocus();
        return;
    case ViewKind::Ops:
        raisePanel(Panel::Ops);
        m_ops->view()->setFocus();
        return;
    case ViewKind::Kernels:
        raisePanel(Panel::Kernels);
        m_kernels->view()->setFocus();
        return;
    case ViewKind::Flame:
        raisePanel(Panel::Flame);
        m_flame->view()->setFocus();
        return;
    case ViewKind::Memory:
        raisePanel(Panel::Memory);
        m_memory->allocation()->setFocus();
        return;
    }
}

void Workbench::saveLayout() const {
    QSettings().setValue(stateKey(), layoutState());
}

QByteArray Workbench::layoutState() const {
    return saveState(kLayoutVersion);
}

bool Workbench::setLayoutState(const QByteArray& state) {
    if (state.isEmpty() || !restoreState(state, kLayoutVersion))
        return false;
    m_placed = true;
    updateTitles();
    return true;
}

bool Workbench::restoreLayout() {
    return setLayoutState(QSettings().value(stateKey()).toByteArray());
}

} // namespace warpline
