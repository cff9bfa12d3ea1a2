// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// What the forgiving reader knows of text, brackets aside.
namespace warpline::repairing {

inline bool isSpace(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

inline std::size_t skipSpace(std::string_view text, std::size_t at) {
    while (at < text.size() && isSpace(text[at]))
        ++at;
    return at;
}

struct QuotedKey {
    bool plausible = false; ///< "key" and a colon, nothing odd in between
    bool cut = false;       ///< the text ends before that can be told
    std::string_view key;   ///< what is in the quotes, where there is a second one
};
/// Looks at the quote at `at`, which may begin a key.
QuotedKey quotedKey(std::string_view text, std::size_t at);

/// Keys that trace events have at their top.
bool isEventKey(std::string_view key);
/// Keys that stand beside the event list.
bool isFrameKey(std::string_view key);

enum class ListEnd { No, Yes, TextEnds };
/// Whether the "]" at `at` ends the event list, told by what follows: nothing, the end of the frame or a key
/// of the frame. Elsewhere it is a piece of something broken.
ListEnd endsList(std::string_view text, std::size_t at, bool final);

/// A word without quotes as strict JSON: numbers as they are or put right, NaN and its like as null, Python's
/// words as JSON's, all else as text. Sets `odd` where it had to be changed.
std::string strictWord(std::string_view word, bool& odd);

/// How many bytes the UTF-8 character at `at` has; 0 where there is none, -1 where the text ends within it.
int utf8Length(std::string_view text, std::size_t at);

} // namespace warpline::repairing
