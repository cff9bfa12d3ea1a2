// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// How a recording begins: the file, the socket, the program.

#include "capture/recorder/attach.h"
#include "capture/recorder/launch.h"
#include "capture/recorder/python_scripts.h"
#include "capture/recorder/session.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace warpline::capture {

Result<Done> Recorder::Impl::start() {
    auto agent = findAgent(m_config.agent);
    if (!agent.ok())
        return agent.error();
    m_agent = agent.value();
    if (m_config.torch) {
        auto helper = findTorchHelper(m_config.helper);
        if (!helper.ok())
            return helper.error();
        m_config.helper = helper.value();
    }
    if (m_config.attach > 0)
        if (auto can = canAttach(m_config.attach, true); !can.ok())
            return can;
    if (auto done = m_listener.open(); !done.ok())
        return done;
    m_wakeFile = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m_wakeFile < 0)
        return Error::failed(
            "The recorder's wake-up cannot be made: " + std::generic_category().message(errno) + ".");
    if (!m_config.output.empty()) {
        if (auto done = m_file.open(m_config.output, m_config.ringBytes); !done.ok())
            return done;
        m_haveFile = true;
    }
    m_lastRate = m_lastFlush = Clock::now();
    if (auto done = m_config.attach > 0 ? attach() : launch(); !done.ok()) {
        m_file.abandon();
        return done;
    }
    if (m_haveFile)
        if (auto done = m_file.begin(); !done.ok())
            fail(done.error());
    m_startedAt = Clock::now();
    m_thread = std::thread([this] { run(); });
    return Done{};
}

std::vector<std::pair<std::string, std::string>> Recorder::Impl::environment() const {
    std::vector<std::pair<std::string, std::string>> set = m_config.environment;
    set.emplace_back("CUDA_INJECTION64_PATH", m_agent);
    if ((m_config.kinds & wire::Kind::Nvtx) != 0 || m_config.begin == BeginWhen::Range)
        set.emplace_back("NVTX_INJECTION64_PATH", m_agent);
    set.emplace_back(wire::kSocketVariable, m_listener.path());
    if (!m_config.cupti.empty())
        set.emplace_back(wire::kCuptiVariable, m_config.cupti);
    if (m_config.torch) {
        const char* before = std::getenv("PYTHONPATH");
        const std::string rest =
            before != nullptr && before[0] != '\0' ? ":" + std::string(before) : std::string();
        set.emplace_back("PYTHONPATH", m_config.helper + rest);
        set.emplace_back("WARPLINE_TORCH", "1");
        set.emplace_back("WARPLINE_TORCH_OUT", m_config.output == "-" ? std::string() : m_config.output);
    }
    return set;
}

Result<Done> Recorder::Impl::launch() {
    LaunchRequest request;
    request.command = m_config.command;
    request.folder = m_config.folder;
    request.environment = environment();
    request.ownGroup = m_config.endProgram;
    int pipe[2] = {-1, -1};
    if (m_config.gatherOutput) {
        if (::pipe2(pipe, O_CLOEXEC) != 0)
            return Error::failed("No pipe can be made: " + std::generic_category().message(errno) + ".");
        request.output = request.error = pipe[1];
        (void)::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
    } else if (m_config.outputToError) {
        request.output = STDERR_FILENO;
    }
    auto child = launchProgram(request);
    if (pipe[1] >= 0)
        ::close(pipe[1]);
    m_outputFile = pipe[0];
    if (!child.ok())
        return child.error();
    m_child = child.value();
    m_childRuns = true;
    return Done{};
}

Result<Done> Recorder::Impl::attach() {
    return attachAgent(m_config.attach, m_agent, m_listener.path(), m_config.attachTimeoutMs);
}

void Recorder::Impl::noteSnapshots() {
    for (const Target& t : m_targets) {
        if (t.pythonAsked == 0)
            continue;
        const std::string path =
            PythonPaths{m_config.output, m_listener.folder(), t.decoder.info().pid, 0}.snapshot();
        const std::lock_guard lock(m_mutex);
        auto& known = m_status.snapshots;
        if (::access(path.c_str(), R_OK) == 0 && std::find(known.begin(), known.end(), path) == known.end())
            known.push_back(path);
    }
}

void Recorder::Impl::askPython(Target& target, bool dump) {
    const std::uint32_t number = ++target.pythonAsked;
    target.pythonDumps = dump;
    const PythonPaths paths{m_config.output, m_listener.folder(), target.decoder.info().pid, number};
    std::string payload(sizeof number, '\0');
    std::memcpy(payload.data(), &number, sizeof number);
    payload += dump ? dumpHistoryScript(paths) : startHistoryScript(paths);
    (void)target.peer.send(wire::Frame::Python, payload);
}

void Recorder::Impl::pythonDone(Target& target, std::string_view payload) {
    wire::PythonDone done;
    if (payload.size() < sizeof done)
        return;
    std::memcpy(&done, payload.data(), sizeof done);
    target.pythonDone = done.number;
    const PythonPaths paths{m_config.output, m_listener.folder(), target.decoder.info().pid, done.number};
    std::ifstream answer(paths.answer());
    std::stringstream text;
    text << answer.rdbuf();
    const std::string said = text.str();
    const bool dumped = target.pythonDumps && done.number == target.pythonAsked;
    if (done.status == 2)
        message(fmt::format("Process {}: it is no Python program, so that there is no allocator history.",
                            target.decoder.info().pid));
    else if (done.status != 0 || !said.starts_with("ok"))
        message(fmt::format("Process {}: the allocator history could not be {}: {}",
                            target.decoder.info().pid, dumped ? "saved" : "switched on",
                            said.empty() ? "no answer." : said));
    else if (dumped) {
        const std::lock_guard lock(m_mutex);
        m_status.snapshots.push_back(paths.snapshot());
    }
    if (m_ending && dumped && !target.detaching) {
        target.detaching = true;
        (void)target.peer.send(wire::Frame::Detach);
    }
}

} // namespace warpline::capture
