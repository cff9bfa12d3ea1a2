// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/channel.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace warpline::agent {

std::int64_t monotonicNow() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::uint64_t unixNow() {
    timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

int Channel::connect(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return ENAMETOOLONG;
    std::memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1));
    m_file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (m_file < 0)
        return errno;
    const timeval patience{0, 200'000};
    (void)::setsockopt(m_file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    (void)::setsockopt(m_file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(m_file, reinterpret_cast<sockaddr*>(&address), size) != 0) {
        const int code = errno;
        ::close(m_file);
        m_file = -1;
        return code;
    }
    const int room = 4 << 20;
    (void)::setsockopt(m_file, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    struct stat status {};
    if (::fstat(m_file, &status) == 0) {
        m_device = status.st_dev;
        m_inode = status.st_ino;
    }
    return 0;
}

bool Channel::stillOurs() const {
    struct stat status {};
    return ::fstat(m_file, &status) == 0 && status.st_dev == m_device && status.st_ino == m_inode;
}

void Channel::close() {
    if (m_file >= 0 && stillOurs())
        ::close(m_file);
    m_file = -1;
}

void Channel::forget() {
    close();
}

bool Channel::sendAll(iovec* pieces, int count) {
    while (count > 0) {
        if (pieces->iov_len == 0) {
            ++pieces;
            --count;
            continue;
        }
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = static_cast<std::size_t>(count);
        const ssize_t n = ::sendmsg(m_file, &message, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN)
                return false;
            const std::int64_t deadline = __atomic_load_n(&m_deadline, __ATOMIC_RELAXED);
            if (deadline != 0 && monotonicNow() > deadline)
                return false;
            continue;
        }
        auto left = static_cast<std::size_t>(n);
        while (left > 0) {
            const std::size_t part = left < pieces->iov_len ? left : pieces->iov_len;
            pieces->iov_base = static_cast<char*>(pieces->iov_base) + part;
            pieces->iov_len -= part;
            left -= part;
            if (pieces->iov_len == 0 && left > 0) {
                ++pieces;
                --count;
            }
        }
    }
    return true;
}

bool Channel::send(wire::Frame type, const iovec* pieces, int count) {
    if (m_file < 0)
        return false;
    wire::FrameHeader header;
    header.type = type;
    iovec all[8];
    int used = 1;
    all[0] = {&header, sizeof header};
    for (int i = 0; i < count && used < 8; ++i) {
        header.size += pieces[i].iov_len;
        all[used++] = pieces[i];
    }
    if (!stillOurs() || !sendAll(all, used)) {
        close();
        return false;
    }
    return true;
}

bool Channel::send(wire::Frame type, const void* bytes, std::size_t size) {
    const iovec piece{const_cast<void*>(bytes), size};
    return send(type, &piece, 1);
}

bool Channel::receiveAll(char* to, std::size_t size) {
    const std::int64_t end = monotonicNow() + 5'000'000'000;
    while (size > 0) {
        const ssize_t n = ::recv(m_file, to, size, 0);
        if (n == 0)
            return false;
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN || monotonicNow() > end)
                return false;
            continue;
        }
        to += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

int Channel::receive(wire::FrameHeader& header, char* payload, std::size_t capacity) {
    if (m_file < 0)
        return -1;
    pollfd waiting{m_file, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0 || (waiting.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
        return 0;
    if (!stillOurs() || !receiveAll(reinterpret_cast<char*>(&header), sizeof header) ||
        header.magic != wire::kMagic || header.size > capacity || !receiveAll(payload, header.size)) {
        close();
        return -1;
    }
    return 1;
}

} // namespace warpline::agent
