// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

struct JsonMember;

/// A small JSON document in memory: for headers, metadata and tests, not for event lists.
struct JsonValue {
    enum class Type { Null, Bool, Number, String, Array, Object };
    Type type = Type::Null;
    bool boolean = false;
    std::string text; ///< String: unescaped. Number: as it stood.
    std::vector<JsonValue> items;
    std::vector<JsonMember> members;

    /// The member of that name, or null where there is none or this is no object.
    [[nodiscard]] const JsonValue* find(std::string_view key) const;
    /// The number as a whole one, exactly; nothing where it is none or does not fit.
    [[nodiscard]] std::optional<std::int64_t> integer() const;
    [[nodiscard]] std::string_view string() const {
        return type == Type::String ? std::string_view(text) : std::string_view();
    }
};

struct JsonMember {
    std::string key;
    JsonValue value;
};

/// Reads strict JSON (RFC 8259), nested at most 64 deep; nothing where the text is not that.
std::optional<JsonValue> parseJson(std::string_view text);
/// Whether a text is one strict JSON value, white space around it allowed, nested at most 512 deep.
bool isStrictJson(std::string_view text);
/// Appends the text that a JSON string stands for; `body` is what is between its quotes. False at a bad
/// escape. A lone surrogate becomes U+FFFD.
bool appendUnescaped(std::string& out, std::string_view body);
/// Whether bytes are well-formed UTF-8.
bool isUtf8(std::string_view text);
/// The text with each byte that is no UTF-8 replaced by U+FFFD.
std::string toUtf8(std::string_view text);

} // namespace warpline
