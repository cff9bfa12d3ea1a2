// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/memory_holders.h"
#include "views/memory/memory_focus.h"
#include "views/tables/table_panel.h"

#include <vector>

namespace warpline {

class ChoiceButton;

/// What was born after one mark and is alive at the other, a group a row.
class GrowthModel : public TableModel {
    Q_OBJECT

  public:
    explicit GrowthModel(QObject* parent = nullptr);
    void set(std::vector<Growth> rows);
    [[nodiscard]] const std::vector<Growth>& rows() const { return m_rows; }
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;

  private:
    std::vector<Growth> m_rows;
};

/// The hunt for leaks: what grew between the marks A and B.
class GrowthPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit GrowthPanel(MemoryFocus* focus, QWidget* parent = nullptr);
    [[nodiscard]] GrowthModel* growthModel() const { return m_model; }

  signals:
    void holderChosen(const warpline::Holder& holder);

  protected:
    [[nodiscard]] QString emptyReason() const override;
    [[nodiscard]] bool needsTrace() const override { return false; }
    void refresh() override;
    void clearRows() override { m_model->set({}); }

  private:
    MemoryFocus* m_focus;
    GrowthModel* m_model;
    ChoiceButton* m_group;
};

} // namespace warpline
