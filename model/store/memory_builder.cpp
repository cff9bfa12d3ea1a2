// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/memory_builder.h"

#include "model/store/memory_replay.h"

#include <algorithm>
#include <bit>

namespace warpline {

namespace {

/// No card has 16 TiB; what is beyond is damage, and sums of such sizes would wrap.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 44;
constexpr std::size_t kMostPools = 0xFFF0;

/// Puts a value of a column that most events have nothing in.
template <class T>
void sparse(std::vector<T>& column, std::size_t rows, T value, T none) {
    if (value == none && column.empty())
        return;
    column.resize(rows, none);
    column.push_back(value);
}

template <class T>
Column<T> columnOf(std::vector<T>& from, std::size_t rows, T none) {
    Column<T> to;
    if (!from.empty()) {
        from.resize(rows, none);
        to.reset(rows);
        std::copy(from.begin(), from.end(), to.begin());
    }
    from = {};
    return to;
}

} // namespace

std::int64_t RoundingRule::round(std::int64_t size) const {
    constexpr std::uint64_t kBlock = 512;
    const auto n = static_cast<std::uint64_t>(size);
    if (n < kBlock)
        return static_cast<std::int64_t>(kBlock);
    const int log = std::bit_width(n) - 1;
    const std::uint64_t parts = divisions[static_cast<std::size_t>(std::clamp(log - 20, 0, 15))];
    if (parts > 1 && n > kBlock * parts) {
        const std::uint64_t floor = std::bit_floor(n);
        const std::uint64_t step = floor >> (std::bit_width(parts) - 1);
        if (floor == n)
            return size;
        if (step == 0)
            return static_cast<std::int64_t>(floor << 1);
        return static_cast<std::int64_t>((n + step - 1) & ~(step - 1));
    }
    return static_cast<std::int64_t>((n + kBlock - 1) / kBlock * kBlock);
}

std::uint32_t MemoryDeviceBuilder::streamIndex(std::int64_t stream) {
    // The same one as before mostly.
    if (m_lastStream < m_streams.size() && m_streams[m_lastStream] == stream)
        return m_lastStream;
    const auto [at, fresh] = m_streamOf.try_emplace(stream, static_cast<std::uint32_t>(m_streams.size()));
    if (fresh)
        m_streams.push_back(stream);
    return m_lastStream = at->second;
}

std::uint16_t MemoryDeviceBuilder::poolIndex(const std::optional<MemoryPool>& pool) {
    if (!pool)
        return kPoolNotSaid;
    if (m_pools.empty())
        m_pools.push_back({});
    const auto at = std::find(m_pools.begin(), m_pools.end(), *pool);
    if (at != m_pools.end())
        return static_cast<std::uint16_t>(at - m_pools.begin());
    // Finding one is a walk over all; a program has a few dozen.
    if (m_pools.size() >= std::min<std::size_t>(kMostPools, 1024)) {
        ++m_odd.poolsDropped;
        return kPoolNotSaid;
    }
    m_pools.push_back(*pool);
    return static_cast<std::uint16_t>(m_pools.size() - 1);
}

void MemoryDeviceBuilder::makeRoom() {
    m_time.makeRoom(m_rows);
    m_address.makeRoom(m_rows);
    m_size.makeRoom(m_rows);
    m_stack.makeRoom(m_rows);
    m_stream.makeRoom(m_rows);
    m_pool.makeRoom(m_rows);
    m_action.makeRoom(m_rows);
}

void MemoryDeviceBuilder::addEvent(const RawMemoryEvent& e) {
    const std::size_t row = m_rows;
    if (row == m_action.size())
        makeRoom();
    TimeNs time = row == 0 ? 0 : m_time[row - 1];
    if (e.time) {
        if (m_timed > 0 && *e.time < time)
            ++m_odd.timesBack;
        else
            time = *e.time;
        if (m_timed++ == 0) // events before it are as old as the first that says
            std::fill(m_time.begin(), m_time.begin() + row, time);
    }
    std::int64_t size = e.size;
    if (size < 0 || size > kMostBytes) {
        ++m_odd.sizes;
        size = size < 0 ? 0 : kMostBytes;
    }
    if (e.action == MemoryAction::Other)
        ++m_odd.unknownActions;
    m_time[row] = time;
    m_address[row] = e.address;
    m_size[row] = size;
    m_stack[row] = e.stack;
    m_stream[row] = streamIndex(e.stream);
    m_pool[row] = poolIndex(e.pool);
    m_action[row] = e.action;
    ++m_rows;
    sparse(m_compileContext, row, e.compileContext, StringId{});
    sparse(m_userMetadata, row, e.userMetadata, StringId{});
    sparse(m_forwardStack, row, e.forwardStack, StackId{});
    sparse(m_category, row, e.category, MemoryCategory::Unknown);
    sparse(m_reserved, row, e.reserved, std::int64_t{-1});
    if (e.action == MemoryAction::OutOfMemory)
        m_outOfMemory.push_back({static_cast<std::uint32_t>(row), size, e.deviceFree});
}

void MemoryDeviceBuilder::takeEvents(MemoryDeviceBuilder&& other) {
    std::vector<RawMemorySegment> segments = std::move(m_segments);
    *this = std::move(other);
    other.m_rows = 0;
    m_segments = std::move(segments);
}

RawMemoryEvent MemoryDeviceBuilder::event(std::size_t row) const {
    RawMemoryEvent e;
    e.action = m_action[row];
    e.address = m_address[row];
    e.size = m_size[row];
    e.stream = m_streams[m_stream[row]];
    if (m_timed > 0)
        e.time = m_time[row];
    e.stack = m_stack[row];
    if (m_pool[row] != kPoolNotSaid)
        e.pool = m_pools[m_pool[row]];
    if (row < m_compileContext.size())
        e.compileContext = m_compileContext[row];
    if (row < m_userMetadata.size())
        e.userMetadata = m_userMetadata[row];
    if (row < m_forwardStack.size())
        e.forwardStack = m_forwardStack[row];
    if (row < m_category.size())
        e.category = m_category[row];
    const auto oom = std::lower_bound(m_outOfMemory.begin(), m_outOfMemory.end(), row,
                                      [](const OutOfMemoryEvent& o, std::size_t r) { return o.event < r; });
    if (oom != m_outOfMemory.end() && oom->event == row)
        e.deviceFree = oom->deviceFree;
    return e;
}

MemoryDevice MemoryDeviceBuilder::finish(std::int64_t ordinal, const RoundingRule& rounding, bool exactSizes,
                                         Oddities& odd) {
    MemoryDevice device;
    device.ordinal = ordinal;
    device.hasTimes = m_timed > 0;
    device.outOfMemory = std::move(m_outOfMemory);
    for (RawMemorySegment& segment : m_segments) {
        const auto cut = [&](std::int64_t& bytes) {
            if (bytes < 0 || bytes > kMostBytes) {
                ++m_odd.sizes;
                bytes = bytes < 0 ? 0 : kMostBytes;
            }
        };
        cut(segment.size);
        cut(segment.allocated);
        cut(segment.active);
        if (segment.requested != -1)
            cut(segment.requested);
        std::int64_t sum = 0;
        std::uint64_t next = segment.address;
        for (RawMemoryBlock& block : segment.blocks) {
            cut(block.size);
            if (block.requested != -1)
                cut(block.requested);
            if (!block.address) {
                device.hasAddresses = false;
                block.address = next;
            }
            next += static_cast<std::uint64_t>(block.size);
            sum += block.size;
        }
        if (!segment.blocks.empty() && sum != segment.size)
            ++m_odd.segmentsWrong;
    }
    const auto lower = [](const RawMemorySegment& a, const RawMemorySegment& b) {
        return a.address < b.address;
    };
    if (!std::is_sorted(m_segments.begin(), m_segments.end(), lower))
        std::stable_sort(m_segments.begin(), m_segments.end(), lower);

    const std::size_t rows = m_rows;
    m_time.shrink(rows);
    m_address.shrink(rows);
    m_size.shrink(rows);
    m_stack.shrink(rows);
    m_stream.shrink(rows);
    m_pool.shrink(rows);
    m_action.shrink(rows);
    MemoryReplay replay(*this, device, rounding, exactSizes);
    replay.run();

    MemoryEventTable& e = device.events;
    e.time = std::move(m_time);
    e.address = std::move(m_address);
    e.size = std::move(m_size);
    e.stack = std::move(m_stack);
    e.stream = std::move(m_stream);
    e.pool = std::move(m_pool);
    e.compileContext = columnOf(m_compileContext, rows, StringId{});
    e.userMetadata = columnOf(m_userMetadata, rows, StringId{});
    e.forwardStack = columnOf(m_forwardStack, rows, StackId{});
    e.action = std::move(m_action);
    device.streams = std::move(m_streams);
    device.pools = std::move(m_pools);
    device.recorded = rows > 0;
    device.complete = device.unmatchedFrees == 0 && device.implicitFrees == 0 &&
                      device.preexistingBlocks == 0 && device.recorded;
    odd.timesBack += m_odd.timesBack;
    odd.sizes += m_odd.sizes;
    odd.unknownActions += m_odd.unknownActions;
    odd.reservedShift += m_odd.reservedShift;
    odd.segmentsWrong += m_odd.segmentsWrong;
    odd.notInSegments += m_odd.notInSegments;
    odd.poolsDropped += m_odd.poolsDropped;
    *this = {};
    return device;
}

} // namespace warpline
