// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/track_layout.h"

#include "views/text.h"
#include "views/timeline/track_names.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("TrackLayout", text);
}

bool isHeading(RowKind kind) {
    return kind == RowKind::Source || kind == RowKind::Group;
}

QString fileName(const std::string& path) {
    const QString text = toQString(path);
    return text.mid(text.lastIndexOf(QLatin1Char('/')) + 1);
}

/// Threads before what belongs to no thread; a thread's frames under its ops; the main thread first.
auto hostOrder(const Trace& trace, const Track& t) {
    const bool threadLike = t.kind == TrackKind::Thread || t.kind == TrackKind::Python;
    const bool main = !t.tidText && t.tid == trace.processes[t.process].pid;
    return std::tuple(threadLike ? 0 : 1, main ? 0 : 1, threadLike ? t.sortIndex : 0, t.tid, t.tidText.value,
                      static_cast<int>(t.kind));
}

/// Processes, then devices, then what profilers write for themselves under a text in place of a number.
auto processOrder(const Process& p) {
    const int group = p.device ? 1 : p.pidText ? 2 : 0;
    return std::tuple(group, p.device ? std::int64_t{0} : p.sortIndex, p.pid);
}

auto deviceOrder(const Track& t) {
    return std::tuple(streamNumber(t), t.tidText.value, static_cast<int>(t.kind));
}

} // namespace

QString TrackLayout::keyOf(const Row& row) {
    return QString::number(static_cast<int>(row.id.kind)) + u'\n' + row.where + u'\n' + row.name + u'\n' +
           (row.id.kind == RowKind::Track ? row.detail : QString());
}

void TrackLayout::setItems(const std::vector<Document::Item>& items, const std::vector<MemoryItem>& memories,
                           bool keep) {
    struct Kept {
        bool folded, pinned, hidden;
    };
    std::map<QString, Kept> kept;
    for (const Entry& entry : m_entries) {
        const RowId& id = entry.row.id;
        if (keep)
            kept[keyOf(entry.row)] = {m_folded.contains(id), m_pinned.contains(id), m_hidden.contains(id)};
    }
    m_memories.clear();
    for (const MemoryItem& memory : memories) {
        // What a trace tells of itself has its row from the trace.
        if (memory.joined >= 0 && !memory.history->fromTrace)
            m_memories.push_back(memory);
    }
    m_entries.clear();
    m_series.clear();
    m_folded.clear();
    m_pinned.clear();
    m_hidden.clear();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const int source = static_cast<int>(i);
        if (items.size() > 1) {
            Entry heading;
            heading.row.id = {RowKind::Source, source, 0, 0};
            heading.row.name = fileName(items[i].trace->path);
            const std::int64_t rank = items[i].trace->rank;
            heading.row.detail = rank >= 0 ? tr("rank %1").arg(rank) : QString();
            heading.row.foldable = true;
            heading.row.height = kGroupHeight;
            m_entries.push_back(std::move(heading));
        }
        addSource(source, items[i]);
    }
    for (const Entry& entry : m_entries) {
        const auto it = kept.find(keyOf(entry.row));
        if (it == kept.end())
            continue;
        const auto apply = [&](std::set<RowId>& rows, bool on) {
            if (on)
                rows.insert(entry.row.id);
            else
                rows.erase(entry.row.id);
        };
        apply(m_folded, it->second.folded);
        apply(m_pinned, it->second.pinned);
        apply(m_hidden, it->second.hidden);
    }
    arrange();
}

void TrackLayout::addSource(int source, const Document::Item& item) {
    const Trace& trace = *item.trace;
    std::vector<std::uint32_t> order;
    for (std::uint32_t p = 0; p < trace.processes.size(); ++p)
        order.push_back(p);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return processOrder(trace.processes[a]) < processOrder(trace.processes[b]);
    });
    for (const std::uint32_t p : order) {
        const std::size_t before = m_entries.size();
        Entry heading;
        heading.row.id = {RowKind::Group, source, p, 0};
        const RowTitle title = processTitle(trace, p);
        heading.row.name = title.name;
        heading.row.detail = title.detail;
        heading.row.foldable = true;
        heading.row.height = kGroupHeight;
        m_entries.push_back(std::move(heading));
        addTracks(source, item, p);
        addCounters(source, item, p);
        addMemory(source, item, p);
        addSnapshots(source, item, p);
        if (m_entries.size() == before + 1)
            m_entries.pop_back(); // a process of which nothing was recorded
    }
}

void TrackLayout::addTracks(int source, const Document::Item& item, std::uint32_t process) {
    const Trace& trace = *item.trace;
    const bool device = trace.processes[process].device;
    std::vector<std::uint32_t> order;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        if (trace.tracks[t].process == process && trace.tracks[t].laneCount > 0)
            order.push_back(t);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return device ? deviceOrder(trace.tracks[a]) < deviceOrder(trace.tracks[b])
                      : hostOrder(trace, trace.tracks[a]) < hostOrder(trace, trace.tracks[b]);
    });
    const QString where = processTitle(trace, process).name;
    for (const std::uint32_t t : order) {
        const Track& track = trace.tracks[t];
        Entry entry;
        Row& row = entry.row;
        row.id = {RowKind::Track, source, process, TrackId::fromIndex(t).value};
        const RowTitle title = trackTitle(trace, TrackId::fromIndex(t));
        row.name = title.name;
        row.detail = title.detail;
        row.where = where;
        row.depth = 1;
        row.track = TrackId::fromIndex(t);
        row.trackKind = track.kind;
        row.firstLane = track.firstLane;
        entry.allLanes = static_cast<int>(track.laneCount);
        row.foldable = track.laneCount > 1;
        row.laneHeight = device ? kDeviceLaneHeight : kLaneHeight;
        // Frames say the same as ops at ten times the height: there, but folded.
        if (track.kind == TrackKind::Python && row.foldable)
            m_folded.insert(row.id);
        m_entries.push_back(std::move(entry));
    }
}

void TrackLayout::addCounters(int source, const Document::Item& item, std::uint32_t process) {
    for (const SourceSeries::Counter& counter : item.series->counters) {
        if (counter.process != process)
            continue;
        Entry entry;
        entry.row.id = {RowKind::Counter, source, process, counter.index};
        entry.row.name = counter.name;
        entry.row.where = processTitle(*item.trace, process).name;
        entry.row.depth = 1;
        entry.row.height = kCounterHeight;
        entry.row.series = m_series.size();
        m_series.emplace_back(item.series, &counter.series);
        m_entries.push_back(std::move(entry));
    }
}

bool TrackLayout::standsHere(const Trace& trace, std::uint32_t process, int device, std::uint32_t asked) {
    const bool hasDeviceGroup = std::any_of(trace.tracks.begin(), trace.tracks.end(), [&](const Track& t) {
        return trace.processes[t.process].device && trace.processes[t.process].pid == device;
    });
    const Process& place = trace.processes[process];
    return hasDeviceGroup && device >= 0 ? place.device && place.pid == device : asked == process;
}

void TrackLayout::addMemoryRow(int source, const Document::Item& item, std::uint32_t process,
                               std::uint32_t index, int device, const QString& detail) {
    const Trace& trace = *item.trace;
    Entry entry;
    entry.row.id = {RowKind::Memory, source, process, index};
    entry.row.name = device < 0                        ? tr("host memory")
                     : trace.processes[process].device ? tr("memory")
                                                       : tr("GPU %1 memory").arg(device);
    entry.row.where = processTitle(trace, process).name;
    entry.row.detail = detail;
    entry.row.depth = 1;
    entry.row.height = device < 0 ? kCounterHeight : kMemoryHeight;
    entry.row.series = m_series.size() - 1;
    m_entries.push_back(std::move(entry));
}

void TrackLayout::addMemory(int source, const Document::Item& item, std::uint32_t process) {
    for (const SourceSeries::Allocator& allocator : item.series->allocators) {
        if (!standsHere(*item.trace, process, allocator.device, allocator.process))
            continue;
        m_series.emplace_back(item.series, &allocator.series);
        addMemoryRow(source, item, process, static_cast<std::uint32_t>(allocator.device + 1),
                     allocator.device,
                     allocator.series.size() > 1 ? tr("allocated, reserved") : tr("allocated"));
    }
}

void TrackLayout::addSnapshots(int source, const Document::Item& item, std::uint32_t process) {
    for (std::size_t m = 0; m < m_memories.size(); ++m) {
        const MemoryItem& memory = m_memories[m];
        if (memory.joined != source)
            continue;
        for (const MemoryDeviceItem& of : memory.devices) {
            const MemoryDevice& device = memory.history->devices[of.device];
            const int ordinal = device.host ? -1 : static_cast<int>(device.ordinal);
            if (of.series->empty() || !standsHere(*item.trace, process, ordinal, 0))
                continue;
            m_series.push_back(of.series);
            addMemoryRow(source, item, process,
                         static_cast<std::uint32_t>(ordinal + 1) + static_cast<std::uint32_t>(m + 1) * 65536U,
                         ordinal, tr("%1: requested, reserved").arg(fileName(memory.history->path)));
        }
    }
}

bool TrackLayout::matches(const Entry& entry) const {
    if (m_filter.isEmpty())
        return true;
    const auto contains = [this](const QString& text) {
        return text.contains(m_filter, Qt::CaseInsensitive);
    };
    return contains(entry.row.name) || contains(entry.row.detail) || contains(entry.row.where);
}

void TrackLayout::arrange() {
    ++m_revision;
    m_rows.clear();
    m_pinnedRows.clear();
    m_pinnedHeight = 0;
    m_height = 0;
    const auto place = [](std::vector<Row>& rows, int& height, Row row) {
        row.top = height;
        height += row.height;
        rows.push_back(std::move(row));
    };
    const Entry* source = nullptr;
    const Entry* group = nullptr;
    bool sourceShown = false;
    bool groupShown = false;
    for (const Entry& entry : m_entries) {
        if (entry.row.id.kind == RowKind::Source) {
            source = &entry;
            group = nullptr;
            sourceShown = false;
            continue;
        }
        if (entry.row.id.kind == RowKind::Group) {
            group = &entry;
            groupShown = false;
            continue;
        }
        const bool hidden = isHidden(entry.row.id) || (group != nullptr && isHidden(group->row.id)) ||
                            (source != nullptr && isHidden(source->row.id));
        const bool sourceMatches = source != nullptr && !m_filter.isEmpty() && matches(*source);
        if (hidden || !(matches(entry) || sourceMatches))
            continue;
        Row row = entry.row;
        row.folded = row.foldable && isFolded(row.id);
        row.pinned = m_pinned.contains(row.id);
        if (row.id.kind == RowKind::Track) {
            row.lanes = row.folded ? 1 : entry.allLanes;
            row.height = row.lanes * row.laneHeight + 2 * Row::kPadding;
        }
        if (row.pinned) {
            row.depth = 0;
            place(m_pinnedRows, m_pinnedHeight, std::move(row));
            continue;
        }
        // Headings come with the first row they head. What a filter finds is not kept back by folding.
        const bool filtering = !m_filter.isEmpty();
        const auto placeHeading = [&](const Entry* heading, bool& shown) {
            if (heading == nullptr || shown)
                return;
            shown = true;
            Row copy = heading->row;
            copy.folded = !filtering && isFolded(copy.id);
            place(m_rows, m_height, std::move(copy));
        };
        placeHeading(source, sourceShown);
        if (source != nullptr && !filtering && isFolded(source->row.id))
            continue;
        placeHeading(group, groupShown);
        if (group != nullptr && !filtering && isFolded(group->row.id))
            continue;
        place(m_rows, m_height, std::move(row));
    }
}

void TrackLayout::setFolded(const RowId& id, bool folded) {
    if (folded ? m_folded.insert(id).second : m_folded.erase(id) > 0)
        arrange();
}

void TrackLayout::setPinned(const RowId& id, bool pinned) {
    if (isHeading(id.kind))
        return;
    if (pinned ? m_pinned.insert(id).second : m_pinned.erase(id) > 0)
        arrange();
}

void TrackLayout::setHidden(const RowId& id, bool hidden) {
    if (hidden ? m_hidden.insert(id).second : m_hidden.erase(id) > 0)
        arrange();
}

void TrackLayout::showAll() {
    m_hidden.clear();
    m_filter.clear();
    arrange();
}

void TrackLayout::setFilter(const QString& filter) {
    const QString text = filter.trimmed();
    if (text == m_filter)
        return;
    m_filter = text;
    arrange();
}

std::optional<std::size_t> TrackLayout::entryOf(const RowId& id) const {
    const auto it = std::find_if(m_entries.begin(), m_entries.end(),
                                 [&](const Entry& entry) { return entry.row.id == id; });
    if (it == m_entries.end())
        return std::nullopt;
    return static_cast<std::size_t>(it - m_entries.begin());
}

std::pair<std::size_t, std::size_t> TrackLayout::blockOf(std::size_t entry) const {
    const RowKind kind = m_entries[entry].row.id.kind;
    std::size_t last = entry + 1;
    if (kind == RowKind::Group || kind == RowKind::Source) {
        while (last < m_entries.size() && m_entries[last].row.id.kind != RowKind::Source &&
               !(kind == RowKind::Group && m_entries[last].row.id.kind == RowKind::Group))
            ++last;
    }
    return {entry, last};
}

bool TrackLayout::move(const RowId& id, std::optional<RowId> before) {
    const auto sibling = [&id](const RowId& other) {
        if (isHeading(id.kind) || isHeading(other.kind))
            return id.kind == other.kind && (id.kind == RowKind::Source || id.source == other.source);
        return id.source == other.source && id.process == other.process;
    };
    const auto from = entryOf(id);
    if (!from || (before && (!sibling(*before) || *before == id)))
        return false;
    std::size_t target = *from;
    if (before) {
        const auto at = entryOf(*before);
        if (!at)
            return false;
        target = *at;
    } else {
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            if (sibling(m_entries[i].row.id))
                target = std::max(target, blockOf(i).second);
        }
    }
    const auto [first, last] = blockOf(*from);
    if (target >= first && target <= last)
        return false;
    const auto at = [this](std::size_t i) { return m_entries.begin() + static_cast<std::ptrdiff_t>(i); };
    if (target < first)
        std::rotate(at(target), at(first), at(last));
    else
        std::rotate(at(first), at(last), at(target));
    arrange();
    return true;
}

bool TrackLayout::moveBy(const RowId& id, int places) {
    std::vector<RowId> siblings;
    const Row* moved = find(id);
    if (moved == nullptr)
        return false;
    for (const std::vector<Row>* part : {&m_pinnedRows, &m_rows}) {
        for (const Row& row : *part) {
            const bool same =
                isHeading(id.kind)
                    ? row.id.kind == id.kind && (id.kind == RowKind::Source || row.id.source == id.source)
                    : !isHeading(row.id.kind) && row.id.source == id.source && row.id.process == id.process &&
                          row.pinned == moved->pinned;
            if (same)
                siblings.push_back(row.id);
        }
    }
    const auto it = std::find(siblings.begin(), siblings.end(), id);
    if (it == siblings.end())
        return false;
    const std::ptrdiff_t at = it - siblings.begin();
    const auto count = static_cast<std::ptrdiff_t>(siblings.size());
    if (places < 0)
        return at > 0 && move(id, siblings[static_cast<std::size_t>(at - 1)]);
    if (at + 1 >= count)
        return false;
    if (at + 2 < count)
        return move(id, siblings[static_cast<std::size_t>(at + 2)]);
    return move(id, std::nullopt);
}

void TrackLayout::uncover(int source, const Trace& trace, LaneId lane) {
    const Lane& line = trace.lanes[lane.index()];
    const std::uint32_t process = trace.tracks[line.track.index()].process;
    const RowId track{RowKind::Track, source, process, line.track.value};
    const RowId group{RowKind::Group, source, process, 0};
    const RowId heading{RowKind::Source, source, 0, 0};
    std::size_t changed = 0;
    for (const RowId& id : {track, group, heading})
        changed += m_hidden.erase(id);
    changed += m_folded.erase(group) + m_folded.erase(heading);
    if (line.depth > 0)
        changed += m_folded.erase(track);
    const auto entry = entryOf(track);
    if (entry && !m_filter.isEmpty() && !matches(m_entries[*entry])) {
        m_filter.clear();
        ++changed;
    }
    if (changed > 0)
        arrange();
}

const Row* TrackLayout::rowAt(int y, bool pinned) const {
    const std::vector<Row>& rows = pinned ? m_pinnedRows : m_rows;
    const auto it = std::upper_bound(rows.begin(), rows.end(), y,
                                     [](int value, const Row& row) { return value < row.bottom(); });
    return it == rows.end() || y < it->top ? nullptr : &*it;
}

std::vector<Row> TrackLayout::everyRow() const {
    std::vector<Row> rows;
    rows.reserve(m_entries.size());
    for (const Entry& entry : m_entries)
        rows.push_back(entry.row);
    return rows;
}

const Row* TrackLayout::find(const RowId& id) const {
    for (const std::vector<Row>* part : {&m_pinnedRows, &m_rows}) {
        for (const Row& row : *part) {
            if (row.id == id)
                return &row;
        }
    }
    return nullptr;
}

const Row* TrackLayout::rowOf(int source, TrackId track) const {
    for (const std::vector<Row>* part : {&m_pinnedRows, &m_rows}) {
        for (const Row& row : *part) {
            if (row.id.kind == RowKind::Track && row.id.source == source && row.track == track)
                return &row;
        }
    }
    return nullptr;
}

} // namespace warpline
