// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QDateTime>
#include <QObject>
#include <QString>

#include <vector>

namespace warpline {

/// The files opened last, newest first, kept in the settings.
class RecentFiles : public QObject {
    Q_OBJECT

  public:
    struct Entry {
        QString path;
        QString summary; ///< "15,432 events · 119 ms"
        QDateTime opened;
    };
    static constexpr std::size_t kMost = 8;

    explicit RecentFiles(QObject* parent = nullptr);

    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }
    /// Puts a file in front; a pipe is not remembered.
    void add(const QString& path, const QString& summary);
    void remove(const QString& path);
    void clear();
    /// "today 14:02", "yesterday", "3 March".
    static QString when(const QDateTime& opened, const QDateTime& now);

  signals:
    void changed();

  private:
    void save();
    std::vector<Entry> m_entries;
};

} // namespace warpline
