// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/batch.h"

#include <vector>

namespace warpline::chrome {

/// Fills Trace::flows from the batches, in the order of the file.
void collectFlows(Trace& trace, std::vector<Batch>& batches);
/// Fills Trace::memory, ascending in time. The tracks are there already.
void collectMemory(Trace& trace, std::vector<Batch>& batches);
/// Fills Trace::counters, one a process, name and argument, ascending in time.
void collectCounters(Trace& trace, std::vector<Batch>& batches);
/// Fills Trace::steps from the annotations that mark steps (ProfilerStep#N).
void findSteps(Trace& trace);

} // namespace warpline::chrome
