// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace warpline {

namespace {

std::string grouped(std::uint64_t n) {
    const std::string digits = fmt::format_int(n).str();
    std::string out;
    out.reserve(digits.size() + digits.size() / 3);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0)
            out += ',';
        out += digits[i];
    }
    return out;
}

/// |n|, also of the smallest integer.
std::uint64_t magnitude(std::int64_t n) {
    return n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
}

/// value / unit with three significant digits, rounded half up in integers: a double would turn 9.995 into
/// 9.99 or 10.00 by chance. Gives false where rounding reaches `limit` units, for the caller to take the
/// next unit.
bool threeDigits(std::uint64_t value, std::uint64_t unit, std::uint64_t limit, std::string& out) {
    for (const auto [scale, below, decimals] :
         {std::array<std::uint64_t, 3>{100, 10, 2}, {10, 100, 1}, {1, limit, 0}}) {
        const std::uint64_t whole = value / unit;
        if (whole >= below)
            continue;
        const std::uint64_t rest = value % unit;
        // rest * scale cannot overflow: units are at most 2^50.
        const std::uint64_t scaled = whole * scale + (rest * scale + unit / 2) / unit;
        if (scaled >= below * scale)
            continue;
        out = decimals == 0   ? grouped(scaled)
              : decimals == 1 ? fmt::format("{}.{}", scaled / 10, scaled % 10)
                              : fmt::format("{}.{:02}", scaled / 100, scaled % 100);
        return true;
    }
    return false;
}

} // namespace

std::string formatDuration(TimeNs ns) {
    struct Unit {
        std::uint64_t size;
        std::string_view name;
    };
    static constexpr std::array<Unit, 3> kUnits{{{1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};
    const std::uint64_t n = magnitude(ns);
    const char* sign = ns < 0 ? "-" : "";
    if (n < 1000)
        return fmt::format("{}{} ns", sign, n);
    std::string number;
    for (const Unit& unit : kUnits) {
        const bool last = &unit == &kUnits.back();
        if (threeDigits(n, unit.size, last ? UINT64_MAX : 1000, number))
            return fmt::format("{}{} {}", sign, number, unit.name);
    }
    return fmt::format("{}{} s", sign, grouped(n / 1'000'000'000));
}

std::string formatExactDuration(TimeNs ns) {
    return formatCount(ns) + " ns";
}

std::string formatBytes(std::int64_t bytes) {
    static constexpr std::array<std::string_view, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
    const std::uint64_t n = magnitude(bytes);
    const char* sign = bytes < 0 ? "-" : "";
    if (n < 1024)
        return fmt::format("{}{} B", sign, grouped(n));
    std::string number;
    std::uint64_t size = 1024;
    for (std::size_t i = 0; i < kUnits.size(); ++i, size *= 1024) {
        const bool last = i + 1 == kUnits.size();
        if (threeDigits(n, size, last ? UINT64_MAX : 1024, number))
            return fmt::format("{}{} {}", sign, number, kUnits[i]);
    }
    return fmt::format("{}{} {}", sign, grouped(n >> 50), kUnits.back());
}

std::string formatCount(std::int64_t n) {
    return (n < 0 ? "-" : "") + grouped(magnitude(n));
}

std::string formatPercent(double share) {
    if (!std::isfinite(share))
        return "n/a";
    return fmt::format("{:.1f}%", share * 100.0);
}

} // namespace warpline
