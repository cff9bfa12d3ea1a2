// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"
#include "model/store/trace.h"

#include <cstdint>
#include <vector>

namespace warpline {

/// A thread of the host: its ops and calls and its Python frames, which stand on two tracks.
struct HostThread {
    std::uint32_t process = 0;
    std::vector<TrackId> tracks;
};

/// The threads of a trace, in the order of their tracks.
std::vector<HostThread> hostThreads(const Trace& trace);

/// A span of a thread, for nesting.
struct HostSpan {
    TimeNs start;
    TimeNs end;
    std::uint32_t row;
    std::uint8_t rank; ///< which of two equal spans is the outer one: the lower
};

/// The spans of a thread in order of (start, -end, rank): whatever holds another whole comes before it.
/// Instants and the profiler's own record of when it ran are left out.
std::vector<HostSpan> spansOf(const Trace& trace, const HostThread& thread);

} // namespace warpline
