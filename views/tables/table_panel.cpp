// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/table_panel.h"

#include "views/text.h"
#include "views/theme.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QSaveFile>
#include <QStackedLayout>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace warpline {

TablePanel::TablePanel(Document* document, TableModel* model, const QString& name, const QString& sortKey,
                       QWidget* parent)
    : QWidget(parent), m_document(document) {
    setObjectName(name + QStringLiteral("Panel"));
    m_view = new TableView(model, name, sortKey, this);
    model->setParent(this);
    m_view->setObjectName(name + QStringLiteral("Table"));

    m_filter = new QLineEdit(this);
    m_filter->setPlaceholderText(tr("Filter: name or /regex/"));
    m_filter->setAccessibleName(tr("Filter rows by name"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(200);
    connect(m_filter, &QLineEdit::textChanged, this, &TablePanel::applyFilter);

    m_export = new QToolButton(this);
    m_export->setObjectName(QStringLiteral("choice"));
    m_export->setText(tr("Export ▾"));
    m_export->setAccessibleName(tr("Export this table"));
    m_export->setPopupMode(QToolButton::InstantPopup);
    m_export->setAutoRaise(true);
    m_export->setFocusPolicy(Qt::TabFocus);
    auto* menu = new QMenu(m_export);
    fillExportMenu(menu);
    m_export->setMenu(menu);

    m_message = new QLabel(this);
    m_message->setObjectName(QStringLiteral("emptyReason"));
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setMargin(24);
    m_message->setTextFormat(Qt::PlainText);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_footer = new QLabel(this);
    m_footer->setObjectName(QStringLiteral("footer"));
    m_footer->setContentsMargins(8, 3, 8, 3);
    m_footer->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_footer->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);

    auto* row = new QWidget(this);
    row->setObjectName(QStringLiteral("controlsRow"));
    m_controls = new QHBoxLayout(row);
    m_controls->setContentsMargins(8, 3, 8, 3);
    m_controls->setSpacing(8);
    m_controls->addWidget(m_filter);
    m_controls->addStretch(1);
    m_controls->addWidget(m_export);

    auto* body = new QWidget(this);
    m_stack = new QStackedLayout(body);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_message);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(row);
    layout->addWidget(body, 1);
    layout->addWidget(m_footer);

    connect(document, &Document::sessionChanged, this, [this] {
        m_job.cancel();
        m_error.clear();
        clearRows();
        scheduleRefresh();
    });
    connect(m_view, &TableView::rowActivated, this, [this, model](int at) {
        if (const SliceRef slice = model->sliceAt(at))
            m_document->reveal(slice);
    });
}

void TablePanel::scheduleRefresh() {
    // A dock behind others counts as visible for Qt; it lies outside of what is seen.
    m_stale = visibleRegion().isEmpty();
    if (!m_stale)
        refresh();
}

void TablePanel::catchUp() {
    if (std::exchange(m_stale, false))
        refresh();
}

void TablePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    // Once it has its place, and is seen there.
    QTimer::singleShot(0, this, [this] {
        if (!visibleRegion().isEmpty())
            catchUp();
    });
}

bool TablePanel::nothingOpen() {
    if (!m_document->empty() && !(needsTrace() && m_document->items().empty()))
        return false;
    m_job.cancel();
    showTableOrMessage();
    return true;
}

std::vector<QString> TablePanel::sourceLabels() const {
    std::vector<QString> labels;
    for (std::size_t i = 0; i < m_document->items().size(); ++i)
        labels.push_back(sourceLabel(*m_document, static_cast<int>(i)));
    return labels;
}

QString TablePanel::message() const {
    return m_stack->currentWidget() == m_message ? m_message->text() : QString();
}

QString TablePanel::footer() const {
    return m_footer->text();
}

void TablePanel::setFooter(const QString& text) {
    m_footer->setText(text);
    m_footer->setToolTip(text);
}

void TablePanel::setError(const QString& sentence) {
    m_error = sentence;
    showTableOrMessage();
}

void TablePanel::showTableOrMessage() {
    if (!m_error.isEmpty())
        m_message->setText(m_error);
    else if (needsTrace() && !m_document->empty() && m_document->items().empty())
        m_message->setText(
            tr("No trace is open, and what is open says nothing of this. Open the trace of the same "
               "run beside it."));
    else if (model()->sourceRows() == 0)
        m_message->setText(m_job.busy() ? tr("Working…") : emptyReason());
    else if (model()->rowCount() == 0)
        m_message->setText(model()->filter().isEmpty()
                               ? emptyReason()
                               : tr("No name holds “%1”. Clear the filter to see all %2 rows.")
                                     .arg(model()->filter(), countText(model()->sourceRows())));
    const bool table = m_error.isEmpty() && model()->rowCount() > 0;
    m_stack->setCurrentWidget(table ? static_cast<QWidget*>(m_view) : m_message);
    m_footer->setVisible(table);
    m_export->setEnabled(table);
}

void TablePanel::applyFilter() {
    const bool readable = model()->setFilter(m_filter->text());
    m_filter->setToolTip(readable ? QString() : tr("This regular expression cannot be read."));
    m_filter->setProperty("wrong", !readable);
    m_filter->setStyleSheet(readable ? QString()
                                     : QStringLiteral("color: %1").arg(Theme::current().warn.name()));
    showTableOrMessage();
}

void TablePanel::fillExportMenu(QMenu* menu) {
    struct Choice {
        TableFormat format;
        QString name;
        QString suffix;
    };
    const std::vector<Choice> choices{{TableFormat::Csv, tr("CSV"), QStringLiteral("csv")},
                                      {TableFormat::Markdown, tr("Markdown"), QStringLiteral("md")},
                                      {TableFormat::Json, tr("JSON"), QStringLiteral("json")}};
    for (const Choice& choice : choices) {
        connect(menu->addAction(tr("Copy as %1").arg(choice.name)), &QAction::triggered, this,
                [this, format = choice.format] {
                    QGuiApplication::clipboard()->setText(
                        exportTable(*model(), format, m_view->visibleColumns()));
                });
    }
    menu->addSeparator();
    for (const Choice& choice : choices) {
        connect(menu->addAction(tr("Save as %1…").arg(choice.name)), &QAction::triggered, this,
                [this, choice] { save(choice.format, choice.suffix); });
    }
}

void TablePanel::save(TableFormat format, const QString& suffix) {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the table"), m_view->objectName() + u'.' + suffix);
    if (path.isEmpty())
        return;
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(exportTable(*model(), format, m_view->visibleColumns()).toUtf8()) < 0 || !file.commit())
        QMessageBox::warning(this, tr("Warpline"),
                             tr("%1 could not be written: %2.").arg(path, file.errorString()));
}

} // namespace warpline
