// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_peaks.h"

#include <algorithm>

namespace warpline {

const char* memoryCurveName(MemoryCurve curve) {
    switch (curve) {
    case MemoryCurve::Requested:
        return "requested";
    case MemoryCurve::Allocated:
        return "allocated";
    case MemoryCurve::Reserved:
        break;
    }
    return "reserved";
}

const Column<std::int64_t>& curveOf(const MemoryDevice& device, MemoryCurve curve) {
    switch (curve) {
    case MemoryCurve::Requested:
        return device.curves.requested;
    case MemoryCurve::Allocated:
        return device.curves.allocated;
    case MemoryCurve::Reserved:
        break;
    }
    return device.curves.reserved;
}

std::vector<LocalPeak> localPeaks(const MemoryDevice& device, MemoryCurve which, std::size_t limit,
                                  std::optional<std::int64_t> minProminence) {
    const Column<std::int64_t>& curve = curveOf(device, which);
    if (curve.empty() || limit == 0)
        return {};
    const auto [low, high] = std::minmax_element(curve.begin(), curve.end());
    const std::int64_t lowest = *low;
    const std::int64_t least = std::max<std::int64_t>(1, minProminence.value_or((*high - lowest) / 50));

    // Summits still open: each higher than the next, with the lowest value since. When a higher one comes,
    // the lower ones before it have come down to the deeper of the valleys on either side.
    struct Open {
        LocalPeak peak;
        std::int64_t before; ///< lowest value between it and the higher summit before it
        std::int64_t after;  ///< lowest value since
    };
    std::vector<Open> open;
    std::vector<LocalPeak> peaks;
    const auto close = [&](Open o, bool highest) {
        o.peak.prominence = o.peak.bytes - (highest ? lowest : std::max(o.before, o.after));
        if (o.peak.prominence >= least || highest)
            peaks.push_back(o.peak);
    };
    std::int64_t valley = curve[0];
    std::size_t i = 0;
    while (i < curve.size()) {
        // To the top of this rise, then over its flat summit.
        valley = std::min(valley, curve[i]);
        if (i + 1 < curve.size() && curve[i + 1] > curve[i]) {
            ++i;
            continue;
        }
        const bool rose = i == 0 || curve[i] > curve[i - 1];
        const std::size_t summit = i;
        while (i + 1 < curve.size() && curve[i + 1] == curve[i])
            ++i;
        const bool falls = i + 1 == curve.size() || curve[i + 1] < curve[i];
        if (rose && falls) {
            Open o{{static_cast<Moment>(summit), curve[summit], 0}, valley, curve[summit]};
            while (!open.empty() && open.back().peak.bytes < o.peak.bytes) {
                Open lower = open.back();
                open.pop_back();
                lower.after = std::min(lower.after, valley);
                o.before = std::min(o.before, lower.before);
                valley = std::min(valley, lower.after);
                close(lower, false);
            }
            if (!open.empty())
                open.back().after = std::min(open.back().after, o.before);
            open.push_back(o);
            valley = curve[summit];
        }
        ++i;
        if (i < curve.size())
            valley = std::min(valley, curve[i]);
    }
    std::int64_t tail = valley;
    while (!open.empty()) {
        Open o = open.back();
        open.pop_back();
        // Nothing higher comes after it: it is told by how far the curve fell from the higher one before.
        o.after = std::min(o.after, tail);
        tail = std::min(o.before, o.after);
        o.after = lowest;
        close(o, open.empty());
    }
    if (peaks.size() > limit) {
        std::nth_element(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(limit), peaks.end(),
                         [](const LocalPeak& a, const LocalPeak& b) {
                             return a.prominence != b.prominence ? a.prominence > b.prominence
                                                                 : a.moment < b.moment;
                         });
        peaks.resize(limit);
    }
    std::sort(peaks.begin(), peaks.end(),
              [](const LocalPeak& a, const LocalPeak& b) { return a.moment < b.moment; });
    return peaks;
}

} // namespace warpline
