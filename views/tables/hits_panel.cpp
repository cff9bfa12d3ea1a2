// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/hits_panel.h"

#include "views/text.h"
#include "views/theme.h"

#include <QLineEdit>

#include <algorithm>

namespace warpline {
namespace {

enum Col { Name, Kind, Start, Length, Where };

QString tr(const char* text) {
    return HitsModel::tr(text);
}

std::vector<ColumnSpec> hitColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("name"), tr("Name"), tr("The event's name."), ColumnKind::Text},
        {key("kind"), tr("Kind"), tr("What the event is."), ColumnKind::Text},
        {key("start_ns"), tr("Start"), tr("From the start of the session."), ColumnKind::Duration},
        {key("duration_ns"), tr("Duration"), tr("End less start."), ColumnKind::Duration},
        {key("track"), tr("Track"), tr("The thread or stream it stands on."), ColumnKind::Text, false, false,
         240},
    };
}

} // namespace

HitsModel::HitsModel(Document* document, QObject* parent)
    : TableModel(hitColumns(), parent), m_document(document) {}

void HitsModel::refresh() {
    beginRows();
    endRows();
}

int HitsModel::sourceRows() const {
    return static_cast<int>(std::min(m_document->hits().size(), kMostRows));
}

SliceRef HitsModel::hit(int sourceRow) const {
    // While the document changes its hits, the rows that are about to go may still be asked for.
    const auto at = static_cast<std::size_t>(sourceRow);
    return at < m_document->hits().size() ? m_document->hits()[at] : SliceRef{};
}

SliceRef HitsModel::sliceAt(int row) const {
    return hit(sourceRow(row));
}

QString HitsModel::rowKey(int row) const {
    const SliceRef ref = hit(sourceRow(row));
    return QString::number(ref.source) + QChar(u':') + QString::number(ref.slice.value);
}

QVariant HitsModel::raw(int sourceRow, int column) const {
    const SliceRef ref = hit(sourceRow);
    if (!ref)
        return {};
    switch (column) {
    case Name:
        return m_document->sliceName(ref);
    case Kind:
        return QString::fromLatin1(
            sliceKindName(m_document->items()[static_cast<std::size_t>(ref.source)].trace->kind(ref.slice)));
    case Start:
        return static_cast<qlonglong>(m_document->sliceRange(ref).begin - m_document->extent().begin);
    case Length:
        return static_cast<qlonglong>(m_document->sliceRange(ref).duration());
    case Where:
        return trackLabel(*m_document, ref);
    default:
        return {};
    }
}

QVariant HitsModel::mark(int sourceRow, int column) const {
    const SliceRef ref = hit(sourceRow);
    if (column != Name || !ref)
        return {};
    const Document::Item& item = m_document->items()[static_cast<std::size_t>(ref.source)];
    return Theme::current().color(item.families->of(*item.trace, ref.slice.index()));
}

HitsPanel::HitsPanel(Document* document, QWidget* parent)
    : TablePanel(document, new HitsModel(document), QStringLiteral("hits"), QStringLiteral("start_ns"),
                 parent),
      m_model(static_cast<HitsModel*>(model())) {
    view()->setAccessibleName(tr("Search results"));
    view()->sortByColumn(Start, Qt::AscendingOrder);
    filterLine()->setPlaceholderText(tr("Narrow: name or /regex/"));
    // One reset at once: the rows are the document's own, and must never outlive them.
    connect(document, &Document::hitsChanged, this, &HitsPanel::refresh);
    refresh();
}

void HitsPanel::refresh() {
    m_model->refresh();
    const auto hits = static_cast<std::int64_t>(document()->hits().size());
    setFooter(document()->hits().size() > HitsModel::kMostRows
                  ? tr("the first %1 of %2 hits; narrow the search to list them all")
                        .arg(countText(static_cast<std::int64_t>(HitsModel::kMostRows)), countText(hits))
                  : tr("%1 hits").arg(countText(hits)));
    showTableOrMessage();
}

void HitsPanel::clearRows() {
    setError({});
    refresh();
}

void HitsPanel::setQuery(const QString& text, const QString& error) {
    m_query = text;
    setError(error);
}

void HitsPanel::setCurrentHit(int hit) {
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->sourceRow(row) != hit)
            continue;
        view()->setCurrentIndex(m_model->index(row, Name));
        return;
    }
}

QString HitsPanel::emptyReason() const {
    if (document()->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    if (!m_query.trimmed().isEmpty())
        return tr("Nothing matches “%1”. Words match names; /…/ is a regular expression, key=value an "
                  "argument, "
                  "dur>1ms a duration, cat:kernel a category.")
            .arg(m_query);
    return tr(
        "Nothing is searched for. Press Ctrl+F and type a name, /regex/, key=value, dur>1ms or cat:kernel.");
}

} // namespace warpline
