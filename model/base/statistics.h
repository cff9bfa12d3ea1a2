// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpline {

/// Where the p-th percentile of n sorted values is by the nearest rank: the smallest value that at least p
/// percent of them do not exceed. n > 0.
constexpr std::size_t nearestRank(std::size_t n, unsigned percent) {
    const std::size_t rank = (n * percent + 99) / 100;
    return rank == 0 ? 0 : rank - 1;
}

/// The value at the nearest rank; puts `values`, which must not be empty, in another order.
template <class T>
T nearestRankOf(std::span<T> values, unsigned percent) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(nearestRank(values.size(), percent));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

} // namespace warpline
