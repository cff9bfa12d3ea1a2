// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/protocol/wire.h"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

namespace warpline::agent {

/// The agent's end of the connection. Used by the agent's thread, but for forget() after a fork.
class Channel {
  public:
    /// Connects to the recorder; `path` begins with @ for an abstract address. 0, or an errno.
    int connect(const char* path);
    /// Sends a frame made of up to 6 pieces. False: the connection is gone (and closed here).
    bool send(wire::Frame type, const iovec* pieces, int count);
    bool send(wire::Frame type, const void* bytes, std::size_t size);
    /// Reads one whole frame's header and payload if one has begun to arrive. 1 a frame, 0 none, -1 gone.
    /// Payloads longer than the buffer end the connection: no command is that long.
    int receive(wire::FrameHeader& header, char* payload, std::size_t capacity);
    void close();
    /// In a forked child: the socket is the parent's.
    void forget();

    [[nodiscard]] int file() const { return m_file; }
    [[nodiscard]] bool open() const { return m_file >= 0; }
    /// After this moment (CLOCK_MONOTONIC, ns) sending gives up; 0 = never.
    void setDeadline(std::int64_t ns) { __atomic_store_n(&m_deadline, ns, __ATOMIC_RELAXED); }

  private:
    /// A program that closes every file it does not know closes ours, and may get its number for another.
    [[nodiscard]] bool stillOurs() const;
    bool sendAll(iovec* pieces, int count);
    bool receiveAll(char* to, std::size_t size);

    int m_file = -1;
    dev_t m_device = 0;
    ino_t m_inode = 0;
    std::int64_t m_deadline = 0;
};

/// CLOCK_MONOTONIC in ns.
std::int64_t monotonicNow();
/// Nanoseconds since the Unix epoch.
std::uint64_t unixNow();

} // namespace warpline::agent
