// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/json_writer.h"
#include "model/store/memory_history.h"

#include <cstddef>
#include <string>

namespace warpline::cli {

/// What one memory snapshot holds, written in the three ways of info.
class MemoryInfo {
  public:
    explicit MemoryInfo(const MemoryHistory& history) : m_history(history) {}

    void writeJson(JsonWriter& json, std::size_t limit) const;
    [[nodiscard]] std::string text(std::size_t limit, std::size_t width) const;
    [[nodiscard]] std::string csv() const;

  private:
    [[nodiscard]] std::uint64_t events() const;
    const MemoryHistory& m_history;
};

/// One device as `memory --json` has it: events, start, end, peak, history, segments, oom.
void writeMemoryDevice(JsonWriter& json, const MemoryDevice& device);
/// A few lines about one device for people.
[[nodiscard]] std::string memoryDeviceText(const MemoryDevice& device);
/// "2026-12-01 13:00:00 UTC" and the like come from info_report.
[[nodiscard]] std::string momentText(const MemoryDevice& device, Moment moment);

} // namespace warpline::cli
