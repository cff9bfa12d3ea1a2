// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/process_files.h"
#include "model/base/result.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace warpline::capture {

/// True where RemoteThread can do anything: on x86-64.
bool remoteCallsWork();

/// A thread of another process, stopped, that calls functions for us. All functions are called by the same
/// thread of this process. The destructor puts everything back and lets the thread go on.
class RemoteThread {
  public:
    RemoteThread();
    ~RemoteThread();
    RemoteThread(const RemoteThread&) = delete;
    RemoteThread& operator=(const RemoteThread&) = delete;

    /// Stops a thread of the process, the main one if that will do, at a place where it holds no lock of the
    /// allocator or the loader: in its own code, or waiting in a system call that has nothing to do with
    /// either. Threads that are elsewhere go on at once, and are tried again until the time is over.
    Result<Done> stopAtSafePoint(pid_t pid, std::int64_t timeoutMs);
    /// Calls a function with a text and a number; what it returns.
    Result<std::uint64_t> call(std::uint64_t function, const std::string& text, std::uint64_t number);
    /// Puts the thread back and lets it go on.
    void release();

  private:
    struct State;
    enum class Stop { Done, Gone, Late };
    Stop stop(pid_t tid, std::int64_t deadline);
    [[nodiscard]] bool isSafe(const std::vector<Mapping>& maps) const;
    void letGo(pid_t tid);
    /// Lets those go that stopped too late to be of use.
    void letLateOnesGo();

    pid_t m_pid = 0;
    pid_t m_tid = 0;
    std::vector<pid_t> m_late;
    bool m_saved = false;
    State* m_state;
};

} // namespace warpline::capture
