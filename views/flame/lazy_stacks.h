// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/stacks.h"

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

} // namespace warpline
