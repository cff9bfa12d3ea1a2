// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/tables/ops_model.h"
#include "views/tables/table_panel.h"

class QCheckBox;
class QJsonObject;

namespace warpline {

class ChoiceButton;

/// The table of ops, annotations, kernels, runtime calls or Python functions.
class OpsPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit OpsPanel(Document* document, QWidget* parent = nullptr);

    void setRows(OpRows rows);
    /// How the table is read, for a session file.
    [[nodiscard]] QJsonObject viewSettings() const;
    void applyViewSettings(const QJsonObject& settings);
    [[nodiscard]] OpsModel* opsModel() const { return m_model; }
    [[nodiscard]] ChoiceButton* rowsChoice() const { return m_rows; }
    [[nodiscard]] ChoiceButton* groupChoice() const { return m_group; }
    [[nodiscard]] ChoiceButton* rangeChoice() const { return m_range; }
    [[nodiscard]] ChoiceButton* sourceChoice() const { return m_source; }

  protected:
    [[nodiscard]] QString emptyReason() const override;
    void refresh() override;
    void clearRows() override { showRows({}); }

  private:
    void sessionChanged();
    void rangeChanged();
    void filterChanged();
    void showRows(OpsData ops);
    /// What of the selection narrows the rows of this kind.
    [[nodiscard]] FilterPart parts() const;
    /// A row was chosen: the other views are narrowed to it.
    void choose(int row);
    /// The row of what is selected becomes the current one.
    void takeSelection();

    OpsModel* m_model;
    ChoiceButton* m_rows;
    ChoiceButton* m_group;
    ChoiceButton* m_range;
    ChoiceButton* m_source;
    QCheckBox* m_steps;
    Selection m_shown; ///< what the rows are narrowed by
};

} // namespace warpline
