// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/strings.h"

#include <cstring>
#include <sys/mman.h>

namespace warpline::agent {

namespace {

void* map(std::size_t bytes) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

std::uint32_t hashOf(const char* text, std::size_t size) {
    std::uint64_t h = size * 0x9E3779B97F4A7C15ULL;
    while (size >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text, 8);
        h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 32;
        text += 8;
        size -= 8;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, text, size);
    h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::uint32_t>(h >> 32);
}

} // namespace

bool Strings::reserve() {
    if (m_arena == nullptr)
        m_arena = static_cast<std::uint8_t*>(map(kArenaBytes));
    if (m_slots == nullptr)
        m_slots = static_cast<Slot*>(map(kSlots * sizeof(Slot)));
    return m_arena != nullptr && m_slots != nullptr;
}

void Strings::reset() {
    // Fresh pages are zeroes, and what the old ones took goes back to the system.
    if (m_arena != nullptr)
        (void)::madvise(m_arena, kArenaBytes, MADV_DONTNEED);
    if (m_slots != nullptr)
        (void)::madvise(m_slots, kSlots * sizeof(Slot), MADV_DONTNEED);
    m_arenaUsed = 0;
    m_newFrom = 0;
    m_newFirst = 1;
    m_count = 0;
}

std::uint32_t Strings::number(const char* text) {
    if (text == nullptr || !reserve())
        return 0;
    const std::size_t size = ::strnlen(text, kLongest);
    const std::uint32_t hash = hashOf(text, size);
    std::size_t i = hash & (kSlots - 1);
    for (; m_slots[i].number != 0; i = (i + 1) & (kSlots - 1)) {
        const Slot& s = m_slots[i];
        if (s.hash == hash && s.size == size && std::memcmp(m_arena + s.at, text, size) == 0)
            return s.number;
    }
    const std::size_t needed = sizeof(std::uint32_t) + size;
    if (m_arenaUsed + needed > kArenaBytes || m_count + 1 >= kSlots - kSlots / 8)
        return 0;
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(m_arena + m_arenaUsed, &length, sizeof length);
    std::memcpy(m_arena + m_arenaUsed + sizeof length, text, size);
    m_slots[i] = {hash, ++m_count, static_cast<std::uint32_t>(m_arenaUsed + sizeof length), length};
    m_arenaUsed += needed;
    return m_count;
}

} // namespace warpline::agent
