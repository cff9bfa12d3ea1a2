// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/notice_bar.h"

#include "views/memory/memory_item.h"
#include "views/text.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace warpline {

NoticeBar::NoticeBar(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("noticeBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 4, 8, 4);
    layout->setSpacing(8);
    m_label = new QLabel(this);
    m_label->setTextFormat(Qt::PlainText);
    m_label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(m_label, 1);
    const auto button = [&](const QString& text, const QString& name) {
        auto* b = new QToolButton(this);
        b->setObjectName(QStringLiteral("choice"));
        b->setText(text);
        b->setAccessibleName(name);
        b->setToolTip(name);
        b->setFocusPolicy(Qt::TabFocus);
        layout->addWidget(b);
        return b;
    };
    m_stop = button(tr("■ Stop"), tr("End this"));
    m_stop->hide();
    connect(m_stop, &QToolButton::clicked, this, &NoticeBar::stopRequested);
    connect(button(tr("Show the log"), tr("Show the log")), &QToolButton::clicked, this,
            &NoticeBar::logRequested);
    connect(button(QStringLiteral("×"), tr("Hide this notice")), &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

QString NoticeBar::sentence(const Document& document, const std::vector<OpenFailure>& failures) {
    QStringList parts;
    for (const OpenFailure& failure : failures)
        parts.append(tr("%1 is not shown: %2").arg(QFileInfo(failure.path).fileName(), failure.reason()));
    for (std::size_t i = 0; i < document.items().size(); ++i) {
        for (const Diagnostic& d : document.items()[i].trace->diagnostics.rows()) {
            if (d.severity != Diagnostic::Severity::DataLoss)
                continue;
            const QString file = sourceLabel(document, static_cast<int>(i));
            parts.append(file + QStringLiteral(": ") + toQString(d.message));
        }
    }
    for (const MemoryItem& item : document.memories()) {
        for (const Diagnostic& d : item.history->diagnostics.rows()) {
            if (d.severity == Diagnostic::Severity::DataLoss && !item.history->fromTrace)
                parts.append(QFileInfo(toQString(item.history->path)).fileName() + QStringLiteral(": ") +
                             toQString(d.message));
        }
    }
    return parts.join(QStringLiteral("  "));
}

void NoticeBar::setText(const QString& text) {
    m_label->setText(text);
    m_label->setToolTip(text);
    setVisible(!text.isEmpty());
}

void NoticeBar::setStoppable(bool stoppable) {
    m_stop->setVisible(stoppable);
}

QString NoticeBar::text() const {
    return m_label->text();
}

} // namespace warpline
