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

/// What a member of an event is.
enum class Member : std::uint8_t {
    Other, ///< an argument, or a key of the event itself that has no meaning of its own
    Args,
    Phase,
    Name,
    Category,
    Pid,
    Tid,
    Time,
    Duration,
    Id,
    Id2,
    Scope,
    Bind,
    Close, ///< no member: the brace that closes the object
};

/// Which keys followed which in the events before. A writer puts an event's members always in the same order
/// and with the same white space between them, so that the bytes from the end of a value to the beginning of
/// the next mostly are one of a few known texts: to compare them is to have read them. What is not known is
/// read by the rules and added. One thread's own; bounded, whatever the file holds.
class KeyPaths {
  public:
    /// Bytes that may be read from where a text is looked for, beyond its end.
    static constexpr std::size_t kMostText = 56;

    struct Node {
        char text[kMostText]; ///< comma, key and colon, with the white space; or the closing brace
        std::uint8_t size;
        Member member;
        StringId key;            ///< Other: the key
        std::uint32_t next = 0;  ///< another way on from the same node; 0 = none
        std::uint32_t first = 0; ///< the first way on from here
    };
    static constexpr std::uint32_t kStart = 0; ///< behind the brace that opens an event
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    KeyPaths() : m_nodes(1) {}

    /// The node that the text at `p` leads to from another, or kNowhere.
    [[nodiscard]] std::uint32_t follow(std::uint32_t from, const char* p) const {
        if (from == kNowhere)
            return kNowhere;
        for (std::uint32_t at = m_nodes[from].first; at != 0; at = m_nodes[at].next)
            if (matches(m_nodes[at], p))
                return at;
        return kNowhere;
    }
    [[nodiscard]] const Node& operator[](std::uint32_t node) const { return m_nodes[node]; }

    /// Adds a way on. kNowhere where there are too many already, or the text is too long.
    std::uint32_t add(std::uint32_t from, std::string_view text, Member member, StringId key) {
        if (from == kNowhere || text.size() > kMostText || text.empty() || m_nodes.size() == kMostNodes)
            return kNowhere;
        std::size_t ways = 1;
        std::uint32_t* end = &m_nodes[from].first;
        for (; *end != 0; end = &m_nodes[*end].next)
            if (++ways > kMostWays)
                return kNowhere;
        const auto node = static_cast<std::uint32_t>(m_nodes.size());
        *end = node;
        Node& made = m_nodes.emplace_back();
        std::memcpy(made.text, text.data(), text.size());
        made.size = static_cast<std::uint8_t>(text.size());
        made.member = member;
        made.key = key;
        return node;
    }

  private:
    static constexpr std::size_t kMostNodes = 4096;
    static constexpr std::size_t kMostWays = 8;

    static std::uint64_t load(const char* p) {
        std::uint64_t w = 0;
        std::memcpy(&w, p, sizeof w);
        return w;
    }
    static bool matches(const Node& node, const char* p) {
        if (node.size < 8)
            return std::memcmp(p, node.text, node.size) == 0;
        // Word by word; the last word may overlap the one before it.
        const std::size_t last = node.size - std::size_t{8};
        for (std::size_t i = 0; i < last; i += 8)
            if (load(p + i) != load(node.text + i))
                return false;
        return load(p + last) == load(node.text + last);
    }

    std::vector<Node> m_nodes;
};

} // namespace warpline::chrome
