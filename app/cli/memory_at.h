// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpline::cli {

/// "peak", "end", "12ms", "event:30", nanoseconds: whether --at can be read; the moment is found per device.
struct MemoryAt {
    enum class Kind { Peak, End, Event, Relative, Time };
    Kind kind = Kind::Peak;
    std::int64_t value = 0;

    static std::optional<MemoryAt> parse(std::string_view text);
    [[nodiscard]] Result<Moment> in(const MemoryHistory& history, const MemoryDevice& device) const;
};

/// The device that was asked for, or the one with the highest peak.
Result<const MemoryDevice*> memoryDevice(const MemoryHistory& history, std::optional<std::int64_t> ordinal);

} // namespace warpline::cli
