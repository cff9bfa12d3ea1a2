// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/open_slices.h"

#include <algorithm>

namespace warpline {

SliceId innermostAt(const Trace& trace, TrackId track, TimeNs t) {
    if (!track)
        return {};
    const Track& of = trace.tracks[track.index()];
    const SliceTable& slices = trace.slices;
    SliceId found;
    for (std::uint32_t l = of.firstLane; l < of.firstLane + of.laneCount; ++l) {
        const Lane& lane = trace.lanes[l];
        const TimeNs* first = slices.start.begin() + lane.begin;
        const TimeNs* last = slices.start.begin() + lane.end;
        const TimeNs* at = std::upper_bound(first, last, t);
        // Instants at the same time may stand behind what is open.
        while (at != first) {
            --at;
            const auto row = static_cast<std::size_t>(at - slices.start.begin());
            if ((slices.flags[row] & SliceFlag::Instant) != 0)
                continue;
            if (slices.end(row) > t && (!found || *at >= slices.start[found.index()]))
                found = SliceId::fromIndex(row);
            break;
        }
    }
    return found;
}

std::vector<TrackId> pythonTracks(const Trace& trace) {
    std::vector<TrackId> of(trace.tracks.size());
    for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
        const Track& python = trace.tracks[i];
        if (python.kind != TrackKind::Python)
            continue;
        for (std::size_t j = 0; j < trace.tracks.size(); ++j) {
            const Track& thread = trace.tracks[j];
            if (thread.kind == TrackKind::Thread && thread.process == python.process &&
                thread.tid == python.tid && thread.tidText == python.tidText)
                of[j] = TrackId::fromIndex(i);
        }
    }
    return of;
}

} // namespace warpline
