// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace warpline::capture {

struct LaunchRequest {
    std::vector<std::string> command; ///< found in PATH
    std::string folder;               ///< empty = this one
    std::vector<std::pair<std::string, std::string>> environment;
    int output = -1; ///< a file for standard output; -1 = ours
    int error = -1;
    bool ownGroup = false; ///< a process group of its own, so that it can be ended as a whole
};

/// Starts a program. An error where it cannot be started at all (no such file): known before this returns.
Result<pid_t> launchProgram(const LaunchRequest& request);

/// What a shell makes of wait()'s status.
int exitCodeOf(int status);

} // namespace warpline::capture
