// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// What each kind of CUPTI's records becomes. Arguments have the names that traces of PyTorch give them.

#include "capture/recorder/decoder.h"
#include "capture/recorder/decoder_names.h"

#include <fmt/format.h>

namespace warpline::capture {

namespace {

using namespace cupti;

constexpr std::uint16_t number(Category c) {
    return static_cast<std::uint16_t>(c);
}

} // namespace

void Decoder::kernel(Record r) {
    namespace k = cupti::kernel;
    ++m_counts.kernels;
    const std::int64_t device = deviceOf(get<std::uint32_t>(r, k::kDevice));
    const auto streamId = get<std::uint32_t>(r, k::kStream);
    const auto correlationId = get<std::uint32_t>(r, k::kCorrelation);
    wpl::RecordedEvent e;
    e.category = number(Category::Kernel);
    e.track = stream(device, streamId).track;
    e.name = demangled(get<std::uint64_t>(r, k::kName));
    e.correlation = correlation(correlationId);
    // One that CUPTI could not measure keeps its row, without a time.
    if (!span(e, get<std::uint64_t>(r, k::kStart), get<std::uint64_t>(r, k::kEnd)))
        e.start = e.duration = 0;
    const auto three = [&](std::size_t at) {
        return triple(get<std::uint32_t>(r, at), get<std::uint32_t>(r, at + 4),
                      get<std::uint32_t>(r, at + 8));
    };
    const std::int64_t shared =
        std::int64_t{get<std::uint32_t>(r, k::kStaticShared)} + get<std::uint32_t>(r, k::kDynamicShared);
    const std::int64_t grid = three(k::kGrid);
    const std::int64_t block = three(k::kBlock);
    const std::int64_t registers = get<std::uint16_t>(r, k::kRegisters);
    const std::int64_t context = get<std::uint32_t>(r, k::kContext);
    const auto graphNode = get<std::uint64_t>(r, k::kGraphNode);
    const auto field = [&](const char* key, ArgKind kind = ArgKind::Int) {
        return Collection::Field{m_to.text(key), kind};
    };
    if (m_kernelShape == 0) {
        const std::vector<Collection::Field> fields{field("device"),
                                                    field("context"),
                                                    field("stream"),
                                                    field("correlation"),
                                                    field("grid", ArgKind::Raw),
                                                    field("block", ArgKind::Raw),
                                                    field("registers per thread"),
                                                    field("shared memory")};
        m_kernelShape = m_to.shape(fields);
        auto ofGraph = fields;
        ofGraph.push_back(field("graph id"));
        ofGraph.push_back(field("graph node id"));
        m_graphKernelShape = m_to.shape(ofGraph);
    }
    if (graphNode == 0) {
        e.shape = m_kernelShape;
        m_to.add(e, {device, context, streamId, correlationId, grid, block, registers, shared});
    } else {
        e.shape = m_graphKernelShape;
        m_to.add(e, {device, context, streamId, correlationId, grid, block, registers, shared,
                     std::int64_t{get<std::uint32_t>(r, k::kGraph)}, static_cast<std::int64_t>(graphNode)});
    }
}

void Decoder::graph(Record r) {
    namespace g = cupti::graph;
    ++m_counts.kernels;
    const std::int64_t device = deviceOf(get<std::uint32_t>(r, g::kDevice));
    const auto streamId = get<std::uint32_t>(r, g::kStream);
    const auto id = get<std::uint32_t>(r, g::kGraph);
    wpl::RecordedEvent e;
    e.category = number(Category::Kernel);
    e.track = stream(device, streamId).track;
    e.name = m_to.text(fmt::format("CUDA graph {}", id));
    e.correlation = correlation(get<std::uint32_t>(r, g::kCorrelation));
    if (!span(e, get<std::uint64_t>(r, g::kStart), get<std::uint64_t>(r, g::kEnd)))
        return;
    e.shape = m_to.shape(
        {{m_to.text("device")}, {m_to.text("stream")}, {m_to.text("correlation")}, {m_to.text("graph id")}});
    m_to.add(e, {device, streamId, std::int64_t{get<std::uint32_t>(r, g::kCorrelation)}, id});
}

void Decoder::copy(Record r, bool peer) {
    namespace m = memcpy_;
    ++m_counts.copies;
    const std::int64_t device = deviceOf(get<std::uint32_t>(r, m::kDevice));
    const auto streamId = get<std::uint32_t>(r, m::kStream);
    const auto correlationId = get<std::uint32_t>(r, peer ? m::kPeerCorrelation : m::kCorrelation);
    wpl::RecordedEvent e;
    e.category = number(Category::Copy);
    e.track = stream(device, streamId).track;
    wpl::Text& known = m_copyNames[get<std::uint32_t>(r, m::kCopyKind) & 0xFFFFFF];
    if (known == 0)
        known = m_to.text(copyName(get<std::uint8_t>(r, m::kCopyKind), get<std::uint8_t>(r, m::kSource),
                                   get<std::uint8_t>(r, m::kDestination)));
    e.name = known;
    e.correlation = correlation(correlationId);
    if (!span(e, get<std::uint64_t>(r, m::kStart), get<std::uint64_t>(r, m::kEnd)))
        return;
    if (m_copyShape == 0)
        m_copyShape = m_to.shape({{m_to.text("device")},
                                  {m_to.text("context")},
                                  {m_to.text("stream")},
                                  {m_to.text("correlation")},
                                  {m_to.text("bytes")}});
    e.shape = m_copyShape;
    m_to.add(e, {device, std::int64_t{get<std::uint32_t>(r, m::kContext)}, streamId, correlationId,
                 static_cast<std::int64_t>(get<std::uint64_t>(r, m::kBytes))});
}

void Decoder::set(Record r) {
    namespace m = memset_;
    ++m_counts.sets;
    const std::int64_t device = deviceOf(get<std::uint32_t>(r, m::kDevice));
    const auto streamId = get<std::uint32_t>(r, m::kStream);
    const auto correlationId = get<std::uint32_t>(r, m::kCorrelation);
    wpl::RecordedEvent e;
    e.category = number(Category::Set);
    e.track = stream(device, streamId).track;
    e.name = m_to.text(fmt::format("Memset ({})", memoryKindName(get<std::uint16_t>(r, m::kMemoryKind))));
    e.correlation = correlation(correlationId);
    if (!span(e, get<std::uint64_t>(r, m::kStart), get<std::uint64_t>(r, m::kEnd)))
        return;
    e.shape = m_to.shape({{m_to.text("device")},
                          {m_to.text("context")},
                          {m_to.text("stream")},
                          {m_to.text("correlation")},
                          {m_to.text("bytes")},
                          {m_to.text("value")}});
    m_to.add(e, {device, std::int64_t{get<std::uint32_t>(r, m::kContext)}, streamId, correlationId,
                 static_cast<std::int64_t>(get<std::uint64_t>(r, m::kBytes)),
                 std::int64_t{get<std::uint32_t>(r, m::kValue)}});
}

void Decoder::call(Record r, bool driver) {
    namespace a = cupti::api;
    ++m_counts.calls;
    const auto correlationId = get<std::uint32_t>(r, a::kCorrelation);
    const auto result = get<std::uint32_t>(r, a::kResult);
    wpl::RecordedEvent e;
    e.category = number(driver ? Category::Driver : Category::Runtime);
    e.track = thread(get<std::uint32_t>(r, a::kThread));
    e.name = callName(driver, get<std::uint32_t>(r, a::kCallback));
    e.correlation = correlation(correlationId);
    if (!span(e, get<std::uint64_t>(r, a::kStart), get<std::uint64_t>(r, a::kEnd)))
        return;
    if (m_callShape == 0) {
        m_callShape = m_to.shape({{m_to.text("correlation")}});
        m_failedCallShape = m_to.shape({{m_to.text("correlation")}, {m_to.text("return value")}});
    }
    e.shape = result == 0 ? m_callShape : m_failedCallShape;
    if (result == 0)
        m_to.add(e, {correlationId});
    else
        m_to.add(e, {correlationId, result});
}

void Decoder::device(Record r) {
    namespace d = cupti::device;
    Devices::Device device;
    device.name = m_agentStrings.size() > get<std::uint64_t>(r, d::kName)
                      ? m_agentStrings[get<std::uint64_t>(r, d::kName)]
                      : std::string();
    device.memoryBytes = get<std::uint64_t>(r, d::kMemory);
    device.multiprocessors = get<std::uint32_t>(r, d::kMultiprocessors);
    device.major = get<std::uint32_t>(r, d::kMajor);
    device.minor = get<std::uint32_t>(r, d::kMinor);
    std::copy_n(r.data() + d::kUuid, device.uuid.size(), device.uuid.begin());
    describe(get<std::uint32_t>(r, d::kId), std::move(device));
}

void Decoder::describe(std::uint32_t own, Devices::Device device) {
    m_deviceOf[own] = m_devices.add(std::move(device), own);
    m_to.setProperty("deviceProperties", m_devices.json());
}

void Decoder::context(Record r) {
    namespace c = cupti::context;
    m_contexts[get<std::uint32_t>(r, c::kId)] = {deviceOf(get<std::uint32_t>(r, c::kDevice)),
                                                 get<std::uint16_t>(r, c::kNullStream)};
}

void Decoder::name(Record r) {
    namespace n = cupti::name;
    const auto number = get<std::uint64_t>(r, n::kName);
    if (number == 0 || number >= m_agentStrings.size())
        return;
    const std::string& text = m_agentStrings[number];
    switch (get<std::uint32_t>(r, n::kObject)) {
    case n::kThread:
        m_to.nameThread(m_info.pid, get<std::uint32_t>(r, n::kSecond), {}, text);
        break;
    case n::kStream: {
        const std::int64_t device = deviceOf(get<std::uint32_t>(r, n::kFirst));
        const auto id = get<std::uint32_t>(r, n::kThird);
        m_to.nameThread(device, id, streamText(device, id), text);
        break;
    }
    default:
        break;
    }
}

void Decoder::markerArgs(const MarkerData* data, wpl::Text domain, std::uint32_t& shape,
                         std::vector<std::int64_t>& values) {
    std::vector<Collection::Field> fields;
    const auto add = [&](const char* key, ArgKind kind, std::int64_t value) {
        fields.push_back({m_to.text(key), kind});
        values.push_back(value);
    };
    if (domain != 0)
        add("domain", ArgKind::Text, domain);
    if (data != nullptr) {
        namespace d = marker_data;
        if (data->category != 0)
            add("category", ArgKind::Int, data->category);
        if (data->payloadKind == d::kDouble && data->real != 0)
            add("payload", ArgKind::Raw, m_to.text(fmt::format("{}", data->real)));
        else if (data->payloadKind == d::kInt64 || data->payloadKind == d::kUint64)
            add("payload", ArgKind::Int, data->payload);
        if (data->color != 0)
            add("color", ArgKind::Text, m_to.text(fmt::format("#{:08x}", data->color)));
    }
    shape = fields.empty() ? 0 : m_to.shape(fields);
}

void Decoder::flushInstant(const MarkerData* data) {
    if (!m_instant.there)
        return;
    m_instant.there = false;
    std::vector<std::int64_t> values;
    markerArgs(data, m_instant.domain, m_instant.event.shape, values);
    m_to.add(m_instant.event, values);
}

void Decoder::marker(Record r) {
    namespace m = cupti::marker;
    ++m_counts.markers;
    const auto flags = get<std::uint32_t>(r, m::kFlags);
    const auto id = get<std::uint32_t>(r, m::kId);
    wpl::RecordedEvent e;
    e.category = number(Category::Annotation);
    e.track = thread(get<std::uint32_t>(r, m::kThread));
    e.start = time(get<std::uint64_t>(r, m::kTime));
    e.id = std::uint64_t{m_number} << 32 | id;
    const auto nameNumber = get<std::uint64_t>(r, m::kName);
    const auto domainNumber = get<std::uint64_t>(r, m::kDomain);
    const wpl::Text domain = domainNumber < m_agentStrings.size() && !m_agentStrings[domainNumber].empty()
                                 ? textOf(domainNumber)
                                 : 0;
    const std::string_view name = nameNumber < m_agentStrings.size()
                                      ? std::string_view(m_agentStrings[nameNumber])
                                      : std::string_view();
    std::vector<std::int64_t> values;
    if ((flags & m::kEnd) != 0) {
        e.phase = 'e';
        const auto data = m_markerData.find(id);
        markerArgs(data == m_markerData.end() ? nullptr : &data->second, domain, e.shape, values);
        if (data != m_markerData.end())
            m_markerData.erase(data);
        m_to.add(e, values);
        return;
    }
    const auto op = torchOp(name);
    e.name = m_to.text(op ? op->name : name.empty() ? "unnamed range" : name);
    if ((flags & m::kStart) != 0) {
        e.phase = 'b';
        if (op) {
            e.category = number(Category::CpuOp);
            std::vector<Collection::Field> fields;
            if (op->sequence >= 0) {
                fields.push_back({m_to.text("Sequence number")});
                values.push_back(op->sequence);
            }
            if (!op->sizes.empty()) {
                fields.push_back({m_to.text("Input Dims"), ArgKind::Raw});
                values.push_back(m_to.text(op->sizes));
            }
            e.shape = fields.empty() ? 0 : m_to.shape(fields);
        }
        m_to.add(e, values);
        return;
    }
    if ((flags & m::kInstant) == 0)
        return; // of user-defined synchronisation
    e.phase = 'i';
    e.flags = SliceFlag::Instant;
    m_instant = {e, id, domain, true};
}

void Decoder::markerData(Record r) {
    namespace d = marker_data;
    MarkerData data;
    const auto id = get<std::uint32_t>(r, d::kId);
    data.payloadKind = get<std::uint32_t>(r, d::kPayloadKind);
    data.payload = get<std::int64_t>(r, d::kPayload);
    data.real = get<double>(r, d::kPayload);
    data.category = get<std::uint32_t>(r, d::kCategory);
    if ((get<std::uint32_t>(r, d::kFlags) & d::kHasColor) != 0)
        data.color = get<std::uint32_t>(r, d::kColor);
    if (m_instant.there && m_instant.id == id)
        return flushInstant(&data);
    // Of ranges that are never closed it would heap up.
    constexpr std::size_t kMostOpen = 1 << 16;
    if (m_markerData.size() < kMostOpen)
        m_markerData[id] = data;
}

void Decoder::overhead(Record r) {
    namespace o = cupti::overhead;
    wpl::RecordedEvent e;
    e.category = number(Category::Overhead);
    e.track = m_to.track(TrackKind::Overhead, m_info.pid, 0);
    e.name = m_to.text(overheadName(get<std::uint32_t>(r, o::kKind)));
    if (!span(e, get<std::uint64_t>(r, o::kStart), get<std::uint64_t>(r, o::kEnd)))
        return;
    e.shape = m_to.shape({{m_to.text("thread")}});
    m_to.add(e, {std::int64_t{get<std::uint32_t>(r, o::kThread)}});
}

void Decoder::sync(Record r) {
    namespace s = cupti::sync;
    const auto contextId = get<std::uint32_t>(r, s::kContext);
    auto streamId = get<std::uint32_t>(r, s::kStream);
    const auto it = m_contexts.find(contextId);
    const Context where = it != m_contexts.end() ? it->second : Context{deviceOf(0), 7};
    // A wait for the whole context, or for an event on any stream, stands with the default stream.
    if (streamId == s::kNone)
        streamId = where.nullStream;
    wpl::RecordedEvent e;
    e.category = number(Category::Sync);
    e.track = stream(where.device, streamId).waits;
    e.name = m_to.text(syncName(get<std::uint32_t>(r, s::kType)));
    if (!span(e, get<std::uint64_t>(r, s::kStart), get<std::uint64_t>(r, s::kEnd)))
        return;
    const auto event = get<std::uint32_t>(r, s::kEvent);
    const auto correlationId = get<std::uint32_t>(r, s::kCorrelation);
    const std::vector<Collection::Field> fields{{m_to.text("stream")}, {m_to.text("correlation")}};
    if (event == s::kNone) {
        e.shape = m_to.shape(fields);
        m_to.add(e, {streamId, correlationId});
    } else {
        auto more = fields;
        more.push_back({m_to.text("wait_on_cuda_event_id")});
        e.shape = m_to.shape(more);
        m_to.add(e, {streamId, correlationId, event});
    }
}

void Decoder::memory(Record r) {
    namespace m = cupti::memory;
    ++m_counts.allocations;
    const auto kind = get<std::uint32_t>(r, m::kKind);
    const auto operation = get<std::uint32_t>(r, m::kOperation);
    const auto address = get<std::uint64_t>(r, m::kAddress);
    auto bytes = get<std::uint64_t>(r, m::kBytes);
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
    if ((operation != m::kAllocation && operation != m::kRelease) || bytes > kMostBytes)
        return;
    // A release may not say how much it gives back.
    if (operation == m::kAllocation) {
        m_allocations[address] = bytes;
    } else if (const auto it = m_allocations.find(address); it != m_allocations.end()) {
        if (bytes == 0)
            bytes = it->second;
        m_allocations.erase(it);
    }
    constexpr std::uint32_t kPageable = 1;
    constexpr std::uint32_t kPinned = 2;
    const bool host = kind == kPageable || kind == kPinned;
    const std::int64_t device = host ? -1 : deviceOf(get<std::uint32_t>(r, m::kDevice));
    wpl::RecordedMemory row;
    row.time = time(get<std::uint64_t>(r, m::kTime));
    row.bytes =
        operation == m::kAllocation ? static_cast<std::int64_t>(bytes) : -static_cast<std::int64_t>(bytes);
    row.address = address;
    row.device = static_cast<std::int16_t>(device);
    row.rawTrack = m_to.rawTrack(m_info.pid, m_info.pid);
    row.name = m_to.text("[memory]");
    if (Devices::Device* d = m_devices.find(device); !host && d != nullptr) {
        d->allocated += row.bytes;
        row.totalAllocated = d->allocated;
    }
    const auto poolType = get<std::uint32_t>(r, m::kPoolType);
    row.shape =
        m_to.shape({{m_to.text("kind"), ArgKind::Text}, {m_to.text("correlation")}, {m_to.text("pool")}});
    m_to.add(row, {m_to.text(memoryKindName(kind)), std::int64_t{get<std::uint32_t>(r, m::kCorrelation)},
                   std::int64_t{poolType != 0}});
    if (poolType != 0)
        poolCounter(device, row.time, get<std::uint64_t>(r, m::kPoolSize),
                    get<std::uint64_t>(r, m::kPoolUsed));
}

void Decoder::poolCounter(std::int64_t device, TimeNs when, std::uint64_t size, std::uint64_t used) {
    wpl::RecordedCounter c;
    c.time = when;
    c.rawTrack = m_to.rawTrack(m_info.pid, m_info.pid);
    c.name = m_to.text(fmt::format("GPU {} memory pool", device));
    c.series = m_to.text("reserved");
    c.value = static_cast<std::int64_t>(size);
    m_to.add(c);
    c.series = m_to.text("used");
    c.value = static_cast<std::int64_t>(used);
    m_to.add(c);
}

void Decoder::pool(Record r) {
    namespace p = cupti::pool;
    const bool gone = get<std::uint32_t>(r, p::kOperation) == p::kDestroyed;
    poolCounter(deviceOf(get<std::uint32_t>(r, p::kDevice)), time(get<std::uint64_t>(r, p::kTime)),
                gone ? 0 : get<std::uint64_t>(r, p::kSize), gone ? 0 : get<std::uint64_t>(r, p::kUsed));
}

} // namespace warpline::capture
