// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/trace.h"

#include <string>

namespace warpline {

/// Saves a trace as .wpl ("-" = standard output): its tables as they are, so that it opens again equal in
/// every column and many times faster than from what it was read from. The file appears under its name only
/// once it is whole. `threads` 0 = as many as there are processors.
Result<Done> writeWpl(const Trace& trace, const std::string& path, unsigned threads = 0);

} // namespace warpline
