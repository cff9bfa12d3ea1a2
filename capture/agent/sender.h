// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/agent/capture.h"
#include "capture/agent/channel.h"
#include "capture/agent/strings.h"

#include <cstdint>

namespace warpline::agent {

/// Turns CUPTI's buffers into frames: strings, names of calls and threads, then the records. Used by the
/// agent's thread only.
class Sender {
  public:
    /// A new connection knows nothing yet.
    void reset();
    /// Sends the records of a buffer; the buffer may be changed. False: the connection is gone.
    bool sendBuffer(Channel& channel, Capture& capture, Buffer& buffer);
    bool sendClock(Channel& channel, const Capture& capture);
    bool sendCounters(Channel& channel, Capture& capture);
    /// Threads are named late and renamed: sends what changed.
    bool sendThreads(Channel& channel);

  private:
    static constexpr std::size_t kMostThreads = 1024;
    static constexpr std::size_t kMostCalls = 2048; ///< ids of both domains

    bool flushBatch(Channel& channel, const std::uint8_t* data, std::size_t bytes, std::uint32_t count,
                    std::uint64_t dropped);
    void noteThread(std::uint32_t tid);
    void noteCall(const Capture& capture, std::uint32_t kind, const std::uint8_t* record);
    void numberTexts(std::uint32_t kind, std::uint8_t* record, std::size_t size);

    Strings m_strings;
    wire::Counters m_counters;
    wire::ThreadName m_threads[kMostThreads];
    bool m_threadTold[kMostThreads] = {};
    std::size_t m_threadCount = 0;
    std::uint32_t m_lastThread = 0;
    std::uint8_t m_callTold[kMostCalls] = {};
    wire::CallName m_newCalls[64];
    std::uint32_t m_newCallCount = 0;
};

} // namespace warpline::agent
