// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace warpline {

enum class MemoryCurve { Requested, Allocated, Reserved };
[[nodiscard]] const char* memoryCurveName(MemoryCurve curve);
[[nodiscard]] const Column<std::int64_t>& curveOf(const MemoryDevice& device, MemoryCurve curve);

/// A local maximum of a curve.
struct LocalPeak {
    Moment moment = 0; ///< the first of its height
    std::int64_t bytes = 0;
    /// How far the curve comes down on both sides before it rises above this peak (or ends): small ones are
    /// ripples on the flank of a larger one. The highest peak's is its height over the lowest value.
    std::int64_t prominence = 0;
};

/// Peaks with a prominence of at least `minProminence` (default: 1/50 of the curve's range, at least one
/// byte), in order of time, the global one among them; at most `limit`, the most prominent kept. A curve that
/// never rises has one: its start.
std::vector<LocalPeak> localPeaks(const MemoryDevice& device, MemoryCurve curve, std::size_t limit = 200,
                                  std::optional<std::int64_t> minProminence = {});

} // namespace warpline
