// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QString>

#include <cstdint>
#include <vector>

namespace warpline {

/// A line of a scale of bytes.
struct ByteTick {
    std::int64_t bytes = 0;
    QString label; ///< "512 MiB"
};

/// Round numbers of bytes (powers of two and their quarters) from 0 up to `top`, at most `count` steps of
/// them.
std::vector<ByteTick> byteTicks(std::int64_t top, int count);
/// The least of 1, 2, 5, 10, 20, 50 ... that is not below `least`.
std::int64_t eventStep(double least);

} // namespace warpline
