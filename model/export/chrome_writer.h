// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/trace.h"

#include <optional>
#include <string>

namespace warpline {

struct ExportOptions {
    /// Only what overlaps it (trace time); metadata always.
    std::optional<TimeRange> range;
};

/// Writes a trace as Chrome JSON, ".json" or ".json.gz" by the name ("-" = standard output). Opened again it
/// gives the same slices, counters, flows, arguments and times. The file appears under its name only once it
/// is whole.
Result<Done> writeChromeTrace(const Trace& trace, const std::string& path, const ExportOptions& options = {});

} // namespace warpline
