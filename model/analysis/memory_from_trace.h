// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"
#include "model/store/trace.h"

#include <stop_token>

namespace warpline {

/// The allocator's history that a trace's [memory] instants tell (profile_memory=True): a device each, host
/// memory left out. Blocks are matched by address; sizes are the instants' "Bytes"; allocated is the same as
/// requested; the reserved curve is "Total Reserved" of each instant. Stacks are the slices open on the
/// instant's thread then, Python frames and ops, outermost first; a frame's file is that of "file(line):
/// name" of Python slices. Null where the trace has no such records, or when stopped.
MemoryHistoryPtr memoryOfTrace(const TracePtr& trace, std::stop_token stop = {});

} // namespace warpline
