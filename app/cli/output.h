// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace warpline::cli {

/// Writes to the standard output, or says why not (a full disk).
Result<Done> print(std::string_view text);
/// "warpline-cli: message" in one line on the standard error.
void printError(std::string_view message);
/// The columns that a table may take: the terminal's, or a good width for a log where there is none.
std::size_t outputWidth();

} // namespace warpline::cli
