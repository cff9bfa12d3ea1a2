// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/decoder.h"

#include "capture/recorder/decoder_names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace warpline::capture {

namespace {

using namespace cupti;

/// Fixed-size rows of a frame; false where its size does not fit.
template <class Row, class Use>
bool eachRow(std::string_view payload, Use&& use) {
    if (payload.size() % sizeof(Row) != 0)
        return false;
    for (std::size_t at = 0; at < payload.size(); at += sizeof(Row)) {
        Row row;
        std::memcpy(&row, payload.data() + at, sizeof row);
        use(row);
    }
    return true;
}

std::int64_t numberIn(std::string_view text) {
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace

Decoder::Decoder(Collection& to, Devices& devices, std::uint32_t number)
    : m_to(to), m_devices(devices), m_number(number), m_agentStrings(1), m_texts(1), m_demangled(1) {}

bool Decoder::hello(std::string_view payload) {
    wire::HelloHeader header;
    if (payload.size() < sizeof header)
        return false;
    payload.remove_prefix(sizeof header);
    std::string executable;
    while (!payload.empty()) {
        const std::size_t end = payload.find('\0');
        if (end == std::string_view::npos)
            return false;
        const std::string_view field = payload.substr(0, end);
        payload.remove_prefix(end + 1);
        const std::size_t equals = field.find('=');
        if (equals == std::string_view::npos)
            continue;
        const std::string_view key = field.substr(0, equals);
        const std::string_view value = field.substr(equals + 1);
        if (key == "pid")
            m_info.pid = numberIn(value);
        else if (key == "ppid")
            m_info.parent = numberIn(value);
        else if (key == "exe")
            executable = value;
        else if (key == "command")
            m_info.command = value;
        else if (key == "host")
            m_info.host = value;
        else if (key == "rank")
            m_info.rank = numberIn(value);
        else if (key == "local_rank")
            m_info.localRank = numberIn(value);
        else if (key == "world_size")
            m_info.worldSize = numberIn(value);
        else if (key == "how")
            m_info.attached = value == "attached";
    }
    if (m_info.pid <= 0)
        return false;
    m_info.program = executable.substr(executable.rfind('/') + 1);
    m_to.nameProcess(m_info.pid, "process_name", m_info.program);
    if (m_info.rank >= 0) {
        m_to.nameProcess(m_info.pid, "process_labels", fmt::format("rank {}", m_info.rank));
        m_to.setSortIndex(m_info.pid, m_info.rank);
    }
    return true;
}

bool Decoder::strings(std::string_view payload) {
    wire::StringsHeader header;
    if (payload.size() < sizeof header)
        return false;
    std::memcpy(&header, payload.data(), sizeof header);
    payload.remove_prefix(sizeof header);
    if (header.first == 1) { // the agent began again
        m_agentStrings.resize(1);
        m_texts.resize(1);
        m_demangled.resize(1);
    }
    if (header.first != m_agentStrings.size())
        return false;
    for (std::uint32_t i = 0; i < header.count; ++i) {
        std::uint32_t length = 0;
        if (payload.size() < sizeof length)
            return false;
        std::memcpy(&length, payload.data(), sizeof length);
        payload.remove_prefix(sizeof length);
        if (length > payload.size())
            return false;
        m_agentStrings.emplace_back(payload.substr(0, length));
        m_texts.push_back(0);
        m_demangled.push_back(0);
        payload.remove_prefix(length);
    }
    return payload.empty();
}

bool Decoder::calls(std::string_view payload) {
    return eachRow<wire::CallName>(payload, [&](const wire::CallName& row) {
        const bool driver = row.domain == 1;
        if (row.name < m_agentStrings.size())
            m_calls[std::uint64_t{driver} << 32 | row.callback] =
                m_to.text(bareCallName(m_agentStrings[row.name]));
    });
}

bool Decoder::clock(std::string_view payload) {
    return eachRow<wire::ClockPair>(payload, [&](const wire::ClockPair& pair) {
        m_clockOffset = pair.shared != 0 ? 0 : static_cast<std::int64_t>(pair.unixNs - pair.cupti);
    });
}

bool Decoder::devices(std::string_view payload) {
    return eachRow<wire::DeviceInfo>(payload, [&](const wire::DeviceInfo& row) {
        Devices::Device device;
        device.name.assign(row.name, ::strnlen(row.name, sizeof row.name));
        device.memoryBytes = row.memoryBytes;
        device.multiprocessors = row.multiprocessors;
        device.major = row.major;
        device.minor = row.minor;
        std::copy_n(row.uuid, device.uuid.size(), device.uuid.begin());
        describe(row.ordinal, std::move(device));
    });
}

bool Decoder::threads(std::string_view payload) {
    return eachRow<wire::ThreadName>(payload, [&](const wire::ThreadName& row) {
        const std::size_t size = ::strnlen(row.name, sizeof row.name);
        // The main thread is called after the program: that is said already.
        if (row.tid != m_info.pid || std::string_view(row.name, size) != m_info.program.substr(0, 15))
            m_to.nameThread(m_info.pid, row.tid, {}, {row.name, size});
    });
}

bool Decoder::records(std::string_view payload) {
    wire::RecordsHeader header;
    if (payload.size() < sizeof header)
        return false;
    std::memcpy(&header, payload.data(), sizeof header);
    payload.remove_prefix(sizeof header);
    const std::size_t sizes = (std::size_t{header.count} * sizeof(std::uint16_t) + 7) / 8 * 8;
    if (sizes > payload.size() || payload.size() - sizes != header.bytes)
        return false;
    const char* sizeAt = payload.data();
    payload.remove_prefix(sizes);
    m_cuptiDropped += header.dropped;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < header.count; ++i) {
        std::uint16_t size = 0;
        std::memcpy(&size, sizeAt + i * sizeof size, sizeof size);
        if (size < sizeof(std::uint32_t) || size > payload.size() - at)
            return false;
        record({reinterpret_cast<const std::uint8_t*>(payload.data()) + at, size});
        at += size;
    }
    m_counts.records += header.count;
    return at == payload.size();
}

void Decoder::finish() {
    flushInstant(nullptr);
}

void Decoder::record(Record r) {
    const auto kind = static_cast<Kind>(get<std::uint32_t>(r, 0));
    if (m_instant.there && kind != Kind::MarkerData)
        flushInstant(nullptr);
    const auto atLeast = [&](std::size_t least) {
        if (r.size() >= least)
            return true;
        ++m_counts.unknown;
        return false;
    };
    switch (kind) {
    case Kind::Kernel:
    case Kind::ConcurrentKernel:
        if (atLeast(cupti::kernel::kLeast))
            kernel(r);
        break;
    case Kind::GraphTrace:
        if (atLeast(cupti::graph::kLeast))
            graph(r);
        break;
    case Kind::Memcpy:
        if (atLeast(memcpy_::kLeast))
            copy(r, false);
        break;
    case Kind::MemcpyPeer:
        if (atLeast(memcpy_::kLeast))
            copy(r, true);
        break;
    case Kind::Memset:
        if (atLeast(memset_::kLeast))
            set(r);
        break;
    case Kind::Driver:
    case Kind::Runtime:
        if (atLeast(cupti::api::kLeast))
            call(r, kind == Kind::Driver);
        break;
    case Kind::Device:
        if (atLeast(cupti::device::kLeast))
            device(r);
        break;
    case Kind::Context:
        if (atLeast(cupti::context::kLeast))
            context(r);
        break;
    case Kind::Name:
        if (atLeast(cupti::name::kLeast))
            name(r);
        break;
    case Kind::Marker:
        if (atLeast(cupti::marker::kLeast))
            marker(r);
        break;
    case Kind::MarkerData:
        if (atLeast(cupti::marker_data::kLeast))
            markerData(r);
        break;
    case Kind::Overhead:
        if (atLeast(cupti::overhead::kLeast))
            overhead(r);
        break;
    case Kind::Synchronization:
        if (atLeast(cupti::sync::kLeast))
            sync(r);
        break;
    case Kind::Memory:
        if (atLeast(cupti::memory::kLeast))
            memory(r);
        break;
    case Kind::MemoryPool:
        if (atLeast(cupti::pool::kLeast))
            pool(r);
        break;
    case Kind::Stream:
    case Kind::CudaEvent:
        break; // nothing that a view shows
    default:
        ++m_counts.unknown;
    }
}

TimeNs Decoder::time(std::uint64_t cupti) const {
    // Within what a recording may hold; what is beyond is no time.
    constexpr TimeNs kLatest = (TimeNs{1} << 61) - 1; // in 2043
    const auto t = static_cast<TimeNs>(cupti + static_cast<std::uint64_t>(m_clockOffset));
    return std::clamp(t, TimeNs{0}, kLatest);
}

bool Decoder::span(wpl::RecordedEvent& event, std::uint64_t start, std::uint64_t end) const {
    if (start == 0)
        return false;
    event.start = time(start);
    event.duration = std::max<TimeNs>(0, time(end) - event.start);
    if (end < start) {
        event.duration = 0;
        event.flags |= end == 0 ? SliceFlag::NoDuration : SliceFlag::NegativeDuration;
    }
    return true;
}

std::int64_t Decoder::correlation(std::uint32_t id) const {
    return id == 0 ? wpl::kNoCorrelation : static_cast<std::int64_t>(std::uint64_t{m_number} << 32 | id);
}

wpl::Text Decoder::textOf(std::uint64_t number) const {
    return number == 0 || number >= m_agentStrings.size() ? 0 : m_to.text(m_agentStrings[number]);
}

wpl::Text Decoder::demangled(std::uint64_t number) {
    if (number == 0 || number >= m_agentStrings.size())
        return m_to.text("unnamed kernel");
    if (m_demangled[number] == 0)
        m_demangled[number] = m_to.text(demangledName(m_agentStrings[number]));
    return m_demangled[number];
}

wpl::Text Decoder::triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    wpl::Text& known = m_triples[{x, y, z}];
    if (known == 0)
        known = m_to.text(fmt::format("[{}, {}, {}]", x, y, z));
    return known;
}

wpl::Text Decoder::callName(bool driver, std::uint32_t callback) {
    wpl::Text& known = m_calls[std::uint64_t{driver} << 32 | callback];
    if (known == 0)
        known = m_to.text(fmt::format("{} call {}", driver ? "driver" : "runtime", callback));
    return known;
}

std::int64_t Decoder::deviceOf(std::uint32_t own) {
    const auto it = m_deviceOf.find(own);
    const std::int64_t ordinal = it != m_deviceOf.end() ? it->second : m_devices.unknown(own);
    if (it == m_deviceOf.end())
        m_deviceOf.emplace(own, ordinal);
    if (std::find(m_usedDevices.begin(), m_usedDevices.end(), ordinal) == m_usedDevices.end()) {
        m_usedDevices.push_back(ordinal);
        if (Devices::Device* d = m_devices.find(ordinal); d != nullptr && d->owner == 0)
            d->owner = m_info.pid;
    }
    return ordinal;
}

/// Streams are numbered anew in each process: those of a second one on a GPU say whose they are.
std::string Decoder::streamText(std::int64_t device, std::uint32_t id) {
    const Devices::Device* d = m_devices.find(device);
    if (d == nullptr || d->owner == 0 || d->owner == m_info.pid)
        return {};
    return fmt::format("stream {} of process {}", id, m_info.pid);
}

const Decoder::CudaStream& Decoder::stream(std::int64_t device, std::uint32_t id) {
    const auto [it, fresh] = m_streams.try_emplace(static_cast<std::uint64_t>(device) << 32 | id);
    if (fresh) {
        // Waits of stream N stand where traces of PyTorch have them.
        constexpr std::int64_t kSyncOffset = 1'000'000;
        const std::string text = streamText(device, id);
        it->second.track = m_to.track(TrackKind::Stream, device, id, text);
        it->second.waits =
            m_to.track(TrackKind::GpuSync, device, kSyncOffset + id, text.empty() ? text : "waits, " + text);
    }
    return it->second;
}

std::uint32_t Decoder::thread(std::uint32_t tid) {
    const auto [it, fresh] = m_threads.try_emplace(tid);
    if (fresh)
        it->second = m_to.track(TrackKind::Thread, m_info.pid, tid);
    return it->second;
}

} // namespace warpline::capture
