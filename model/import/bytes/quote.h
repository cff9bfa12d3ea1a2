// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpline {

/// A name from outside, in quotes, fit for a sentence: control characters as '?', cut in the middle where it
/// is longer than `limit` bytes.
std::string inQuotes(std::string_view name, std::size_t limit = 300);

} // namespace warpline
