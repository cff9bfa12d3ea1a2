// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_layout.h"

#include "model/base/parallel.h"
#include "model/query/live_stack.h"

#include <algorithm>
#include <thread>

namespace warpline {

namespace {

constexpr int kMostPixels = 16384;
/// Columns are written to the picture this many at once, so that each line of memory is touched once.
constexpr std::size_t kTile = 64;

/// Into how many parts a picture is cut: each walks from a moment of its own.
std::size_t workers() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
}

/// The byte at the centre of each row, from the lowest row up.
std::vector<std::int64_t> rowCentres(ByteRange bytes, int rows) {
    std::vector<std::int64_t> centres(static_cast<std::size_t>(rows));
    const double height = static_cast<double>(bytes.end) - static_cast<double>(bytes.begin);
    for (int r = 0; r < rows; ++r)
        centres[static_cast<std::size_t>(r)] =
            bytes.begin + static_cast<std::int64_t>(height * (r + 0.5) / rows);
    return centres;
}

/// Puts up to kTile columns, each bottom up, into the picture from column `first` on.
/// Each value fills `step` rows.
void putColumns(const std::uint32_t* const* from, std::size_t first, std::size_t count, std::size_t values,
                std::size_t step, LayoutFrame& out) {
    const auto columns = static_cast<std::size_t>(out.columns);
    const auto rows = static_cast<std::size_t>(out.rows);
    BlockId line[kTile];
    for (std::size_t v = 0; v < values; ++v) {
        for (std::size_t c = 0; c < count; ++c)
            line[c] = BlockId{from[c][v]};
        for (std::size_t r = v * step; r < std::min(rows, (v + 1) * step); ++r)
            std::copy_n(line, count, out.cells.data() + (rows - 1 - r) * columns + first);
    }
}

} // namespace

std::shared_ptr<const MemoryLayout> MemoryLayout::build(MemoryHistoryPtr history, std::size_t device,
                                                        std::stop_token stop) {
    const std::shared_ptr<MemoryLayout> layout(new MemoryLayout);
    layout->m_history = std::move(history);
    layout->m_device = device;
    const MemoryDevice& d = layout->device();
    layout->m_requested = std::make_unique<CurveIndex>(d.curves.requested.view());
    layout->m_allocated = std::make_unique<CurveIndex>(d.curves.allocated.view());
    layout->m_reserved = std::make_unique<CurveIndex>(d.curves.reserved.view());
    layout->m_live = std::make_unique<LiveIndex>(d);
    layout->m_peak = d.peakRequested.requested;
    for (std::size_t row = 0; row < d.blocks.count(); ++row)
        if ((d.blocks.flags[row] & BlockFlag::ImplicitFree) != 0)
            layout->m_implicit.emplace_back(d.blocks.death[row], static_cast<std::uint32_t>(row));
    std::sort(layout->m_implicit.begin(), layout->m_implicit.end());
    layout->m_largestFirst = LiveStack::largestFirst(d);

    // Few events are quick to walk; columns are for the others.
    const std::size_t moments = std::size_t{d.lastMoment()} + 1;
    if (moments < std::size_t{kEventsPerColumn} * 512)
        return layout;
    const std::size_t columns = (moments + kEventsPerColumn - 1) / kEventsPerColumn;
    layout->m_preparedMoment.reset(columns);
    layout->m_prepared.reset(columns * kPreparedRows);
    const std::vector<std::int64_t> centres = rowCentres({0, layout->m_peak}, kPreparedRows);
    for (std::size_t c = 0; c < columns; ++c) {
        const auto first = static_cast<Moment>(c * kEventsPerColumn);
        const auto last = static_cast<Moment>(std::min(moments, (c + 1) * kEventsPerColumn) - 1);
        layout->m_preparedMoment[c] = layout->m_requested->extremes(first, last).maxAt;
    }
    const std::size_t parts = workers();
    parallelFor(parts, static_cast<unsigned>(parts), [&](std::size_t part) {
        const std::size_t begin = columns * part / parts;
        const std::size_t end = columns * (part + 1) / parts;
        if (begin == end)
            return;
        LiveStack stack(d, *layout->m_live, layout->m_implicit, layout->m_largestFirst,
                        layout->m_preparedMoment[begin]);
        for (std::size_t c = begin; c < end && !stop.stop_requested(); ++c) {
            stack.advance(layout->m_preparedMoment[c]);
            stack.column(centres, layout->m_peak / kPreparedRows,
                         layout->m_prepared.data() + c * kPreparedRows);
        }
    });
    if (stop.stop_requested())
        return nullptr;
    return layout;
}

void MemoryLayout::frame(const MemoryView& view, ByteRange bytes, int columns, int rows,
                         LayoutFrame& out) const {
    columns = std::clamp(columns, 0, kMostPixels);
    rows = std::clamp(rows, 0, kMostPixels);
    out.columns = columns;
    out.rows = rows;
    out.cells.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
    out.moments.resize(static_cast<std::size_t>(columns));
    out.totals.resize(static_cast<std::size_t>(columns));
    if (columns == 0)
        return;
    const std::vector<MomentSpan> spans = momentColumns(device(), view, columns);
    for (std::size_t c = 0; c < spans.size(); ++c)
        out.moments[c] = m_requested->extremes(spans[c].first, spans[c].last).maxAt;
    const std::uint64_t moves = spans.back().last - spans.front().first;
    const double perRow =
        rows > 0 ? (static_cast<double>(bytes.end) - static_cast<double>(bytes.begin)) / rows : 0;
    const bool prepared = m_preparedMoment.size() > 0 &&
                          moves >= static_cast<std::uint64_t>(columns) * kEventsPerColumn &&
                          perRow * 2 * kPreparedRows >= static_cast<double>(m_peak);
    if (prepared)
        for (Moment& m : out.moments)
            m = m_preparedMoment[m / kEventsPerColumn];
    for (std::size_t c = 0; c < spans.size(); ++c)
        out.totals[c] = device().curves.requested[out.moments[c]];
    if (rows == 0)
        return;
    if (prepared)
        preparedColumns(bytes, out);
    else
        exactColumns(bytes, out);
}

void MemoryLayout::exactColumns(ByteRange bytes, LayoutFrame& out) const {
    const auto columns = static_cast<std::size_t>(out.columns);
    const auto rows = static_cast<std::size_t>(out.rows);
    const double perRow = (static_cast<double>(bytes.end) - static_cast<double>(bytes.begin)) / out.rows;
    // Where blocks are thinner than a pixel on average, two by two pixels show one of them.
    std::vector<std::uint32_t> live;
    const Moment middle = out.moments[columns / 2];
    m_live->live(middle, live);
    const bool thin = !live.empty() && static_cast<double>(device().curves.requested[middle]) <=
                                           perRow * static_cast<double>(live.size());
    const std::size_t step = thin ? 2 : 1;
    for (std::size_t c = 0; thin && c + 1 < columns; c += 2) {
        const std::size_t fuller = out.totals[c + 1] > out.totals[c] ? c + 1 : c;
        out.moments[c] = out.moments[c + 1] = out.moments[fuller];
        out.totals[c] = out.totals[c + 1] = out.totals[fuller];
    }
    const std::size_t values = (rows + step - 1) / step;
    const auto apart = static_cast<std::int64_t>(perRow * static_cast<double>(step));
    // Rows count from the top: with an odd one its pair reaches beyond it.
    const auto top = bytes.begin + static_cast<std::int64_t>(perRow * static_cast<double>(values * step));
    const std::vector<std::int64_t> centres =
        rowCentres({bytes.begin, values * step == rows ? bytes.end : top}, static_cast<int>(values));
    // Each part walks from its own first moment on.
    const std::size_t parts = workers();
    parallelFor(parts, static_cast<unsigned>(parts), [&](std::size_t part) {
        const std::size_t first = columns * part / parts;
        const std::size_t last = columns * (part + 1) / parts;
        if (first == last)
            return;
        LiveStack stack(device(), *m_live, m_implicit, m_largestFirst, out.moments[first]);
        std::vector<std::uint32_t> tile((kTile + 1) * values);
        std::uint32_t* from[kTile] = {};
        std::uint32_t* before = nullptr; // the column to the left
        for (std::size_t c = first; c < last; c += kTile) {
            const std::size_t count = std::min(kTile, last - c);
            std::uint32_t* next = tile.data();
            const std::uint32_t* const kept = before;
            for (std::size_t i = 0; i < count; ++i) {
                // Columns of one moment show the same. The last of the tile before stays beside this one.
                if (before == nullptr || out.moments[c + i] != out.moments[c + i - 1]) {
                    next += next == kept ? values : 0;
                    stack.advance(out.moments[c + i]);
                    stack.column(centres, apart, next);
                    before = next;
                    next += values;
                }
                from[i] = before;
            }
            putColumns(from, c, count, values, step, out);
        }
    });
}

void MemoryLayout::preparedColumns(ByteRange bytes, LayoutFrame& out) const {
    const std::vector<std::int64_t> centres = rowCentres(bytes, out.rows);
    const auto columns = static_cast<std::size_t>(out.columns);
    const auto rows = static_cast<std::size_t>(out.rows);
    // Which prepared row each row shows; one beyond the top shows nothing.
    std::vector<std::uint32_t> from(rows, kPreparedRows);
    for (std::size_t r = 0; r < rows; ++r)
        if (centres[r] >= 0 && centres[r] < m_peak)
            from[r] = std::min<std::uint32_t>(
                kPreparedRows - 1, static_cast<std::uint32_t>(static_cast<double>(centres[r]) *
                                                              kPreparedRows / static_cast<double>(m_peak)));
    const std::size_t tiles = (columns + kTile - 1) / kTile;
    const std::size_t parts = workers();
    parallelFor(parts, static_cast<unsigned>(parts), [&](std::size_t part) {
        for (std::size_t t = tiles * part / parts; t < tiles * (part + 1) / parts; ++t) {
            const std::size_t first = t * kTile;
            const std::size_t count = std::min(kTile, columns - first);
            const std::uint32_t* source[kTile];
            for (std::size_t c = 0; c < count; ++c)
                source[c] = m_prepared.data() +
                            std::size_t{out.moments[first + c] / kEventsPerColumn} * kPreparedRows;
            for (std::size_t r = 0; r < rows; ++r) {
                BlockId* to = out.cells.data() + (rows - 1 - r) * columns + first;
                const std::uint32_t row = from[r];
                for (std::size_t c = 0; c < count; ++c)
                    to[c] = row < kPreparedRows ? BlockId{source[c][row]} : BlockId{};
            }
        }
    });
}

BlockId MemoryLayout::blockAt(Moment moment, std::int64_t byte) const {
    std::vector<std::uint32_t> rows;
    m_live->live(std::min(moment, device().lastMoment()), rows);
    std::int64_t at = 0;
    for (const std::uint32_t row : rows) {
        at += device().blocks.size[row];
        if (byte < at)
            return byte < 0 ? BlockId{} : BlockId::fromIndex(row);
    }
    return {};
}

std::optional<ByteRange> MemoryLayout::position(BlockId block, Moment moment) const {
    const MemoryBlockTable& b = device().blocks;
    if (!block || block.index() >= b.count() || !b.aliveAt(block.index(), moment))
        return std::nullopt;
    std::vector<std::uint32_t> rows;
    m_live->live(moment, rows);
    std::int64_t at = 0;
    for (const std::uint32_t row : rows) {
        if (row == block.index())
            break;
        at += b.size[row];
    }
    return ByteRange{at, at + b.size[block.index()]};
}

BlockBand MemoryLayout::band(BlockId block, const std::vector<Moment>& moments) const {
    BlockBand band;
    band.columns.resize(moments.size());
    const MemoryBlockTable& b = device().blocks;
    if (!block || block.index() >= b.count())
        return band;
    const std::size_t row = block.index();
    const auto first = std::lower_bound(moments.begin(), moments.end(), b.birth[row]);
    const auto last = std::lower_bound(first, moments.end(), b.death[row]);
    band.first = static_cast<int>(first - moments.begin());
    band.last = static_cast<int>(last - moments.begin());
    if (first == last)
        return band;
    const std::optional<ByteRange> start = position(block, *first);
    if (!start)
        return band;
    // While it lives only blocks below it are of interest, and none is born there any more.
    std::int64_t at = start->begin;
    Moment moment = *first;
    const MemoryEventTable& e = device().events;
    auto implicit =
        std::upper_bound(m_implicit.begin(), m_implicit.end(), std::pair{moment, ~std::uint32_t{0}});
    for (auto m = first; m != last; ++m) {
        for (; moment < *m; ++moment) {
            if (e.action[moment] == MemoryAction::FreeCompleted && e.block[moment] &&
                e.block[moment].index() < row)
                at -= b.size[e.block[moment].index()];
            for (; implicit != m_implicit.end() && implicit->first == moment + 1; ++implicit)
                if (implicit->second < row)
                    at -= b.size[implicit->second];
        }
        band.columns[static_cast<std::size_t>(m - moments.begin())] = {at, at + b.size[row]};
    }
    return band;
}

std::size_t MemoryLayout::bytes() const {
    return m_preparedMoment.bytes() + m_prepared.bytes() + m_requested->bytes() + m_allocated->bytes() +
           m_reserved->bytes() + m_live->bytes() + m_implicit.size() * sizeof(m_implicit[0]) +
           m_largestFirst.size() * sizeof(m_largestFirst[0]);
}

} // namespace warpline
