// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/table_export.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <numeric>

namespace warpline {
namespace {

QString csvField(const QString& text) {
    if (!text.contains(u'"') && !text.contains(u',') && !text.contains(u'\n') && !text.contains(u'\r'))
        return text;
    QString quoted = text;
    quoted.replace(u'"', QStringLiteral("\"\""));
    return QChar(u'"') + quoted + QChar(u'"');
}

QString markdownField(const QString& text) {
    QString escaped = text;
    escaped.replace(u'\\', QStringLiteral("\\\\"));
    escaped.replace(u'|', QStringLiteral("\\|"));
    escaped.replace(u'\n', u' ');
    return escaped;
}

QString tabField(const QString& text) {
    QString flat = text;
    flat.replace(u'\t', u' ');
    flat.replace(u'\n', u' ');
    return flat;
}

/// A raw value in full, without unit.
QString plain(const QVariant& raw) {
    if (!raw.isValid())
        return {};
    if (raw.typeId() == QMetaType::Double)
        return QString::number(raw.toDouble(), 'g', 10);
    return raw.toString();
}

QJsonValue jsonValue(const QVariant& raw) {
    switch (raw.typeId()) {
    case QMetaType::UnknownType:
        return QJsonValue::Null;
    case QMetaType::Double:
        return raw.toDouble();
    case QMetaType::LongLong:
    case QMetaType::Int:
        return raw.toLongLong();
    case QMetaType::Bool:
        return raw.toBool();
    default:
        return raw.toString();
    }
}

QString json(const TableModel& model, const std::vector<int>& columns, const std::vector<int>& rows) {
    QJsonArray array;
    for (const int row : rows) {
        QJsonObject object;
        for (const int column : columns) {
            const QVariant raw = model.index(row, column).data(TableModel::RawRole);
            object.insert(model.columns()[static_cast<std::size_t>(column)].key, jsonValue(raw));
        }
        array.append(object);
    }
    return QString::fromUtf8(QJsonDocument(QJsonObject{{QStringLiteral("rows"), array}}).toJson());
}

} // namespace

QString exportTable(const TableModel& model, TableFormat format, std::vector<int> columns,
                    const std::vector<int>& someRows) {
    if (columns.empty()) {
        columns.resize(model.columns().size());
        std::iota(columns.begin(), columns.end(), 0);
    }
    std::vector<int> rows = someRows;
    if (rows.empty()) {
        rows.resize(static_cast<std::size_t>(model.rowCount()));
        std::iota(rows.begin(), rows.end(), 0);
    }
    if (format == TableFormat::Json)
        return json(model, columns, rows);

    QString out;
    const auto line = [&](const auto& cell) {
        QStringList cells;
        for (const int column : columns)
            cells.append(cell(column));
        switch (format) {
        case TableFormat::Csv:
            out += cells.join(u',') + QStringLiteral("\r\n");
            break;
        case TableFormat::Markdown:
            out += QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n");
            break;
        default:
            out += cells.join(u'\t') + QChar(u'\n');
        }
    };
    const auto spec = [&](int column) -> const ColumnSpec& {
        return model.columns()[static_cast<std::size_t>(column)];
    };
    line([&](int column) {
        return format == TableFormat::Csv        ? spec(column).key
               : format == TableFormat::Markdown ? markdownField(spec(column).title)
                                                 : spec(column).title;
    });
    if (format == TableFormat::Markdown) {
        line([&](int column) {
            return spec(column).kind == ColumnKind::Text ? QStringLiteral(":---") : QStringLiteral("---:");
        });
    }
    for (const int row : rows) {
        line([&](int column) {
            const QModelIndex index = model.index(row, column);
            if (format == TableFormat::Csv)
                return csvField(plain(index.data(TableModel::RawRole)));
            const QString text = index.data().toString();
            return format == TableFormat::Markdown ? markdownField(text) : tabField(text);
        });
    }
    return out;
}

} // namespace warpline
