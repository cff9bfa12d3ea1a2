// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/choice_button.h"

#include <QActionGroup>
#include <QKeyEvent>
#include <QMenu>

namespace warpline {

ChoiceButton::ChoiceButton(const QString& label, const QStringList& options, QWidget* parent)
    : QToolButton(parent), m_label(label) {
    setObjectName(QStringLiteral("choice"));
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setAutoRaise(true);
    setFocusPolicy(Qt::TabFocus);
    setMenu(new QMenu(this));
    setOptions(options);
}

void ChoiceButton::setOptions(const QStringList& options) {
    m_options = options;
    if (m_current >= options.size())
        m_current = 0;
    menu()->clear();
    auto* group = new QActionGroup(menu());
    for (qsizetype i = 0; i < options.size(); ++i) {
        QAction* action = menu()->addAction(options[i]);
        action->setCheckable(true);
        action->setChecked(i == m_current);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, i] { choose(static_cast<int>(i)); });
    }
    refresh();
}

void ChoiceButton::setCurrent(int index) {
    if (index < 0 || index >= m_options.size())
        return;
    m_current = index;
    refresh();
}

void ChoiceButton::choose(int index) {
    if (index == m_current || index < 0 || index >= m_options.size())
        return;
    setCurrent(index);
    emit chosen(index);
}

void ChoiceButton::refresh() {
    const QString value = m_options.value(m_current);
    // Names of files may be long; the row of choices may not.
    constexpr int kMostPixels = 170;
    setText(m_label + QStringLiteral(": ") + fontMetrics().elidedText(value, Qt::ElideMiddle, kMostPixels) +
            QStringLiteral(" ▾"));
    setAccessibleName(m_label + QStringLiteral(": ") + value);
    const auto actions = menu()->actions();
    for (qsizetype i = 0; i < actions.size(); ++i)
        actions[i]->setChecked(i == m_current);
    updateGeometry();
}

void ChoiceButton::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Down)
        choose(m_current + 1);
    else if (event->key() == Qt::Key_Up)
        choose(m_current - 1);
    else
        QToolButton::keyPressEvent(event);
}

} // namespace warpline
