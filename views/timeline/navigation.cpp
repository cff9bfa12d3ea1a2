// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/navigation.h"

#include "model/query/spans.h"
#include "views/timeline/coordinates.h"

#include <algorithm>
#include <array>

namespace warpline::navigation {

namespace {

const Document::Item& itemOf(const TimelineState& state, int source) {
    return state.document().items()[static_cast<std::size_t>(source)];
}

/// One lane that is shown, in the order they stand.
struct ShownLane {
    int source;
    std::uint32_t lane;
};

std::vector<ShownLane> shownLanes(const TimelineState& state) {
    std::vector<ShownLane> lanes;
    for (const std::vector<Row>* part : {&state.layout().pinnedRows(), &state.layout().rows()}) {
        for (const Row& row : *part) {
            for (int i = 0; i < row.lanes; ++i)
                lanes.push_back({row.id.source, row.firstLane + static_cast<std::uint32_t>(i)});
        }
    }
    return lanes;
}

/// The event of a lane that is nearest to a moment of the session, within what is in view.
SliceRef nearest(const TimelineState& state, ShownLane shown, TimeNs time) {
    const Document::Item& item = itemOf(state, shown.source);
    const TimeNs slack = state.document().visible().duration();
    const SliceId found =
        hitTest(*item.trace, LaneId::fromIndex(shown.lane), coordinates::subtract(time, item.shift), slack);
    return found ? SliceRef{shown.source, found} : SliceRef{};
}

} // namespace

SliceRef alongLane(const TimelineState& state, SliceRef from, int direction) {
    const Trace& trace = *itemOf(state, from.source).trace;
    const SliceId to = direction > 0 ? nextInLane(trace, from.slice) : previousInLane(trace, from.slice);
    return to ? SliceRef{from.source, to} : SliceRef{};
}

SliceRef acrossLanes(const TimelineState& state, SliceRef from, int direction) {
    const std::vector<ShownLane> lanes = shownLanes(state);
    const Trace& trace = *itemOf(state, from.source).trace;
    const auto lane = static_cast<std::uint32_t>(trace.laneOf(from.slice).index());
    const auto it = std::find_if(lanes.begin(), lanes.end(), [&](ShownLane shown) {
        return shown.source == from.source && shown.lane == lane;
    });
    if (it == lanes.end())
        return firstShown(state, state.document().sliceRange(from).begin);
    if (direction > 0) {
        // The child that starts first, if its lane is the one below.
        const SliceId child = firstChild(trace, from.slice);
        if (child && it + 1 != lanes.end() && (it + 1)->source == from.source &&
            trace.laneOf(child).index() == (it + 1)->lane)
            return {from.source, child};
    }
    // Where a long event begins out of view, what is in view counts.
    const TimeRange range = state.document().sliceRange(from);
    const TimeRange visible = state.document().visible();
    const TimeNs time =
        std::clamp(range.begin, std::min(visible.begin, range.end), std::max(visible.begin, range.begin));
    for (auto i = (it - lanes.begin()) + direction; i >= 0 && i < std::ssize(lanes); i += direction) {
        if (const SliceRef found = nearest(state, lanes[static_cast<std::size_t>(i)], time))
            return found;
    }
    return {};
}

SliceRef sameName(const TimelineState& state, SliceRef from, int direction) {
    const Trace& trace = *itemOf(state, from.source).trace;
    const SliceId to = direction > 0 ? nextOfName(trace, from.slice) : previousOfName(trace, from.slice);
    return to ? SliceRef{from.source, to} : SliceRef{};
}

SliceRef alongLink(const TimelineState& state, SliceRef from, bool forward) {
    const Trace& trace = *itemOf(state, from.source).trace;
    const std::vector<LinkedSlice> links = linkedSlices(trace, from.slice, 1);
    for (const LinkedSlice::Kind kind : {LinkedSlice::Kind::Launch, LinkedSlice::Kind::Op,
                                         LinkedSlice::Kind::Forward, LinkedSlice::Kind::Flow}) {
        for (const LinkedSlice& link : links) {
            if (link.kind == kind && link.outgoing == forward)
                return {from.source, link.slice};
        }
    }
    return {};
}

SliceRef firstShown(const TimelineState& state, TimeNs time) {
    for (const ShownLane& lane : shownLanes(state)) {
        if (const SliceRef found = nearest(state, lane, time))
            return found;
    }
    return {};
}

} // namespace warpline::navigation
