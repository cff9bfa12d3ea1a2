// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/protocol/wire.h"
#include "capture/recorder/collection.h"
#include "capture/recorder/cupti_records.h"
#include "capture/recorder/devices.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpline::capture {

/// What a process said of itself when it connected.
struct ProcessInfo {
    std::int64_t pid = 0;
    std::int64_t parent = 0;
    std::string program; ///< the file's name
    std::string command;
    std::string host;
    std::int64_t rank = -1;
    std::int64_t localRank = -1;
    std::int64_t worldSize = -1;
    bool attached = false;
};

/// How many records of what came in.
struct RecordCounts {
    std::uint64_t records = 0;
    std::uint64_t kernels = 0;
    std::uint64_t copies = 0;
    std::uint64_t sets = 0;
    std::uint64_t calls = 0;
    std::uint64_t markers = 0;
    std::uint64_t allocations = 0;
    std::uint64_t unknown = 0; ///< of a kind or a size that is not known
};

/// Turns the frames of one process into events of the collection. Nothing in a frame is trusted: one that is
/// impossible gives false, and the connection is to be closed.
class Decoder {
  public:
    /// `number` is the process's among those of the recording.
    Decoder(Collection& to, Devices& devices, std::uint32_t number);

    bool hello(std::string_view payload);
    bool strings(std::string_view payload);
    bool calls(std::string_view payload);
    bool clock(std::string_view payload);
    bool devices(std::string_view payload);
    bool threads(std::string_view payload);
    bool records(std::string_view payload);
    /// Writes what waits for a record that may follow it.
    void finish();

    [[nodiscard]] const ProcessInfo& info() const { return m_info; }
    [[nodiscard]] const RecordCounts& counts() const { return m_counts; }
    [[nodiscard]] std::uint64_t cuptiDropped() const { return m_cuptiDropped; }
    /// GPUs that this process used, by the recording's numbers.
    [[nodiscard]] const std::vector<std::int64_t>& devices() const { return m_usedDevices; }

  private:
    struct CudaStream {
        std::uint32_t track = 0;
        std::uint32_t waits = 0;
    };
    struct Context {
        std::int64_t device = 0;
        std::uint32_t nullStream = 0;
    };
    struct MarkerData {
        std::int64_t payload = 0;
        double real = 0;
        std::uint32_t payloadKind = ~0u;
        std::uint32_t color = 0;
        std::uint32_t category = 0;
    };
    struct Instant {
        wpl::RecordedEvent event;
        std::uint32_t id = 0;
        wpl::Text domain = 0;
        bool there = false;
    };

    void record(cupti::Record r);
    void kernel(cupti::Record r);
    void graph(cupti::Record r);
    void copy(cupti::Record r, bool peer);
    void set(cupti::Record r);
    void call(cupti::Record r, bool driver);
    void device(cupti::Record r);
    void describe(std::uint32_t own, Devices::Device device);
    void context(cupti::Record r);
    void name(cupti::Record r);
    void marker(cupti::Record r);
    void markerData(cupti::Record r);
    void overhead(cupti::Record r);
    void sync(cupti::Record r);
    void memory(cupti::Record r);
    void pool(cupti::Record r);

    [[nodiscard]] TimeNs time(std::uint64_t cupti) const;
    /// Sets the times; false where a record has none (CUPTI could not measure it).
    bool span(wpl::RecordedEvent& event, std::uint64_t start, std::uint64_t end) const;
    [[nodiscard]] std::int64_t correlation(std::uint32_t id) const;
    [[nodiscard]] wpl::Text textOf(std::uint64_t number) const;
    wpl::Text demangled(std::uint64_t number);
    wpl::Text triple(std::uint32_t x, std::uint32_t y, std::uint32_t z);
    wpl::Text callName(bool driver, std::uint32_t callback);
    std::int64_t deviceOf(std::uint32_t own);
    const CudaStream& stream(std::int64_t device, std::uint32_t id);
    std::string streamText(std::int64_t device, std::uint32_t id);
    std::uint32_t thread(std::uint32_t tid);
    void markerArgs(const MarkerData* data, wpl::Text domain, std::uint32_t& shape,
                    std::vector<std::int64_t>& values);
    void flushInstant(const MarkerData* data);
    void poolCounter(std::int64_t device, TimeNs when, std::uint64_t size, std::uint64_t used);

    Collection& m_to;
    Devices& m_devices;
    std::uint32_t m_number;
    ProcessInfo m_info;
    RecordCounts m_counts;
    std::uint64_t m_cuptiDropped = 0;
    std::int64_t m_clockOffset = 0;

    std::vector<std::string> m_agentStrings; ///< by the agent's number; [0] unused
    std::vector<wpl::Text> m_texts;          ///< the same in the collection, made when first used
    std::vector<wpl::Text> m_demangled;
    std::unordered_map<std::uint64_t, wpl::Text> m_calls; ///< driver << 32 | callback
    std::unordered_map<std::uint32_t, std::int64_t> m_deviceOf;
    std::vector<std::int64_t> m_usedDevices;
    std::unordered_map<std::uint32_t, Context> m_contexts;
    std::unordered_map<std::uint64_t, CudaStream> m_streams; ///< device << 32 | stream
    std::unordered_map<std::uint32_t, std::uint32_t> m_threads;
    std::unordered_map<std::uint32_t, MarkerData> m_markerData;     ///< of ranges that are open
    std::unordered_map<std::uint64_t, std::uint64_t> m_allocations; ///< bytes by address
    std::map<std::array<std::uint32_t, 3>, wpl::Text> m_triples;
    std::unordered_map<std::uint32_t, wpl::Text> m_copyNames;
    std::uint32_t m_kernelShape = 0;
    std::uint32_t m_graphKernelShape = 0;
    std::uint32_t m_copyShape = 0;
    std::uint32_t m_callShape = 0;
    std::uint32_t m_failedCallShape = 0;
    Instant m_instant;
};

} // namespace warpline::capture
