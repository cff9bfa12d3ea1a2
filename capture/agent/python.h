// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpline::agent {

/// Runs Python source in the interpreter of this process on a thread of its own, since the interpreter's lock
/// may be long in coming; `done` is called there with the request's number and wire::PythonDone's status. The
/// source deals with its own exceptions. False where another one still runs or there is no memory.
bool runPython(std::uint32_t number, const char* source, std::size_t size,
               void (*done)(std::uint32_t number, int status));

} // namespace warpline::agent
