// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/window/loader.h"
#include "views/window/recent_files.h"
#include "views/window/sample.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QLayout;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace warpline {

/// What is seen while nothing is open.
class StartPage : public QWidget {
    Q_OBJECT

  public:
    explicit StartPage(RecentFiles* recent, QWidget* parent = nullptr);

  signals:
    void openRequested();
    void recordRequested(bool attach);
    void sampleRequested(warpline::Sample sample);
    void fileRequested(const QString& path);

  private:
    void fillRecent();
    [[nodiscard]] QLayout* makeSamples(QWidget* parent);

    RecentFiles* m_recent;
    QWidget* m_recentBox;
    QVBoxLayout* m_recentLayout;
};

/// What is seen while files are read: bytes, time left, Cancel.
class LoadingPage : public QWidget {
    Q_OBJECT

  public:
    explicit LoadingPage(Loader* loader, QWidget* parent = nullptr);
    /// "123 MB of 1.00 GB · 1,234,567 events · 6 s left".
    static QString describe(const Loader::Status& status);

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    void refresh();

    Loader* m_loader;
    QLabel* m_title;
    QLabel* m_detail;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    QTimer m_timer;
};

/// What is seen when nothing could be opened: which file, why, and what to do.
class FailurePage : public QWidget {
    Q_OBJECT

  public:
    explicit FailurePage(QWidget* parent = nullptr);
    void setFailures(const std::vector<OpenFailure>& failures);
    [[nodiscard]] QString text() const;

  signals:
    void openRequested();
    void retryRequested();
    void closeRequested();

  private:
    QLabel* m_title;
    QVBoxLayout* m_list;
    QStringList m_sentences;
};

} // namespace warpline
