// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "tests/bench/gen/training.h"

// How Kineto writes events.
namespace gen {

/// Appends an event and the comma behind it.
void write(fmt::memory_buffer& out, const Event& event);
/// The metadata and the events that close the list; the last event ends at `end`.
std::vector<std::string> tail(Time end);
/// What stands before the event list.
std::string head(bool python);

} // namespace gen
