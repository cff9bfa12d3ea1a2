// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/memory/memory_item.h"
#include "views/timeline/row_series.h"

#include <QString>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace warpline {

enum class RowKind : std::uint8_t {
    Source,  ///< heading of a file, where there are several
    Group,   ///< heading of a process or a device
    Track,   ///< lanes of slices
    Counter, ///< the series of one counter
    Memory,  ///< bytes of one device's allocator
};

/// Which row; stays the same however rows are moved, folded or hidden.
struct RowId {
    RowKind kind = RowKind::Source;
    int source = -1;
    std::uint32_t process = 0; ///< index into Trace::processes
    std::uint32_t index = 0;   ///< Track: its TrackId; Counter: its first series; Memory: device ordinal
                               ///< + 1, and 65536 more for each snapshot
    auto operator<=>(const RowId&) const = default;
};

/// One row as it stands: what it is called, where it lies, what it holds.
struct Row {
    RowId id;
    QString name;
    QString detail; ///< tid, how many threads: second line, or to the right where there is one line only
    QString where;  ///< the group it belongs to, for rows that stand apart from it
    int top = 0;    ///< logical pixels from the top of its part (pinned or scrolled)
    int height = 0;
    int depth = 0; ///< indent
    bool foldable = false;
    bool folded = false;
    bool pinned = false;
    // Track
    TrackId track;
    TrackKind trackKind = TrackKind::Thread;
    std::uint32_t firstLane = 0;
    int lanes = 0; ///< shown; 0 for headings and series
    int laneHeight = 0;
    // Counter, Memory
    std::size_t series = 0; ///< index into TrackLayout::seriesOf

    [[nodiscard]] int bottom() const { return top + height; }
    /// Where a lane begins, from the same zero as top. What a folded track does not show lies at its one
    /// lane.
    [[nodiscard]] int laneTop(int lane) const {
        return top + kPadding + std::clamp(lane, 0, std::max(lanes - 1, 0)) * laneHeight;
    }
    static constexpr int kPadding = 2; ///< above and below a track's lanes
};

/// Which rows the timeline has, in what order, and how high: per source its processes, then its devices, each
/// with its tracks, counters and allocator. What the user folded, pinned, hid, moved or filtered is kept here
/// and nowhere in the model.
class TrackLayout {
  public:
    static constexpr int kLaneHeight = 18;
    static constexpr int kDeviceLaneHeight = 22;
    static constexpr int kGroupHeight = 20;
    static constexpr int kCounterHeight = 44;
    static constexpr int kMemoryHeight = 112;

    /// Begins anew with what a document holds.
    /// With `keep`, rows that were folded, pinned or hidden and are called the same stay so.
    void setItems(const std::vector<Document::Item>& items, const std::vector<MemoryItem>& memories,
                  bool keep = false);

    /// Rows that stay in place at the top, then those that scroll; each part counts its tops from 0.
    [[nodiscard]] const std::vector<Row>& pinnedRows() const { return m_pinnedRows; }
    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }
    [[nodiscard]] int pinnedHeight() const { return m_pinnedHeight; }
    [[nodiscard]] int height() const { return m_height; }
    /// Rises with every change of rows or places.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }
    [[nodiscard]] const std::vector<RowSeries>& seriesOf(const Row& row) const {
        return *m_series[row.series];
    }

    void setFolded(const RowId& id, bool folded);
    [[nodiscard]] bool isFolded(const RowId& id) const { return m_folded.contains(id); }
    void setPinned(const RowId& id, bool pinned);
    void setHidden(const RowId& id, bool hidden);
    [[nodiscard]] bool isPinned(const RowId& id) const { return m_pinned.contains(id); }
    [[nodiscard]] bool isHidden(const RowId& id) const { return m_hidden.contains(id); }
    /// Every row as it is called, shown or not; places mean nothing here.
    [[nodiscard]] std::vector<Row> everyRow() const;
    [[nodiscard]] std::size_t hiddenCount() const { return m_hidden.size(); }
    void showAll();
    void setFilter(const QString& filter);
    [[nodiscard]] const QString& filter() const { return m_filter; }
    /// Puts a row (a heading: with all it heads) before another of the same group, or, with none, at the end
    /// of its group. Nothing happens where that makes no sense.
    bool move(const RowId& id, std::optional<RowId> before);
    /// One place up (-1) or down (+1) among the shown rows of its group.
    bool moveBy(const RowId& id, int places);
    /// Unfolds, shows and stops filtering as far as it takes to see the lane of a slice.
    void uncover(int source, const Trace& trace, LaneId lane);

    /// The row at a height of the pinned or the scrolled part; null below the last one.
    [[nodiscard]] const Row* rowAt(int y, bool pinned) const;
    [[nodiscard]] const Row* find(const RowId& id) const;
    /// The row that shows a track, pinned or not.
    [[nodiscard]] const Row* rowOf(int source, TrackId track) const;
    /// Rows there would be without filter and hiding.
    [[nodiscard]] std::size_t total() const { return m_entries.size(); }

  private:
    struct Entry {
        Row row;
        int allLanes = 0;
    };
    /// What stays the same of a row when a recording has grown and its tracks are numbered anew.
    static QString keyOf(const Row& row);
    void addSource(int source, const Document::Item& item);
    void addTracks(int source, const Document::Item& item, std::uint32_t process);
    void addCounters(int source, const Document::Item& item, std::uint32_t process);
    void addMemory(int source, const Document::Item& item, std::uint32_t process);
    void addSnapshots(int source, const Document::Item& item, std::uint32_t process);
    void addMemoryRow(int source, const Document::Item& item, std::uint32_t process, std::uint32_t index,
                      int device, const QString& detail);
    /// Whether the allocator of a device stands under a process: with its device, or, where the device ran
    /// nothing, with the process that asked.
    static bool standsHere(const Trace& trace, std::uint32_t process, int device, std::uint32_t asked);
    void arrange();
    [[nodiscard]] bool matches(const Entry& entry) const;
    /// Entries that move together with one: [first, last).
    [[nodiscard]] std::pair<std::size_t, std::size_t> blockOf(std::size_t entry) const;
    [[nodiscard]] std::optional<std::size_t> entryOf(const RowId& id) const;

    std::vector<Entry> m_entries;                                        ///< every row in the user's order
    std::vector<std::shared_ptr<const std::vector<RowSeries>>> m_series; ///< shared with the document's items
    std::vector<MemoryItem> m_memories; ///< snapshots that share a clock with a trace
    std::set<RowId> m_folded;
    std::set<RowId> m_pinned;
    std::set<RowId> m_hidden;
    QString m_filter;
    std::vector<Row> m_pinnedRows;
    std::vector<Row> m_rows;
    int m_pinnedHeight = 0;
    int m_height = 0;
    std::uint64_t m_revision = 0;
};

} // namespace warpline
