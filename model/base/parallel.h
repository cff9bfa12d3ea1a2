// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace warpline {

/// Calls f(i) for each i below `count`, on up to `threads` threads, the caller's among them; returns when all
/// are done. f must not throw.
template <class F>
void parallelFor(std::size_t count, unsigned threads, F&& f) {
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            f(i);
    };
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads && t < count; ++t)
        others.emplace_back(run);
    run();
}

} // namespace warpline
