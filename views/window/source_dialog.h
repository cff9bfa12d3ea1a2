// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QDialog>
#include <QStringList>

#include <vector>

class QLabel;
class QPushButton;

namespace warpline {

struct SessionFile;
struct SourceTrouble;

/// Where the files of a session are that are not where they were: each can be located, or is left out.
class SourceDialog : public QDialog {
    Q_OBJECT

  public:
    SourceDialog(const std::vector<SourceTrouble>& missing, const SessionFile& session,
                 QWidget* parent = nullptr);

    /// As the missing ones came; empty = left out.
    [[nodiscard]] const QStringList& found() const { return m_found; }
    void setFound(int index, const QString& path);

  private:
    void locate(int index);
    void refresh();

    QStringList m_names;
    QStringList m_found;
    std::vector<QLabel*> m_states;
    QPushButton* m_open;
};

} // namespace warpline
