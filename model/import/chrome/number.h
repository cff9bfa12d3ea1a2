// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

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

/// A count of microseconds as nanoseconds, exactly; what is finer than a nanosecond is cut off. Takes a
/// decimal number with or without an exponent. False where it is none or does not fit into 64 bits.
bool parseMicroseconds(std::string_view text, TimeNs& out);

/// An identifier: a whole number, or a text of digits or 0x and hexadecimal digits. False for any other.
bool parseIdentifier(std::string_view text, std::uint64_t& out);

} // namespace warpline
