// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/quote.h"

namespace warpline {
namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

} // namespace

std::string inQuotes(std::string_view name, std::size_t limit) {
    std::string text = "\"";
    std::string_view tail;
    if (name.size() > limit) {
        // Both ends tell more than one, and a character stays whole.
        std::size_t head = limit / 2;
        while (head > 0 && continues(name[head]))
            --head;
        std::size_t rest = name.size() - limit / 2;
        while (rest < name.size() && continues(name[rest]))
            ++rest;
        tail = name.substr(rest);
        name = name.substr(0, head);
    }
    const auto append = [&text](std::string_view part) {
        for (const char c : part)
            text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    };
    append(name);
    if (!tail.empty()) {
        text += "\u2026";
        append(tail);
    }
    text += '"';
    return text;
}

} // namespace warpline
