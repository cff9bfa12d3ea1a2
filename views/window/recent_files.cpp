// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/recent_files.h"

#include <QFileInfo>
#include <QLocale>
#include <QSettings>

#include <algorithm>

namespace warpline {

RecentFiles::RecentFiles(QObject* parent) : QObject(parent) {
    QSettings settings;
    const int size = settings.beginReadArray(QStringLiteral("recent"));
    for (int i = 0; i < size && m_entries.size() < kMost; ++i) {
        settings.setArrayIndex(i);
        Entry entry{settings.value(QStringLiteral("path")).toString(),
                    settings.value(QStringLiteral("summary")).toString(),
                    settings.value(QStringLiteral("opened")).toDateTime()};
        if (!entry.path.isEmpty())
            m_entries.push_back(std::move(entry));
    }
    settings.endArray();
}

void RecentFiles::add(const QString& path, const QString& summary) {
    if (path == QLatin1String("-"))
        return;
    const QString absolute = QFileInfo(path).absoluteFilePath();
    std::erase_if(m_entries, [&](const Entry& entry) { return entry.path == absolute; });
    m_entries.insert(m_entries.begin(), {absolute, summary, QDateTime::currentDateTime()});
    if (m_entries.size() > kMost)
        m_entries.resize(kMost);
    save();
}

void RecentFiles::remove(const QString& path) {
    if (std::erase_if(m_entries, [&](const Entry& entry) { return entry.path == path; }) > 0)
        save();
}

void RecentFiles::clear() {
    m_entries.clear();
    save();
}

void RecentFiles::save() {
    QSettings settings;
    settings.remove(QStringLiteral("recent"));
    settings.beginWriteArray(QStringLiteral("recent"));
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(QStringLiteral("path"), m_entries[i].path);
        settings.setValue(QStringLiteral("summary"), m_entries[i].summary);
        settings.setValue(QStringLiteral("opened"), m_entries[i].opened);
    }
    settings.endArray();
    emit changed();
}

QString RecentFiles::when(const QDateTime& opened, const QDateTime& now) {
    if (!opened.isValid())
        return {};
    const qint64 days = opened.date().daysTo(now.date());
    if (days == 0)
        return tr("today %1").arg(opened.toString(QStringLiteral("HH:mm")));
    if (days == 1)
        return tr("yesterday");
    const QLocale english(QLocale::English);
    return english.toString(opened.date(), opened.date().year() == now.date().year()
                                               ? QStringLiteral("d MMMM")
                                               : QStringLiteral("d MMMM yyyy"));
}

} // namespace warpline
