// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/server.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace warpline::capture {

Peer::~Peer() {
    close();
}

void Peer::close() {
    if (m_file >= 0)
        ::close(m_file);
    m_file = -1;
}

bool Peer::send(wire::Frame type, std::string_view payload) {
    if (m_file < 0)
        return false;
    wire::FrameHeader header;
    header.type = type;
    header.size = payload.size();
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes += payload;
    std::string_view left = bytes;
    while (!left.empty()) {
        const ssize_t n = ::send(m_file, left.data(), left.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            close();
            return false;
        }
        left.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

bool Peer::receive(const std::function<bool(wire::Frame, std::string_view)>& use) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    // A fast program must not keep the others waiting: so much at a time.
    constexpr std::size_t kTurn = std::size_t{32} << 20;
    std::size_t got = 0;
    bool more = true;
    while (more && got < kTurn && m_file >= 0) {
        if (m_buffer.size() < m_size + kStep)
            m_buffer.resize(m_size + kStep);
        const ssize_t n = ::recv(m_file, m_buffer.data() + m_size, m_buffer.size() - m_size, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN))
            return true;
        if (n <= 0)
            more = false;
        else
            m_size += static_cast<std::size_t>(n);
        got += n > 0 ? static_cast<std::size_t>(n) : 0;
        std::size_t at = 0;
        while (m_size - at >= sizeof(wire::FrameHeader)) {
            wire::FrameHeader header;
            std::memcpy(&header, m_buffer.data() + at, sizeof header);
            if (header.magic != wire::kMagic || header.size > wire::kMostFrameBytes)
                return false;
            if (m_size - at - sizeof header < header.size)
                break;
            if (!use(header.type, {m_buffer.data() + at + sizeof header, header.size}))
                return false;
            at += sizeof header + header.size;
        }
        std::memmove(m_buffer.data(), m_buffer.data() + at, m_size - at);
        m_size -= at;
    }
    return more;
}

Listener::~Listener() {
    if (m_file >= 0)
        ::close(m_file);
    if (!m_folder.empty()) {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
}

Result<Done> Listener::open() {
    const auto failed = [](const char* what) {
        return Error::failed(fmt::format("The recorder's socket cannot be {}: {}.", what,
                                         std::generic_category().message(errno)));
    };
    // Socket names are short: not below a long $TMPDIR.
    std::string folder = "/tmp/warpline-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr)
        return failed("made in /tmp");
    m_folder = folder;
    m_path = folder + "/socket";
    m_file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    m_path.copy(address.sun_path, sizeof address.sun_path - 1);
    constexpr int kBacklog = 64;
    if (m_file < 0 || ::bind(m_file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(m_file, kBacklog) != 0)
        return failed("opened");
    return Done{};
}

int Listener::accept() {
    const int file = ::accept4(m_file, nullptr, nullptr, SOCK_CLOEXEC);
    if (file >= 0) {
        const timeval patience{2, 0};
        (void)::setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        const int room = 8 << 20;
        (void)::setsockopt(file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    }
    return file;
}

} // namespace warpline::capture
