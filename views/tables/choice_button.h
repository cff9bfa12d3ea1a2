// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QStringList>
#include <QToolButton>

namespace warpline {

/// One of several, written as "rows: Ops ▾" and chosen from a menu. Up and Down step through them.
class ChoiceButton : public QToolButton {
    Q_OBJECT

  public:
    ChoiceButton(const QString& label, const QStringList& options, QWidget* parent = nullptr);

    [[nodiscard]] int current() const { return m_current; }
    /// Without a signal.
    void setCurrent(int index);
    void setOptions(const QStringList& options);
    [[nodiscard]] const QStringList& options() const { return m_options; }

  signals:
    void chosen(int index);

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void choose(int index);
    void refresh();

    QString m_label;
    QStringList m_options;
    int m_current = 0;
};

} // namespace warpline
