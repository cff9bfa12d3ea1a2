// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/session.h"

#include "capture/recorder/launch.h"
#include "model/base/json_writer.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpline::capture {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFlushEvery{250};
constexpr milliseconds kTick{50};
/// A block this long is written without waiting for the time.
constexpr std::size_t kBlockEvents = 100'000;
/// How long processes may take to deliver what they have when the recording ends.
constexpr milliseconds kEndPatience{8000};
/// Saving a snapshot of a large program takes its time.
constexpr milliseconds kSnapshotPatience{60'000};
constexpr std::size_t kMostOutput = std::size_t{1} << 20;

void addCounts(RecordCounts& to, const RecordCounts& c) {
    to.records += c.records;
    to.kernels += c.kernels;
    to.copies += c.copies;
    to.sets += c.sets;
    to.calls += c.calls;
    to.markers += c.markers;
    to.allocations += c.allocations;
    to.unknown += c.unknown;
}

} // namespace

Recorder::Impl::~Impl() {
    m_leave = true;
    requestStop();
    if (m_thread.joinable())
        m_thread.join();
    if (m_wakeFile >= 0)
        ::close(m_wakeFile);
    if (m_outputFile >= 0)
        ::close(m_outputFile);
}

void Recorder::Impl::run() {
    while (!m_done) {
        turn();
        if (ended())
            finish();
    }
    // What remains is the program's end, for its exit code.
    while (m_childRuns && !m_leave) {
        pollfd files[] = {{m_wakeFile, POLLIN, 0}, {m_outputFile, POLLIN, 0}};
        (void)::poll(files, 2, static_cast<int>(kTick.count()));
        gatherOutput();
        reap();
    }
    gatherOutput();
    const std::lock_guard lock(m_mutex);
    m_programEnded = true;
    m_changed.notify_all();
}

void Recorder::Impl::turn() {
    std::vector<pollfd> files{
        {m_wakeFile, POLLIN, 0}, {m_listener.file(), POLLIN, 0}, {m_outputFile, POLLIN, 0}};
    for (const Target& t : m_targets)
        files.push_back({t.peer.file(), POLLIN, 0});
    (void)::poll(files.data(), files.size(), static_cast<int>(kTick.count()));
    std::uint64_t ignored = 0;
    (void)!::read(m_wakeFile, &ignored, sizeof ignored);
    commands();
    acceptAll();
    std::size_t i = 3;
    for (Target& t : m_targets) {
        if (i < files.size() && (files[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            receiveFrom(t);
        ++i;
    }
    gatherOutput();
    reap();
    const auto now = Clock::now();
    if (now - m_lastFlush >= kFlushEvery || m_collection.pending() >= kBlockEvents)
        flush();
    if (m_everRecorded && !m_ending && m_config.durationMs > 0 &&
        now - m_recordingSince >= milliseconds(m_config.durationMs))
        beginEnding("the time was over");
    if (!m_ending && m_config.sizeLimit > 0 && m_file.bytes() >= m_config.sizeLimit)
        beginEnding("the file reached its size limit");
    if (!m_ending && m_failed)
        beginEnding("the file could not be written");
}

void Recorder::Impl::acceptAll() {
    for (;;) {
        const int file = m_listener.accept();
        if (file < 0)
            return;
        m_targets.emplace_back(file, m_collection, m_devices, m_targetCount++);
    }
}

void Recorder::Impl::receiveFrom(Target& target) {
    const bool goesOn = target.peer.receive([&](wire::Frame type, std::string_view payload) {
        if (!frame(target, type, payload)) {
            message(fmt::format("Process {} sent something impossible; its recording ends there.",
                                target.decoder.info().pid));
            return false;
        }
        if (m_collection.pending() >= kBlockEvents)
            flush();
        return true; // after Bye the agent closes the connection once it is gone
    });
    if (goesOn)
        return;
    target.peer.close();
    target.decoder.finish();
    target.recording = false;
}

bool Recorder::Impl::frame(Target& target, wire::Frame type, std::string_view payload) {
    if (!target.greeted && type != wire::Frame::Hello)
        return false;
    switch (type) {
    case wire::Frame::Hello:
        return !target.greeted && greet(target, payload);
    case wire::Frame::Strings:
        return target.decoder.strings(payload);
    case wire::Frame::Calls:
        return target.decoder.calls(payload);
    case wire::Frame::Records:
        return target.decoder.records(payload);
    case wire::Frame::Clock:
        return target.decoder.clock(payload);
    case wire::Frame::Devices:
        return target.decoder.devices(payload);
    case wire::Frame::Threads:
        return target.decoder.threads(payload);
    case wire::Frame::Counters:
        if (payload.size() < sizeof target.counters)
            return false;
        std::memcpy(&target.counters, payload.data(), sizeof target.counters);
        return true;
    case wire::Frame::State:
        state(target, payload);
        return payload.size() >= sizeof(wire::StateHeader);
    case wire::Frame::PythonDone:
        pythonDone(target, payload);
        return true;
    default:
        return true; // of a later version
    }
}

bool Recorder::Impl::greet(Target& target, std::string_view payload) {
    wire::HelloHeader header;
    if (payload.size() < sizeof header)
        return false;
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.version != wire::kVersion) {
        message(fmt::format(
            "The agent in a process speaks version {} and this recorder {}: use the agent that came "
            "with it.",
            header.version, wire::kVersion));
        target.peer.close();
        return true;
    }
    if (!target.decoder.hello(payload))
        return false;
    target.greeted = true;
    (void)target.peer.send(wire::Frame::Configure, configuration());
    if (m_ending)
        (void)target.peer.send(wire::Frame::Detach);
    return true;
}

std::string Recorder::Impl::configuration() const {
    std::string out;
    const auto add = [&](const char* key, const std::string& value) {
        out += fmt::format("{}={}", key, value);
        out.push_back('\0');
    };
    namespace c = wire::config;
    add(c::kKinds, std::to_string(m_config.kinds));
    add(c::kBufferBytes, std::to_string(m_config.bufferBytes));
    add(c::kBufferCount, std::to_string(m_config.bufferCount));
    add(c::kFlushMs, std::to_string(kFlushEvery.count()));
    switch (m_config.begin) {
    case BeginWhen::Now:
        add(c::kBegin, "now");
        break;
    case BeginWhen::Delay:
        add(c::kBegin, "delay");
        add(c::kDelayMs, std::to_string(m_config.delayMs));
        break;
    case BeginWhen::Profiler:
        add(c::kBegin, "profiler");
        break;
    case BeginWhen::Range:
        add(c::kBegin, "range");
        add(c::kRangeName, m_config.rangeName);
        add(c::kRangeSkip, std::to_string(m_config.rangeSkip));
        add(c::kRangeCount, std::to_string(m_config.rangeCount));
        break;
    }
    return out;
}

void Recorder::Impl::state(Target& target, std::string_view payload) {
    wire::StateHeader header;
    if (payload.size() < sizeof header)
        return;
    std::memcpy(&header, payload.data(), sizeof header);
    const std::string text(payload.substr(sizeof header));
    target.recording =
        header.state == wire::State::Recording || (header.state == wire::State::Note && target.recording);
    if (!text.empty())
        message(fmt::format("Process {}: {}", target.decoder.info().pid, text));
    if (header.state == wire::State::Recording) {
        if (!m_everRecorded)
            m_recordingSince = Clock::now();
        m_everRecorded = true;
        if (m_config.memoryHistory && target.pythonAsked == 0)
            askPython(target, false);
    }
    // An attached program that cannot be recorded has nothing more to say.
    if (header.state == wire::State::Failed && m_config.attach > 0)
        beginEnding("the program cannot be recorded");
}

void Recorder::Impl::commands() {
    std::vector<std::pair<TimeNs, std::string>> marks;
    std::optional<bool> pause;
    bool stop = false;
    {
        const std::lock_guard lock(m_mutex);
        marks.swap(m_marksWanted);
        pause = std::exchange(m_pauseWanted, std::nullopt);
        stop = m_stopWanted;
    }
    for (const auto& [time, name] : marks) {
        wpl::RecordedEvent e;
        e.category = static_cast<std::uint16_t>(Category::Annotation);
        e.track = m_collection.track(TrackKind::Async,
                                     m_targets.empty() ? ::getpid() : m_targets.front().decoder.info().pid, 0,
                                     {}, "marks");
        e.name = m_collection.text(name);
        e.start = time;
        e.phase = 'i';
        e.flags = SliceFlag::Instant;
        m_collection.add(e, {});
    }
    if (pause && !m_ending)
        for (Target& t : m_targets)
            (void)t.peer.send(*pause ? wire::Frame::Stop : wire::Frame::Start);
    if (stop && !m_ending)
        beginEnding("stopped");
}

void Recorder::Impl::gatherOutput() {
    if (m_outputFile < 0)
        return;
    char bytes[16 << 10];
    for (;;) {
        const ssize_t n = ::read(m_outputFile, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0) {
            ::close(m_outputFile);
            m_outputFile = -1;
        }
        if (n <= 0)
            return;
        const std::lock_guard lock(m_mutex);
        m_status.output.append(bytes, static_cast<std::size_t>(n));
        if (m_status.output.size() > kMostOutput)
            m_status.output.erase(0, m_status.output.size() - kMostOutput / 2);
    }
}

void Recorder::Impl::reap() {
    if (!m_childRuns)
        return;
    int status = 0;
    const pid_t got = ::waitpid(m_child, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return;
    m_childRuns = false;
    m_childEndedAt = Clock::now();
    const std::lock_guard lock(m_mutex);
    m_status.exitCode = got == m_child ? exitCodeOf(status) : 0;
}

void Recorder::Impl::tellDrops() {
    std::uint64_t cupti = 0;
    std::uint64_t agent = 0;
    for (const Target& t : m_targets) {
        cupti += t.decoder.cuptiDropped();
        agent += t.counters.agentDropped;
    }
    const auto tell = [&](const char* id, std::uint64_t count, const std::string& text) {
        if (count == 0)
            return;
        Diagnostic d;
        d.id = id;
        d.severity = Diagnostic::Severity::DataLoss;
        d.count = count;
        d.message = text;
        m_collection.setDiagnostic(std::move(d));
    };
    tell("cupti_dropped", cupti,
         fmt::format("CUPTI lost {} records: it had no room for them. Record less, or with more buffers.",
                     cupti));
    tell("agent_dropped", agent,
         fmt::format(
             "{} records were dropped in the program: they came faster than they could be taken away. Record "
             "less, or with more buffers.",
             agent));
    if (const std::uint64_t gone = m_file.forgotten(); gone > 0) {
        Diagnostic d;
        d.id = "ring_forgot";
        d.count = gone;
        d.message = fmt::format("The recording was kept to a size: {} older events are gone.", gone);
        m_collection.setDiagnostic(std::move(d));
    }
    const std::lock_guard lock(m_mutex);
    m_status.dropped = cupti + agent;
}

void Recorder::Impl::countRates() {
    RecordCounts all;
    std::vector<ProcessStatus> processes;
    bool recording = false;
    for (const Target& t : m_targets) {
        if (!t.greeted)
            continue;
        addCounts(all, t.decoder.counts());
        processes.push_back({t.decoder.info().pid, t.decoder.info().program, t.decoder.info().rank,
                             t.peer.open(), t.recording});
        recording |= t.recording;
    }
    const auto now = Clock::now();
    const std::lock_guard lock(m_mutex);
    m_status.counts = all;
    m_status.processes = std::move(processes);
    m_status.fileBytes = m_file.bytes();
    if (m_everRecorded && !m_done)
        m_status.durationNs =
            std::chrono::duration_cast<std::chrono::nanoseconds>(now - m_recordingSince).count();
    if (!m_done)
        m_status.state = recording                    ? RecordStatus::State::Recording
                         : m_status.processes.empty() ? RecordStatus::State::Starting
                                                      : RecordStatus::State::Waiting;
    const double seconds = std::chrono::duration<double>(now - m_lastRate).count();
    if (seconds >= 1) {
        m_status.recordsPerSecond = static_cast<double>(all.records - m_countsAtRate.records) / seconds;
        m_status.kernelsPerSecond = static_cast<double>(all.kernels - m_countsAtRate.kernels) / seconds;
        m_countsAtRate = all;
        m_lastRate = now;
    }
}

void Recorder::Impl::flush() {
    m_lastFlush = Clock::now();
    tellDrops();
    wpl::EventBlock block = m_collection.take();
    if (m_haveFile && !m_failed && !m_done) {
        if (auto done = m_file.write(m_collection.dictionary(), block); !done.ok())
            fail(done.error());
    }
    publish(std::move(block));
    countRates();
}

void Recorder::Impl::beginEnding(const std::string& reason) {
    if (m_ending)
        return;
    m_ending = true;
    m_endBy = Clock::now() + kEndPatience;
    {
        const std::lock_guard lock(m_mutex);
        m_status.reason = reason;
    }
    for (Target& t : m_targets) {
        if (m_config.memoryHistory && t.peer.open() && t.pythonAsked > 0) {
            askPython(t, true);
            m_endBy = Clock::now() + kSnapshotPatience;
        } else {
            t.detaching = true;
            (void)t.peer.send(wire::Frame::Detach);
        }
    }
}

bool Recorder::Impl::ended() {
    const bool anyOpen =
        std::any_of(m_targets.begin(), m_targets.end(), [](const Target& t) { return t.peer.open(); });
    if (m_ending)
        return !anyOpen || Clock::now() > m_endBy;
    if (anyOpen)
        return false;
    if (m_config.attach > 0) {
        if (m_targets.empty() && Clock::now() - m_startedAt < kEndPatience)
            return false;
        if (m_targets.empty())
            message(fmt::format("The agent in process {} never spoke up.", m_config.attach));
        beginEnding(m_targets.empty() ? "the program cannot be recorded" : "the program ended");
        return true;
    }
    // A process that is only just connecting is in the socket's queue.
    constexpr milliseconds kGrace{100};
    if (m_childRuns || Clock::now() - m_childEndedAt < kGrace)
        return false;
    beginEnding("the program ended");
    return true;
}

void Recorder::Impl::describe() {
    std::string out;
    JsonWriter json(out);
    json.beginObject();
    json.key("command").beginArray();
    for (const std::string& word : m_config.command)
        json.text(word);
    json.endArray();
    json.key("processes").beginArray();
    std::int64_t rank = -1;
    std::int64_t worldSize = -1;
    std::size_t ranked = 0;
    for (const Target& t : m_targets) {
        if (!t.greeted)
            continue;
        const ProcessInfo& p = t.decoder.info();
        json.beginObject();
        json.field("pid", p.pid);
        json.field("command", p.command);
        json.field("host", p.host);
        if (p.rank >= 0) {
            json.field("rank", p.rank);
            ++ranked;
            rank = p.rank;
            worldSize = p.worldSize;
        }
        json.key("gpus").beginArray();
        for (const std::int64_t d : t.decoder.devices())
            json.integer(d);
        json.endArray();
        json.endObject();
    }
    json.endArray();
    {
        const std::lock_guard lock(m_mutex);
        json.key("messages").beginArray();
        for (const std::string& m : m_status.messages)
            json.text(m);
        json.endArray();
        json.field("reason", m_status.reason);
    }
    json.endObject();
    m_collection.setProperty("warpline", out);
    if (ranked == 1)
        m_collection.setProperty("distributedInfo",
                                 fmt::format("{{\"rank\":{},\"world_size\":{}}}", rank, worldSize));
}

void Recorder::Impl::finish() {
    for (Target& t : m_targets) {
        t.decoder.finish();
        t.peer.close();
    }
    if (!m_everRecorded && m_config.attach == 0) {
        const bool connected =
            std::any_of(m_targets.begin(), m_targets.end(), [](const Target& t) { return t.greeted; });
        message(connected ? "Nothing was recorded: the program ended before what recording should begin with."
                          : "Nothing was recorded: no process of the program used CUDA.");
    }
    noteSnapshots();
    describe();
    flush();
    if (m_haveFile && !m_failed) {
        if (auto done = m_file.finish(m_collection.dictionary()); !done.ok())
            fail(done.error());
    }
    m_done = true;
    if (m_config.endProgram && m_childRuns)
        (void)::kill(-m_child, SIGTERM);
    countRates();
    const std::lock_guard lock(m_mutex);
    m_status.fileBytes = m_file.bytes();
    m_status.state = m_failed ? RecordStatus::State::Failed : RecordStatus::State::Finished;
    m_finished = true;
    m_changed.notify_all();
}

} // namespace warpline::capture
