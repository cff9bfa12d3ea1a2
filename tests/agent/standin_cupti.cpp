// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// A stand-in for libcupti.so: hands out recorded activity records (.cupd) through the callbacks that a client
// registers, so that the agent, unchanged, runs on machines without a GPU. Set by the environment:
//   STANDIN_RECORDS  the .cupd file
//   STANDIN_REPEAT   how often it is played (1); times and ids go on
//   STANDIN_RATE     records a second (0 = as fast as it goes)
//   STANDIN_LATE     full buffers are held back until CUPTI is flushed by force
//   STANDIN_DROPPED  so many records are said to be lost, once
//   STANDIN_BUSY     another client has subscribed already
// .cupd: "CUPD", u32 version, then per record: u32 bytes, u32 texts, the record, and per text: u32 offset of
// its pointer in the record, u32 length, the characters.

#include <cupti.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Record {
    std::vector<std::uint8_t> bytes;
    std::uint32_t kind = 0;
};

/// Where the fields lie that must differ from one round to the next.
struct Shifted {
    std::vector<std::size_t> times;
    std::vector<std::size_t> ids;
};
const std::map<std::uint32_t, Shifted>& shifted() {
    static const std::map<std::uint32_t, Shifted> kFields{
        {1, {{16, 24}, {44}}},  {2, {{16, 24}, {44}}}, {4, {{8, 16}, {32}}}, {5, {{8, 16}, {32}}},
        {10, {{16, 24}, {92}}}, {12, {{8}, {16}}},     {13, {{}, {8}}},      {17, {{24, 32}, {}}},
        {38, {{8, 16}, {24}}},  {49, {{32}, {12}}},    {50, {{56}, {12}}},
    };
    return kFields;
}

long number(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::atol(text) : 0;
}

class StandIn {
  public:
    std::recursive_mutex mutex;
    std::set<std::uint32_t> kinds;
    /// By activity kind: single calls asked for, and taken out of a kind that is on. As on a GPU, asking for
    /// single calls gives them only to who was there as CUDA was initialised.
    std::map<std::uint32_t, std::set<std::uint32_t>> calls;
    std::map<std::uint32_t, std::set<std::uint32_t>> noCalls;
    bool injected = std::getenv("CUDA_INJECTION64_PATH") != nullptr;
    std::set<std::uint32_t> domains;
    std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks;
    CUpti_CallbackFunc callback = nullptr;
    void* user = nullptr;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    long dropped = number("STANDIN_DROPPED");
    std::atomic<std::uint64_t> given{0};
    std::atomic<bool> playing{false};
    std::atomic<bool> played{false};

    void begin() {
        const std::lock_guard lock(mutex);
        if (playing.exchange(true) || std::getenv("STANDIN_RECORDS") == nullptr)
            return;
        std::thread([this] { play(); }).detach();
    }
    /// Gives all that is held back and the buffer that is being filled.
    void flush(bool forced) {
        const bool late = number("STANDIN_LATE") != 0;
        std::vector<std::pair<std::uint8_t*, std::size_t>> ready;
        CUpti_BuffersCallbackCompleteFunc to = nullptr;
        {
            const std::lock_guard lock(mutex);
            to = complete;
            if (m_at > 0 && (forced || !late))
                hold();
            if (forced || !late)
                ready.swap(m_held);
        }
        for (const auto& [data, size] : ready)
            if (to != nullptr)
                to(nullptr, 0, data, m_size, size);
    }
    /// The end of a call into CUDA, for whoever listens.
    void call(CUpti_CallbackDomain domain, std::uint32_t id) {
        CUpti_CallbackFunc to = nullptr;
        {
            const std::lock_guard lock(mutex);
            if (domains.contains(domain) || callbacks.contains({domain, id}))
                to = callback;
        }
        if (to == nullptr)
            return;
        CUpti_CallbackData data{};
        data.callbackSite = CUPTI_API_EXIT;
        to(user, domain, id, &data);
    }
    void range(const char* name) {
        CUpti_CallbackFunc to = nullptr;
        {
            const std::lock_guard lock(mutex);
            if (domains.contains(CUPTI_CB_DOMAIN_NVTX))
                to = callback;
        }
        if (to == nullptr)
            return;
        const char* parameters[] = {name};
        CUpti_NvtxData data{};
        data.functionParams = parameters;
        to(user, CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxRangePushA, &data);
    }

  private:
    void load() {
        if (!m_records.empty())
            return;
        std::ifstream file(std::getenv("STANDIN_RECORDS"), std::ios::binary);
        const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        std::size_t at = 8;
        const auto word = [&] {
            std::uint32_t v = 0;
            std::memcpy(&v, all.data() + at, sizeof v);
            at += sizeof v;
            return v;
        };
        while (at + 8 <= all.size()) {
            const std::uint32_t bytes = word();
            const std::uint32_t texts = word();
            Record r;
            r.bytes.assign(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + bytes));
            at += bytes;
            for (std::uint32_t i = 0; i < texts; ++i) {
                const std::uint32_t offset = word();
                const std::uint32_t length = word();
                m_texts.push_back(std::make_unique<std::string>(all.substr(at, length)));
                at += length;
                const char* text = m_texts.back()->c_str();
                std::memcpy(r.bytes.data() + offset, &text, sizeof text);
            }
            std::memcpy(&r.kind, r.bytes.data(), sizeof r.kind);
            m_records.push_back(std::move(r));
        }
    }
    [[nodiscard]] bool wanted(const Record& r) const {
        std::uint32_t id = 0;
        std::memcpy(&id, r.bytes.data() + 4, sizeof id);
        const auto among = [&](const std::map<std::uint32_t, std::set<std::uint32_t>>& sets) {
            const auto it = sets.find(r.kind);
            return it != sets.end() && it->second.contains(id);
        };
        return kinds.contains(r.kind) ? !among(noCalls) : injected && among(calls);
    }
    void hold() {
        m_held.emplace_back(m_buffer, m_at);
        m_buffer = nullptr;
        m_at = 0;
    }
    void put(const Record& r, std::uint64_t round) {
        constexpr std::uint64_t kRoundNs = 250'000'000;
        constexpr std::uint32_t kRoundIds = 100'000;
        bool full = false;
        {
            const std::lock_guard lock(mutex);
            if (!wanted(r) || request == nullptr)
                return;
            if (m_buffer != nullptr && m_size - m_at < r.bytes.size())
                full = true;
        }
        if (full) {
            const std::lock_guard lock(mutex);
            hold();
        }
        if (full && number("STANDIN_LATE") == 0)
            flush(false);
        const std::lock_guard lock(mutex);
        if (request == nullptr)
            return;
        if (m_buffer == nullptr) {
            std::size_t most = 0;
            request(&m_buffer, &m_size, &most);
            if (m_buffer == nullptr) {
                ++dropped;
                return;
            }
        }
        std::uint8_t* to = m_buffer + m_at;
        std::memcpy(to, r.bytes.data(), r.bytes.size());
        if (const auto it = shifted().find(r.kind); it != shifted().end() && round > 0) {
            for (const std::size_t field : it->second.times) {
                std::uint64_t v = 0;
                std::memcpy(&v, to + field, sizeof v);
                v += v != 0 ? round * kRoundNs : 0;
                std::memcpy(to + field, &v, sizeof v);
            }
            for (const std::size_t field : it->second.ids) {
                std::uint32_t v = 0;
                std::memcpy(&v, to + field, sizeof v);
                v += v != 0 ? static_cast<std::uint32_t>(round) * kRoundIds : 0;
                std::memcpy(to + field, &v, sizeof v);
            }
        }
        m_at += r.bytes.size();
        ++given;
    }
    void play() {
        load();
        const long repeat = std::max(1L, number("STANDIN_REPEAT"));
        const long rate = number("STANDIN_RATE");
        const auto begun = std::chrono::steady_clock::now();
        std::uint64_t count = 0;
        for (long round = 0; round < repeat; ++round) {
            for (const Record& r : m_records) {
                put(r, static_cast<std::uint64_t>(round));
                call(CUPTI_CB_DOMAIN_RUNTIME_API, 211);
                if (++count % 100 == 0 && rate > 0)
                    std::this_thread::sleep_until(begun +
                                                  std::chrono::nanoseconds(1'000'000'000 / rate * count));
            }
        }
        played = true;
    }

    std::vector<Record> m_records;
    std::vector<std::unique_ptr<std::string>> m_texts;
    std::vector<std::pair<std::uint8_t*, std::size_t>> m_held;
    std::uint8_t* m_buffer = nullptr;
    std::size_t m_size = 0;
    std::size_t m_at = 0;
};

StandIn& standIn() {
    static auto* one = new StandIn; // never destroyed: its thread may outlive main()
    return *one;
}

/// The real one sets itself up again when it is called after cuptiFinalize, or waits for ever where both come
/// at once: here the program dies of it.
void mustBeSubscribed(const char* function) {
    const std::lock_guard lock(standIn().mutex);
    if (standIn().callback != nullptr)
        return;
    std::fprintf(stderr, "stand-in: %s was called by nobody who has subscribed\n", function);
    std::abort();
}

void switchCall(CUpti_ActivityKind kind, std::uint32_t id, bool on) {
    (on ? standIn().calls : standIn().noCalls)[kind].insert(id);
    (on ? standIn().noCalls : standIn().calls)[kind].erase(id);
}

const std::map<std::uint32_t, const char*> kRuntimeNames{
#include "runtime_names.inc"
};
const std::map<std::uint32_t, const char*> kDriverNames{
#include "driver_names.inc"
};
/// Sizes by kind, to walk a buffer by.
std::size_t sizeOf(const std::uint8_t* record) {
    static const std::map<std::uint32_t, std::size_t> kSizes{
        {1, 96},  {2, 88},  {4, 40},  {5, 40},  {8, 184}, {9, 32},   {10, 216}, {11, 32},
        {12, 56}, {13, 40}, {17, 56}, {36, 56}, {38, 56}, {49, 128}, {50, 80}};
    std::uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof kind);
    const auto it = kSizes.find(kind);
    return it == kSizes.end() ? 0 : it->second;
}

} // namespace

extern "C" {

/// For the program under test: waits until all is played, or for so long.
int standin_wait(int milliseconds) {
    for (int i = 0; i < milliseconds && !standIn().played; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return standIn().played ? 1 : 0;
}
unsigned long standin_given() {
    return standIn().given;
}
void standin_profiler(int start) {
    standIn().call(CUPTI_CB_DOMAIN_RUNTIME_API, start != 0 ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                                                           : CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
}
void standin_range(const char* name) {
    standIn().range(name);
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
    *version = 130001;
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult, const char** text) {
    *text = "CUPTI_ERROR_OF_THE_STAND_IN";
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* user) {
    if (number("STANDIN_BUSY") != 0)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    const std::lock_guard lock(standIn().mutex);
    if (standIn().callback != nullptr)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    standIn().callback = callback;
    standIn().user = user;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&standIn());
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) {
    const std::lock_guard lock(standIn().mutex);
    standIn().callback = nullptr;
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id) {
    mustBeSubscribed("cuptiEnableCallback");
    const std::lock_guard lock(standIn().mutex);
    if (enable != 0)
        standIn().callbacks.insert({domain, id});
    else
        standIn().callbacks.erase({domain, id});
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
    mustBeSubscribed("cuptiEnableDomain");
    {
        const std::lock_guard lock(standIn().mutex);
        if (enable != 0)
            standIn().domains.insert(domain);
        else
            standIn().domains.erase(domain);
    }
    // The program's calls go on meanwhile.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard lock(standIn().mutex);
    standIn().request = request;
    standIn().complete = complete;
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
    {
        const std::lock_guard lock(standIn().mutex);
        standIn().kinds.insert(kind);
        standIn().noCalls[kind].clear();
    }
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && number("STANDIN_HOLD") == 0)
        standIn().begin();
    return CUPTI_SUCCESS;
}
/// For the program under test: begins to play where STANDIN_HOLD is set.
void standin_begin() {
    standIn().begin();
}
CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
    mustBeSubscribed("cuptiActivityDisable");
    const std::lock_guard lock(standIn().mutex);
    standIn().kinds.erase(kind);
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
    mustBeSubscribed("cuptiActivityFlushAll");
    standIn().flush(flag != 0);
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
    auto* at = reinterpret_cast<uint8_t*>(*record);
    at = at == nullptr ? buffer : at + sizeOf(at);
    if (at >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* count) {
    mustBeSubscribed("cuptiActivityGetNumDroppedRecords");
    const std::lock_guard lock(standIn().mutex);
    *count = static_cast<size_t>(standIn().dropped);
    standIn().dropped = 0;
    return CUPTI_SUCCESS;
}
#ifndef STANDIN_TOO_OLD
CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    *timestamp = static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
    return CUPTI_SUCCESS;
}
#endif
#ifndef STANDIN_OLD
CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
    const auto& names = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? kRuntimeNames : kDriverNames;
    const auto it = names.find(id);
    if (it == names.end())
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = it->second;
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiFinalize(void) {
    standIn().flush(true);
    const std::lock_guard lock(standIn().mutex);
    standIn().callback = nullptr;
    standIn().request = nullptr;
    standIn().complete = nullptr;
    standIn().kinds.clear();
    standIn().domains.clear();
    standIn().callbacks.clear();
    standIn().calls.clear();
    standIn().noCalls.clear();
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t) {
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc) {
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
    mustBeSubscribed("cuptiActivityEnableRuntimeApi");
    const std::lock_guard lock(standIn().mutex);
    switchCall(CUPTI_ACTIVITY_KIND_RUNTIME, id, enable != 0);
    return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
    mustBeSubscribed("cuptiActivityEnableDriverApi");
    const std::lock_guard lock(standIn().mutex);
    switchCall(CUPTI_ACTIVITY_KIND_DRIVER, id, enable != 0);
    return CUPTI_SUCCESS;
}
#endif
}
