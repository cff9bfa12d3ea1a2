// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <memory>
#include <string>
#include <vector>

namespace warpline {

/// One recording in a session and where it stands on the session's clock.
struct Source {
    TracePtr trace;
    TimeNs shift = 0; ///< session time = the trace's own time + shift
};

/// What a window shows: one or more recordings on one time axis. Sources whose clocks overlap keep their
/// times; one that does not overlap the first is moved so that both begin together, and `notes` says so.
/// Sources that overlap one another, directly or through others, move as one.
struct Session {
    std::vector<Source> sources;
    std::vector<std::string> notes;
    TimeRange extent;

    static std::shared_ptr<const Session> of(std::vector<TracePtr> traces);
};

using SessionPtr = std::shared_ptr<const Session>;

} // namespace warpline
