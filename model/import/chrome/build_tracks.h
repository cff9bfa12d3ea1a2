// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/batch.h"
#include "model/import/chrome/registry.h"

#include <cstdint>
#include <vector>

namespace warpline::chrome {

/// Takes the metadata events out of the batches, each once.
void collectMetadata(Trace& trace, std::vector<Batch>& batches);
/// Reads what stands beside the events: base time, devices, rank.
void readProperties(Trace& trace);
/// Fills Trace::processes and tracks (without rows) from the tracks that events named, and names them from
/// the metadata. Gives the numbers of the registry's tracks in the order of Trace::tracks. Tracks that hold
/// no event
/// (`used` false) are left out.
std::vector<std::uint32_t> arrangeTracks(Trace& trace, const Registry& registry,
                                         const std::vector<bool>& used);
/// The process of a pid for events that have no track of their own (counters); made if it is not there.
std::uint32_t processOf(Trace& trace, const RawTrack& raw);

} // namespace warpline::chrome
