// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/tables/table_panel.h"

namespace warpline {

/// What the search found, in order of time. Rows are made when they are seen.
class HitsModel : public TableModel {
    Q_OBJECT

  public:
    /// Rows shown at most; stepping through the hits knows no such limit.
    static constexpr std::size_t kMostRows = 100'000;

    explicit HitsModel(Document* document, QObject* parent = nullptr);
    void refresh();
    [[nodiscard]] int sourceRows() const override;
    [[nodiscard]] SliceRef sliceAt(int row) const override;
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;

  private:
    [[nodiscard]] SliceRef hit(int sourceRow) const;
    Document* m_document;
};

class HitsPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit HitsPanel(Document* document, QWidget* parent = nullptr);
    /// What is searched for, and the sentence of a query that cannot be read (else empty).
    void setQuery(const QString& text, const QString& error);
    /// Makes a hit the current row.
    void setCurrentHit(int hit);

  protected:
    [[nodiscard]] QString emptyReason() const override;
    void refresh() override;
    void clearRows() override;

  private:
    HitsModel* m_model;
    QString m_query;
};

} // namespace warpline
