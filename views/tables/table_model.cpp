// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/table_model.h"

#include "views/text.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace warpline {

TableModel::TableModel(std::vector<ColumnSpec> columns, QObject* parent)
    : QAbstractTableModel(parent), m_columns(std::move(columns)) {}

double TableModel::barLength(int sourceRow, int column) const {
    if (m_largest.empty()) {
        m_largest.assign(m_columns.size(), 0.0);
        for (std::size_t c = 0; c < m_columns.size(); ++c) {
            for (const int row : m_shown) {
                if (m_columns[c].bar)
                    m_largest[c] = std::max(m_largest[c], raw(row, static_cast<int>(c)).toDouble());
            }
        }
    }
    const double largest = m_largest[static_cast<std::size_t>(column)];
    return largest > 0 ? std::clamp(raw(sourceRow, column).toDouble() / largest, 0.0, 1.0) : 0.0;
}

int TableModel::columnOf(const QString& key) const {
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        if (m_columns[i].key == key)
            return static_cast<int>(i);
    }
    return -1;
}

SliceRef TableModel::sliceAt(int) const {
    return {};
}

QString TableModel::rowKey(int row) const {
    return filterText(sourceRow(row));
}

QString TableModel::display(int sourceRow, int column) const {
    return format(raw(sourceRow, column), m_columns[static_cast<std::size_t>(column)].kind);
}

QString TableModel::toolTip(int sourceRow, int column) const {
    return formatExact(raw(sourceRow, column), m_columns[static_cast<std::size_t>(column)].kind);
}

QVariant TableModel::mark(int, int) const {
    return {};
}

QString TableModel::filterText(int sourceRow) const {
    return raw(sourceRow, 0).toString();
}

bool TableModel::accepts(int) const {
    return true;
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const int row = sourceRow(index.row());
    const ColumnSpec& spec = m_columns[static_cast<std::size_t>(index.column())];
    switch (role) {
    case Qt::DisplayRole:
        return display(row, index.column());
    case Qt::ToolTipRole:
        return toolTip(row, index.column());
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter | (spec.kind == ColumnKind::Text ? Qt::AlignLeft : Qt::AlignRight));
    case RawRole:
        return raw(row, index.column());
    case BarRole:
        return spec.bar ? QVariant(barLength(row, index.column())) : QVariant();
    case MarkRole:
        return mark(row, index.column());
    default:
        return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const ColumnSpec& spec = m_columns[static_cast<std::size_t>(section)];
    switch (role) {
    case Qt::DisplayRole:
        return spec.title;
    case Qt::ToolTipRole:
        return spec.help;
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter | (spec.kind == ColumnKind::Text ? Qt::AlignLeft : Qt::AlignRight));
    default:
        return {};
    }
}

QString TableModel::format(const QVariant& raw, ColumnKind kind) {
    if (!raw.isValid())
        return QStringLiteral("–");
    switch (kind) {
    case ColumnKind::Text:
        return raw.toString();
    case ColumnKind::Count:
        return countText(raw.toLongLong());
    case ColumnKind::Duration:
        return durationText(raw.toLongLong());
    case ColumnKind::Percent:
        return percentText(raw.toDouble());
    case ColumnKind::Bytes:
        return bytesText(raw.toLongLong());
    }
    return {};
}

QString TableModel::formatExact(const QVariant& raw, ColumnKind kind) {
    if (!raw.isValid())
        return QStringLiteral("The file does not say.");
    switch (kind) {
    case ColumnKind::Duration:
        return exactDurationText(raw.toLongLong());
    case ColumnKind::Percent:
        return QString::number(raw.toDouble() * 100, 'f', 4) + QChar(u'%');
    case ColumnKind::Bytes:
        return countText(raw.toLongLong()) + QStringLiteral(" B");
    case ColumnKind::Text:
    case ColumnKind::Count:
        break;
    }
    return format(raw, kind);
}

bool TableModel::setFilter(const QString& text) {
    if (text == m_filter)
        return true;
    if (text.size() > 2 && text.startsWith(u'/') && text.endsWith(u'/') &&
        !QRegularExpression(text.mid(1, text.size() - 2)).isValid())
        return false;
    m_filter = text;
    refilter();
    return true;
}

void TableModel::refilter() {
    beginResetModel();
    endRows();
}

void TableModel::endRows() {
    fillShown();
    order();
    endResetModel();
}

void TableModel::fillShown() {
    m_shown.clear();
    m_largest.clear();
    const int rows = sourceRows();
    m_shown.reserve(static_cast<std::size_t>(rows));
    const bool regular = m_filter.size() > 2 && m_filter.startsWith(u'/') && m_filter.endsWith(u'/');
    const QRegularExpression expression(regular ? m_filter.mid(1, m_filter.size() - 2) : QString(),
                                        QRegularExpression::CaseInsensitiveOption);
    const QStringList words = regular ? QStringList() : m_filter.split(u' ', Qt::SkipEmptyParts);
    for (int row = 0; row < rows; ++row) {
        if (!accepts(row))
            continue;
        if (!m_filter.isEmpty()) {
            const QString text = filterText(row);
            const bool match = regular ? expression.match(text).hasMatch()
                                       : std::all_of(words.begin(), words.end(), [&](const QString& word) {
                                             return text.contains(word, Qt::CaseInsensitive);
                                         });
            if (!match)
                continue;
        }
        m_shown.push_back(row);
    }
}

void TableModel::order() {
    if (m_sortColumn < 0 || m_sortColumn >= columnCount())
        return;
    const bool descending = m_sortOrder == Qt::DescendingOrder;
    // The keys are taken once a row, and what is not known goes last whichever way the order runs.
    if (m_columns[static_cast<std::size_t>(m_sortColumn)].kind == ColumnKind::Text) {
        std::vector<QString> keys(static_cast<std::size_t>(sourceRows()));
        for (const int row : m_shown)
            keys[static_cast<std::size_t>(row)] = raw(row, m_sortColumn).toString();
        std::stable_sort(m_shown.begin(), m_shown.end(), [&](int a, int b) {
            const int c = QString::compare(keys[static_cast<std::size_t>(a)],
                                           keys[static_cast<std::size_t>(b)], Qt::CaseInsensitive);
            return descending ? c > 0 : c < 0;
        });
        return;
    }
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> keys(static_cast<std::size_t>(sourceRows()));
    for (const int row : m_shown) {
        const QVariant value = raw(row, m_sortColumn);
        keys[static_cast<std::size_t>(row)] = value.isValid() ? value.toDouble() : kUnknown;
    }
    std::stable_sort(m_shown.begin(), m_shown.end(), [&](int a, int b) {
        const double x = keys[static_cast<std::size_t>(a)];
        const double y = keys[static_cast<std::size_t>(b)];
        if (std::isnan(x) || std::isnan(y))
            return !std::isnan(x) && std::isnan(y);
        return descending ? x > y : x < y;
    });
}

void TableModel::sort(int column, Qt::SortOrder sortOrder) {
    m_sortColumn = column;
    m_sortOrder = sortOrder;
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<int> sources;
    sources.reserve(static_cast<std::size_t>(before.size()));
    for (const QModelIndex& index : before)
        sources.push_back(sourceRow(index.row()));
    if (column < 0)
        fillShown();
    else
        order();
    if (!before.isEmpty()) {
        std::vector<int> places(static_cast<std::size_t>(sourceRows()), -1);
        for (std::size_t i = 0; i < m_shown.size(); ++i)
            places[static_cast<std::size_t>(m_shown[i])] = static_cast<int>(i);
        QModelIndexList after;
        for (qsizetype i = 0; i < before.size(); ++i) {
            after.append(index(places[static_cast<std::size_t>(sources[static_cast<std::size_t>(i)])],
                               before[i].column()));
        }
        changePersistentIndexList(before, after);
    }
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

} // namespace warpline
