// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/protocol/wire.h"
#include "model/base/result.h"

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::capture {

/// The recorder's end of one connection.
class Peer {
  public:
    explicit Peer(int file) : m_file(file) {}
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    [[nodiscard]] int file() const { return m_file; }
    [[nodiscard]] bool open() const { return m_file >= 0; }
    void close();
    /// Sends a frame; commands are small, so that one that does not fit means a dead peer.
    bool send(wire::Frame type, std::string_view payload = {});
    /// Reads what has come and hands whole frames to `use`, which says whether to go on. False: the
    /// connection is at its end.
    bool receive(const std::function<bool(wire::Frame, std::string_view)>& use);

  private:
    int m_file;
    std::vector<char> m_buffer;
    std::size_t m_size = 0;
};

/// Listens on a socket in a private folder.
class Listener {
  public:
    Listener() = default;
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    Result<Done> open();
    [[nodiscard]] int file() const { return m_file; }
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] const std::string& folder() const { return m_folder; }
    /// The next connection, or -1.
    int accept();

  private:
    int m_file = -1;
    std::string m_folder;
    std::string m_path;
};

} // namespace warpline::capture
