// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpline::agent {

/// The texts that were sent on a connection, each once, numbered from 1. Texts that are new since the last
/// clearNew() stand one behind the other, as the Strings frame wants them. Used by the agent's thread only.
class Strings {
  public:
    /// The number of a text; 0 for null, and where memory runs out.
    std::uint32_t number(const char* text);

    [[nodiscard]] const std::uint8_t* newBytes() const { return m_arena + m_newFrom; }
    [[nodiscard]] std::size_t newSize() const { return m_arenaUsed - m_newFrom; }
    [[nodiscard]] std::uint32_t newFirst() const { return m_newFirst; }
    [[nodiscard]] std::uint32_t newCount() const { return m_count + 1 - m_newFirst; }
    void clearNew() {
        m_newFrom = m_arenaUsed;
        m_newFirst = m_count + 1;
    }
    /// True where the table is so full that it should begin again; the other side learns of it by the
    /// number 1.
    [[nodiscard]] bool full() const { return m_arenaUsed > kArenaBytes / 2 || m_count > kSlots / 2; }
    void reset();

  private:
    static constexpr std::size_t kArenaBytes = std::size_t{64} << 20;
    static constexpr std::size_t kSlots = std::size_t{1} << 19;
    static constexpr std::size_t kLongest = std::size_t{1} << 16; ///< what is longer is cut
    struct Slot {
        std::uint32_t hash;
        std::uint32_t number;
        std::uint32_t at;
        std::uint32_t size;
    };
    bool reserve();

    std::uint8_t* m_arena = nullptr;
    Slot* m_slots = nullptr;
    std::size_t m_arenaUsed = 0;
    std::size_t m_newFrom = 0;
    std::uint32_t m_newFirst = 1;
    std::uint32_t m_count = 0;
};

} // namespace warpline::agent
