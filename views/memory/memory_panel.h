// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/memory/memory_focus.h"

#include <QWidget>

#include <optional>

class QJsonObject;
class QLabel;
class QStackedLayout;
class QTabWidget;

namespace warpline {

class AllocationView;
class BlockDetails;
class BlocksPanel;
class ChoiceButton;
class CurveChart;
class GrowthPanel;
class HoldersPanel;
class OomPanel;
class SegmentsView;
class TablePanel;

/// The memory views as one: the curves of the whole history, allocation over time, who holds memory at the
/// moment, and below blocks, segments, what grew, and refusals.
class MemoryPanel : public QWidget {
    Q_OBJECT

  public:
    enum class Tab { Blocks, Segments, Growth, OutOfMemory };

    explicit MemoryPanel(Document* document, QWidget* parent = nullptr);

    [[nodiscard]] MemoryFocus* focus() const { return m_focus; }
    [[nodiscard]] AllocationView* allocation() const { return m_allocation; }
    [[nodiscard]] CurveChart* curves() const { return m_curves; }
    [[nodiscard]] HoldersPanel* holders() const { return m_holders; }
    [[nodiscard]] BlocksPanel* blocks() const { return m_blocks; }
    [[nodiscard]] SegmentsView* segments() const { return m_segments; }
    [[nodiscard]] GrowthPanel* growth() const { return m_growth; }
    [[nodiscard]] OomPanel* outOfMemory() const { return m_oom; }
    [[nodiscard]] BlockDetails* details() const { return m_details; }
    void showTab(Tab tab);
    /// What is looked at and how, for a session file.
    [[nodiscard]] QJsonObject viewSettings() const;
    void applyViewSettings(const QJsonObject& settings);
    /// Computes what was put off while the panel could not be seen.
    void catchUp();
    /// The sentence in place of the views; empty while they are shown.
    [[nodiscard]] QString message() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* makeHead();
    QWidget* makeLegend();
    void takePlaces();
    void takeChoices();
    void takePlace();
    void takeCurves();
    void takeView();
    void takeLegend();
    void takeDocumentRange();
    /// To the op that allocated it, where a trace says which; else to its row in the list.
    void goToBlock(BlockId block);

    MemoryFocus* m_focus;
    ChoiceButton* m_place = nullptr;
    ChoiceButton* m_axis = nullptr;
    ChoiceButton* m_colour = nullptr;
    QLabel* m_facts = nullptr;
    QLabel* m_truncated;
    QLabel* m_legend = nullptr;
    QLabel* m_holdersTitle;
    QLabel* m_message;
    QStackedLayout* m_stack;
    CurveChart* m_curves;
    AllocationView* m_allocation;
    HoldersPanel* m_holders;
    BlockDetails* m_details;
    BlocksPanel* m_blocks;
    SegmentsView* m_segments;
    GrowthPanel* m_growth;
    OomPanel* m_oom;
    QTabWidget* m_tabs;
    std::optional<MemoryAxis> m_curvesAxis; ///< of the curves as they are drawn
};

} // namespace warpline
