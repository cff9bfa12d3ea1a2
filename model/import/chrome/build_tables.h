// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/batch.h"

#include <vector>

namespace warpline::chrome {

/// Fills Trace::flows from the batches, in the order of the file.
void collectFlows(Trace& trace, const std::vector<Batch>& batches);
/// Fills Trace::memory, ascending in time.
void collectMemory(Trace& trace, const std::vector<Batch>& batches);
/// What collecting counters came upon.
struct CounterReport {
    Tally notNumbers; ///< values that no curve can show
};

/// Fills Trace::counters (the tracks are there already), one a process, name and argument, ascending in time.
void collectCounters(Trace& trace, std::vector<Batch>& batches, CounterReport& report);
/// Fills Trace::steps from the annotations that mark steps (ProfilerStep#N).
void findSteps(Trace& trace);

} // namespace warpline::chrome
