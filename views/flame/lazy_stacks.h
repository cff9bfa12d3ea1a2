// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/memory_flame.h"
#include "model/analysis/stacks.h"

#include <memory>
#include <mutex>
#include <stop_token>

namespace warpline {

/// The stacks of a trace, built by the first job that asks and kept for all others: most traces are looked at
/// without them. May be asked from any thread but the GUI's, which would have to wait.
class LazyStacks {
  public:
    explicit LazyStacks(TracePtr trace) : m_trace(std::move(trace)) {}
    /// One who asks while another builds waits for that; an error only where `stop` was requested.
    Result<TraceStacksPtr> get(const std::stop_token& stop);

  private:
    TracePtr m_trace;
    std::mutex m_mutex;
    TraceStacksPtr m_stacks; ///< guarded by m_mutex
};

/// The same of an allocator's history; always the same table of frames, so that a place in one flame graph is
/// found in the next.
class LazyMemoryStacks {
  public:
    explicit LazyMemoryStacks(MemoryHistoryPtr history) : m_history(std::move(history)) {}
    std::shared_ptr<const MemoryStacks> get();

  private:
    MemoryHistoryPtr m_history;
    std::mutex m_mutex;
    std::shared_ptr<const MemoryStacks> m_stacks; ///< guarded by m_mutex
};

} // namespace warpline
