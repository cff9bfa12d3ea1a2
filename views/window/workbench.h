// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QDockWidget>
#include <QMainWindow>

#include <array>

namespace warpline {

class DetailsPanel;
class FlamePanel;
class HitsPanel;
class KernelsPanel;
class LogPanel;
class MemoryPanel;
class OpsPanel;
class StatsPanel;
class TablePanel;
class TimelinePanel;

/// The views of an open session: the timeline with the docks around it, and their ready-made layouts.
class Workbench : public QMainWindow {
    Q_OBJECT

  public:
    enum class Layout { Timeline, Ops, Memory, Flame };
    enum class Panel { Ops, Kernels, Flame, Memory, Selection, Search, Log, Details };
    static constexpr int kPanels = 8;

    explicit Workbench(Document* document, QWidget* parent = nullptr);

    [[nodiscard]] TimelinePanel* timeline() const { return m_timeline; }
    [[nodiscard]] OpsPanel* ops() const { return m_ops; }
    [[nodiscard]] KernelsPanel* kernels() const { return m_kernels; }
    [[nodiscard]] FlamePanel* flame() const { return m_flame; }
    [[nodiscard]] MemoryPanel* memory() const { return m_memory; }
    [[nodiscard]] StatsPanel* stats() const { return m_stats; }
    [[nodiscard]] HitsPanel* hits() const { return m_hits; }
    [[nodiscard]] LogPanel* log() const { return m_log; }
    [[nodiscard]] DetailsPanel* details() const { return m_details; }
    [[nodiscard]] QDockWidget* dock(Panel panel) const { return m_docks[static_cast<std::size_t>(panel)]; }

    /// Shows a panel, in front of those it shares its place with.
    void raisePanel(Panel panel);
    /// The same of the view in which something was selected, which has the keyboard then.
    void showView(ViewKind view);
    /// Places the docks as the layout has them.
    void applyLayout(Layout layout);
    [[nodiscard]] Layout layoutChoice() const { return m_layout; }
    void saveLayout() const;
    /// The places of the docks as bytes, for a session file; false if they mean nothing here.
    [[nodiscard]] QByteArray layoutState() const;
    bool setLayoutState(const QByteArray& state);
    /// What saveLayout() kept, or the Timeline layout; false if nothing was kept.
    bool restoreLayout();

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    void addPanel(Panel panel, const QString& name, const QString& title, QWidget* widget);
    /// A dock that shares its place shows its name in the tab, and needs no title of its own.
    void updateTitles();
    void placeSizes();

    Document* m_document;
    TimelinePanel* m_timeline;
    OpsPanel* m_ops;
    KernelsPanel* m_kernels;
    FlamePanel* m_flame;
    MemoryPanel* m_memory;
    StatsPanel* m_stats;
    HitsPanel* m_hits;
    LogPanel* m_log;
    DetailsPanel* m_details;
    std::array<QDockWidget*, kPanels> m_docks{};
    Layout m_layout = Layout::Timeline;
    bool m_placed = false; ///< the sizes are the user's, not ours to set at the next show
};

} // namespace warpline
