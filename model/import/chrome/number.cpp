// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/number.h"

#include <charconv>
#include <string>

namespace warpline {

namespace {

bool isDigit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

/// Up to 18 digits, which always fit.
std::int64_t smallDigits(std::string_view text, std::size_t& i, int& count) {
    std::int64_t v = 0;
    while (i < text.size() && isDigit(text[i]) && count < 18) {
        v = v * 10 + (text[i++] - '0');
        ++count;
    }
    return v;
}

/// The way of any number: digits with a point anywhere and an exponent, times 1000.
bool slowMicroseconds(std::string_view text, TimeNs& out) {
    std::size_t i = 0;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+'))
        ++i;
    std::string digits;
    long pointAt = -1;
    for (; i < text.size(); ++i) {
        if (isDigit(text[i])) {
            digits += text[i];
        } else if (text[i] == '.' && pointAt < 0) {
            pointAt = static_cast<long>(digits.size());
        } else {
            break;
        }
    }
    if (digits.empty() || digits.size() > 400)
        return false;
    if (pointAt < 0)
        pointAt = static_cast<long>(digits.size());
    if (i < text.size()) {
        if (text[i] != 'e' && text[i] != 'E')
            return false;
        ++i;
        if (i < text.size() && text[i] == '+')
            ++i;
        int exponent = 0;
        const auto r = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
        if (r.ec != std::errc() || r.ptr != text.data() + text.size() || exponent > 400 || exponent < -400)
            return false;
        pointAt += exponent;
    }
    pointAt += 3; // microseconds to nanoseconds
    TimeNs v = 0;
    for (long k = 0; k < pointAt; ++k) {
        const int digit =
            k < static_cast<long>(digits.size()) ? digits[static_cast<std::size_t>(k)] - '0' : 0;
        if (__builtin_mul_overflow(v, TimeNs{10}, &v) || __builtin_add_overflow(v, TimeNs{digit}, &v))
            return false;
    }
    out = negative ? -v : v;
    return true;
}

} // namespace

bool parseDecimal(std::string_view text, Decimal& out) {
    std::size_t i = 0;
    const bool negative = !text.empty() && text[0] == '-';
    if (negative)
        ++i;
    const std::size_t first = i;
    int count = 0;
    std::int64_t v = smallDigits(text, i, count);
    const std::size_t whole = i - first;
    if (whole == 0)
        return false;
    std::uint8_t decimals = 0;
    if (i < text.size() && text[i] == '.') {
        ++i;
        const std::size_t from = i;
        while (i < text.size() && isDigit(text[i]) && count < 18) {
            v = v * 10 + (text[i++] - '0');
            ++count;
        }
        decimals = static_cast<std::uint8_t>(i - from);
        if (decimals == 0)
            return false;
    }
    if (i != text.size())
        return false;
    // "007" and "-0" would not come back as they were.
    out = {negative ? -v : v, decimals, (whole == 1 || text[first] != '0') && !(negative && v == 0)};
    return true;
}

bool parseMicroseconds(std::string_view text, TimeNs& out) {
    std::size_t i = 0;
    const bool negative = !text.empty() && text[0] == '-';
    if (negative)
        ++i;
    int count = 2; // sixteen digits: today's date in microseconds
    const std::size_t first = i;
    std::int64_t v = smallDigits(text, i, count);
    constexpr std::int64_t kMost = INT64_MAX / 1000 - 1;
    if (i == first || v > kMost)
        return slowMicroseconds(text, out);
    int decimals = 0;
    if (i < text.size() && text[i] == '.') {
        ++i;
        for (; i < text.size() && isDigit(text[i]); ++i) {
            if (decimals < 3) {
                v = v * 10 + (text[i] - '0');
                ++decimals;
            }
        }
    }
    if (i != text.size())
        return slowMicroseconds(text, out);
    for (; decimals < 3; ++decimals)
        v *= 10;
    out = negative ? -v : v;
    return true;
}

bool parseIdentifier(std::string_view text, std::uint64_t& out) {
    if (text.empty())
        return false;
    int base = 10;
    const char* from = text.data();
    const char* end = from + text.size();
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        from += 2;
    } else if (text[0] == '-') {
        std::int64_t v = 0;
        const auto r = std::from_chars(from, end, v);
        out = static_cast<std::uint64_t>(v);
        return r.ec == std::errc() && r.ptr == end;
    }
    const auto r = std::from_chars(from, end, out, base);
    return r.ec == std::errc() && r.ptr == end;
}

} // namespace warpline
