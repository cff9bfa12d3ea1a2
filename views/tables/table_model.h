// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>

#include <vector>

namespace warpline {

/// How a column's numbers are written, and that they are numbers at all.
enum class ColumnKind { Text, Count, Duration, Percent, Bytes };

/// One column of a table. The key names it in files and settings and never changes.
struct ColumnSpec {
    QString key;   ///< "self_cpu_ns"; the one warpline-cli prints, where it prints this column
    QString title; ///< "Self CPU"
    QString help;  ///< the header's tooltip: what the number is, with its formula
    ColumnKind kind = ColumnKind::Text;
    bool bar = false;             ///< a share of something, drawn as a bar behind the number
    bool hiddenByDefault = false; ///< shown only when asked for
    int width = 0;                ///< pixels at least, for texts that are longer than their title
};

/// A table of rows that a job made, filtered by a text and sorted by a column without a proxy. Derived
/// classes keep the rows and give raw values; how they are written, aligned, sorted and exported is the same
/// for all. A value that is not known is an invalid QVariant, written as a dash and sorted last.
class TableModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Role {
        RawRole = Qt::UserRole + 1, ///< QString, qlonglong or double (a share, 0 to 1), as raw() gives it
        BarRole,  ///< double: how long the bar is, 1 for the largest; only in columns with a bar
        MarkRole, ///< QColor of a small square before the text, if there is one
    };

    explicit TableModel(std::vector<ColumnSpec> columns, QObject* parent = nullptr);

    [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return m_columns; }
    [[nodiscard]] int columnOf(const QString& key) const; ///< -1 if there is none
    /// Rows before the filter.
    [[nodiscard]] virtual int sourceRows() const = 0;
    /// The row that a visible row shows.
    [[nodiscard]] int sourceRow(int row) const { return m_shown[static_cast<std::size_t>(row)]; }
    /// What a double click on a visible row goes to.
    [[nodiscard]] virtual SliceRef sliceAt(int row) const;
    /// Names a visible row across refreshes, so that the current row stays current.
    [[nodiscard]] virtual QString rowKey(int row) const;

    /// Words that the first text column must hold (case does not count); /.../ is a regular expression. False
    /// if that cannot be read; then nothing changes.
    bool setFilter(const QString& text);
    [[nodiscard]] const QString& filter() const { return m_filter; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

    /// A value as people read it.
    [[nodiscard]] static QString format(const QVariant& raw, ColumnKind kind);
    /// The same, exact: all digits, with the unit.
    [[nodiscard]] static QString formatExact(const QVariant& raw, ColumnKind kind);

  protected:
    [[nodiscard]] virtual QVariant raw(int sourceRow, int column) const = 0;
    /// Shown in place of the formatted value where that says more ("3, 7 and 4 more").
    [[nodiscard]] virtual QString display(int sourceRow, int column) const;
    [[nodiscard]] virtual QString toolTip(int sourceRow, int column) const;
    [[nodiscard]] virtual QVariant mark(int sourceRow, int column) const;
    [[nodiscard]] virtual QString filterText(int sourceRow) const;
    /// A row that no filter shows (profiler steps among annotations).
    [[nodiscard]] virtual bool accepts(int sourceRow) const;

    /// Brackets a change of the rows; the filter and the order are kept.
    void beginRows() { beginResetModel(); }
    void endRows();
    /// Again after what accepts() depends on has changed.
    void refilter();

  private:
    void fillShown();
    [[nodiscard]] double barLength(int sourceRow, int column) const;
    void order();

    std::vector<ColumnSpec> m_columns;
    std::vector<int> m_shown;
    mutable std::vector<double> m_largest; ///< of the shown rows, a column; filled when a bar is asked for
    QString m_filter;
    int m_sortColumn = -1; ///< the order in which the rows came
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
};

} // namespace warpline
