// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/memory_blocks.h"
#include "views/memory/memory_focus.h"
#include "views/tables/table_panel.h"

#include <vector>

namespace warpline {

class ChoiceButton;

/// Blocks of the device that the memory views look at, a row each; texts are made when they are seen.
class BlocksModel : public TableModel {
    Q_OBJECT

  public:
    explicit BlocksModel(MemoryFocus* focus, QObject* parent = nullptr);
    /// Rows of the block table; `moment` is what ages are told for.
    void set(std::vector<std::uint32_t> rows, Moment moment);
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] BlockId blockAt(int row) const;
    /// The visible row of a block; -1 if it is not listed.
    [[nodiscard]] int rowOf(BlockId block) const;
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString display(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;

  private:
    MemoryFocus* m_focus;
    std::vector<std::uint32_t> m_rows;
    Moment m_moment = 0;
};

/// The list of blocks: those alive at the moment, or all; filtered by size, age, life, address and the text
/// of their stacks.
class BlocksPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit BlocksPanel(MemoryFocus* focus, QWidget* parent = nullptr);
    [[nodiscard]] BlocksModel* blocksModel() const { return m_model; }
    /// Lists these blocks only, under a name that can be closed; none = by the choices again.
    void showOnly(std::vector<std::uint32_t> rows, const QString& name);
    /// What that list is called; empty for none.
    [[nodiscard]] const QString& onlyName() const { return m_onlyName; }
    /// The conditions that are typed: "size>1MiB conv2d".
    [[nodiscard]] QString query() const;
    void setQuery(const QString& query);

  signals:
    /// Another list or other conditions.
    void narrowed();

  protected:
    [[nodiscard]] QString emptyReason() const override;
    [[nodiscard]] bool needsTrace() const override { return false; }
    void refresh() override;
    void clearRows() override { m_model->set({}, 0); }

  private:
    void takeSelection();
    /// What of the document's selection narrows the list: "under aten::mm"; empty for nothing.
    [[nodiscard]] QString selectionText() const;

    MemoryFocus* m_focus;
    BlocksModel* m_model;
    ChoiceButton* m_which;
    QLineEdit* m_query;
    QToolButton* m_only; ///< the chip of showOnly()
    std::vector<std::uint32_t> m_onlyRows;
    QString m_onlyName;
    std::size_t m_shown = 0;
};

} // namespace warpline
