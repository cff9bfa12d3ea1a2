// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/log_panel.h"

#include "views/memory/memory_item.h"
#include "views/text.h"
#include "views/theme.h"

#include <QLineEdit>

#include <algorithm>

namespace warpline {
namespace {

enum Col { Message, Severity, Count, File, Offset, Time, Key };

QString tr(const char* text) {
    return LogModel::tr(text);
}

std::vector<ColumnSpec> logColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("message"), tr("Message"), tr("What was repaired, dropped or found odd."), ColumnKind::Text},
        {key("severity"), tr("Severity"),
         tr("data loss: something in the file could not be kept. warning: what is shown may mislead. info: "
            "odd, or "
            "repaired without loss."),
         ColumnKind::Text},
        {key("count"), tr("Count"), tr("How often."), ColumnKind::Count},
        {key("source"), tr("File"), tr("The file it is about."), ColumnKind::Text},
        {key("first_offset"), tr("First at byte"), tr("Where in the (decompressed) file the first one is."),
         ColumnKind::Count},
        {key("first_time_ns"), tr("First at time"),
         tr("When the first one is, from the start of the session. Double click goes there."),
         ColumnKind::Duration},
        {key("id"), tr("Id"), tr("The name of this kind of finding, the same in every version."),
         ColumnKind::Text, false, true},
    };
}

} // namespace

std::vector<LogRow> logRows(const Document& document) {
    std::vector<LogRow> rows;
    if (!document.session())
        return rows;
    for (const std::string& note : document.session()->notes) {
        LogRow row;
        row.id = QStringLiteral("session");
        row.count = 1;
        row.message = toQString(note);
        rows.push_back(std::move(row));
    }
    const auto add = [&rows](const Diagnostics& found, const QString& source, int index, TimeNs shift) {
        for (const Diagnostic& d : found.rows()) {
            LogRow row;
            row.severity = d.severity;
            row.source = source;
            row.id = toQString(d.id);
            row.count = d.count;
            row.message = toQString(d.message);
            row.offset = d.firstOffset;
            if (d.firstTime != INT64_MIN)
                row.time = d.firstTime + shift;
            row.sourceIndex = index;
            rows.push_back(std::move(row));
        }
    };
    for (std::size_t i = 0; i < document.items().size(); ++i) {
        const Document::Item& item = document.items()[i];
        add(item.trace->diagnostics, sourceLabel(document, static_cast<int>(i)), static_cast<int>(i),
            item.shift);
    }
    for (const MemoryItem& item : document.memories()) {
        const QString path = toQString(item.history->path);
        if (!item.history->fromTrace)
            add(item.history->diagnostics, path.mid(path.lastIndexOf(u'/') + 1), -1, item.shift);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LogRow& a, const LogRow& b) { return a.severity > b.severity; });
    return rows;
}

LogModel::LogModel(QObject* parent) : TableModel(logColumns(), parent) {}

void LogModel::set(std::vector<LogRow> rows, TimeNs origin) {
    beginRows();
    m_rows = std::move(rows);
    m_origin = origin;
    endRows();
}

QVariant LogModel::raw(int sourceRow, int column) const {
    const LogRow& row = m_rows[static_cast<std::size_t>(sourceRow)];
    switch (column) {
    case Message:
        return row.message;
    case Severity:
        return QString::fromLatin1(severityName(row.severity));
    case Count:
        return static_cast<qlonglong>(row.count);
    case File:
        return row.source;
    case Offset:
        return row.offset == Diagnostic::kNoOffset ? QVariant()
                                                   : QVariant(static_cast<qlonglong>(row.offset));
    case Time:
        return row.time ? QVariant(static_cast<qlonglong>(*row.time - m_origin)) : QVariant();
    case Key:
        return row.id;
    default:
        return {};
    }
}

QString LogModel::toolTip(int sourceRow, int column) const {
    return column == Message ? m_rows[static_cast<std::size_t>(sourceRow)].message
                             : TableModel::toolTip(sourceRow, column);
}

QString LogModel::filterText(int sourceRow) const {
    return m_rows[static_cast<std::size_t>(sourceRow)].message;
}

QVariant LogModel::mark(int sourceRow, int column) const {
    if (column != Message)
        return {};
    switch (m_rows[static_cast<std::size_t>(sourceRow)].severity) {
    case Diagnostic::Severity::DataLoss:
        return Theme::current().warn;
    case Diagnostic::Severity::Warning:
        return Theme::current().color(Family::Sync);
    case Diagnostic::Severity::Info:
        break;
    }
    return Theme::current().line;
}

LogPanel::LogPanel(Document* document, QWidget* parent)
    : TablePanel(document, new LogModel, QStringLiteral("log"), QString(), parent),
      m_model(static_cast<LogModel*>(model())) {
    view()->setAccessibleName(tr("Log"));
    filterLine()->setPlaceholderText(tr("Filter: words or /regex/"));
    connect(view(), &TableView::rowActivated, this, &LogPanel::go);
    refresh();
}

void LogPanel::refresh() {
    m_model->set(logRows(*document()), document()->extent().begin);
    setFooter(tr("%1 findings   ·   double click goes to the first of its kind").arg(m_model->rowCount()));
    showTableOrMessage();
}

void LogPanel::go(int row) {
    const LogRow& finding = m_model->at(row);
    if (!finding.time)
        return;
    // As much around it as is seen now, so that the zoom stays the reader's; from the whole, a hundredth.
    const TimeNs whole = document()->extent().duration();
    TimeNs width = document()->visible().duration();
    if (width > whole / 2)
        width = std::max<TimeNs>(whole / 100, 1);
    document()->setVisible({*finding.time - width / 2, *finding.time - width / 2 + width});
}

QString LogPanel::emptyReason() const {
    if (document()->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    return tr("Nothing to report: everything in the file was read as it stands.");
}

} // namespace warpline
