// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/trace.h"

#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

/// A search as it is typed; all terms must hold. Case never counts.
///   mm gemm "two words"          parts of the name
///   /^aten::.*mm$/               a regular expression (Perl's syntax) on the name
///   dur>1ms dur<=20us            the duration
///   cat:kernel                   a part of the category, or the kind of event
///   stream=7 dtype=float         an argument's value, exactly; "External id"=12 is external_id=12
///   grid:128 bytes>1MiB          a part of the value; a comparison of numbers
///   0x7f3a8c000000               an address, among the arguments, in the name or in the [memory] records
///   below it
struct SearchQuery {
    std::string text;
};

/// The slices that match, ordered by start. Gives an error where the query cannot be read (a broken regular
/// expression), with a sentence that says why.
Result<std::vector<SliceId>> search(const Trace& trace, const SearchQuery& query, std::stop_token stop = {});

/// "250us", "1.5 ms", "2s", "120": a duration or a distance in time; without a unit, nanoseconds.
bool parseDuration(std::string_view text, TimeNs& out);

} // namespace warpline
