// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/agent/buffers.h"
#include "capture/agent/cupti_api.h"

#include <cstdint>

namespace warpline::agent {

/// When recording begins.
enum class Begin : std::uint8_t { Now, Wait, Delay, Profiler, Range };

struct Settings {
    std::uint64_t kinds = 0; ///< wire::Kind
    Begin begin = Begin::Now;
    std::uint32_t delayMs = 0;
    std::uint32_t rangeSkip = 0;
    std::uint32_t rangeCount = 0;
    std::uint32_t flushMs = 250;
    std::uint32_t bufferBytes = 4u << 20;
    std::uint32_t bufferCount = 16;
    bool late = false; ///< CUDA ran in this process before the agent came
    char rangeName[256] = {};
};

/// What the capture tells the agent's thread; both may come from any thread.
class CaptureEvents {
  public:
    void (*wake)() = nullptr; ///< there is something to send
    void (*state)(std::uint32_t state, std::uint32_t code, const char* text) = nullptr; ///< wire::State
};

/// CUPTI in one process: switched on, off and given back. Errors are told through events.state, as sentences.
class Capture {
  public:
    /// Opens CUPTI and takes the subscription. False: told.
    bool open(const Settings& settings, CaptureEvents events);
    /// Waits for cudaProfilerStart or a range, if so configured.
    bool arm();
    bool start();
    /// Switches records off and has CUPTI deliver what it holds.
    void stop();
    /// Has CUPTI deliver what is complete; `all` also what is not.
    void flush(bool all);
    /// Stops, gives the subscription back and takes CUPTI out of the process's calls.
    void detach();
    /// True once after a stop that CUPTI itself called for: flush(true) is due.
    bool takeFlushWanted() { return __atomic_exchange_n(&m_flushWanted, false, __ATOMIC_ACQ_REL); }
    /// In a forked child, or when the recorder is gone: buffers are dropped from now on.
    void silence() { __atomic_store_n(&m_silent, true, __ATOMIC_RELAXED); }
    [[nodiscard]] bool silent() const { return __atomic_load_n(&m_silent, __ATOMIC_RELAXED); }
    void unsilence() { __atomic_store_n(&m_silent, false, __ATOMIC_RELAXED); }

    [[nodiscard]] bool isOpen() const { return m_open; }
    [[nodiscard]] bool recording() const { return __atomic_load_n(&m_phase, __ATOMIC_ACQUIRE) == kOn; }
    /// Asks CUPTI how many records it lost on a buffer's stream. Not under a lock.
    std::uint64_t dropped(const Buffer& buffer);

    [[nodiscard]] const CuptiApi& api() const { return m_api; }
    [[nodiscard]] Buffers& buffers() { return m_buffers; }
    [[nodiscard]] std::uint64_t agentDropped() const {
        return __atomic_load_n(&m_agentDropped, __ATOMIC_RELAXED);
    }
    [[nodiscard]] bool sharedClock() const { return m_sharedClock; }

  private:
    enum : int { kOff, kStarting, kOn, kStopping };

    static void CUPTIAPI requested(std::uint8_t** data, std::size_t* size, std::size_t* maxRecords);
    static void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* data,
                                   std::size_t size, std::size_t valid);
    static void CUPTIAPI called(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data);
    void onProfiler(bool starts);
    void onRange(CUpti_CallbackId id, const void* parameters);
    void stopFromCallback();
    [[nodiscard]] bool rangeMatches(CUpti_CallbackId id, const void* parameters) const;
    void switchKinds(bool on);
    bool switchKind(CUpti_ActivityKind kind, bool on, const char* what);
    void switchCalls(bool on);
    void enableTriggers(bool on);
    void finalize();
    void tell(std::uint32_t state, CUptiResult code, const char* what);
    std::uint64_t countRecords(std::uint8_t* data, std::size_t valid) const;

    CuptiApi m_api{};
    Buffers m_buffers;
    Settings m_settings;
    CaptureEvents m_events;
    CUpti_SubscriberHandle m_subscriber = nullptr;
    std::uint64_t m_agentDropped = 0;
    int m_phase = kOff;
    int m_finalize = 0; ///< 0 not wanted, 1 wanted at the next call's end, 2 under way, 3 done
    std::uint32_t m_rangesSeen = 0;
    bool m_flushWanted = false;
    bool m_open = false;
    bool m_silent = false;
    bool m_sharedClock = false;
    bool m_armed = false;
};

extern Capture g_capture;

} // namespace warpline::agent
