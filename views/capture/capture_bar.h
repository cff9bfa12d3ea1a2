// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace warpline {

class CaptureController;

/// A strip above the views while something is recorded: what, how long, how fast, what was dropped; follow,
/// pause, mark, stop. Behind it the program's own output.
class CaptureBar : public QWidget {
    Q_OBJECT

  public:
    explicit CaptureBar(CaptureController* capture, QWidget* parent = nullptr);
    [[nodiscard]] QString text() const;

  private:
    void refresh();
    void showOutput();

    CaptureController* m_capture;
    QLabel* m_title;
    QLabel* m_facts;
    QToolButton* m_follow;
    QToolButton* m_pause;
};

} // namespace warpline
