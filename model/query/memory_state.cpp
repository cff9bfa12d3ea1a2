// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_state.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace warpline {

namespace {

constexpr std::size_t kRun = 256;

std::uint64_t endOf(std::uint64_t address, std::int64_t size) {
    std::uint64_t end = 0;
    return __builtin_add_overflow(address, static_cast<std::uint64_t>(size), &end) ? ~std::uint64_t{0} : end;
}

void addTo(Fragmentation& sum, const SegmentState& s, const std::vector<SegmentPiece>& pieces) {
    ++sum.segments;
    sum.reserved += s.size;
    sum.used += s.used;
    sum.pending += s.pending;
    sum.requested += s.requested;
    sum.free += s.free();
    sum.largestFree = std::max(sum.largestFree, s.largestFree);
    for (std::uint32_t i = s.firstPiece; i < s.endPiece; ++i)
        sum.freePieces += pieces[i].kind == SegmentPiece::Kind::Free ? 1 : 0;
}

/// The segments of a moment by address, touching pieces of expandable ones joined.
std::vector<SegmentState> segmentsAt(const MemoryDevice& device, Moment moment) {
    const MemorySegmentTable& t = device.segments;
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < t.count() && t.birth[i] <= moment; ++i)
        if (moment < t.death[i])
            rows.push_back(static_cast<std::uint32_t>(i));
    std::sort(rows.begin(), rows.end(),
              [&](std::uint32_t a, std::uint32_t b) { return t.address[a] < t.address[b]; });
    std::vector<SegmentState> segments;
    segments.reserve(rows.size());
    for (const std::uint32_t row : rows) {
        if (!segments.empty()) {
            SegmentState& last = segments.back();
            const bool expandable = (last.flags & t.flags[row] & SegmentFlag::Expandable) != 0;
            if (expandable && endOf(last.address, last.size) == t.address[row] &&
                last.stream == t.stream[row] && last.pool == t.pool[row]) {
                last.size += t.size[row];
                continue;
            }
        }
        SegmentState s;
        s.address = t.address[row];
        s.size = t.size[row];
        s.stack = t.stack[row];
        s.stream = t.stream[row];
        s.pool = t.pool[row];
        s.flags = t.flags[row];
        segments.push_back(s);
    }
    return segments;
}

} // namespace

LiveIndex::LiveIndex(const MemoryDevice& device) : m_device(device) {
    const MemoryBlockTable& b = device.blocks;
    m_lastDeath.reset((b.count() + kRun - 1) / kRun);
    for (std::size_t r = 0; r < m_lastDeath.size(); ++r) {
        Moment last = 0;
        for (std::size_t i = r * kRun; i < std::min(b.count(), (r + 1) * kRun); ++i)
            last = std::max(last, b.death[i]);
        m_lastDeath[r] = last;
    }
}

void LiveIndex::live(Moment moment, std::vector<std::uint32_t>& out) const {
    const MemoryBlockTable& b = m_device.blocks;
    // Births ascend, so that what comes later is not looked at.
    const auto end =
        static_cast<std::size_t>(std::upper_bound(b.birth.begin(), b.birth.end(), moment) - b.birth.begin());
    for (std::size_t r = 0; r * kRun < end; ++r) {
        if (m_lastDeath[r] <= moment)
            continue;
        for (std::size_t i = r * kRun; i < std::min(end, (r + 1) * kRun); ++i)
            if (moment < b.death[i])
                out.push_back(static_cast<std::uint32_t>(i));
    }
}

MemoryState memoryState(const MemoryDevice& device, const LiveIndex& index, Moment moment) {
    MemoryState state;
    moment = std::min(moment, device.lastMoment());
    state.moment = moment;
    state.requested = device.curves.requested[moment];
    state.allocated = device.curves.allocated[moment];
    state.reserved = device.curves.reserved[moment];
    index.live(moment, state.blocks);
    state.segments = segmentsAt(device, moment);

    const MemoryBlockTable& b = device.blocks;
    std::vector<std::uint32_t> byAddress = state.blocks;
    std::sort(byAddress.begin(), byAddress.end(), [&](std::uint32_t x, std::uint32_t y) {
        return b.address[x] != b.address[y] ? b.address[x] < b.address[y] : x < y;
    });
    state.pieces.reserve(byAddress.size() + state.segments.size() * 2);
    auto block = byAddress.begin();
    for (SegmentState& s : state.segments) {
        const std::uint64_t end = endOf(s.address, s.size);
        for (; block != byAddress.end() && b.address[*block] < s.address; ++block)
            state.homeless.push_back(*block);
        s.firstPiece = static_cast<std::uint32_t>(state.pieces.size());
        std::uint64_t at = s.address;
        const auto gap = [&](std::uint64_t to) {
            if (at >= to)
                return;
            const auto bytes = static_cast<std::int64_t>(to - at);
            state.pieces.push_back({SegmentPiece::Kind::Free, at, bytes, 0, {}});
            s.largestFree = std::max(s.largestFree, bytes);
        };
        for (; block != byAddress.end() && b.address[*block] < end; ++block) {
            const std::uint32_t row = *block;
            // A rounded size that was worked out may reach into the next block: that one begins where it
            // does.
            std::uint64_t until = std::min(end, endOf(b.address[row], b.allocated[row]));
            const auto next = std::next(block);
            if (next != byAddress.end())
                until = std::min(until, std::max(b.address[*next], b.address[row]));
            gap(b.address[row]);
            const auto bytes = static_cast<std::int64_t>(until - b.address[row]);
            const bool pending = b.freeRequested[row] <= moment;
            (pending ? s.pending : s.used) += bytes;
            s.requested += std::min(bytes, b.size[row]);
            state.pieces.push_back({pending ? SegmentPiece::Kind::Pending : SegmentPiece::Kind::Used,
                                    b.address[row], bytes, b.size[row], BlockId::fromIndex(row)});
            at = std::max(at, until);
        }
        gap(end);
        s.endPiece = static_cast<std::uint32_t>(state.pieces.size());
    }
    state.homeless.insert(state.homeless.end(), block, byAddress.end());
    std::sort(state.homeless.begin(), state.homeless.end());

    std::map<std::pair<std::uint16_t, bool>, Fragmentation> pools;
    for (const SegmentState& s : state.segments) {
        addTo(state.all, s, state.pieces);
        addTo(pools[{s.pool, (s.flags & SegmentFlag::Small) != 0}], s, state.pieces);
    }
    for (const auto& [key, sum] : pools)
        state.pools.push_back({key.first, key.second, sum});
    return state;
}

} // namespace warpline
