// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/text.h"

#include "model/base/json.h"

#include <cstdint>

namespace warpline::cli {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Character {
    std::size_t bytes = 1;
    std::size_t columns = 1;
    std::uint32_t code = 0;
};

/// Characters that East Asian terminals draw two columns wide: the blocks of which nearly all are.
bool isWide(std::uint32_t c) {
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
           (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) || (c >= 0x1F900 && c <= 0x1F9FF) ||
           (c >= 0x20000 && c <= 0x3FFFD);
}

bool isCombining(std::uint32_t c) {
    return (c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x20D0 && c <= 0x20FF) ||
           (c >= 0xFE00 && c <= 0xFE0F);
}

/// The character at `at` of valid UTF-8.
Character characterAt(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
    };
    Character c;
    if (byte(0) < 0x80) {
        c.code = byte(0);
        return c;
    }
    if (byte(0) < 0xE0) {
        c.bytes = 2;
        c.code = (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    } else if (byte(0) < 0xF0) {
        c.bytes = 3;
        c.code = (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    } else {
        c.bytes = 4;
        c.code = (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    }
    c.columns = isWide(c.code) ? 2 : isCombining(c.code) ? 0 : 1;
    return c;
}

} // namespace

std::string printable(std::string_view text) {
    const std::string valid = toUtf8(text);
    std::string out;
    out.reserve(valid.size());
    for (std::size_t at = 0; at < valid.size();) {
        const Character c = characterAt(valid, at);
        // The last two ranges turn the direction of a line around.
        const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0) ||
                             (c.code >= 0x202A && c.code <= 0x202E) || (c.code >= 0x2066 && c.code <= 0x2069);
        if (c.code == '\n' || c.code == '\t' || c.code == '\r')
            out.push_back(' ');
        else if (control)
            out.append(kReplacement);
        else
            out.append(valid, at, c.bytes);
        at += c.bytes;
    }
    return out;
}

std::size_t displayWidth(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Character c = characterAt(text, at);
        width += c.columns;
        at += c.bytes;
    }
    return width;
}

std::string elided(std::string_view text, std::size_t width) {
    const std::size_t whole = displayWidth(text);
    if (whole <= width)
        return std::string(text);
    if (width == 0)
        return {};
    // Kernels differ at both ends of their names; a little more of the beginning is kept.
    const std::size_t tailWidth = (width - 1) * 2 / 5;
    const std::size_t headWidth = width - 1 - tailWidth;
    std::size_t head = 0;
    std::size_t used = 0;
    while (head < text.size()) {
        const Character c = characterAt(text, head);
        if (used + c.columns > headWidth)
            break;
        used += c.columns;
        head += c.bytes;
    }
    std::size_t tail = head;
    std::size_t left = whole - used;
    while (tail < text.size() && left > tailWidth) {
        const Character c = characterAt(text, tail);
        left -= c.columns;
        tail += c.bytes;
    }
    std::string out(text.substr(0, head));
    out.append(kEllipsis).append(text.substr(tail));
    return out;
}

} // namespace warpline::cli
