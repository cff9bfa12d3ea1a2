// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <vector>

namespace warpline {

/// Something to paint in a lane: one slice, or several that are too narrow to tell apart.
struct Span {
    TimeNs start = 0; ///< of the first slice in it
    TimeNs end = 0;   ///< of the last slice in it
    SliceId slice;    ///< the slice, or the longest of those in it
    std::uint32_t count = 0;
    TimeNs busy = 0; ///< sum of the durations in it; a lane's slices do not overlap, so at most end - start
};

/// Indexes a trace for painting at any zoom: for each lane, the longest slice, the time covered and the
/// starts over runs of rows, in steps of sixteen. Built once a trace, read from any thread. About 1.8 bytes a
/// slice.
class SpanIndex {
  public:
    explicit SpanIndex(TracePtr trace);

    /// The spans of a lane in `range`, in order. `pixels` is the width that range is drawn on, in device
    /// pixels: slices at least one pixel wide come alone, narrower neighbours that start in the same pixel
    /// come together. At most two spans a pixel; the cost follows pixels, not slices. Appends to `out`.
    void spans(LaneId lane, TimeRange range, int pixels, std::vector<Span>& out) const;

    /// The longest slice of rows [begin, end), which lie in one lane; end > begin. The first of equals.
    [[nodiscard]] std::uint32_t longest(std::uint32_t begin, std::uint32_t end) const;
    /// Sum of the durations of rows [begin, end) of one lane.
    [[nodiscard]] TimeNs busy(std::uint32_t begin, std::uint32_t end) const;
    /// The first row of [begin, end), which lie in one lane, that starts at `t` or later; `end` where none
    /// does. Quick where it is near `begin`.
    [[nodiscard]] std::uint32_t firstFrom(std::uint32_t begin, std::uint32_t end, TimeNs t) const;
    /// The time that the slices of a lane cover in the range.
    [[nodiscard]] TimeNs covered(const Lane& lane, TimeRange range) const;

    [[nodiscard]] const Trace& trace() const { return *m_trace; }
    [[nodiscard]] const TracePtr& tracePtr() const { return m_trace; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    /// The longest row of each run of 16^(k+1) rows of the table. Runs may reach over the ends of lanes; only
    /// those wholly inside the asked rows are used.
    struct Level {
        Column<std::uint32_t> row;
        Column<TimeNs> duration;
    };
    struct Longest {
        std::uint32_t row;
        TimeNs duration;
        void take(std::uint32_t r, TimeNs d) {
            if (d > duration) { // rows are offered in order, so that the first of equals stays
                row = r;
                duration = d;
            }
        }
    };
    void takeRows(std::uint32_t begin, std::uint32_t end, Longest& best) const;
    void takeRuns(std::size_t level, std::uint32_t begin, std::uint32_t end, Longest& best) const;

    TracePtr m_trace;
    std::vector<Level> m_levels;
    /// Durations summed up to each sixteenth row and to the end, modulo 2^64.
    Column<std::uint64_t> m_sum;
    Column<TimeNs> m_start; ///< the start of each sixteenth row
};

/// Rows [first, second) of a lane that show in the range.
std::pair<std::uint32_t, std::uint32_t> rowsIn(const Trace& trace, const Lane& lane, TimeRange range);

/// The slice of a lane at `t`, or the nearest one whose edge is within `slack`; none where there is nothing.
SliceId hitTest(const Trace& trace, LaneId lane, TimeNs t, TimeNs slack);

/// The slice after or before `s` in its lane; none at the ends.
SliceId nextInLane(const Trace& trace, SliceId s);
SliceId previousInLane(const Trace& trace, SliceId s);
/// The child that starts first, or none.
SliceId firstChild(const Trace& trace, SliceId s);
/// The slice of the same name that starts next (or last) in time, in any track of the same kind; none at the
/// ends.
SliceId nextOfName(const Trace& trace, SliceId s);
SliceId previousOfName(const Trace& trace, SliceId s);

/// What the arrows lead to and from: launch, op, forward and flow links of a slice.
struct LinkedSlice {
    enum class Kind { Launch, Op, Forward, Flow };
    Kind kind;
    SliceId slice;
    bool outgoing; ///< from the asked slice to this one
};
/// At most `limit` a direction and kind.
std::vector<LinkedSlice> linkedSlices(const Trace& trace, SliceId s, std::size_t limit = 64);

} // namespace warpline
