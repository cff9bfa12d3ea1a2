// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

namespace warpline::agent {

/// True for the runtime's and the driver's functions that start work, move or reserve memory, or wait: what a
/// timeline is about. Every other call (cudaGetDevice, cudaGetLastError ...) costs more than it tells.
/// `name` is as CUPTI gives it, with or without a version at its end.
bool callMatters(const char* name);

} // namespace warpline::agent
