// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/sender.h"

#include "capture/agent/hello.h"

#include <cstring>

namespace warpline::agent {

namespace {

/// The sizes of the records of one batch. Only the agent's thread uses it.
constexpr std::size_t kMostRecords = std::size_t{1} << 18;
constinit std::uint16_t g_sizes[kMostRecords];

} // namespace

void Sender::reset() {
    m_strings.reset();
    m_counters = {};
    m_threadCount = 0;
    m_lastThread = 0;
    m_newCallCount = 0;
    std::memset(m_callTold, 0, sizeof m_callTold);
    std::memset(m_threadTold, 0, sizeof m_threadTold);
}

void Sender::noteThread(std::uint32_t tid) {
    if (tid == m_lastThread)
        return;
    m_lastThread = tid;
    for (std::size_t i = 0; i < m_threadCount; ++i)
        if (m_threads[i].tid == tid)
            return;
    if (m_threadCount == kMostThreads)
        return;
    m_threads[m_threadCount] = {tid, {}};
    m_threadTold[m_threadCount] = false;
    threadName(tid, m_threads[m_threadCount].name, sizeof m_threads[m_threadCount].name);
    ++m_threadCount;
}

bool Sender::sendThreads(Channel& channel) {
    for (std::size_t i = 0; i < m_threadCount; ++i) {
        wire::ThreadName now{m_threads[i].tid, {}};
        threadName(now.tid, now.name, sizeof now.name);
        if (now.name[0] == '\0')
            now = m_threads[i]; // it ended: its last name stands
        if (now.name[0] == '\0' || (m_threadTold[i] && std::strcmp(now.name, m_threads[i].name) == 0))
            continue;
        m_threads[i] = now;
        m_threadTold[i] = true;
        if (!channel.send(wire::Frame::Threads, &now, sizeof now))
            return false;
    }
    return true;
}

void Sender::noteCall(const Capture& capture, std::uint32_t kind, const std::uint8_t* record) {
    std::uint32_t callback = 0;
    std::memcpy(&callback, record + 4, sizeof callback);
    const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const std::size_t at = callback + (driver ? kMostCalls / 2 : 0);
    if (callback >= kMostCalls / 2 || m_callTold[at] != 0 ||
        m_newCallCount == sizeof m_newCalls / sizeof m_newCalls[0] ||
        capture.api().getCallbackName == nullptr)
        return;
    const char* name = nullptr;
    if (capture.api().getCallbackName(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API,
                                      callback, &name) != CUPTI_SUCCESS)
        return;
    m_callTold[at] = 1;
    m_newCalls[m_newCallCount++] = {driver ? 1u : 2u, callback, m_strings.number(name), 0};
}

void Sender::numberTexts(std::uint32_t kind, std::uint8_t* record, std::size_t size) {
    for (const wire::TextField& field : wire::kTextFields) {
        if (field.kind != kind || field.offset + sizeof(char*) > size)
            continue;
        const char* text = nullptr;
        std::memcpy(&text, record + field.offset, sizeof text);
        const std::uint64_t number = m_strings.number(text);
        std::memcpy(record + field.offset, &number, sizeof number);
    }
}

bool Sender::flushBatch(Channel& channel, const std::uint8_t* data, std::size_t bytes, std::uint32_t count,
                        std::uint64_t dropped) {
    if (m_strings.newCount() > 0) {
        const wire::StringsHeader header{m_strings.newFirst(), m_strings.newCount()};
        const iovec pieces[] = {{const_cast<wire::StringsHeader*>(&header), sizeof header},
                                {const_cast<std::uint8_t*>(m_strings.newBytes()), m_strings.newSize()}};
        if (!channel.send(wire::Frame::Strings, pieces, 2))
            return false;
        m_strings.clearNew();
    }
    if (m_newCallCount > 0) {
        if (!channel.send(wire::Frame::Calls, m_newCalls, m_newCallCount * sizeof m_newCalls[0]))
            return false;
        m_newCallCount = 0;
    }
    if (count == 0 && dropped == 0)
        return true;
    const wire::RecordsHeader header{count, static_cast<std::uint32_t>(bytes), dropped};
    const std::size_t sizes = count * sizeof g_sizes[0];
    static constexpr std::uint8_t kPadding[8] = {};
    const iovec pieces[] = {{const_cast<wire::RecordsHeader*>(&header), sizeof header},
                            {g_sizes, sizes},
                            {const_cast<std::uint8_t*>(kPadding), (8 - sizes % 8) % 8},
                            {const_cast<std::uint8_t*>(data), bytes}};
    if (!channel.send(wire::Frame::Records, pieces, 4))
        return false;
    m_counters.records += count;
    m_counters.bytes += bytes;
    m_counters.cuptiDropped += dropped;
    return true;
}

bool Sender::sendBuffer(Channel& channel, Capture& capture, Buffer& buffer) {
    if (m_strings.full()) {
        m_strings.reset();
        std::memset(m_callTold, 0, sizeof m_callTold);
    }
    const std::uint64_t dropped = capture.dropped(buffer);
    std::uint8_t* const end = buffer.data + buffer.valid;
    std::uint8_t* batch = buffer.data;
    std::uint32_t count = 0;
    CUpti_Activity* record = nullptr;
    CUpti_Activity* next = nullptr;
    if (capture.api().getNextRecord(buffer.data, buffer.valid, &next) != CUPTI_SUCCESS)
        next = nullptr;
    while (next != nullptr) {
        record = next;
        if (capture.api().getNextRecord(buffer.data, buffer.valid, &next) != CUPTI_SUCCESS)
            next = nullptr;
        auto* const at = reinterpret_cast<std::uint8_t*>(record);
        auto* const after = next != nullptr ? reinterpret_cast<std::uint8_t*>(next) : end;
        const auto size = static_cast<std::size_t>(after - at);
        constexpr std::size_t kMostSize = 0xFFFF;
        if (after <= at || size > kMostSize)
            break; // no record is that long
        std::uint32_t kind = 0;
        std::memcpy(&kind, at, sizeof kind);
        if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER)
            noteCall(capture, kind, at);
        if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER ||
            kind == CUPTI_ACTIVITY_KIND_MARKER) {
            constexpr std::size_t kThreadAt = 28;
            std::uint32_t tid = 0;
            std::memcpy(&tid, at + kThreadAt, sizeof tid);
            noteThread(tid);
        }
        numberTexts(kind, at, size);
        g_sizes[count++] = static_cast<std::uint16_t>(size);
        if (count == kMostRecords || m_newCallCount == sizeof m_newCalls / sizeof m_newCalls[0]) {
            if (!flushBatch(channel, batch, static_cast<std::size_t>(after - batch), count, 0))
                return false;
            batch = after;
            count = 0;
        }
    }
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < count; ++i)
        bytes += g_sizes[i];
    return flushBatch(channel, batch, bytes, count, dropped);
}

bool Sender::sendClock(Channel& channel, const Capture& capture) {
    wire::ClockPair pair;
    pair.shared = capture.sharedClock() ? 1 : 0;
    pair.unixNs = unixNow();
    pair.cupti = pair.unixNs;
    if (pair.shared == 0)
        (void)capture.api().getTimestamp(&pair.cupti);
    return channel.send(wire::Frame::Clock, &pair, sizeof pair);
}

bool Sender::sendCounters(Channel& channel, Capture& capture) {
    m_counters.agentDropped = capture.agentDropped();
    m_counters.refusedBuffers = capture.buffers().refused();
    m_counters.waitingBuffers = capture.buffers().waiting();
    return channel.send(wire::Frame::Counters, &m_counters, sizeof m_counters);
}

} // namespace warpline::agent
