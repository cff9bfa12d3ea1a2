// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/byte_axis.h"

#include "views/text.h"

namespace warpline {

std::vector<ByteTick> byteTicks(std::int64_t top, int count) {
    std::int64_t step = 1;
    while (step < INT64_MAX / 2 && top / step > count)
        step *= 2;
    std::vector<ByteTick> ticks;
    for (std::int64_t at = 0; at <= top; at += step) {
        ticks.push_back({at, at == 0 ? QStringLiteral("0") : bytesText(at)});
        if (at > INT64_MAX - step)
            break;
    }
    return ticks;
}

std::int64_t eventStep(double least) {
    std::int64_t decade = 1;
    for (;;) {
        for (const std::int64_t factor : {1, 2, 5}) {
            if (static_cast<double>(decade * factor) >= least)
                return decade * factor;
        }
        if (decade > INT64_MAX / 100)
            return decade;
        decade *= 10;
    }
}

} // namespace warpline
