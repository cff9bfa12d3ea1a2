// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/recorder.h"

#include "capture/recorder/session.h"
#include "model/import/wpl/build_recording.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace warpline::capture {

namespace {

std::string folderOfThisProgram() {
    char path[PATH_MAX];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return ".";
    const std::string all(path, static_cast<std::size_t>(n));
    return all.substr(0, all.rfind('/'));
}

TimeNs unixNow() {
    timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    return TimeNs{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// The part of a dictionary that a copy lacks.
template <class T>
void catchUp(std::vector<T>& copy, const std::vector<T>& from) {
    copy.insert(copy.end(), from.begin() + static_cast<std::ptrdiff_t>(copy.size()), from.end());
}

} // namespace

Result<std::string> findAgent(const std::string& given) {
    std::vector<std::string> places;
    if (!given.empty()) {
        places.push_back(given);
    } else {
        const std::string folder = folderOfThisProgram();
        for (const char* below : {"/", "/../lib/warpline/", "/../lib/", "/../"})
            places.push_back(folder + below + "libwarpline-agent.so");
    }
    for (const std::string& place : places) {
        char path[PATH_MAX];
        if (::access(place.c_str(), R_OK) == 0 && ::realpath(place.c_str(), path) != nullptr)
            return std::string(path);
    }
    return Error::failed(
        fmt::format("The agent libwarpline-agent.so was not found ({}): build it with CUPTI's headers "
                    "at hand, or take it along with the program.",
                    places.front()));
}

Result<std::string> findTorchHelper(const std::string& given) {
    std::vector<std::string> places;
    const std::string folder = folderOfThisProgram();
    if (!given.empty())
        places.push_back(given);
    else
        for (const char* below : {"/torch", "/../share/warpline/torch", "/../torch"})
            places.push_back(folder + below);
    for (const std::string& place : places) {
        char path[PATH_MAX];
        if (::access((place + "/warpline_torch.py").c_str(), R_OK) == 0 &&
            ::realpath(place.c_str(), path) != nullptr)
            return std::string(path);
    }
    return Error::failed(
        fmt::format("The torch helper warpline_torch.py was not found ({}): take the folder \"torch\" "
                    "along with the program.",
                    places.front()));
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::start(RecordConfig config) {
    auto impl = std::make_unique<Impl>(std::move(config));
    if (auto done = impl->start(); !done.ok())
        return done.error();
    return std::unique_ptr<Recorder>(new Recorder(std::move(impl)));
}

void Recorder::stop() {
    m_impl->requestStop();
}
void Recorder::pause() {
    m_impl->requestPause(true);
}
void Recorder::resume() {
    m_impl->requestPause(false);
}
void Recorder::mark(const std::string& name) {
    m_impl->requestMark(name);
}
RecordStatus Recorder::status() const {
    return m_impl->status();
}
bool Recorder::finished() const {
    return m_impl->wait(0, false);
}
bool Recorder::wait(std::int64_t ms) const {
    return m_impl->wait(ms, false);
}
bool Recorder::waitForProgram(std::int64_t ms) const {
    return m_impl->wait(ms, true);
}
TracePtr Recorder::latest(std::size_t events) const {
    return m_impl->latest(events);
}
std::uint64_t Recorder::revision() const {
    return m_impl->revision();
}

void Recorder::Impl::wake() const {
    const std::uint64_t one = 1;
    if (m_wakeFile >= 0)
        (void)!::write(m_wakeFile, &one, sizeof one);
}

void Recorder::Impl::requestStop() {
    {
        const std::lock_guard lock(m_mutex);
        m_stopWanted = true;
    }
    wake();
}

void Recorder::Impl::requestPause(bool pause) {
    {
        const std::lock_guard lock(m_mutex);
        m_pauseWanted = pause;
    }
    wake();
}

void Recorder::Impl::requestMark(const std::string& name) {
    {
        const std::lock_guard lock(m_mutex);
        m_marksWanted.emplace_back(unixNow(), name);
    }
    wake();
}

RecordStatus Recorder::Impl::status() const {
    const std::lock_guard lock(m_mutex);
    return m_status;
}

bool Recorder::Impl::wait(std::int64_t ms, bool forProgram) const {
    std::unique_lock lock(m_mutex);
    const auto ready = [&] { return m_finished && (!forProgram || m_programEnded); };
    if (ms < 0) {
        m_changed.wait(lock, ready);
        return true;
    }
    return m_changed.wait_for(lock, std::chrono::milliseconds(ms), ready);
}

TracePtr Recorder::Impl::latest(std::size_t events) const {
    wpl::Dictionary dictionary;
    std::vector<wpl::EventBlockPtr> blocks;
    {
        const std::lock_guard lock(m_mutex);
        std::size_t have = 0;
        for (auto it = m_tail.rbegin(); it != m_tail.rend() && have < events; ++it) {
            have += (*it)->events.size();
            blocks.push_back(*it);
        }
        if (blocks.empty())
            return nullptr;
        dictionary = m_published;
    }
    std::reverse(blocks.begin(), blocks.end());
    auto trace = wpl::buildRecording(dictionary, blocks, {});
    if (!trace.ok())
        return nullptr;
    trace.value()->path = m_config.output;
    return std::move(trace).value();
}

void Recorder::Impl::publish(wpl::EventBlock block) {
    const wpl::Dictionary& d = m_collection.dictionary();
    const std::lock_guard lock(m_mutex);
    catchUp(m_published.strings, d.strings);
    catchUp(m_published.shapes, d.shapes);
    catchUp(m_published.categories, d.categories);
    catchUp(m_published.rawTracks, d.rawTracks);
    catchUp(m_published.tracks, d.tracks);
    catchUp(m_published.metadata, d.metadata);
    if (m_published.revision != d.revision) {
        m_published.revision = d.revision;
        m_published.properties = d.properties;
        m_published.diagnostics = d.diagnostics;
    }
    if (block.empty())
        return;
    constexpr std::size_t kMostEvents = 1'000'000;
    m_tailEvents += block.events.size();
    m_tail.push_back(std::make_shared<const wpl::EventBlock>(std::move(block)));
    while (m_tailEvents > kMostEvents && m_tail.size() > 1) {
        m_tailEvents -= m_tail.front()->events.size();
        m_tail.pop_front();
    }
    ++m_revision;
}

void Recorder::Impl::message(const std::string& text) {
    const std::lock_guard lock(m_mutex);
    constexpr std::size_t kMost = 200;
    if (m_status.messages.size() < kMost &&
        std::find(m_status.messages.begin(), m_status.messages.end(), text) == m_status.messages.end())
        m_status.messages.push_back(text);
}

void Recorder::Impl::fail(const Error& error) {
    message(error.message);
    m_failed = true;
}

} // namespace warpline::capture
