// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/tables/table_model.h"

#include <QHeaderView>
#include <QSet>
#include <QStringList>
#include <QStyledItemDelegate>
#include <QTableView>

class QMenu;

namespace warpline {

/// Paints a cell as the theme has it: text, a family's square before it, a share's bar beside the number, a
/// hairline below.
class TableDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

/// Titles in the muted colour, the sorted one in the text's with an arrow after it.
class TableHeader : public QHeaderView {
  public:
    explicit TableHeader(QWidget* parent);
    QSize sectionSizeFromContents(int section) const override;

  protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
};

/// A table over a TableModel: sortable, with columns that can be hidden (the header's menu, or the table's
/// own under Columns), copied with Ctrl+C. What the user chose is kept under the table's name. Columns for
/// which the data has nothing are hidden as well, apart from the user's choice.
class TableView : public QTableView {
    Q_OBJECT

  public:
    /// `name` is the key of the settings; `sortKey` the column sorted at first, descending.
    TableView(TableModel* model, const QString& name, const QString& sortKey, QWidget* parent = nullptr);

    [[nodiscard]] TableModel* tableModel() const { return m_model; }
    /// Columns for which there is no data now.
    void setUnavailable(const QStringList& keys);
    void setColumnHiddenByUser(const QString& key, bool hidden);
    [[nodiscard]] std::vector<int> visibleColumns() const;
    [[nodiscard]] std::vector<int> selectedRows() const;
    void fillColumnsMenu(QMenu* menu);
    void copy();
    /// Makes the row that is called so the current one, without choosing it; nothing for an empty name.
    template <class Model>
    void showCurrent(const Model* model, const QString& name) {
        if (name.isEmpty() || (currentIndex().isValid() && model->nameAt(currentIndex().row()) == name))
            return;
        for (int row = 0; row < model->rowCount(); ++row) {
            if (model->nameAt(row) == name) {
                setCurrentIndex(model->index(row, 0));
                scrollTo(model->index(row, 0));
                return;
            }
        }
    }
    /// Undoes what the user chose: columns, widths, order.
    void resetColumns();

  signals:
    /// A row was double-clicked, or Enter pressed on it.
    void rowActivated(int row);
    /// A row was clicked, or Space pressed on it.
    void rowChosen(int row);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void applyHidden();
    void fitFirstColumn();
    void restore();
    void defaultWidths();
    void setUpSizes();

    TableModel* m_model;
    QString m_name;
    QString m_sortKey;
    QSet<QString> m_hidden; ///< by the user
    QSet<QString> m_unavailable;
    QString m_currentKey; ///< of the current row, across resets
    bool m_sizing = false;
    bool m_firstSetByUser = false;
};

} // namespace warpline
