// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/tables/table_panel.h"

namespace warpline {

/// One line of the log.
struct LogRow {
    Diagnostic::Severity severity = Diagnostic::Severity::Info;
    QString source;
    QString id;
    std::uint64_t count = 0;
    QString message;
    std::uint64_t offset = Diagnostic::kNoOffset;
    std::optional<TimeNs> time; ///< the session's
    int sourceIndex = -1;
};

/// The diagnostics of all sources and the session's own notes, worst first.
std::vector<LogRow> logRows(const Document& document);

class LogModel : public TableModel {
    Q_OBJECT

  public:
    explicit LogModel(QObject* parent = nullptr);
    void set(std::vector<LogRow> rows, TimeNs origin);
    [[nodiscard]] const LogRow& at(int row) const { return m_rows[static_cast<std::size_t>(sourceRow(row))]; }
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_rows.size()); }

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;
    [[nodiscard]] QString filterText(int sourceRow) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;

  private:
    std::vector<LogRow> m_rows;
    TimeNs m_origin = 0;
};

/// What the import repaired, dropped or found odd. A double click shows where.
class LogPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit LogPanel(Document* document, QWidget* parent = nullptr);
    [[nodiscard]] LogModel* logModel() const { return m_model; }

  protected:
    [[nodiscard]] QString emptyReason() const override;
    [[nodiscard]] bool needsTrace() const override { return false; }
    void refresh() override;
    void clearRows() override { refresh(); }

  private:
    void go(int row);
    LogModel* m_model;
};

} // namespace warpline
