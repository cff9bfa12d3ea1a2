// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QObject>
#include <QPalette>

namespace warpline {

/// Light or dark: as the desktop has it, or as the user wants it. Sets the theme, the palette, the font and
/// the few rules of style that a palette cannot say.
class Appearance : public QObject {
    Q_OBJECT

  public:
    enum class Choice { System, Light, Dark };

    /// Reads the choice from the settings and applies it.
    explicit Appearance(QObject* parent = nullptr);

    [[nodiscard]] Choice choice() const { return m_choice; }
    /// Kept in the settings if `keep`.
    void choose(Choice choice, bool keep = true);
    /// Text lighter than what it stands on.
    static bool isDark(const QPalette& palette);

  signals:
    void changed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void apply();
    Choice m_choice = Choice::System;
    bool m_applying = false;
};

} // namespace warpline
