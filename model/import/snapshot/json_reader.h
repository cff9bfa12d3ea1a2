// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/import/snapshot/machine.h"

namespace warpline::snapshot {

/// Reads a snapshot that was written as JSON, as it comes, nested at most 64 deep. A document that ends early
/// or breaks off gives what it has (Sink::cut).
Result<Done> readJson(ByteSource& source, Sink& sink, const ImportOptions& options);

/// Puts the value of a short JSON text on a machine's stack; false where the text is none.
bool pushJson(std::string_view text, Machine& machine);

} // namespace warpline::snapshot
