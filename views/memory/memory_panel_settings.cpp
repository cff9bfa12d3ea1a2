// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
// What of the memory views a session file keeps.
#include "views/memory/blocks_panel.h"
#include "views/memory/holders_panel.h"
#include "views/memory/memory_panel.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTabWidget>

namespace warpline {

namespace {

Moment momentOf(const QJsonValue& value) {
    return static_cast<Moment>(std::max<qint64>(0, value.toInteger()));
}

} // namespace

QJsonObject MemoryPanel::viewSettings() const {
    QJsonObject out;
    if (!m_focus->hasMemory())
        return out;
    const MemoryView& view = m_focus->view();
    out[QStringLiteral("allocator")] = m_focus->place();
    out[QStringLiteral("time_axis")] = view.axis == MemoryAxis::Time;
    out[QStringLiteral("colour")] = static_cast<int>(m_focus->colour());
    out[QStringLiteral("group")] = QLatin1String(holderGroupName(m_holders->group()));
    out[QStringLiteral("tab")] = m_tabs->currentIndex();
    out[QStringLiteral("moment")] = static_cast<qint64>(m_focus->moment());
    out[QStringLiteral("view")] = QJsonArray{static_cast<qint64>(view.begin), static_cast<qint64>(view.end)};
    out[QStringLiteral("blocks")] = m_blocks->query();
    if (m_focus->marks().both())
        out[QStringLiteral("marks")] = QJsonArray{static_cast<qint64>(*m_focus->marks().first),
                                                  static_cast<qint64>(*m_focus->marks().second)};
    return out;
}

void MemoryPanel::applyViewSettings(const QJsonObject& settings) {
    if (!m_focus->hasMemory() || settings.isEmpty())
        return;
    // What a file does not say stays as it is.
    m_focus->setPlace(settings[QStringLiteral("allocator")].toInt(m_focus->place()));
    if (const QJsonValue time = settings[QStringLiteral("time_axis")]; time.isBool())
        m_focus->setAxis(time.toBool() ? MemoryAxis::Time : MemoryAxis::Events);
    const int colour = settings[QStringLiteral("colour")].toInt(-1);
    if (colour >= 0 && colour <= static_cast<int>(MemoryFocus::Colour::Size))
        m_focus->setColour(static_cast<MemoryFocus::Colour>(colour));
    if (const auto group = holderGroupOf(settings[QStringLiteral("group")].toString().toStdString()))
        m_holders->setGroup(*group);
    if (const QJsonArray marks = settings[QStringLiteral("marks")].toArray(); marks.size() == 2)
        m_focus->setMarks(std::min(momentOf(marks[0]), m_focus->device().lastMoment()),
                          std::min(momentOf(marks[1]), m_focus->device().lastMoment()));
    if (const QJsonArray view = settings[QStringLiteral("view")].toArray(); view.size() == 2)
        m_focus->setView(view[0].toInteger(), view[1].toInteger());
    if (const QJsonValue moment = settings[QStringLiteral("moment")]; moment.isDouble())
        m_focus->setMoment(momentOf(moment));
    m_blocks->setQuery(settings[QStringLiteral("blocks")].toString());
    m_tabs->setCurrentIndex(settings[QStringLiteral("tab")].toInt(m_tabs->currentIndex()));
    // A row of choices shows what holds now.
    takeChoices();
}

} // namespace warpline
