// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/capture_bar.h"

#include "views/capture/capture_controller.h"
#include "views/text.h"

#include <QDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QVBoxLayout>

namespace warpline {

CaptureBar::CaptureBar(CaptureController* capture, QWidget* parent) : QWidget(parent), m_capture(capture) {
    setObjectName(QStringLiteral("captureBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 4, 8, 4);
    layout->setSpacing(8);
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("captureTitle"));
    m_title->setTextFormat(Qt::PlainText);
    m_facts = new QLabel(this);
    m_facts->setObjectName(QStringLiteral("captureFacts"));
    m_facts->setTextFormat(Qt::PlainText);
    m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(m_title);
    layout->addWidget(m_facts, 1);
    const auto button = [&](const QString& text, const QString& tip, bool checkable) {
        auto* b = new QToolButton(this);
        b->setObjectName(QStringLiteral("choice"));
        b->setText(text);
        b->setToolTip(tip);
        b->setCheckable(checkable);
        b->setFocusPolicy(Qt::TabFocus);
        layout->addWidget(b);
        return b;
    };
    m_follow = button(tr("Follow"), tr("Keep the newest seconds in view"), true);
    connect(m_follow, &QToolButton::toggled, capture, &CaptureController::setFollowing);
    m_pause = button(tr("Pause"), tr("Record no more until this is pressed again"), true);
    connect(m_pause, &QToolButton::toggled, capture, &CaptureController::setPaused);
    connect(button(tr("Mark"), tr("Put a mark at this moment"), false), &QToolButton::clicked, capture,
            &CaptureController::mark);
    connect(button(tr("Output"), tr("What the program printed"), false), &QToolButton::clicked, this,
            &CaptureBar::showOutput);
    connect(button(tr("■ Stop"), tr("End the recording; the program goes on"), false), &QToolButton::clicked,
            capture, &CaptureController::stop);
    connect(capture, &CaptureController::started, this, [this] {
        refresh();
        show();
    });
    connect(capture, &CaptureController::statusChanged, this, &CaptureBar::refresh);
    connect(capture, &CaptureController::followingChanged, this, &CaptureBar::refresh);
    connect(capture, &CaptureController::finished, this, &QWidget::hide);
    connect(capture, &CaptureController::failed, this, &QWidget::hide);
    hide();
}

QString CaptureBar::text() const {
    return m_title->text() + QChar(u' ') + m_facts->text();
}

void CaptureBar::refresh() {
    m_title->setText(
        tr("● Recording %1").arg(fontMetrics().elidedText(m_capture->title(), Qt::ElideMiddle, 320)));
    QString facts = m_capture->summary();
    const auto& messages = m_capture->status().messages;
    if (!messages.empty())
        facts += QStringLiteral("  ·  ") + toQString(messages.back());
    m_facts->setText(facts);
    m_facts->setToolTip(facts);
    m_follow->setChecked(m_capture->following());
    m_pause->setChecked(m_capture->paused());
}

void CaptureBar::showOutput() {
    auto* dialog = new QDialog(window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Output of %1").arg(m_capture->title()));
    dialog->resize(760, 480);
    auto* text = new QPlainTextEdit(dialog);
    text->setReadOnly(true);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setAccessibleName(tr("The program's output"));
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text);
    const auto fill = [this, text] {
        const QString output = toQString(m_capture->status().output);
        if (output == text->toPlainText())
            return;
        text->setPlainText(output);
        text->moveCursor(QTextCursor::End);
    };
    connect(m_capture, &CaptureController::statusChanged, text, fill);
    fill();
    dialog->show();
}

} // namespace warpline
