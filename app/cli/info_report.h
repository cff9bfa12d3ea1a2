// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/json_writer.h"
#include "model/store/trace.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpline::cli {

/// What one trace holds, gathered by process and device, and written in the three ways.
class InfoReport {
  public:
    explicit InfoReport(const Trace& trace);

    /// `threads` of a process at most; 0 = all.
    void writeJson(JsonWriter& json, std::size_t threads) const;
    [[nodiscard]] std::string text(std::size_t threads, std::size_t width) const;
    [[nodiscard]] std::string csv() const;

  private:
    struct Thread {
        std::int64_t tid = 0;
        StringId tidText;
        std::string name;
        std::uint64_t slices = 0;
    };
    struct OtherTrack {
        const char* kind;
        std::string name;
        std::int64_t tid = 0;
        std::uint64_t slices = 0;
    };
    struct HostProcess {
        const Process* process = nullptr;
        std::vector<Thread> threads; ///< by slices, descending
        std::vector<OtherTrack> others;
    };
    struct Stream {
        std::int64_t id = 0;
        std::string name;
        std::uint64_t slices = 0; ///< with waits and annotations on it
        TimeNs busy = 0;          ///< its kernels, copies and sets
    };
    struct Device {
        std::int64_t ordinal = 0;
        const DeviceInfo* info = nullptr;
        std::string name;
        std::vector<Stream> streams;
    };

    void addHostTrack(HostProcess& process, TrackId id);
    void addDeviceTrack(Device& device, TrackId id);
    [[nodiscard]] std::uint64_t links() const;

    const Trace& m_trace;
    std::vector<HostProcess> m_processes;
    std::vector<Device> m_devices; ///< by ordinal
};

[[nodiscard]] std::string infoCsvHeader();

} // namespace warpline::cli
