// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <cstdint>
#include <vector>

namespace warpline {

/// The innermost slice of a track that is open at `t`: the one of those that began last; none where nothing
/// is. Instants do not count. Cost: a binary search a lane of the track.
SliceId innermostAt(const Trace& trace, TrackId track, TimeNs t);

/// The Python track of each Thread track; by track number, none where there is none.
std::vector<TrackId> pythonTracks(const Trace& trace);

} // namespace warpline
