// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

#include <cstdint>
#include <string>

namespace warpline {

/// "999 ns", "12.3 µs", "1.31 ms", "12.1 s": three significant digits and the unit that fits.
std::string formatDuration(TimeNs ns);
/// The exact number: "1,234,567 ns".
std::string formatExactDuration(TimeNs ns);
/// "512 B", "32.1 KiB", "1.31 GiB" (1024-based).
std::string formatBytes(std::int64_t bytes);
/// "1,234,567".
std::string formatCount(std::int64_t n);
/// "16.3%".
std::string formatPercent(double share);

} // namespace warpline
