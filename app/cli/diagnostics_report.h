// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/json_writer.h"
#include "model/store/diagnostics.h"

#include <string>

namespace warpline::cli {

/// What was found while reading, as the JSON array of info.
void writeDiagnostics(JsonWriter& json, const Diagnostics& diagnostics);
/// The same for people, losses first.
[[nodiscard]] std::string diagnosticsText(const Diagnostics& diagnostics);
/// For the head of a table: that something of the file could not be kept, and where to read what. Empty where
/// all is well.
[[nodiscard]] std::string lossNote(const Diagnostics& diagnostics);

} // namespace warpline::cli
