// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

/// What can be seen of a JSON document from its head, which may be cut anywhere and broken anywhere.
struct JsonOutline {
    enum class Kind { Object, Array, String, Number, Word };

    struct Member {
        std::string_view key; ///< as written, escapes not resolved
        Kind kind = Kind::Word;
        std::string_view text; ///< of a string value
    };
    struct Element {
        Kind kind = Kind::Word;
        std::size_t members = 0; ///< of an array: how many, as far as the head goes
        bool numbers = true;     ///< of an array: nothing but numbers in it
    };
    static constexpr std::size_t kDepths = 4;

    bool array = false;            ///< the root is an array
    bool closed = false;           ///< the root ends in the head
    bool inFirst = false;          ///< of a root array: the head ends within the first element
    std::vector<Member> members;   ///< of a root object
    std::vector<Element> elements; ///< of a root array, the first few
    std::array<std::vector<std::string_view>, kDepths>
        keys; ///< of objects that deep (the root is 0), each once

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const Member* find(std::string_view key) const;
    /// Whether an object at this depth has the key.
    [[nodiscard]] bool hasAt(std::size_t depth, std::string_view key) const;
};

/// `text` begins with { or [.
JsonOutline outlineOf(std::string_view text);

} // namespace warpline
