// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/timeline_state.h"

namespace warpline::navigation {

/// Where a key leads from a slice; nothing where it leads nowhere. Only what is shown is a goal, but for
/// links and names, which lead anywhere.

/// The event before (-1) or after (+1) in the same lane.
SliceRef alongLane(const TimelineState& state, SliceRef from, int direction);
/// The nearest event in time in the next lane above (-1) or below (+1) that has one: parent, child, or a
/// neighbouring track.
SliceRef acrossLanes(const TimelineState& state, SliceRef from, int direction);
/// The next event of the same name.
SliceRef sameName(const TimelineState& state, SliceRef from, int direction);
/// Along an arrow: to what the slice caused (forward) or what caused it. The launch goes before the op, the
/// op before forward and backward, these before any other arrow.
SliceRef alongLink(const TimelineState& state, SliceRef from, bool forward);
/// The event nearest to a moment in the topmost lane that shows one: where keys begin without a selection.
SliceRef firstShown(const TimelineState& state, TimeNs time);

} // namespace warpline::navigation
