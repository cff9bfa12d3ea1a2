// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

/// Counts the events of a valid Chrome trace by walking its text, a byte at a time: slow, short, and written
/// without a look at the importer that it checks.
class EventCounter {
  public:
    std::vector<std::size_t> ends;        ///< where each event of the list ends, one past its brace
    std::map<char, std::uint64_t> phases; ///< how many of each "ph"
    std::size_t listBegin = 0;            ///< behind the "[" of the list; 0 = there is none
    std::size_t listEnd = 0;

    explicit EventCounter(std::string_view text) {
        enum { NoKey, Key, Value } phase = NoKey; // of "ph" in an event
        int depth = 0, listDepth = -1;
        std::string_view lastString;
        bool traceEvents = false; // the last key at the top
        for (std::size_t at = 0; at < text.size(); ++at) {
            const char c = text[at];
            switch (c) {
            case '"': {
                const std::size_t begin = ++at;
                while (at < text.size() && text[at] != '"')
                    at += text[at] == '\\' ? 2 : 1;
                lastString = text.substr(begin, at - begin);
                if (listDepth > 0 && depth == listDepth + 1 && phase == Value && !lastString.empty()) {
                    ++phases[lastString[0]];
                    phase = NoKey;
                }
                break;
            }
            case ':':
                if (depth == 1 && listDepth < 0)
                    traceEvents = lastString == "traceEvents";
                if (listDepth > 0 && depth == listDepth + 1)
                    phase = lastString == "ph" ? Value : NoKey;
                break;
            case '[':
            case '{':
                ++depth;
                if (c == '[' && listDepth < 0 && (depth == 1 || (depth == 2 && traceEvents))) {
                    listDepth = depth;
                    listBegin = at + 1;
                }
                break;
            case ']':
            case '}':
                if (c == ']' && depth == listDepth) {
                    listEnd = at;
                    return;
                }
                --depth;
                if (c == '}' && depth == listDepth)
                    ends.push_back(at + 1);
                break;
            default:
                break;
            }
        }
        listEnd = text.size();
    }
    /// How many events end at or before this byte.
    [[nodiscard]] std::size_t before(std::size_t cut) const {
        std::size_t n = 0;
        while (n < ends.size() && ends[n] <= cut)
            ++n;
        return n;
    }
};
