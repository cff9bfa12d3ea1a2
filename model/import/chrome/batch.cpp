// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/batch.h"

#include "model/base/large_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace warpline::chrome {

namespace {

std::shared_ptr<std::byte> makeBlock(std::size_t bytes) {
    auto* memory = static_cast<std::byte*>(allocateLarge(bytes));
    if (memory == nullptr)
        throw std::bad_alloc();
    return {memory, [](std::byte* p) { std::free(p); }};
}

/// So that a span lies in one line of the cache.
constexpr std::size_t kAlign = 64;
template <class T>
std::size_t roomFor(const std::vector<T>& values) {
    return (values.size() * sizeof(T) + kAlign - 1) / kAlign * kAlign;
}

template <class T>
std::span<T> copyTo(std::byte*& at, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.empty())
        return {};
    std::memcpy(at, values.data(), values.size() * sizeof(T));
    const std::span<T> copy(reinterpret_cast<T*>(at), values.size());
    at += roomFor(values);
    return copy;
}

} // namespace

Batch BatchPacker::pack(OpenBatch& open) {
    Batch out;
    const std::size_t bytes = roomFor(open.spans) + roomFor(open.flows) + roomFor(open.memory);
    if (bytes > 0) {
        if (bytes > kBlock / 2) {
            out.room = makeBlock(bytes + kAlign);
        } else {
            if (m_used + bytes > kBlock) {
                m_block = makeBlock(kBlock);
                m_used = 0;
            }
            out.room = {m_block, m_block.get() + m_used};
            m_used += bytes;
        }
        std::byte* at = out.room.get();
        out.spans = copyTo(at, open.spans);
        out.flows = copyTo(at, open.flows);
        out.memory = copyTo(at, open.memory);
    }
    out.async = std::move(open.async);
    out.counters = std::move(open.counters);
    out.metadata = std::move(open.metadata);
    out.events = open.events;
    out.tallies = open.tallies;
    for (const ParsedSpan& s : out.spans) {
        if (s.start == 0)
            out.anyAtZero = true;
        else
            out.leastStart = std::min(out.leastStart, s.start);
        out.latestEnd = std::max(out.latestEnd, s.start + s.duration);
    }
    open.clear();
    return out;
}

} // namespace warpline::chrome
