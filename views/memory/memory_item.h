// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/memory_join.h"
#include "model/analysis/memory_peaks.h"
#include "model/query/memory_layout.h"
#include "model/query/memory_state.h"
#include "model/store/memory_history.h"
#include "views/timeline/row_series.h"

#include <memory>
#include <vector>

namespace warpline {

class LazyMemoryStacks;

/// One device of a memory history with what the views ask of it. Made off the GUI thread.
struct MemoryDeviceItem {
    std::size_t device = 0; ///< index into MemoryHistory::devices
    std::shared_ptr<const MemoryLayout> layout;
    std::shared_ptr<const LiveIndex> live;
    std::vector<LocalPeak> peaks; ///< of the requested bytes, in order of time
    /// Requested, allocated and reserved bytes over time; empty where the history has no times.
    std::shared_ptr<const std::vector<RowSeries>> series;
};

/// A memory history of the session: a snapshot, or what a trace's own records tell.
struct MemoryItem {
    MemoryHistoryPtr history;
    std::shared_ptr<LazyMemoryStacks> stacks; ///< built when a view asks for them
    TimeNs shift = 0;                         ///< session time = the history's own time + shift
    std::vector<MemoryDeviceItem> devices;
    /// With the trace of the same run; null where there is none. `joinError` says why where one was tried.
    MemoryJoinPtr join;
    int joined = -1; ///< index into Document::items() of that trace
    std::string joinError;

    static MemoryItem prepare(MemoryHistoryPtr history, TimeNs shift);
};

} // namespace warpline
