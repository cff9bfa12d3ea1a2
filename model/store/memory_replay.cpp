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
    replayBlocks();
    addFromSegments();
    writeBlocks();
    m_live = {};
    m_asked = {};
    replaySegments();
    totals();
    curves();
}

MemoryReplay::Block MemoryReplay::blockOf(std::size_t event) const {
    Block block;
    block.address = m_in.m_address[event];
    block.size = m_in.m_size[event];
    block.allocated = m_exactSizes ? block.size : m_rounding.round(block.size);
    block.stack = m_in.m_stack[event];
    block.stream = m_in.m_stream[event];
    block.pool = m_in.m_pool[event];
    return block;
}

void MemoryReplay::replayBlocks() {
    const std::size_t rows = m_in.m_rows;
    m_blockOf.resize(rows);
    m_born.reserve(static_cast<std::size_t>(
        std::count(m_in.m_action.begin(), m_in.m_action.begin() + rows, MemoryAction::Alloc)));
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t address = m_in.m_address[i];
        const auto now = static_cast<Moment>(i + 1);
        switch (m_in.m_action[i]) {
        case MemoryAction::Alloc: {
            const auto number = static_cast<std::uint32_t>(m_born.size());
            const auto [at, fresh] = m_live.try_emplace(address, number);
            if (!fresh) {
                // The free in between is missing: keeping the old one would count its bytes for ever.
                Block& old = m_born[at->second];
                old.death = now;
                old.flags |= BlockFlag::ImplicitFree;
                ++m_out.implicitFrees;
                at->second = number;
            }
            Block block = blockOf(i);
            block.birth = now;
            if (i < m_in.m_category.size())
                block.category = m_in.m_category[i];
            if (m_exactSizes)
                block.flags |= BlockFlag::ExactAllocated;
            m_born.push_back(block);
            m_blockOf[i] = number + 1;
            break;
        }
        case MemoryAction::FreeRequested: {
            const auto at = m_live.find(address);
            if (at != m_live.end()) {
                m_born[at->second].freeRequested = now;
                m_blockOf[i] = at->second + 1;
            } else {
                m_asked[address] = static_cast<std::uint32_t>(i);
            }
            break;
        }
        case MemoryAction::FreeCompleted: {
            const auto at = m_live.find(address);
            if (at != m_live.end()) {
                m_born[at->second].death = now;
                m_blockOf[i] = at->second + 1;
                m_live.erase(at);
                break;
            }
            ++m_out.unmatchedFrees;
            Block block = blockOf(i);
            block.death = now;
            block.flags = BlockFlag::UnmatchedFree;
            m_unmatched.push_back(block);
            m_blockOf[i] = kUnmatched | static_cast<std::uint32_t>(m_unmatched.size());
            if (const auto asked = m_asked.find(address); asked != m_asked.end()) {
                m_unmatched.back().freeRequested = asked->second + 1;
                m_blockOf[asked->second] = m_blockOf[i];
                m_asked.erase(asked);
            }
            break;
        }
        default:
            break;
        }
    }
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

void MemoryReplay::addFromSegments() {
    std::vector<bool> seen(m_born.size());
    for (const RawMemorySegment& segment : m_in.m_segments) {
        (void)m_in.poolIndex(segment.pool);
        for (const RawMemoryBlock& b : segment.blocks) {
            if (!b.active)
                continue;
            const auto at = m_live.find(*b.address);
            if (at != m_live.end()) {
                Block& block = m_born[at->second];
                seen[at->second] = true;
                block.allocated = b.size;
                block.flags |= BlockFlag::ExactAllocated;
                if (b.pending)
                    block.flags |= BlockFlag::PendingAtEnd;
                if (!block.stack)
                    block.stack = b.stack;
                continue;
            }
            Block block;
            block.address = *b.address;
            block.size = b.requested >= 0 ? b.requested : b.size;
            block.allocated = b.size;
            block.stack = b.stack;
            block.stream = m_in.streamIndex(segment.stream);
            block.pool = m_in.poolIndex(segment.pool);
            block.flags = BlockFlag::SizeFromSegments | BlockFlag::ExactAllocated;
            if (b.pending)
                block.flags |= BlockFlag::PendingAtEnd;
            if (const auto asked = m_asked.find(block.address); asked != m_asked.end())
                block.freeRequested = asked->second + 1;
            m_kept.push_back(block);
        }
    }
    if (!m_in.m_segments.empty())
        for (const auto& [address, number] : m_live)
            m_in.m_odd.notInSegments += seen[number] ? 0 : 1;
}

void MemoryReplay::writeBlocks() {
    const std::size_t kept = m_kept.size();
    const std::size_t before = kept + m_unmatched.size();
    const std::size_t rows = before + m_born.size();
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
    b.evidence.reset(rows);
    b.flags.reset(rows);
    m_out.curves.allocatedExact = true;
    const auto put = [&](std::size_t row, const Block& block) {
        b.address[row] = block.address;
        b.size[row] = block.size;
        b.allocated[row] = block.allocated;
        b.birth[row] = block.birth;
        b.death[row] = block.death;
        b.freeRequested[row] = block.freeRequested;
        b.stack[row] = block.stack;
        b.stream[row] = block.stream;
        b.pool[row] = poolOf(block.address, block.pool);
        b.category[row] = block.category;
        b.evidence[row] =
            block.category == MemoryCategory::Unknown ? CategoryEvidence::None : CategoryEvidence::FileSays;
        b.flags[row] = block.flags;
        if ((block.flags & BlockFlag::ExactAllocated) == 0)
            m_out.curves.allocatedExact = false;
    };
    for (std::size_t i = 0; i < kept; ++i)
        put(i, m_kept[i]);
    for (std::size_t u = 0; u < m_unmatched.size(); ++u)
        put(before - 1 - u, m_unmatched[u]);
    for (std::size_t k = 0; k < m_born.size(); ++k)
        put(before + k, m_born[k]);
    m_out.preexistingBlocks = before;

    m_out.events.block.reset(m_blockOf.size());
    for (std::size_t i = 0; i < m_blockOf.size(); ++i) {
        const std::uint32_t number = m_blockOf[i];
        BlockId id;
        if (number >= kUnmatched)
            id = BlockId::fromIndex(before - (number - kUnmatched));
        else if (number > 0)
            id = BlockId::fromIndex(before + number - 1);
        m_out.events.block[i] = id;
    }
    for (std::size_t i = 0; i < kept; ++i)
        if (m_kept[i].freeRequested != kNever)
            m_out.events.block[m_kept[i].freeRequested - 1] = BlockId::fromIndex(i);
    m_blockOf = {};
    m_kept = {};
    m_unmatched = {};
    m_born = {};
    for (std::size_t i = 0; i < m_in.m_rows; ++i)
        if (m_in.m_pool[i] == kPoolNotSaid)
            m_in.m_pool[i] = poolOf(m_in.m_address[i], kPoolNotSaid);
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
    std::stable_sort(m_pieces.begin(), m_pieces.end(), [](const PieceRow& a, const PieceRow& b) {
        return a.birth != b.birth ? a.birth < b.birth : a.address < b.address;
    });
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

void MemoryReplay::curves() {
    const std::size_t events = m_in.m_rows;
    MemoryCurves& c = m_out.curves;
    c.requested.reset(events + 1);
    c.allocated.reset(events + 1);
    c.reserved.reset(events + 1);
    c.requested.fill(0);
    c.allocated.fill(0);
    c.reserved.fill(0);
    const MemoryBlockTable& b = m_out.blocks;
    for (std::size_t row = 0; row < b.count(); ++row) {
        c.requested[b.birth[row]] = plus(c.requested[b.birth[row]], b.size[row]);
        c.allocated[b.birth[row]] = plus(c.allocated[b.birth[row]], b.allocated[row]);
        if (b.death[row] != kAliveAtEnd) {
            c.requested[b.death[row]] = minus(c.requested[b.death[row]], b.size[row]);
            c.allocated[b.death[row]] = minus(c.allocated[b.death[row]], b.allocated[row]);
        }
    }
    for (std::size_t i = 0; i < events; ++i) {
        const MemoryAction action = m_in.m_action[i];
        if (action == MemoryAction::SegmentAlloc || action == MemoryAction::SegmentMap)
            c.reserved[i + 1] = m_in.m_size[i];
        else if (action == MemoryAction::SegmentFree || action == MemoryAction::SegmentUnmap)
            c.reserved[i + 1] = -m_in.m_size[i];
    }
    for (std::size_t m = 1; m <= events; ++m) {
        c.requested[m] = plus(c.requested[m], c.requested[m - 1]);
        c.allocated[m] = plus(c.allocated[m], c.allocated[m - 1]);
        c.reserved[m] = plus(c.reserved[m], c.reserved[m - 1]);
    }
    // The end is what the segments say; everything before follows from it.
    std::int64_t start = minus(m_out.totals.reserved, c.reserved[events]);
    const std::int64_t lowest = *std::min_element(c.reserved.begin(), c.reserved.end());
    if (plus(start, lowest) < 0) {
        const std::int64_t shift = minus(0, plus(start, lowest));
        if (!m_in.m_segments.empty())
            m_in.m_odd.reservedShift += static_cast<std::uint64_t>(shift);
        start = plus(start, shift);
    }
    for (std::size_t m = 0; m <= events; ++m)
        c.reserved[m] = plus(c.reserved[m], start);
    if (!m_in.m_reserved.empty()) {
        std::int64_t last = -1;
        for (std::size_t i = 0; i < events; ++i) {
            if (i < m_in.m_reserved.size() && m_in.m_reserved[i] >= 0) {
                if (last < 0)
                    std::fill(c.reserved.begin(), c.reserved.begin() + i + 1, m_in.m_reserved[i]);
                last = m_in.m_reserved[i];
            }
            c.reserved[i + 1] = std::max<std::int64_t>(last, 0);
        }
    }

    m_out.preexistingBytes = c.requested[0];
    const auto peak = [&](const Column<std::int64_t>& curve) {
        const auto at =
            static_cast<std::size_t>(std::max_element(curve.begin(), curve.end()) - curve.begin());
        return MemoryPeak{static_cast<Moment>(at), c.requested[at], c.allocated[at], c.reserved[at]};
    };
    m_out.peakRequested = peak(c.requested);
    m_out.peakAllocated = peak(c.allocated);
    m_out.peakReserved = peak(c.reserved);
}

} // namespace warpline
