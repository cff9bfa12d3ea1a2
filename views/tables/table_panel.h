// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/jobs.h"
#include "views/tables/table_export.h"
#include "views/tables/table_view.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QMenu;
class QStackedLayout;
class QToolButton;

namespace warpline {

/// What every table of a dock has: a row of choices with a filter and Export, the table, a line of totals
/// below it, and in place of an empty table the sentence that says why it is empty and what to do.
class TablePanel : public QWidget {
    Q_OBJECT

  public:
    [[nodiscard]] TableView* view() const { return m_view; }
    [[nodiscard]] TableModel* model() const { return m_view->tableModel(); }
    [[nodiscard]] QLineEdit* filterLine() const { return m_filter; }
    /// The sentence shown in place of the table; empty while the table is shown.
    [[nodiscard]] QString message() const;
    [[nodiscard]] QString footer() const;
    [[nodiscard]] LatestJob* job() { return &m_job; }
    /// The panel has come into view: computes what was put off.
    void catchUp();

  protected:
    TablePanel(Document* document, TableModel* model, const QString& name, const QString& sortKey,
               QWidget* parent);

    [[nodiscard]] Document* document() const { return m_document; }
    /// Where choices go, before the filter.
    [[nodiscard]] QHBoxLayout* controls() const { return m_controls; }
    /// Why there are no rows, for the case that no filter hid them.
    [[nodiscard]] virtual QString emptyReason() const = 0;
    /// Whether the rows come from traces: then a session of memory snapshots alone has none, and the panel
    /// says so.
    [[nodiscard]] virtual bool needsTrace() const { return true; }
    void setFooter(const QString& text);
    /// An error of the job, shown in place of the table until the next result.
    void setError(const QString& sentence);
    /// Computes the rows anew; called by scheduleRefresh().
    virtual void refresh() = 0;
    /// For refresh(): runs `work` (over a stop token) in the job and hands its rows to `show`; an error is
    /// told in place of the table. With nothing open, only says so.
    template <class Work, class Show>
    void compute(Work work, Show show) {
        if (nothingOpen())
            return;
        m_job.start(std::move(work), [this, show = std::move(show)](auto result) {
            if (!result.ok())
                return setError(QString::fromStdString(result.error().message));
            setError({});
            show(std::move(result).value());
        });
        if (model()->sourceRows() == 0)
            showTableOrMessage();
    }
    /// What the sources are called, in the document's order.
    [[nodiscard]] std::vector<QString> sourceLabels() const;
    /// Drops all rows at once; called when the session changes, since rows name slices of the one before.
    virtual void clearRows() = 0;
    /// refresh() now if the panel can be seen, else when it comes into view: tables behind others cost
    /// nothing.
    void scheduleRefresh();
    /// To be called whenever rows or reasons have changed.
    void showTableOrMessage();

    void showEvent(QShowEvent* event) override;

  private:
    bool nothingOpen();
    void applyFilter();
    void fillExportMenu(QMenu* menu);
    void save(TableFormat format, const QString& suffix);

    Document* m_document;
    TableView* m_view;
    QHBoxLayout* m_controls;
    QLineEdit* m_filter;
    QToolButton* m_export;
    QStackedLayout* m_stack;
    QLabel* m_message;
    QLabel* m_footer;
    QString m_error;
    bool m_stale = false;
    LatestJob m_job{this};
};

} // namespace warpline
