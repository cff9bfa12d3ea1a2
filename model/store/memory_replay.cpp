// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/memory_replay.h"

#include <algorithm>

namespace warpline {

namespace {

constexpr std::uint32_t kUnmatched = 0x80000000u;

std::uint64_t endOf(std::uint64_t address, std::int64_t size) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(address, static_cast<std::uint64_t>(size), &end))
        return ~std::uint64_t{0};
    return end;
}

/// Sums of hostile sizes may wrap; they do so as unsigned numbers.
std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

} // namespace

void MemoryReplay::run() {
    matchBlocks();
    totals();
    matchSegments();
    startBlocks();
    writeHistory();
    replaySegments();
}

/// Finds which block each event is about. Nothing else is kept of the blocks here: what there is to say of
/// one stands in its events.
void MemoryReplay::matchBlocks() {
    const std::size_t rows = m_in.m_rows;
    Column<BlockId>& of = m_out.events.block;
    of.reset(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto event = static_cast<std::uint32_t>(i);
        const std::uint64_t address = m_in.m_address[i];
        std::uint32_t number = 0;
        switch (m_in.m_action[i]) {
        case MemoryAction::Alloc: {
            const auto [at, fresh] = m_live.try_emplace(address, m_born);
            if (!fresh) {
                // The free in between is missing: keeping the old one would count its bytes for ever.
                m_implicit.emplace_back(event, at->second);
                at->second = m_born;
            }
            number = ++m_born;
            break;
        }
        case MemoryAction::FreeRequested: {
            const auto at = m_live.find(address);
            if (at != m_live.end())
                number = at->second + 1;
            else
                m_asked[address] = event;
            break;
        }
        case MemoryAction::FreeCompleted: {
            const auto at = m_live.find(address);
            if (at != m_live.end()) {
                number = at->second + 1;
                m_live.erase(at);
                break;
            }
            m_unmatched.push_back({event});
            number = kUnmatched | static_cast<std::uint32_t>(m_unmatched.size());
            if (const auto asked = m_asked.find(address); asked != m_asked.end()) {
                m_unmatched.back().freeRequested = asked->second + 1;
                of[asked->second] = BlockId{number};
                m_asked.erase(asked);
            }
            break;
        }
        case MemoryAction::SegmentAlloc:
        case MemoryAction::SegmentMap:
            m_reservedNet = plus(m_reservedNet, m_in.m_size[i]);
            m_reservedLowest = std::min(m_reservedLowest, m_reservedNet);
            break;
        case MemoryAction::SegmentFree:
        case MemoryAction::SegmentUnmap:
            m_reservedNet = minus(m_reservedNet, m_in.m_size[i]);
            m_reservedLowest = std::min(m_reservedLowest, m_reservedNet);
            break;
        default:
            break;
        }
        of[i] = BlockId{number};
    }
    m_out.unmatchedFrees = m_unmatched.size();
    m_out.implicitFrees = m_implicit.size();
}

const RawMemorySegment* MemoryReplay::segmentAt(std::uint64_t address) const {
    const auto& segments = m_in.m_segments;
    auto at = std::upper_bound(segments.begin(), segments.end(), address,
                               [](std::uint64_t a, const RawMemorySegment& s) { return a < s.address; });
    if (at == segments.begin())
        return nullptr;
    --at;
    return address < endOf(at->address, at->size) ? &*at : nullptr;
}

std::uint16_t MemoryReplay::poolOf(std::uint64_t address, std::uint16_t said) {
    if (said != kPoolNotSaid)
        return said;
    // Where there are no private pools everything is of the shared one.
    if (m_in.m_pools.size() <= 1)
        return 0;
    if (const RawMemorySegment* segment = segmentAt(address))
        if (const std::uint16_t pool = m_in.poolIndex(segment->pool); pool != kPoolNotSaid)
            return pool;
    // Of a segment that was returned since nothing is known.
    if (m_unknownPool == kPoolNotSaid) {
        m_unknownPool = static_cast<std::uint16_t>(m_in.m_pools.size());
        m_in.m_pools.push_back({0, 0, false});
    }
    return m_unknownPool;
}

/// Finds what the segments at the end say of the blocks, and the blocks that only they tell of.
void MemoryReplay::matchSegments() {
    for (const RawMemorySegment& segment : m_in.m_segments) {
        (void)m_in.poolIndex(segment.pool);
        for (const RawMemoryBlock& b : segment.blocks) {
            if (!b.active)
                continue;
            if (const auto at = m_live.find(*b.address); at != m_live.end()) {
                m_atEnd.push_back({at->second, &b});
                continue;
            }
            const auto asked = m_asked.find(*b.address);
            m_kept.push_back({&b, m_in.streamIndex(segment.stream), m_in.poolIndex(segment.pool),
                              asked != m_asked.end() ? asked->second + 1 : kNever});
        }
    }
    // Damage may tell of one block twice: what comes last counts, but for a stack, where the first does.
    std::stable_sort(m_atEnd.begin(), m_atEnd.end(),
                     [](const AtEnd& a, const AtEnd& b) { return a.number < b.number; });
    if (!m_in.m_segments.empty()) {
        std::size_t seen = 0;
        for (std::size_t i = 0; i < m_atEnd.size(); ++i)
            seen += i == 0 || m_atEnd[i].number != m_atEnd[i - 1].number ? 1 : 0;
        m_in.m_odd.notInSegments += m_live.size() - seen;
    }
    m_live = {};
    m_asked = {};
}

/// Makes the table of blocks, and writes those that were there before the history.
void MemoryReplay::startBlocks() {
    const std::size_t kept = m_kept.size();
    const std::size_t before = kept + m_unmatched.size();
    const std::size_t rows = before + m_born;
    MemoryBlockTable& b = m_out.blocks;
    b.address.reset(rows);
    b.size.reset(rows);
    b.allocated.reset(rows);
    b.birth.reset(rows);
    b.death.reset(rows);
    b.freeRequested.reset(rows);
    b.stack.reset(rows);
    b.stream.reset(rows);
    b.pool.reset(rows);
    b.category.reset(rows);
    b.category.fill(MemoryCategory::Unknown);
    b.evidence.reset(rows);
    b.evidence.fill(CategoryEvidence::None);
    b.flags.reset(rows);
    for (std::size_t row = 0; row < kept; ++row) {
        const Kept& from = m_kept[row];
        const RawMemoryBlock& raw = *from.block;
        b.address[row] = *raw.address;
        b.size[row] = raw.requested >= 0 ? raw.requested : raw.size;
        b.allocated[row] = raw.size;
        b.birth[row] = kBeforeHistory;
        b.death[row] = kAliveAtEnd;
        b.freeRequested[row] = from.freeRequested;
        b.stack[row] = raw.stack;
        b.stream[row] = from.stream;
        b.pool[row] = poolOf(*raw.address, from.pool);
        b.flags[row] = BlockFlag::SizeFromSegments | BlockFlag::ExactAllocated |
                       (raw.pending ? BlockFlag::PendingAtEnd : 0);
    }
    for (std::size_t u = 0; u < m_unmatched.size(); ++u) {
        const std::size_t row = before - 1 - u;
        const std::uint32_t event = m_unmatched[u].freed;
        b.address[row] = m_in.m_address[event];
        b.size[row] = m_in.m_size[event];
        b.allocated[row] = allocatedOf(b.size[row]);
        b.birth[row] = kBeforeHistory;
        b.death[row] = event + 1;
        b.freeRequested[row] = m_unmatched[u].freeRequested;
        b.stack[row] = m_in.m_stack[event];
        b.stream[row] = m_in.m_stream[event];
        b.pool[row] = poolOf(b.address[row], m_in.m_pool[event]);
        b.flags[row] = BlockFlag::UnmatchedFree;
    }
    m_out.preexistingBlocks = before;
}

/// Goes through the events once more, with every block's row known: writes the blocks as they are born and
/// die, the three curves and their peaks.
void MemoryReplay::writeHistory() {
    const std::size_t before = m_out.preexistingBlocks;
    const std::size_t events = m_in.m_rows;
    MemoryBlockTable& b = m_out.blocks;
    MemoryCurves& c = m_out.curves;
    Column<BlockId>& of = m_out.events.block;
    c.requested.reset(events + 1);
    c.allocated.reset(events + 1);
    c.reserved.reset(events + 1);

    std::int64_t requested = 0, allocated = 0;
    for (std::size_t row = 0; row < before; ++row) {
        requested = plus(requested, b.size[row]);
        allocated = plus(allocated, b.allocated[row]);
    }
    // The end is what the segments say; everything before follows from it.
    std::int64_t reserved = minus(m_out.totals.reserved, m_reservedNet);
    if (const std::int64_t lowest = plus(reserved, m_reservedLowest); lowest < 0) {
        const std::int64_t shift = minus(0, lowest);
        if (!m_in.m_segments.empty())
            m_in.m_odd.reservedShift += static_cast<std::uint64_t>(shift);
        reserved = plus(reserved, shift);
    }
    std::int64_t highest[3] = {requested, allocated, reserved};
    std::size_t highestAt[3] = {};
    const auto note = [&](std::size_t moment) {
        c.requested[moment] = requested;
        c.allocated[moment] = allocated;
        c.reserved[moment] = reserved;
        const std::int64_t now[3] = {requested, allocated, reserved};
        for (int i = 0; i < 3; ++i) {
            if (now[i] > highest[i]) {
                highest[i] = now[i];
                highestAt[i] = moment;
            }
        }
    };
    const auto close = [&](std::size_t row) {
        requested = minus(requested, b.size[row]);
        allocated = minus(allocated, b.allocated[row]);
    };
    note(0);

    const std::uint8_t bornFlags = m_exactSizes ? BlockFlag::ExactAllocated : std::uint8_t{0};
    const bool categories = !m_in.m_category.empty();
    bool exact = m_unmatched.empty();
    std::size_t born = before;
    auto atEnd = m_atEnd.begin();
    auto implicit = m_implicit.begin();
    for (std::size_t i = 0; i < events; ++i) {
        const auto now = static_cast<Moment>(i + 1);
        const std::uint32_t number = of[i].value;
        const std::uint16_t pool = m_in.m_pool[i] =
            m_in.m_pool[i] == kPoolNotSaid ? poolOf(m_in.m_address[i], kPoolNotSaid) : m_in.m_pool[i];
        std::size_t row = 0;
        if (number >= kUnmatched)
            row = before - (number - kUnmatched);
        else if (number > 0)
            row = before + number - 1;
        of[i] = number == 0 ? BlockId{} : BlockId::fromIndex(row);
        switch (m_in.m_action[i]) {
        case MemoryAction::Alloc: {
            if (implicit != m_implicit.end() && implicit->first == i) {
                const std::size_t old = before + implicit->second;
                b.death[old] = now;
                b.flags[old] |= BlockFlag::ImplicitFree;
                close(old);
                ++implicit;
            }
            row = born++;
            b.address[row] = m_in.m_address[i];
            b.size[row] = m_in.m_size[i];
            b.allocated[row] = allocatedOf(m_in.m_size[i]);
            b.birth[row] = now;
            b.death[row] = kAliveAtEnd;
            b.freeRequested[row] = kNever;
            b.stack[row] = m_in.m_stack[i];
            b.stream[row] = m_in.m_stream[i];
            b.pool[row] = pool;
            b.flags[row] = bornFlags;
            if (categories && i < m_in.m_category.size() && m_in.m_category[i] != MemoryCategory::Unknown) {
                b.category[row] = m_in.m_category[i];
                b.evidence[row] = CategoryEvidence::FileSays;
            }
            for (; atEnd != m_atEnd.end() && atEnd->number == number - 1; ++atEnd) {
                b.allocated[row] = atEnd->block->size;
                b.flags[row] |= BlockFlag::ExactAllocated;
                if (atEnd->block->pending)
                    b.flags[row] |= BlockFlag::PendingAtEnd;
                if (!b.stack[row])
                    b.stack[row] = atEnd->block->stack;
            }
            exact = exact && (b.flags[row] & BlockFlag::ExactAllocated) != 0;
            requested = plus(requested, b.size[row]);
            allocated = plus(allocated, b.allocated[row]);
            break;
        }
        case MemoryAction::FreeRequested:
            if (number > 0)
                b.freeRequested[row] = now;
            break;
        case MemoryAction::FreeCompleted:
            b.death[row] = now;
            close(row);
            break;
        case MemoryAction::SegmentAlloc:
        case MemoryAction::SegmentMap:
            reserved = plus(reserved, m_in.m_size[i]);
            break;
        case MemoryAction::SegmentFree:
        case MemoryAction::SegmentUnmap:
            reserved = minus(reserved, m_in.m_size[i]);
            break;
        default:
            break;
        }
        note(now);
    }
    for (std::size_t row = 0; row < m_kept.size(); ++row)
        if (m_kept[row].freeRequested != kNever)
            of[m_kept[row].freeRequested - 1] = BlockId::fromIndex(row);
    c.allocatedExact = exact;
    if (!m_in.m_reserved.empty()) {
        overrideReserved();
        highestAt[2] = static_cast<std::size_t>(std::max_element(c.reserved.begin(), c.reserved.end()) -
                                                c.reserved.begin());
    }

    m_out.preexistingBytes = c.requested[0];
    const auto peak = [&](std::size_t at) {
        return MemoryPeak{static_cast<Moment>(at), c.requested[at], c.allocated[at], c.reserved[at]};
    };
    m_out.peakRequested = peak(highestAt[0]);
    m_out.peakAllocated = peak(highestAt[1]);
    m_out.peakReserved = peak(highestAt[2]);
    m_kept = {};
    m_unmatched = {};
    m_atEnd = {};
    m_implicit = {};
}

/// Where the events say themselves how much is reserved after them, that counts.
void MemoryReplay::overrideReserved() {
    Column<std::int64_t>& curve = m_out.curves.reserved;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < m_in.m_rows; ++i) {
        if (i < m_in.m_reserved.size() && m_in.m_reserved[i] >= 0) {
            if (last < 0)
                std::fill(curve.begin(), curve.begin() + i + 1, m_in.m_reserved[i]);
            last = m_in.m_reserved[i];
        }
        curve[i + 1] = std::max<std::int64_t>(last, 0);
    }
}

std::uint32_t MemoryReplay::newPiece(std::uint64_t address, std::int64_t size, Moment birth, Moment death,
                                     StackId stack, std::uint32_t stream, std::uint16_t pool,
                                     std::uint8_t flags) {
    m_pieces.push_back({address, size, birth, death, stack, stream, pool, flags});
    return static_cast<std::uint32_t>(m_pieces.size() - 1);
}

void MemoryReplay::addPiece(std::uint64_t address, std::int64_t size, std::uint32_t event) {
    if (size <= 0)
        return;
    dropPieces(address, size, event, false);
    constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;
    std::uint8_t flags = 0;
    std::uint32_t stream = m_in.m_stream[event];
    const RawMemorySegment* final = segmentAt(address);
    if (final != nullptr && (final->flags & SegmentFlag::KindKnown) != 0)
        flags = final->flags;
    else if (size == kSmallSegment && m_in.m_action[event] == MemoryAction::SegmentAlloc)
        flags = SegmentFlag::Small;
    if (m_in.m_action[event] == MemoryAction::SegmentMap)
        flags |= SegmentFlag::Expandable;
    const std::uint32_t row = newPiece(address, size, event + 1, kAliveAtEnd, m_in.m_stack[event], stream,
                                       m_in.m_pool[event], flags);
    m_mapped[address] = {size, row};
}

/// Ends what is mapped of a range. What the history has not seen mapped was there before, where `makeUp`.
void MemoryReplay::dropPieces(std::uint64_t address, std::int64_t size, std::uint32_t event, bool makeUp) {
    if (size <= 0)
        return;
    const std::uint64_t end = endOf(address, size);
    const Moment now = event + 1;
    const auto before = [&](std::uint64_t from, std::uint64_t to) {
        if (makeUp && from < to) {
            const std::uint8_t flags =
                m_in.m_action[event] == MemoryAction::SegmentUnmap ? SegmentFlag::Expandable : 0;
            newPiece(from, static_cast<std::int64_t>(to - from), kBeforeHistory, now, StackId{},
                     m_in.m_stream[event], m_in.m_pool[event], flags);
        }
    };
    auto at = m_mapped.upper_bound(address);
    if (at != m_mapped.begin()) {
        const auto previous = std::prev(at);
        if (endOf(previous->first, previous->second.size) > address)
            at = previous;
    }
    std::uint64_t done = address;
    while (at != m_mapped.end() && at->first < end) {
        const std::uint64_t from = at->first;
        const Piece piece = at->second;
        const std::uint64_t to = endOf(from, piece.size);
        at = m_mapped.erase(at);
        before(done, from);
        done = std::max(done, to);
        const PieceRow row = m_pieces[piece.row];
        // What lies beyond the range lives on as pieces of their own, born with the whole.
        m_pieces[piece.row].death = now;
        const std::uint64_t cutFrom = std::max(from, address);
        const std::uint64_t cutTo = std::min(to, end);
        m_pieces[piece.row].address = cutFrom;
        m_pieces[piece.row].size = static_cast<std::int64_t>(cutTo - cutFrom);
        const auto keep = [&](std::uint64_t a, std::uint64_t b) {
            if (a >= b)
                return;
            const auto bytes = static_cast<std::int64_t>(b - a);
            m_mapped[a] = {bytes, newPiece(a, bytes, row.birth, kAliveAtEnd, row.stack, row.stream, row.pool,
                                           row.flags)};
        };
        keep(from, cutFrom);
        keep(cutTo, to);
    }
    before(done, end);
}

void MemoryReplay::replaySegments() {
    for (std::size_t i = 0; i < m_in.m_rows; ++i) {
        const auto event = static_cast<std::uint32_t>(i);
        switch (m_in.m_action[i]) {
        case MemoryAction::SegmentAlloc:
        case MemoryAction::SegmentMap:
            addPiece(m_in.m_address[i], m_in.m_size[i], event);
            break;
        case MemoryAction::SegmentFree:
        case MemoryAction::SegmentUnmap:
            dropPieces(m_in.m_address[i], m_in.m_size[i], event, true);
            break;
        default:
            break;
        }
    }
    // What is there at the end and was not seen to come was there before.
    for (const RawMemorySegment& segment : m_in.m_segments) {
        const std::uint64_t end = endOf(segment.address, segment.size);
        const std::uint32_t stream = m_in.streamIndex(segment.stream);
        const std::uint16_t pool = poolOf(segment.address, m_in.poolIndex(segment.pool));
        std::uint64_t done = segment.address;
        const auto fill = [&](std::uint64_t to) {
            if (done < to) {
                const auto bytes = static_cast<std::int64_t>(to - done);
                m_mapped[done] = {bytes, newPiece(done, bytes, kBeforeHistory, kAliveAtEnd, segment.stack,
                                                  stream, pool, segment.flags)};
            }
        };
        auto at = m_mapped.upper_bound(segment.address);
        if (at != m_mapped.begin() &&
            endOf(std::prev(at)->first, std::prev(at)->second.size) > segment.address)
            --at;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> there;
        for (; at != m_mapped.end() && at->first < end; ++at)
            there.emplace_back(at->first, endOf(at->first, at->second.size));
        for (const auto& [from, to] : there) {
            fill(std::min(from, end));
            done = std::max(done, to);
        }
        fill(end);
    }
    m_mapped.clear();
    const auto earlier = [](const PieceRow& a, const PieceRow& b) {
        return a.birth != b.birth ? a.birth < b.birth : a.address < b.address;
    };
    if (!std::is_sorted(m_pieces.begin(), m_pieces.end(), earlier))
        std::stable_sort(m_pieces.begin(), m_pieces.end(), earlier);
    MemorySegmentTable& s = m_out.segments;
    const std::size_t rows = m_pieces.size();
    s.address.reset(rows);
    s.size.reset(rows);
    s.birth.reset(rows);
    s.death.reset(rows);
    s.stack.reset(rows);
    s.stream.reset(rows);
    s.pool.reset(rows);
    s.flags.reset(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const PieceRow& p = m_pieces[i];
        s.address[i] = p.address;
        s.size[i] = p.size;
        s.birth[i] = p.birth;
        s.death[i] = p.death;
        s.stack[i] = p.stack;
        s.stream[i] = p.stream;
        s.pool[i] = p.pool;
        s.flags[i] = p.flags;
    }
    m_pieces = {};
}

void MemoryReplay::totals() {
    SegmentTotals& t = m_out.totals;
    for (const RawMemorySegment& s : m_in.m_segments) {
        ++t.count;
        t.reserved += s.size;
        t.allocated += s.allocated;
        t.active += s.active;
        std::int64_t requested = 0;
        for (const RawMemoryBlock& b : s.blocks) {
            if (b.active)
                requested += b.requested >= 0 ? b.requested : b.size;
            else
                t.largestFree = std::max(t.largestFree, b.size);
        }
        t.requested += s.requested >= 0 ? s.requested : requested;
    }
}

} // namespace warpline
