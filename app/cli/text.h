// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpline::cli {

/// A text from a file made safe to show: control characters (a terminal would obey them) become spaces or
/// U+FFFD, bytes that are no UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// How many columns a terminal gives a printable text.
std::size_t displayWidth(std::string_view text);
/// The text, its middle replaced by "…" where it is wider than `width`.
std::string elided(std::string_view text, std::size_t width);

} // namespace warpline::cli
