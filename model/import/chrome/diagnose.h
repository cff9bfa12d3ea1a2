// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/build_links.h"
#include "model/import/chrome/build_tables.h"
#include "model/import/chrome/builder.h"

namespace warpline::chrome {

/// Turns what was counted while reading and building into sentences for the user.
void diagnose(Trace& trace, const FrameReport& frame, const Tallies& tallies, const PairReport& pairs,
              const LinkReport& links, const CounterReport& counters);

} // namespace warpline::chrome
