// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/import/chrome/batch.h"
#include "model/import/chrome/registry.h"

#include <cstdint>
#include <vector>

namespace warpline::chrome {

/// The spans of all batches, by track, each track's in order of start, longer first, then as in the file.
/// ParsedSpan::track holds the place in the file once they are here.
struct SortedSpans {
    Column<ParsedSpan> spans;
    std::vector<std::size_t> begin; ///< by number of the track in Registry; one more at the end
    Column<std::uint32_t> row;      ///< the row of the slice table that a span became
};

/// What pairing begins and ends came upon.
struct PairReport {
    Tally endWithoutBegin;
    Tally beginWithoutEnd;
    Tally endOutOfOrder; ///< an E that names a frame below the top
};

/// Completes b/e pairs across tracks, by id, in place: a begin takes its end's time, the end goes.
void pairAsync(Trace& trace, std::vector<Batch>& batches, TimeNs traceEnd, PairReport& report);

/// Moves the spans out of the batches, pairs B and E on each track, and sorts. Frees each batch's spans.
SortedSpans sortSpans(Trace& trace, std::vector<Batch>& batches, std::size_t trackCount, TimeNs traceEnd,
                      unsigned threads, PairReport& report);

/// Nests each track (streams are only laid in lines), and fills Trace::slices, lanes and the tracks' rows.
/// `order` lists the numbers of the tracks in the order of Trace::tracks; base is added to all times.
void layOut(Trace& trace, SortedSpans& sorted, const std::vector<std::uint32_t>& order, TimeNs base,
            unsigned threads);

} // namespace warpline::chrome
