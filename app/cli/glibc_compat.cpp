// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors

// The program goes to machines with a glibc older than the one it is built with. The static libstdc++ asks
// for arc4random where the build machine has it, which came with glibc 2.36; this one serves in its place.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" {

std::uint32_t arc4random() noexcept {
    std::uint32_t value = 0;
    auto* at = reinterpret_cast<char*>(&value);
    for (std::size_t left = sizeof value; left > 0;) {
        const ssize_t n = ::getrandom(at, left, 0);
        if (n <= 0)
            continue;
        at += n;
        left -= static_cast<std::size_t>(n);
    }
    return value;
}
}
