// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpline::repairing {

/// Where a string stands; it decides what may follow its closing quote.
enum class Place { Key, ObjectValue, ArrayValue };

enum class StringEnd {
    Closed,
    TextEnds, ///< before the string does, or before it can be told whether it does
    NewEvent, ///< another event begins within: `at` is at its brace
};

/// Reads a string whose opening quote is at `at` and appends it to `out` as a strict one. `at` moves on
/// behind it. A quote ends the string only where what follows makes sense after it: names with quotes in them
/// keep them.
StringEnd readString(std::string_view text, std::size_t& at, Place place, bool final, std::string& out,
                     std::uint32_t& repairs);

/// Whether the brace at `at` begins an event rather than a value: a key that events have comes first. Among
/// the elements of an array that is so only for the keys that nothing else has.
bool beginsEvent(std::string_view text, std::size_t at, bool inArray = false);

} // namespace warpline::repairing
