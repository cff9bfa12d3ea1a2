// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace warpline {

/// Every text of a trace, once. A text's place never changes, so that views of it stay good as long as the
/// pool lives. intern() may be called from several threads; view() needs no lock for an id that was handed
/// over by a thread that interned it. Texts are valid UTF-8 where their writer made them so; the pool does
/// not look at them.
class StringPool {
  public:
    StringPool();
    ~StringPool();
    StringPool(const StringPool&) = delete;
    StringPool& operator=(const StringPool&) = delete;

    StringId intern(std::string_view text);
    /// The same with the hash that hash() gave, for callers that have it already.
    StringId intern(std::string_view text, std::uint64_t hash);
    /// The id of a text that is there, or none.
    [[nodiscard]] StringId find(std::string_view text) const;
    /// The text; empty for the id 0.
    [[nodiscard]] std::string_view view(StringId id) const {
        if (!id)
            return {};
        const Entry& e = entry(id.index());
        return {e.text, e.length};
    }
    /// How many texts there are; ids run from 1 to size().
    [[nodiscard]] std::size_t size() const { return m_size.load(std::memory_order_acquire); }
    [[nodiscard]] std::size_t bytes() const;

    static std::uint64_t hash(std::string_view text);

  private:
    struct Entry {
        const char* text;
        std::uint32_t length;
        std::uint32_t tag;
    };
    /// Block k holds 2^(12+k) entries, so that an entry's place follows from its number and never moves.
    static constexpr std::size_t kFirstBits = 12;
    static constexpr std::size_t kBlocks = 21;
    [[nodiscard]] const Entry& entry(std::size_t index) const {
        const std::size_t n = index + (std::size_t{1} << kFirstBits);
        const auto top = static_cast<std::size_t>(std::bit_width(n)) - 1;
        return m_blocks[top - kFirstBits].load(std::memory_order_acquire)[n - (std::size_t{1} << top)];
    }

    [[nodiscard]] StringId lookup(std::string_view text, std::uint64_t hash, std::size_t& slot) const;
    const char* store(std::string_view text);
    void growSlots();

    mutable std::mutex m_mutex;
    std::array<std::atomic<Entry*>, kBlocks> m_blocks{};
    std::atomic<std::size_t> m_size{0};
    std::vector<std::uint32_t> m_slots; ///< open addressing, ids, 0 = free
    std::vector<std::unique_ptr<char[]>> m_chunks;
    std::size_t m_chunkFree = 0;
    char* m_chunkAt = nullptr;
    std::size_t m_bytes = 0;
};

} // namespace warpline
