// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/document.h"

#include "views/memory/memory_item.h"
#include "views/timeline/coordinates.h"

#include <utility>

namespace warpline {

using namespace coordinates;

Document::Prepared::Prepared() = default;
Document::Prepared::Prepared(const Prepared&) = default;
Document::Prepared::Prepared(Prepared&&) noexcept = default;
Document::Prepared& Document::Prepared::operator=(const Prepared&) = default;
Document::Prepared& Document::Prepared::operator=(Prepared&&) noexcept = default;
Document::Prepared::~Prepared() = default;

Document::Document(QObject* parent) : QObject(parent) {}

Document::~Document() = default;

void Document::take(Prepared prepared) {
    m_session = std::move(prepared.session);
    m_items = std::move(prepared.items);
    m_memories = std::move(prepared.memories);
    m_profiles = std::move(prepared.profiles);
    m_extent = {};
    for (const Item& item : m_items) {
        const TimeRange own = item.trace->extent;
        if (!own.empty())
            m_extent = m_extent.united({add(own.begin, item.shift), add(own.end, item.shift)});
    }
    m_traceExtent = m_extent.empty() ? TimeRange{0, 1} : m_extent;
    for (const MemoryItem& item : m_memories) {
        // One that shares no clock with the traces does not stretch their axis.
        const TimeRange own = item.history->extent;
        if (!own.empty() && (item.joined >= 0 || m_items.empty()))
            m_extent = m_extent.united({add(own.begin, item.shift), add(own.end, item.shift)});
    }
    if (m_extent.empty() && !empty()) {
        // Everything at one moment, or nothing with a time: a nanosecond to stand on.
        const TimeNs at =
            m_items.empty() ? 0 : add(m_items.front().trace->extent.begin, m_items.front().shift);
        m_extent = {at, at + 1};
        m_traceExtent = m_extent;
    }
    // A range of time and names mean something in what has grown; numbers do not.
    m_selection.slice = {};
    m_selection.block = {};
    m_selection.frame.memory = -1;
    m_selection.tracks.clear();
    m_hits.clear();
    m_history.assign(1, m_selection);
    m_at = 0;
}

void Document::remember(const Selection& before) {
    if (m_going)
        return;
    if (m_history.empty())
        m_history.push_back(before);
    const Selection& now = m_selection;
    // A range that is being dragged is one step, not one a pixel.
    const bool dragged = now.range && before.range && before.slice == now.slice &&
                         before.block == now.block && before.sameFilter(now) &&
                         (before.range->begin == now.range->begin || before.range->end == now.range->end);
    constexpr std::size_t kMost = 200;
    m_history.resize(m_at + 1);
    if (dragged) {
        m_history.back() = now;
        return;
    }
    if (m_history.size() == kMost)
        m_history.erase(m_history.begin());
    m_history.push_back(now);
    m_at = m_history.size() - 1;
}

void Document::go(std::size_t step) {
    m_at = step;
    const Selection to = m_history[step];
    m_going = true;
    setSelection(to);
    if (to.slice)
        emit revealRequested(to.slice);
    m_going = false;
    if (to.view != ViewKind::None)
        emit viewRequested(to.view);
}

bool Document::back() {
    if (m_at == 0 || m_history.empty())
        return false;
    go(m_at - 1);
    return true;
}

bool Document::forward() {
    if (m_at + 1 >= m_history.size())
        return false;
    go(m_at + 1);
    return true;
}

void Document::grow(Prepared prepared) {
    const bool first = empty();
    take(std::move(prepared));
    if (first)
        m_visible = m_extent;
    m_growing = true;
    emit sessionChanged();
    m_growing = false;
    emit visibleChanged();
    emit selectionChanged();
    emit hitsChanged();
}

void Document::set(Prepared prepared) {
    take(std::move(prepared));
    // A snapshot may reach far beyond the trace beside it; the trace is what is looked at first.
    m_visible = m_items.empty() ? m_extent : m_traceExtent;
    m_selection = {};
    m_history.assign(1, {});
    emit sessionChanged();
    emit visibleChanged();
    emit selectionChanged();
    emit rangeChanged();
    emit filterChanged();
    emit blockChanged();
    emit hitsChanged();
}

void Document::clear() {
    set({});
}

void Document::setVisible(TimeRange range) {
    if (empty())
        return;
    if (range.end <= range.begin)
        range.end = add(range.begin, 1);
    range = movedInto(range, widened(m_extent, 0.05));
    if (range == m_visible)
        return;
    m_visible = range;
    emit visibleChanged();
}

void Document::setSelection(Selection next) {
    if (!next.slice)
        next.slice = {};
    if (!next.block)
        next.block = {};
    if (next.range && next.range->empty())
        next.range.reset();
    if (!next.range)
        next.rangeName.clear();
    next.step = next.range ? stepOf(*next.range) : std::nullopt;
    const Selection before = std::exchange(m_selection, std::move(next));
    if (m_selection.same(before)) {
        m_selection.view = before.view;
        return;
    }
    remember(before);
    // A listener may select again: what it changes is told by its own change.
    const Selection now = m_selection;
    if (now.range != before.range || now.rangeName != before.rangeName)
        emit rangeChanged();
    if (!now.sameFilter(before))
        emit filterChanged();
    if (now.slice != before.slice)
        emit selectionChanged();
    if (now.block != before.block)
        emit blockChanged();
}

std::optional<std::int64_t> Document::stepOf(TimeRange range) const {
    for (const Item& item : m_items) {
        for (const Step& step : item.trace->steps) {
            if (add(step.range.begin, item.shift) == range.begin &&
                add(step.range.end, item.shift) == range.end)
                return step.number;
        }
    }
    return std::nullopt;
}

void Document::select(SliceRef slice, ViewKind from) {
    Selection next = m_selection;
    next.slice = slice;
    next.view = from;
    setSelection(std::move(next));
}

void Document::reveal(SliceRef slice) {
    select(slice);
    if (slice)
        emit revealRequested(slice);
}

void Document::setRange(std::optional<TimeRange> range, const QString& name, ViewKind from) {
    Selection next = m_selection;
    next.range = range;
    next.rangeName = name;
    next.view = from;
    setSelection(std::move(next));
}

void Document::selectOp(const QString& name, ViewKind from) {
    Selection next = m_selection;
    next.op = name;
    next.view = from;
    setSelection(std::move(next));
}

void Document::selectKernel(const QString& name, ViewKind from) {
    Selection next = m_selection;
    next.kernel = name;
    next.view = from;
    setSelection(std::move(next));
}

void Document::selectFrame(const FrameRef& frame, ViewKind from) {
    Selection next = m_selection;
    next.frame = frame;
    next.view = from;
    setSelection(std::move(next));
}

void Document::selectTracks(std::vector<TrackRef> tracks, ViewKind from) {
    Selection next = m_selection;
    next.tracks = std::move(tracks);
    next.view = from;
    setSelection(std::move(next));
}

void Document::selectBlock(const BlockRef& block, ViewKind from) {
    Selection next = m_selection;
    next.block = block;
    next.view = from;
    setSelection(std::move(next));
}

void Document::setHits(std::vector<SliceRef> hits) {
    if (hits.empty() && m_hits.empty())
        return;
    m_hits = std::move(hits);
    emit hitsChanged();
}

QString Document::sliceName(SliceRef ref) const {
    if (!ref)
        return {};
    const std::string_view name = m_items.at(static_cast<std::size_t>(ref.source)).trace->name(ref.slice);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

TimeRange Document::sliceRange(SliceRef ref) const {
    if (!ref)
        return {};
    const Item& item = m_items.at(static_cast<std::size_t>(ref.source));
    const TimeRange own = item.trace->range(ref.slice);
    return {add(own.begin, item.shift), add(own.end, item.shift)};
}

} // namespace warpline
