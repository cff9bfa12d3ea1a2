// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"
#include "model/store/trace.h"

#include <memory>
#include <string>
#include <vector>

namespace warpline {

/// One recording in a session and where it stands on the session's clock: a trace or a memory history, never
/// both.
struct Source {
    TracePtr trace;          ///< null for a memory history
    MemoryHistoryPtr memory; ///< null for a trace
    TimeNs shift = 0;        ///< session time = the recording's own time + shift
};

/// What a window shows: one or more recordings on one time axis. Sources whose clocks overlap keep their
/// times; one that does not overlap the first is moved so that both begin together, and `notes` says so.
/// Sources that overlap one another, directly or through others, move as one. A memory snapshot and a trace
/// of the same run have the same clock and overlap, so they stand as they were; one without times has no
/// place on the axis, and a note says that.
struct Session {
    std::vector<Source> sources;
    std::vector<std::string> notes;
    TimeRange extent;

    static std::shared_ptr<const Session> of(std::vector<TracePtr> traces);
    /// Traces come first among the sources.
    static std::shared_ptr<const Session> of(std::vector<TracePtr> traces,
                                             std::vector<MemoryHistoryPtr> memory);
};

using SessionPtr = std::shared_ptr<const Session>;

} // namespace warpline
