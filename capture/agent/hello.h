// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/agent/capture.h"

#include <cstddef>

namespace warpline::agent {

/// Writes the Hello frame's content; returns its size.
std::size_t writeHello(char* to, std::size_t size, bool attached);
/// Reads a Configure frame's content. What it does not name keeps its value.
void readConfiguration(const char* fields, std::size_t size, Settings& settings);
/// The name of a thread of this process, empty where it is gone.
void threadName(unsigned tid, char* to, std::size_t size);

} // namespace warpline::agent
