// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace warpline::capture {

/// Whether a running program can be attached to; the error is the sentence that says why not. Nothing is
/// touched. `patient`: waits some seconds for an agent that is still leaving after its last recording.
Result<Done> canAttach(pid_t pid, bool patient = false);

/// Loads the agent into a running program and has it connect to the recorder's socket: without a debugger,
/// by a thread of the program that is stopped for some milliseconds at a place where it holds no lock of the
/// allocator or the loader. Registers, vector state and signal mask are put back as they were. An error
/// before that place is reached leaves the program untouched.
Result<Done> attachAgent(pid_t pid, const std::string& agent, const std::string& socket,
                         std::int64_t timeoutMs);

/// A program of this machine that uses a GPU.
struct GpuProgram {
    pid_t pid = 0;
    std::string user;
    std::string command;
    bool cuda = false;  ///< libcuda is loaded
    std::string whyNot; ///< why it cannot be attached to; empty = it can
};
/// By process id. What another user runs shows only to those who may see it.
std::vector<GpuProgram> gpuPrograms();

} // namespace warpline::capture
