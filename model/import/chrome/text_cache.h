// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace warpline::chrome {

/// A few texts met lately, found without hashing them whole. Four of a set; the caller says which set a text
/// should be in. Texts lie in the string pool, which keeps them where they are.
class TextCache {
  public:
    TextCache() : m_entries(kSets * kWays), m_turn(kSets, 0) {}

    /// The set for a text whose length is known.
    static std::size_t setOf(std::string_view text) {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::uint64_t c = 0;
        if (text.size() >= 8) {
            std::memcpy(&a, text.data(), 8);
            std::memcpy(&b, text.data() + text.size() - 8, 8);
            std::memcpy(&c, text.data() + text.size() / 2 - 4, 8);
        } else if (!text.empty()) {
            std::memcpy(&a, text.data(), text.size());
        }
        std::uint64_t h = (a ^ text.size()) * kMix;
        h = ((h >> 32) ^ h ^ b) * kMix;
        h = ((h >> 32) ^ h ^ c) * kMix;
        return h >> kShift;
    }
    static std::size_t setOf(std::uint64_t number) { return (number * kMix) >> kShift; }

    [[nodiscard]] StringId find(std::size_t set, std::string_view text) const {
        for (std::size_t i = set * kWays; i < (set + 1) * kWays; ++i)
            if (m_entries[i].size == text.size() && m_entries[i].id &&
                (text.empty() || std::memcmp(m_entries[i].text, text.data(), text.size()) == 0))
                return m_entries[i].id;
        return {};
    }
    /// A text of the set that stands at `p`, of which `size` bytes are there; `found` is then its length.
    [[nodiscard]] StringId findAt(std::size_t set, const char* p, std::size_t size,
                                  std::size_t& found) const {
        for (std::size_t i = set * kWays; i < (set + 1) * kWays; ++i) {
            if (m_entries[i].id && m_entries[i].size <= size &&
                std::memcmp(m_entries[i].text, p, m_entries[i].size) == 0) {
                found = m_entries[i].size;
                return m_entries[i].id;
            }
        }
        return {};
    }
    /// Takes the place of the set's oldest. `text` is the pool's own.
    void add(std::size_t set, std::string_view text, StringId id) {
        const std::size_t way = m_turn[set]++ % kWays;
        m_entries[set * kWays + way] = {text.data(), static_cast<std::uint32_t>(text.size()), id};
    }

  private:
    static constexpr std::size_t kSets = 1024;
    static constexpr int kShift = 64 - 10;
    static constexpr std::size_t kWays = 4;
    static constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;
    struct Entry {
        const char* text = nullptr;
        std::uint32_t size = 0;
        StringId id;
    };

    std::vector<Entry> m_entries;
    std::vector<std::uint8_t> m_turn;
};

} // namespace warpline::chrome
