// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpline::cli {

/// PyTorch's own profiler, asked for from outside.
struct KinetoOptions {
    std::vector<std::string> program;
    std::string output; ///< NAME.json
    std::int64_t delayMs = 0;
    std::int64_t durationMs = 0;
    std::int64_t iterations = 0;
    bool json = false;
};
/// Runs a PyTorch program and has its profiler write a trace of a while of it; the exit code is the
/// program's.
Result<Done> runKineto(const KinetoOptions& options);

} // namespace warpline::cli
