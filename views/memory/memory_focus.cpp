// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/memory_focus.h"

#include "views/text.h"

#include <algorithm>

namespace warpline {

namespace {

constexpr std::int64_t kLeastEvents = 4;
constexpr std::int64_t kLeastTime = 100;

} // namespace

MemoryFocus::MemoryFocus(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(document, &Document::sessionChanged, this, &MemoryFocus::takeSession);
    connect(document, &Document::blockChanged, this, &MemoryFocus::takeBlock);
    takeSession();
}

void MemoryFocus::takeSession() {
    m_places.clear();
    const auto& memories = m_document->memories();
    std::size_t count = 0;
    for (const MemoryItem& item : memories)
        count += item.devices.size();
    for (std::size_t i = 0; i < memories.size(); ++i) {
        for (std::size_t d = 0; d < memories[i].devices.size(); ++d) {
            QString name = toQString(memories[i].history->devices[memories[i].devices[d].device].name());
            if (count > 1) {
                const QString path = toQString(memories[i].history->path);
                name = tr("%1 · %2").arg(name, path.mid(path.lastIndexOf(u'/') + 1));
            }
            m_places.push_back({i, d, name});
        }
    }
    // The one that holds most, of snapshots before what traces tell.
    m_place = m_places.empty() ? -1 : 0;
    const auto rank = [&](const Place& p) {
        const MemoryItem& item = memories[p.item];
        const MemoryDevice& device = item.history->devices[item.devices[p.device].device];
        return std::pair(!item.history->fromTrace, device.peakRequested.requested);
    };
    for (std::size_t p = 1; p < m_places.size(); ++p) {
        if (rank(m_places[p]) > rank(m_places[static_cast<std::size_t>(m_place)]))
            m_place = static_cast<int>(p);
    }
    emit placesChanged();
    takePlace();
}

void MemoryFocus::setPlace(int place) {
    if (place == m_place || place < 0 || static_cast<std::size_t>(place) >= m_places.size())
        return;
    m_place = place;
    takePlace();
}

void MemoryFocus::takePlace() {
    m_marks = {};
    m_moment = 0;
    if (hasMemory()) {
        if (m_view.axis == MemoryAxis::Time && !device().hasTimes)
            m_view.axis = MemoryAxis::Events;
        m_view = whole();
        m_moment = device().peakRequested.moment;
    }
    emit placeChanged();
    emit viewChanged();
    emit momentChanged();
    emit selectionChanged();
    emit marksChanged();
}

const MemoryItem& MemoryFocus::item() const {
    return m_document->memories()[m_places[static_cast<std::size_t>(m_place)].item];
}

const MemoryDeviceItem& MemoryFocus::deviceItem() const {
    return item().devices[m_places[static_cast<std::size_t>(m_place)].device];
}

const MemoryDevice& MemoryFocus::device() const {
    return item().history->devices[deviceItem().device];
}

MemoryView MemoryFocus::whole() const {
    const MemoryDevice& d = device();
    if (m_view.axis == MemoryAxis::Time) {
        const TimeRange extent = d.extent();
        return {MemoryAxis::Time, extent.begin, std::max(extent.end, extent.begin + kLeastTime)};
    }
    return {MemoryAxis::Events, 0, std::max<std::int64_t>(std::int64_t{d.lastMoment()} + 1, kLeastEvents)};
}

void MemoryFocus::setView(std::int64_t begin, std::int64_t end) {
    if (!hasMemory())
        return;
    const MemoryView all = whole();
    const std::int64_t least = m_view.axis == MemoryAxis::Events ? kLeastEvents : kLeastTime;
    const std::int64_t length =
        std::clamp(end - begin, std::min(least, all.end - all.begin), all.end - all.begin);
    begin = std::clamp(begin, all.begin, all.end - length);
    if (begin == m_view.begin && begin + length == m_view.end)
        return;
    m_view.begin = begin;
    m_view.end = begin + length;
    emit viewChanged();
}

void MemoryFocus::setAxis(MemoryAxis axis) {
    if (!hasMemory() || axis == m_view.axis || (axis == MemoryAxis::Time && !device().hasTimes))
        return;
    const Moment first = momentAtPosition(device(), m_view.axis, m_view.begin);
    const Moment last = momentAtPosition(device(), m_view.axis, m_view.end);
    const bool all = m_view.begin == whole().begin && m_view.end == whole().end;
    m_view.axis = axis;
    m_view = whole();
    if (!all)
        setView(axisPosition(device(), axis, first), axisPosition(device(), axis, last));
    emit viewChanged();
}

void MemoryFocus::setMoment(Moment moment) {
    if (!hasMemory())
        return;
    moment = std::min(moment, device().lastMoment());
    if (moment == m_moment)
        return;
    m_moment = moment;
    emit momentChanged();
}

QString MemoryFocus::momentName() const {
    if (!hasMemory())
        return {};
    if (m_moment == device().peakRequested.moment)
        return tr("the peak");
    if (m_moment == device().lastMoment())
        return tr("the end");
    if (m_moment == 0)
        return tr("the start");
    return tr("event %1").arg(countText(std::int64_t{m_moment} - 1));
}

std::int64_t MemoryFocus::bytesAtMoment() const {
    return hasMemory() ? device().curves.requested[m_moment] : 0;
}

bool MemoryFocus::stepPeak(int direction) {
    if (!hasMemory())
        return false;
    const LocalPeak* to = nullptr;
    for (const LocalPeak& peak : deviceItem().peaks) {
        if (direction > 0 && peak.moment > m_moment) {
            to = &peak;
            break;
        }
        if (direction < 0 && peak.moment < m_moment)
            to = &peak;
    }
    if (to == nullptr)
        return false;
    showMoment(to->moment);
    return true;
}

void MemoryFocus::showMoment(Moment moment) {
    if (!hasMemory())
        return;
    setMoment(moment);
    const std::int64_t at = axisPosition(device(), m_view.axis, m_moment);
    if (at < m_view.begin || at >= m_view.end) {
        const std::int64_t length = m_view.end - m_view.begin;
        setView(at - length / 2, at - length / 2 + length);
    }
}

BlockRef MemoryFocus::refOf(BlockId block) const {
    if (!hasMemory() || !block)
        return {};
    const Place& at = m_places[static_cast<std::size_t>(m_place)];
    return {static_cast<int>(at.item), static_cast<int>(at.device), block};
}

BlockId MemoryFocus::selected() const {
    const BlockRef& ref = m_document->selection().block;
    return ref && ref == refOf(ref.block) ? ref.block : BlockId{};
}

void MemoryFocus::select(BlockId block) {
    m_selecting = true;
    m_document->selectBlock(refOf(block));
    m_selecting = false;
}

void MemoryFocus::takeBlock() {
    const BlockRef& ref = m_document->selection().block;
    if (ref && !m_selecting) {
        // It was selected somewhere else: its allocator is looked at, at a moment when it was there.
        for (std::size_t p = 0; p < m_places.size(); ++p) {
            if (static_cast<int>(m_places[p].item) == ref.memory &&
                static_cast<int>(m_places[p].device) == ref.device)
                setPlace(static_cast<int>(p));
        }
        if (const BlockId block = selected(); block && !device().blocks.aliveAt(block.index(), m_moment))
            showMoment(device().blocks.birth[block.index()]);
    }
    emit selectionChanged();
}

void MemoryFocus::toggleMark(Moment moment) {
    if (!m_marks.first || m_marks.both())
        m_marks = {moment, std::nullopt};
    else if (*m_marks.first == moment)
        m_marks = {};
    else
        m_marks = {std::min(*m_marks.first, moment), std::max(*m_marks.first, moment)};
    emit marksChanged();
}

void MemoryFocus::setMarks(Moment first, Moment second) {
    if (first > second)
        std::swap(first, second);
    m_marks = {first, second};
    emit marksChanged();
}

void MemoryFocus::clearMarks() {
    m_marks = {};
    emit marksChanged();
}

void MemoryFocus::setColour(Colour colour) {
    if (colour == m_colour)
        return;
    m_colour = colour;
    emit colourChanged();
}

} // namespace warpline
