// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QPushButton>

namespace warpline {

/// A large button with a title, its key at the right and a line of explanation below.
class CardButton : public QPushButton {
    Q_OBJECT

  public:
    CardButton(const QString& title, const QString& key, const QString& explanation,
               QWidget* parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_title;
    QString m_key;
    QString m_explanation;
};

/// A link with a muted line below it: a recent file.
class LinkButton : public QPushButton {
    Q_OBJECT

  public:
    LinkButton(const QString& title, const QString& explanation, QWidget* parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_explanation;
};

/// The program's font at a size.
QFont sizedFont(int pixels, QFont::Weight weight = QFont::Normal);

} // namespace warpline
