// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/collection.h"
#include "capture/recorder/devices.h"
#include "capture/recorder/recorder.h"
#include "capture/recorder/recording_file.h"
#include "capture/recorder/server.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace warpline::capture {

using Clock = std::chrono::steady_clock;

/// One process of the recorded program.
struct Target {
    Target(int file, Collection& collection, Devices& devices, std::uint32_t number)
        : peer(file), decoder(collection, devices, number) {}

    Peer peer;
    Decoder decoder;
    wire::Counters counters;
    bool greeted = false;
    bool recording = false;
    bool detaching = false;
    std::uint32_t pythonAsked = 0; ///< number of the last request
    std::uint32_t pythonDone = 0;
    bool pythonDumps = false; ///< the last request saves the snapshot
};

/// The recorder's thread and what it works on; everything without a lock belongs to that thread.
class Recorder::Impl {
  public:
    explicit Impl(RecordConfig config) : m_config(std::move(config)) {}
    ~Impl();

    Result<Done> start();
    void requestStop();
    void requestPause(bool pause);
    void requestMark(const std::string& name);
    [[nodiscard]] RecordStatus status() const;
    bool wait(std::int64_t ms, bool forProgram) const;
    [[nodiscard]] TracePtr latest(std::size_t events) const;
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }

  private:
    void run();
    void turn(); ///< one round of the loop
    void acceptAll();
    void receiveFrom(Target& target);
    bool frame(Target& target, wire::Frame type, std::string_view payload);
    bool greet(Target& target, std::string_view payload);
    void state(Target& target, std::string_view payload);
    void commands();
    void gatherOutput();
    void reap();
    void flush();
    void publish(wpl::EventBlock block);
    void tellDrops();
    void countRates();
    void beginEnding(const std::string& reason);
    [[nodiscard]] bool ended();
    void finish();
    void fail(const Error& error);
    void message(const std::string& text);
    void askPython(Target& target, bool dump);
    void pythonDone(Target& target, std::string_view payload);
    void wake() const;
    Result<Done> launch();
    Result<Done> attach();
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
    [[nodiscard]] std::string configuration() const;
    void describe();
    /// Programs that ended by themselves have saved their allocator history then.
    void noteSnapshots();

    RecordConfig m_config;
    std::string m_agent;
    Listener m_listener;
    int m_wakeFile = -1;
    int m_outputFile = -1; ///< read end of the program's output
    pid_t m_child = -1;
    bool m_childRuns = false;
    std::thread m_thread;

    Collection m_collection;
    Devices m_devices;
    RecordingFile m_file;
    bool m_haveFile = false;
    std::list<Target> m_targets;
    std::uint32_t m_targetCount = 0;
    Clock::time_point m_lastFlush{};
    Clock::time_point m_lastRate{};
    Clock::time_point m_recordingSince{};
    Clock::time_point m_endBy{}; ///< when ending gives up waiting for processes
    Clock::time_point m_childEndedAt{};
    Clock::time_point m_startedAt{};
    RecordCounts m_countsAtRate;
    bool m_everRecorded = false;
    bool m_ending = false;
    bool m_failed = false;
    bool m_done = false;      ///< the file is closed
    std::uint64_t m_lost = 0; ///< of closed connections

    // Shared with other threads.
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    RecordStatus m_status;
    bool m_stopWanted = false;
    std::optional<bool> m_pauseWanted;
    std::vector<std::pair<TimeNs, std::string>> m_marksWanted;
    wpl::Dictionary m_published; ///< a copy that latest() reads
    std::deque<wpl::EventBlockPtr> m_tail;
    std::size_t m_tailEvents = 0;
    bool m_finished = false;
    bool m_programEnded = false;
    std::atomic<std::uint64_t> m_revision{0};
    std::atomic<bool> m_leave{false};
};

} // namespace warpline::capture
