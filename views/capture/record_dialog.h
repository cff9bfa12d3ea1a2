// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/attach.h"
#include "capture/recorder/recorder.h"
#include "views/jobs.h"

#include <QDialog>
#include <QString>
#include <QStringList>

#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QTabWidget;
class QTableWidget;

namespace warpline {

/// What to record: a program to launch, or a running one to attach to; what, when, how long, where to. Shows
/// the command that does the same on another machine. What was typed is kept for the next time.
class RecordDialog : public QDialog {
    Q_OBJECT

  public:
    enum class Page { Launch, Attach };

    explicit RecordDialog(QWidget* parent = nullptr);
    void showPage(Page page);
    /// What the form says now; a sentence where that cannot be recorded.
    [[nodiscard]] Result<capture::RecordConfig> config() const;
    /// "ssh HOST warpline-cli record ... -o - | warpline -".
    [[nodiscard]] QString remoteCommand() const;
    [[nodiscard]] LatestJob* job() { return &m_programsJob; }

    /// Words of a command line as a shell would split them: quotes and backslashes, no variables. An error
    /// where a quote is not closed.
    static Result<QStringList> splitCommand(const QString& line);

  signals:
    void recordRequested(const warpline::capture::RecordConfig& config);

  private:
    QWidget* makeLaunch();
    QWidget* makeAttach();
    QWidget* makeWhat();
    void listPrograms();
    void refresh();
    void accept() override;
    void restore();
    void keep() const;
    [[nodiscard]] std::uint64_t kinds() const;
    [[nodiscard]] bool attaching() const;

    QTabWidget* m_pages;
    QLineEdit* m_command = nullptr;
    QLineEdit* m_folder = nullptr;
    QPlainTextEdit* m_environment = nullptr;
    QTableWidget* m_programs = nullptr;
    std::vector<capture::GpuProgram> m_found;
    QCheckBox* m_calls = nullptr;
    QCheckBox* m_nvtx = nullptr;
    QCheckBox* m_sync = nullptr;
    QCheckBox* m_memory = nullptr;
    QCheckBox* m_torch = nullptr;
    QCheckBox* m_history = nullptr;
    QComboBox* m_begin = nullptr;
    QSpinBox* m_delay = nullptr;
    QLineEdit* m_range = nullptr;
    QSpinBox* m_duration = nullptr;
    QSpinBox* m_limit = nullptr;
    QCheckBox* m_ring = nullptr;
    QLineEdit* m_output = nullptr;
    QLineEdit* m_remote = nullptr;
    QLabel* m_problem;
    QPushButton* m_record;
    LatestJob m_programsJob{this};
};

} // namespace warpline
