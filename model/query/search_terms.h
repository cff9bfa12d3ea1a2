// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/base/time.h"
#include "model/query/text_match.h"
#include "model/store/args.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

/// A number as it is typed, exact: mantissa / 10^decimals.
struct ExactNumber {
    bool negative = false;
    std::uint64_t mantissa = 0;
    int decimals = 0;

    /// "7", "-1.50", "0x7f3a00000000", "2MiB".
    static std::optional<ExactNumber> parse(std::string_view text);
    /// Of a numeric argument.
    static ExactNumber of(const Arg& arg);
    [[nodiscard]] bool operator==(const ExactNumber& o) const;
    [[nodiscard]] long double value() const;
};

enum class Comparison { Equal, Less, LessOrEqual, Greater, GreaterOrEqual };

/// One condition of a search.
struct SearchTerm {
    enum class Kind {
        Name,     ///< the pattern is in the name
        Duration, ///< compared with `duration`
        Category, ///< the pattern is in the category's name, or `text` is the name of the kind
        Argument, ///< the argument called `key`, compared with `number` or `text`
        Address,  ///< a numeric argument equals `number`, or a text holds the pattern
    };
    Kind kind = Kind::Name;
    std::optional<TextPattern> pattern;
    std::string text;      ///< folded
    std::string key;       ///< folded, see foldKey()
    bool contains = false; ///< Argument: the text may be a part of the value
    Comparison comparison = Comparison::Equal;
    TimeNs duration = 0;
    std::optional<ExactNumber> number;
};

/// How argument keys are compared: case does not count, and "external_id" is "External id".
std::string foldKey(std::string_view key);

/// Reads a search. `isKey` tells whether events have an argument of this (folded) key: what looks like
/// key=value or key:value but names no argument is taken for a part of a name, since names hold such signs.
Result<std::vector<SearchTerm>> parseSearch(std::string_view text,
                                            const std::function<bool(const std::string&)>& isKey);

} // namespace warpline
