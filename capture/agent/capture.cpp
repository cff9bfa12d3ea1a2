// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/capture.h"

#include "capture/agent/calls.h"
#include "capture/agent/channel.h"
#include "capture/protocol/wire.h"

#include <cstdio>
#include <cstring>
#include <ctime>

namespace warpline::agent {

constinit Capture g_capture;

namespace {

/// Callback ids run on without end marks; no domain has as many.
constexpr std::uint32_t kMostCallbacks = 1200;

std::uint64_t CUPTIAPI timestamp() {
    return unixNow();
}

bool change(int& value, int from, int to) {
    return __atomic_compare_exchange_n(&value, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void sleepMs(long ms) {
    const timespec t{ms / 1000, (ms % 1000) * 1'000'000};
    ::nanosleep(&t, nullptr);
}

} // namespace

void Capture::tell(std::uint32_t state, CUptiResult code, const char* what) {
    if (m_events.state == nullptr)
        return;
    char text[512];
    if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        std::snprintf(text, sizeof text,
                      "Another profiler holds CUPTI in this program (torch.profiler, Nsight, cuda-gdb or "
                      "compute-sanitizer): end it, or record without it.");
    } else {
        const char* reason = nullptr;
        if (m_api.getResultString != nullptr)
            (void)m_api.getResultString(code, &reason);
        std::snprintf(text, sizeof text, "%s: CUPTI says %s (%d).", what,
                      reason != nullptr ? reason : "an error", static_cast<int>(code));
    }
    m_events.state(state, static_cast<std::uint32_t>(code), text);
}

bool Capture::open(const Settings& settings, CaptureEvents events) {
    m_settings = settings;
    m_events = events;
    unsilence();
    if (m_open)
        return true;
    char why[768];
    if (!m_api.load(why, sizeof why)) {
        m_events.state(static_cast<std::uint32_t>(wire::State::Failed), 0, why);
        return false;
    }
    std::uint32_t version = 0;
    (void)m_api.getVersion(&version);
    // From this version on CUPTI lives with not getting a buffer.
    constexpr std::uint32_t kMayRefuse = 27;
    m_buffers.configure(settings.bufferBytes, settings.bufferCount, version >= kMayRefuse);

    if (const CUptiResult r = m_api.subscribe(&m_subscriber, &Capture::called, this); r != CUPTI_SUCCESS) {
        tell(static_cast<std::uint32_t>(wire::State::Failed), r, "The program cannot be recorded");
        return false;
    }
    // Before any kind is switched on, or records of two clocks would be mixed.
    m_sharedClock = m_api.registerTimestampCallback != nullptr &&
                    m_api.registerTimestampCallback(&timestamp) == CUPTI_SUCCESS;
    if (m_api.setThreadIdType == nullptr ||
        m_api.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) != CUPTI_SUCCESS)
        m_events.state(
            static_cast<std::uint32_t>(wire::State::Note), 0,
            "This version of CUPTI does not tell thread ids as the system does: threads have no names.");
    if (const CUptiResult r = m_api.registerCallbacks(&Capture::requested, &Capture::completed);
        r != CUPTI_SUCCESS) {
        tell(static_cast<std::uint32_t>(wire::State::Failed), r, "The program cannot be recorded");
        (void)m_api.unsubscribe(m_subscriber);
        return false;
    }
    if (m_api.flushPeriod != nullptr && settings.flushMs > 0)
        (void)m_api.flushPeriod(settings.flushMs < 100 ? settings.flushMs : 100);
    m_open = true;
    return true;
}

bool Capture::switchKind(CUpti_ActivityKind kind, bool on, const char* what) {
    const CUptiResult r = on ? m_api.enable(kind) : m_api.disable(kind);
    if (r == CUPTI_SUCCESS || !on)
        return true;
    char text[128];
    std::snprintf(text, sizeof text, "%s cannot be recorded", what);
    tell(static_cast<std::uint32_t>(wire::State::Note), r, text);
    return r != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

void Capture::switchCalls(bool on) {
    const bool all = (m_settings.kinds & wire::Kind::AllCalls) != 0;
    struct Domain {
        CUpti_CallbackDomain domain;
        CUpti_ActivityKind kind;
        CUptiResult(CUPTIAPI* one)(CUpti_CallbackId, std::uint8_t);
        const char* what;
    };
    const Domain domains[] = {
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME, m_api.enableRuntimeApi, "Runtime calls"},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER, m_api.enableDriverApi, "Driver calls"}};
    for (const Domain& d : domains) {
        if (all || d.one == nullptr || m_api.getCallbackName == nullptr) {
            switchKind(d.kind, on, d.what);
            continue;
        }
        // Naming what matters costs least. It is not enough where CUDA ran before: nothing would be recorded,
        // and cuptiFinalize would spoil the heap. There the whole kind comes first, and what does not matter
        // is taken out of it; CUPTI then still sees every call, which makes a launch some 2 us slower.
        if (m_settings.late)
            switchKind(d.kind, on, d.what);
        for (std::uint32_t id = 1; id < kMostCallbacks; ++id) {
            const char* name = nullptr;
            if (m_api.getCallbackName(d.domain, id, &name) != CUPTI_SUCCESS || name == nullptr)
                continue;
            const bool matters = callMatters(name);
            if (matters || (on && m_settings.late))
                (void)d.one(id, on && matters ? 1 : 0);
        }
    }
}

void Capture::switchKinds(bool on) {
    const std::uint64_t kinds = m_settings.kinds;
    const auto wants = [&](std::uint64_t kind) { return (kinds & kind) != 0; };
    // What names things first, so that it comes before what it names.
    switchKind(CUPTI_ACTIVITY_KIND_DEVICE, on, "Devices");
    switchKind(CUPTI_ACTIVITY_KIND_CONTEXT, on, "Contexts");
    switchKind(CUPTI_ACTIVITY_KIND_STREAM, on, "Streams");
    if (wants(wire::Kind::Nvtx)) {
        switchKind(CUPTI_ACTIVITY_KIND_NAME, on, "NVTX names");
        switchKind(CUPTI_ACTIVITY_KIND_MARKER, on, "NVTX ranges");
        switchKind(CUPTI_ACTIVITY_KIND_MARKER_DATA, on, "NVTX payloads");
    }
    if (wants(wire::Kind::Kernels))
        switchKind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, on, "Kernels");
    if (wants(wire::Kind::GraphLevel))
        switchKind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, on, "Graph launches as a whole");
    if (wants(wire::Kind::Copies)) {
        switchKind(CUPTI_ACTIVITY_KIND_MEMCPY, on, "Copies");
        switchKind(CUPTI_ACTIVITY_KIND_MEMCPY2, on, "Copies between devices");
    }
    if (wants(wire::Kind::Sets))
        switchKind(CUPTI_ACTIVITY_KIND_MEMSET, on, "Memory sets");
    if (wants(wire::Kind::Sync))
        switchKind(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, on, "Waits");
    if (wants(wire::Kind::Memory)) {
        switchKind(CUPTI_ACTIVITY_KIND_MEMORY2, on, "Allocations");
        switchKind(CUPTI_ACTIVITY_KIND_MEMORY_POOL, on, "Memory pools");
    }
    if (wants(wire::Kind::Overhead))
        switchKind(CUPTI_ACTIVITY_KIND_OVERHEAD, on, "The profiler's own work");
    if (wants(wire::Kind::Calls) || wants(wire::Kind::AllCalls))
        switchCalls(on);
}

bool Capture::start() {
    if (!m_open || !change(m_phase, kOff, kStarting))
        return false;
    switchKinds(true);
    __atomic_store_n(&m_phase, static_cast<int>(kOn), __ATOMIC_RELEASE);
    m_events.state(static_cast<std::uint32_t>(wire::State::Recording), 0, "");
    return true;
}

void Capture::stop() {
    if (!change(m_phase, kOn, kStopping))
        return;
    switchKinds(false);
    (void)m_api.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    __atomic_store_n(&m_phase, static_cast<int>(kOff), __ATOMIC_RELEASE);
    m_events.state(static_cast<std::uint32_t>(wire::State::Stopped), 0, "");
}

void Capture::stopFromCallback() {
    if (!change(m_phase, kOn, kStopping))
        return;
    switchKinds(false);
    __atomic_store_n(&m_phase, static_cast<int>(kOff), __ATOMIC_RELEASE);
    // CUPTI must not be flushed from within one of its callbacks: the agent's thread does it.
    __atomic_store_n(&m_flushWanted, true, __ATOMIC_RELEASE);
    m_events.state(static_cast<std::uint32_t>(wire::State::Stopped), 0, "");
}

void Capture::flush(bool all) {
    if (m_open)
        (void)m_api.flushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : CUPTI_ACTIVITY_FLAG_NONE);
}

void Capture::finalize() {
    m_open = false;
    m_armed = false;
    if (m_api.finalize != nullptr)
        (void)m_api.finalize();
    else
        (void)m_api.unsubscribe(m_subscriber);
    __atomic_store_n(&m_finalize, 3, __ATOMIC_RELEASE);
}

void Capture::detach() {
    if (!m_open)
        return;
    enableTriggers(false);
    stop();
    // CUPTI may be taken out safely where a call into CUDA ends, since no other thread of the program is then
    // on its way through it. A program that makes no calls has none on the way either. Asked for only once
    // this thread has nothing more to say to CUPTI: a busy program calls between two lines of ours.
    (void)m_api.enableDomain(1, m_subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    (void)m_api.enableDomain(1, m_subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    __atomic_store_n(&m_finalize, 1, __ATOMIC_RELEASE);
    constexpr int kPatienceMs = 500;
    for (int waited = 0; waited < kPatienceMs && __atomic_load_n(&m_finalize, __ATOMIC_ACQUIRE) < 2; ++waited)
        sleepMs(1);
    if (change(m_finalize, 1, 2))
        finalize();
    while (__atomic_load_n(&m_finalize, __ATOMIC_ACQUIRE) != 3)
        sleepMs(1);
    __atomic_store_n(&m_finalize, 0, __ATOMIC_RELEASE);
    m_rangesSeen = 0;
    if (m_api.finalize != nullptr)
        m_buffers.reclaim();
    m_buffers.trim();
    m_events.state(static_cast<std::uint32_t>(wire::State::Detached), 0, "");
}

// ------------------------------------------------------------------------------------------ buffers

void CUPTIAPI Capture::requested(std::uint8_t** data, std::size_t* size, std::size_t* maxRecords) {
    *maxRecords = 0;
    Buffer* buffer = g_capture.m_buffers.give();
    *data = buffer != nullptr ? buffer->data : nullptr;
    *size = buffer != nullptr ? g_capture.m_buffers.bytes() : 0;
}

std::uint64_t Capture::countRecords(std::uint8_t* data, std::size_t valid) const {
    std::uint64_t count = 0;
    CUpti_Activity* record = nullptr;
    while (m_api.getNextRecord(data, valid, &record) == CUPTI_SUCCESS)
        ++count;
    return count;
}

void CUPTIAPI Capture::completed(CUcontext context, std::uint32_t stream, std::uint8_t* data,
                                 std::size_t /*size*/, std::size_t valid) {
    Buffer* buffer = g_capture.m_buffers.find(data);
    if (buffer == nullptr)
        return;
    if (valid == 0 || buffer->drop || __atomic_load_n(&g_capture.m_silent, __ATOMIC_RELAXED)) {
        if (valid > 0)
            __atomic_fetch_add(&g_capture.m_agentDropped, g_capture.countRecords(data, valid),
                               __ATOMIC_RELAXED);
        g_capture.m_buffers.giveBack(buffer);
        return;
    }
    buffer->valid = valid;
    buffer->context = context;
    buffer->stream = stream;
    g_capture.m_buffers.complete(buffer);
    if (g_capture.m_events.wake != nullptr)
        g_capture.m_events.wake();
}

std::uint64_t Capture::dropped(const Buffer& buffer) {
    std::size_t count = 0;
    // Asked after it was taken out, CUPTI would set itself up again.
    if (!m_open || m_api.getDropped == nullptr ||
        m_api.getDropped(static_cast<CUcontext>(buffer.context), buffer.stream, &count) != CUPTI_SUCCESS)
        return 0;
    return count;
}

// ------------------------------------------------------------------------------------------ triggers

bool Capture::arm() {
    if (!m_open)
        return false;
    enableTriggers(true);
    m_events.state(static_cast<std::uint32_t>(wire::State::Waiting), 0, "");
    return true;
}

void Capture::enableTriggers(bool on) {
    if (m_armed == on)
        return;
    const std::uint32_t enable = on ? 1 : 0;
    if (m_settings.begin == Begin::Profiler) {
        (void)m_api.enableCallback(enable, m_subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                   CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000);
        (void)m_api.enableCallback(enable, m_subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                   CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
        (void)m_api.enableCallback(enable, m_subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                   CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
        (void)m_api.enableCallback(enable, m_subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                   CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    }
    if (m_settings.begin == Begin::Range)
        (void)m_api.enableDomain(enable, m_subscriber, CUPTI_CB_DOMAIN_NVTX);
    m_armed = on;
}

void CUPTIAPI Capture::called(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data) {
    auto& self = *static_cast<Capture*>(user);
    if (domain == CUPTI_CB_DOMAIN_NVTX) {
        self.onRange(id, static_cast<const CUpti_NvtxData*>(data)->functionParams);
        return;
    }
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
        return;
    if (call->callbackSite != CUPTI_API_EXIT)
        return;
    if (self.m_armed && self.m_settings.begin == Begin::Profiler) {
        const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
        if (id == (runtime ? std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000}
                           : std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuProfilerStart}))
            self.onProfiler(true);
        if (id == (runtime ? std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000}
                           : std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}))
            self.onProfiler(false);
    }
    if (__atomic_load_n(&self.m_finalize, __ATOMIC_ACQUIRE) == 1 && change(self.m_finalize, 1, 2))
        self.finalize();
}

void Capture::onProfiler(bool starts) {
    if (starts)
        (void)start();
    else
        stopFromCallback();
}

bool Capture::rangeMatches(CUpti_CallbackId id, const void* parameters) const {
    if (m_settings.rangeName[0] == '\0')
        return true;
    // The parameters are those of the function: a text, or the attributes of the event behind the domain.
    const char* text = nullptr;
    const auto* const* pointers = static_cast<const void* const*>(parameters);
    if (id == CUPTI_CBID_NVTX_nvtxRangePushA || id == CUPTI_CBID_NVTX_nvtxRangeStartA) {
        text = static_cast<const char*>(pointers[0]);
    } else {
        const bool domain =
            id == CUPTI_CBID_NVTX_nvtxDomainRangePushEx || id == CUPTI_CBID_NVTX_nvtxDomainRangeStartEx;
        const auto* attributes = static_cast<const char*>(pointers[domain ? 1 : 0]);
        // nvtxEventAttributes_t: the message's type and the message end it.
        constexpr std::size_t kTypeAt = 32;
        constexpr std::size_t kMessageAt = 40;
        constexpr std::int32_t kAscii = 1;
        std::int32_t type = 0;
        if (attributes != nullptr)
            std::memcpy(&type, attributes + kTypeAt, sizeof type);
        if (type == kAscii)
            std::memcpy(&text, attributes + kMessageAt, sizeof text);
    }
    return text != nullptr &&
           std::strncmp(text, m_settings.rangeName, std::strlen(m_settings.rangeName)) == 0;
}

void Capture::onRange(CUpti_CallbackId id, const void* parameters) {
    switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
    case CUPTI_CBID_NVTX_nvtxRangeStartA:
    case CUPTI_CBID_NVTX_nvtxRangeStartEx:
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
    case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
        break;
    default:
        return;
    }
    if (!m_armed || !rangeMatches(id, parameters))
        return;
    const std::uint32_t seen = __atomic_fetch_add(&m_rangesSeen, 1, __ATOMIC_RELAXED);
    if (seen == m_settings.rangeSkip)
        (void)start();
    else if (m_settings.rangeCount > 0 && seen == m_settings.rangeSkip + m_settings.rangeCount)
        stopFromCallback();
}

} // namespace warpline::agent
