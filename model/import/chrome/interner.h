// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/string_pool.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace warpline::chrome {

/// One thread's memory of what it interned, so that the shared pool's lock is taken for new texts only.
class Interner {
  public:
    explicit Interner(StringPool& pool) : m_pool(pool), m_slots(kSlots) {}

    /// The id of a text met before by this thread, or none; `hash` is set for add().
    StringId find(std::string_view text, std::uint64_t& hash) {
        hash = StringPool::hash(text);
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = hash & kMask; m_slots[i].id != 0; i = (i + 1) & kMask) {
            if (m_slots[i].tag != tag)
                continue;
            const StringId id{m_slots[i].id};
            if (m_pool.view(id) == text)
                return id;
        }
        return {};
    }
    StringId add(std::string_view text, std::uint64_t hash) {
        const StringId id = m_pool.intern(text, hash);
        // A file where every text is new would fill the table: begin again, the pool has them all.
        if (++m_used > kSlots / 2) {
            m_slots.assign(kSlots, {});
            m_used = 1;
        }
        std::size_t i = hash & kMask;
        while (m_slots[i].id != 0)
            i = (i + 1) & kMask;
        m_slots[i] = {id.value, static_cast<std::uint32_t>(hash >> 32)};
        return id;
    }

    /// An argument's key. Keys are few and short: looked up by length and first bytes.
    StringId key(std::string_view text) {
        std::uint64_t word = 0;
        if (!text.empty()) // null then, maybe
            std::memcpy(&word, text.data(), text.size() < 8 ? text.size() : 8);
        const std::size_t at = ((word ^ text.size() * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL) >> 55;
        KeySlot& slot = m_keys[at];
        if (slot.id && slot.text == text)
            return slot.id;
        std::uint64_t hash = 0;
        StringId id = find(text, hash);
        if (!id)
            id = add(text, hash);
        slot = {m_pool.view(id), id};
        return id;
    }

    [[nodiscard]] StringPool& pool() { return m_pool; }

  private:
    static constexpr std::size_t kSlots = std::size_t{1} << 16;
    static constexpr std::size_t kMask = kSlots - 1;
    struct Slot {
        std::uint32_t id = 0;
        std::uint32_t tag = 0;
    };
    struct KeySlot {
        std::string_view text;
        StringId id;
    };

    StringPool& m_pool;
    std::vector<Slot> m_slots;
    std::size_t m_used = 0;
    std::array<KeySlot, 512> m_keys;
};

} // namespace warpline::chrome
