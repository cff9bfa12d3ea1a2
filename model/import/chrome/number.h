// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpline {

/// A JSON number, digit by digit: value = mantissa / 10^decimals.
struct Decimal {
    std::int64_t mantissa = 0;
    std::uint8_t decimals = 0;
    /// No more digits than mantissa and decimals give back: printing it gives the same text.
    bool canonical = false;
};

/// Reads a number that fits in 63 bits of mantissa and 18 decimals, without an exponent. False for any other.
bool parseDecimal(std::string_view text, Decimal& out);

/// The same of a number that stands at `p`, up to a separator; the byte behind it, or null for any other. The
/// text has zero bytes after it.
inline const char* readDecimal(const char* p, Decimal& out) {
    const bool negative = *p == '-';
    p += negative ? 1 : 0;
    const char* const first = p;
    std::uint64_t v = 0;
    unsigned digit = 0;
    while ((digit = static_cast<unsigned char>(*p - '0')) < 10 && p - first < 19) {
        v = v * 10 + digit;
        ++p;
    }
    const char* const point = p;
    std::ptrdiff_t decimals = 0;
    if (*p == '.') {
        ++p;
        while ((digit = static_cast<unsigned char>(*p - '0')) < 10 && p - first < 20) {
            v = v * 10 + digit;
            ++p;
        }
        decimals = p - point - 1;
        if (decimals == 0)
            return nullptr;
    }
    const bool separated =
        *p == ',' || *p == '}' || *p == ']' || *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t';
    if (point == first || point - first + decimals > 18 || !separated)
        return nullptr;
    const auto mantissa = static_cast<std::int64_t>(v);
    out = {negative ? -mantissa : mantissa, static_cast<std::uint8_t>(decimals),
           (point - first == 1 || *first != '0') && !(negative && v == 0)};
    return p;
}

/// A count of microseconds as nanoseconds, exactly; what is finer than a nanosecond is cut off. Takes a
/// decimal number with or without an exponent. False where it is none or does not fit into 64 bits.
bool parseMicroseconds(std::string_view text, TimeNs& out);

/// The same of a number with up to 15 digits before the point and 3 after it, and nothing else, up to a
/// separator; the byte behind it, or null for any other. The text has zero bytes after it.
inline const char* readMicroseconds(const char* p, TimeNs& out) {
    const char* const first = p;
    TimeNs v = 0;
    unsigned digit = 0;
    while ((digit = static_cast<unsigned char>(*p - '0')) < 10 && p - first < 16) {
        v = v * 10 + digit;
        ++p;
    }
    if (p == first || p - first > 15)
        return nullptr;
    int decimals = 0;
    if (*p == '.') {
        ++p;
        while ((digit = static_cast<unsigned char>(*p - '0')) < 10 && decimals < 3) {
            v = v * 10 + digit;
            ++decimals;
            ++p;
        }
    }
    if (*p != ',' && *p != '}' && *p != ' ' && *p != '\n')
        return nullptr;
    constexpr TimeNs kScale[] = {1000, 100, 10, 1};
    out = v * kScale[decimals];
    return p;
}

/// An identifier: a whole number, or a text of digits or 0x and hexadecimal digits. False for any other.
bool parseIdentifier(std::string_view text, std::uint64_t& out);

} // namespace warpline
