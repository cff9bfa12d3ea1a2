// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"

#include <memory>
#include <string_view>

namespace warpline::wpl {

/// True where a document that begins so is one of ours.
bool isWpl(std::string_view head);
/// Reads a .wpl, a saved trace or a recording. A file that was cut is opened up to the cut, one with a
/// damaged chunk up to that, and Trace::diagnostics tells.
Result<std::shared_ptr<Trace>> readWpl(ByteSource& source, const ImportOptions& options);

} // namespace warpline::wpl
