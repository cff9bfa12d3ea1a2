// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/source_dialog.h"

#include "model/store/session_file.h"
#include "views/text.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace warpline {

SourceDialog::SourceDialog(const std::vector<SourceTrouble>& missing, const SessionFile& session,
                           QWidget* parent)
    : QDialog(parent), m_found(static_cast<qsizetype>(missing.size())) {
    setWindowTitle(tr("Files of the session"));
    setObjectName(QStringLiteral("sourceDialog"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    auto* title = new QLabel(
        missing.size() == 1 ? tr("A file of this session is not where it was.")
                            : tr("%1 files of this session are not where they were.").arg(missing.size()),
        this);
    column->addWidget(title);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(8);
    grid->setColumnStretch(0, 1);
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const QString path = toQString(session.sources[missing[i].source].path);
        m_names.append(path == QLatin1String("-") ? tr("standard input") : QFileInfo(path).fileName());
        auto* name = new QLabel(m_names.last(), this);
        name->setTextFormat(Qt::PlainText);
        name->setToolTip(path);
        auto* state = new QLabel(this);
        state->setTextFormat(Qt::PlainText);
        state->setForegroundRole(QPalette::PlaceholderText);
        m_states.push_back(state);
        auto* button = new QPushButton(tr("Locate…"), this);
        button->setAccessibleName(tr("Locate %1").arg(m_names.last()));
        connect(button, &QPushButton::clicked, this, [this, i] { locate(static_cast<int>(i)); });
        const int row = static_cast<int>(i);
        grid->addWidget(name, row, 0);
        grid->addWidget(state, row, 1);
        grid->addWidget(button, row, 2);
    }
    column->addLayout(grid);
    auto* buttons = new QDialogButtonBox(this);
    m_open = buttons->addButton(QString(), QDialogButtonBox::AcceptRole);
    m_open->setObjectName(QStringLiteral("sourceOpen"));
    m_open->setDefault(true);
    buttons->addButton(QDialogButtonBox::Cancel);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    setMinimumWidth(520);
    refresh();
}

void SourceDialog::locate(int index) {
    const QString path = QFileDialog::getOpenFileName(this, tr("Where is %1 now?").arg(m_names.value(index)));
    if (!path.isEmpty())
        setFound(index, path);
}

void SourceDialog::setFound(int index, const QString& path) {
    m_found[index] = path;
    // The others often moved with it.
    for (qsizetype i = 0; i < m_found.size(); ++i) {
        const QString beside = QFileInfo(path).absolutePath() + u'/' + m_names[i];
        if (m_found[i].isEmpty() && QFileInfo(beside).isFile())
            m_found[i] = beside;
    }
    refresh();
}

void SourceDialog::refresh() {
    const auto left = std::count(m_found.begin(), m_found.end(), QString());
    for (std::size_t i = 0; i < m_states.size(); ++i) {
        const QString& path = m_found[static_cast<qsizetype>(i)];
        m_states[i]->setText(path.isEmpty() ? tr("left out")
                                            : fontMetrics().elidedText(path, Qt::ElideMiddle, 260));
        m_states[i]->setToolTip(path);
    }
    m_open->setText(left == 0 ? tr("Open") : left == 1 ? tr("Open without it") : tr("Open without them"));
}

} // namespace warpline
