// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/string_pool.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace warpline {

namespace {
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kFirstSlots = 4096;
} // namespace

StringPool::StringPool() : m_slots(kFirstSlots, 0) {}

StringPool::~StringPool() {
    for (auto& block : m_blocks)
        delete[] block.load(std::memory_order_relaxed);
}

std::uint64_t StringPool::hash(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}

StringId StringPool::lookup(std::string_view text, std::uint64_t hash, std::size_t& slot) const {
    const std::size_t mask = m_slots.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (slot = hash & mask; m_slots[slot] != 0; slot = (slot + 1) & mask) {
        const StringId id{m_slots[slot]};
        const Entry& e = entry(id.index());
        if (e.tag == tag && text == std::string_view(e.text, e.length))
            return id;
    }
    return {};
}

StringId StringPool::find(std::string_view text) const {
    const std::lock_guard lock(m_mutex);
    std::size_t slot = 0;
    return lookup(text, hash(text), slot);
}

StringId StringPool::intern(std::string_view text) {
    return intern(text, hash(text));
}

StringId StringPool::intern(std::string_view text, std::uint64_t hash) {
    // A text beyond four gigabytes cannot be told by a 32-bit length; nobody reads that far.
    text = text.substr(0, 0xFFFFFFFFu);
    const std::lock_guard lock(m_mutex);
    std::size_t slot = 0;
    if (const StringId found = lookup(text, hash, slot))
        return found;

    const std::size_t index = m_size.load(std::memory_order_relaxed);
    const std::size_t n = index + (std::size_t{1} << kFirstBits);
    const auto top = static_cast<std::size_t>(std::bit_width(n)) - 1;
    auto& block = m_blocks[top - kFirstBits];
    if (block.load(std::memory_order_relaxed) == nullptr) {
        block.store(new Entry[std::size_t{1} << top], std::memory_order_release);
    }
    block.load(std::memory_order_relaxed)[n - (std::size_t{1} << top)] = {
        store(text), static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(hash >> 32)};
    m_size.store(index + 1, std::memory_order_release);
    const StringId id = StringId::fromIndex(index);
    m_slots[slot] = id.value;
    if ((index + 1) * 2 > m_slots.size())
        growSlots();
    return id;
}

const char* StringPool::store(std::string_view text) {
    if (text.size() > m_chunkFree) {
        const std::size_t size = std::max(kChunkBytes, text.size());
        m_chunks.push_back(std::make_unique_for_overwrite<char[]>(size));
        m_bytes += size;
        // A long text gets a chunk of its own and leaves the room of the current one to the short ones.
        if (text.size() > kChunkBytes / 4) {
            char* own = m_chunks.back().get();
            std::memcpy(own, text.data(), text.size());
            return own;
        }
        m_chunkAt = m_chunks.back().get();
        m_chunkFree = size;
    }
    char* at = m_chunkAt;
    if (!text.empty())
        std::memcpy(at, text.data(), text.size());
    m_chunkAt += text.size();
    m_chunkFree -= text.size();
    return at;
}

void StringPool::growSlots() {
    std::vector<std::uint32_t> old(m_slots.size() * 2, 0);
    old.swap(m_slots);
    const std::size_t mask = m_slots.size() - 1;
    const std::size_t count = m_size.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        const Entry& e = entry(i);
        std::size_t slot = hash({e.text, e.length}) & mask;
        while (m_slots[slot] != 0)
            slot = (slot + 1) & mask;
        m_slots[slot] = StringId::fromIndex(i).value;
    }
}

std::size_t StringPool::bytes() const {
    const std::lock_guard lock(m_mutex);
    return m_bytes + m_slots.size() * sizeof(std::uint32_t) + size() * sizeof(Entry);
}

} // namespace warpline
