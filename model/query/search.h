// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/trace.h"

#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

/// A search as it is typed: words match names (case does not count), /.../ is a regular expression,
/// `key=value` an argument, `dur>1ms`, `dur<20us` a duration, `cat:kernel` a category, 0x7f.. an address
/// among the arguments. All terms must hold.
struct SearchQuery {
    std::string text;
};

/// The slices that match, ordered by start. Gives an error where the query cannot be read (a broken regular
/// expression), with a sentence that says why.
Result<std::vector<SliceId>> search(const Trace& trace, const SearchQuery& query, std::stop_token stop = {});

/// "250us", "1.5 ms", "2s", "120": a duration or a distance in time; without a unit, nanoseconds.
bool parseDuration(std::string_view text, TimeNs& out);

} // namespace warpline
