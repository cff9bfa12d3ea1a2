// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/build_slices.h"

namespace warpline::chrome {

/// What linking found out, for the diagnostics.
struct LinkReport {
    Tally launchWithoutKernel;
    Tally kernelWithoutLaunch;
    Tally clockInversion;   ///< device work that begins before its launch does
    Tally danglingFlow;     ///< arrows of which one end is missing
    Tally flowWithoutSlice; ///< an end of an arrow where no slice is
};

/// Fills Trace::links. The slices, and the flow table, are there already.
void buildLinks(Trace& trace, const SortedSpans& sorted, unsigned threads, LinkReport& report);

} // namespace warpline::chrome
