// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/memory_holders.h"
#include "views/memory/memory_focus.h"
#include "views/tables/table_panel.h"

namespace warpline {

class ChoiceButton;

/// Who holds memory at a moment, a group a row.
class HoldersModel : public TableModel {
    Q_OBJECT

  public:
    explicit HoldersModel(QObject* parent = nullptr);
    /// `timed`: ages are nanoseconds, else events. `categories`: groups are categories and have their
    /// colours.
    void set(Holders holders, bool timed, bool categories);
    [[nodiscard]] const Holders& holders() const { return m_data; }
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_data.rows.size()); }
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString display(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;

  private:
    Holders m_data;
    bool m_timed = false;
    bool m_categories = false;
};

/// The table of holders at the moment that the memory views look at.
class HoldersPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit HoldersPanel(MemoryFocus* focus, QWidget* parent = nullptr);
    [[nodiscard]] HoldersModel* holdersModel() const { return m_model; }
    [[nodiscard]] HolderGroup group() const;
    void setGroup(HolderGroup group);

  signals:
    /// A row was chosen: its blocks are to be listed.
    void holderChosen(const warpline::Holder& holder);

  protected:
    [[nodiscard]] QString emptyReason() const override;
    [[nodiscard]] bool needsTrace() const override { return false; }
    void refresh() override;
    void clearRows() override;

  private:
    MemoryFocus* m_focus;
    HoldersModel* m_model;
    ChoiceButton* m_group;
};

/// Why a panel of the memory views has nothing to show where the session has no allocator's history.
QString noMemoryReason(const Document& document);

} // namespace warpline
