// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/kineto.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace warpline::capture {

namespace {

/// A message is one datagram: this, then `size` bytes.
struct Header {
    std::uint64_t size = 0;
    char type[32] = {};
};
constexpr std::size_t kMostMessage = std::size_t{64} << 10;
/// Bit of a request's type: the program asks what activities to trace.
constexpr std::int32_t kActivities = 2;

template <class T>
bool take(std::string_view& from, T& value) {
    if (from.size() < sizeof value)
        return false;
    std::memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return true;
}

bool fill(sockaddr_un& address, const std::string& path) {
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        return false;
    path.copy(address.sun_path, path.size());
    return true;
}

} // namespace

std::string kinetoConfiguration(const KinetoRequest& r) {
    std::string out = fmt::format("ACTIVITIES_LOG_FILE={}\n", r.output);
    if (r.iterations > 0)
        out += fmt::format(
            "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP={}\nACTIVITIES_ITERATIONS={}\n",
            r.roundUp, r.iterations);
    else
        out += fmt::format("PROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS={}\n", r.durationMs);
    const auto flag = [&](const char* key, bool on) {
        out += fmt::format("{}={}\n", key, on ? "true" : "false");
    };
    flag("PROFILE_REPORT_INPUT_SHAPES", r.shapes);
    flag("PROFILE_WITH_STACK", r.stacks);
    flag("PROFILE_WITH_MODULES", r.modules);
    flag("PROFILE_WITH_FLOPS", r.flops);
    flag("PROFILE_PROFILE_MEMORY", r.memory);
    return out;
}

KinetoDaemon::~KinetoDaemon() {
    if (m_file >= 0)
        ::close(m_file);
    if (!m_path.empty())
        ::unlink(m_path.c_str());
}

Result<Done> KinetoDaemon::open(const std::string& folder) {
    m_folder = folder;
    const std::string path = folder + "/dynolog";
    sockaddr_un address{};
    m_file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (!fill(address, path) || m_file < 0 ||
        ::bind(m_file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return Error::failed(fmt::format("The socket for PyTorch's profiler cannot be made in {}: {}.",
                                         folder, std::generic_category().message(errno)));
    m_path = path;
    return Done{};
}

std::vector<std::pair<std::string, std::string>> KinetoDaemon::environment() const {
    return {{"KINETO_USE_DAEMON", "1"}, {"KINETO_IPC_SOCKET_DIR", m_folder}};
}

void KinetoDaemon::send(const char* type, std::string_view payload, const std::string& to) const {
    sockaddr_un address{};
    // Only into our folder: the name comes from outside.
    if (!fill(address, to) || !to.starts_with(m_folder + "/") || to.find("/..") != std::string::npos)
        return;
    Header header;
    header.size = payload.size();
    std::strncpy(header.type, type, sizeof header.type - 1);
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes += payload;
    (void)::sendto(m_file, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<sockaddr*>(&address), sizeof address);
}

void KinetoDaemon::answer(std::string_view message, const std::string& to) {
    Header header;
    if (!take(message, header) || header.size != message.size())
        return;
    header.type[sizeof header.type - 1] = '\0';
    const std::string_view type(header.type);
    if (type == "ctxt") {
        std::int32_t gpu = 0;
        std::int32_t pid = 0;
        std::int64_t job = 0;
        if (!take(message, gpu) || !take(message, pid) || !take(message, job))
            return;
        m_known.insert(pid);
        const auto count = static_cast<std::int32_t>(m_known.size());
        send("ctxt", {reinterpret_cast<const char*>(&count), sizeof count}, to);
        return;
    }
    if (type != "req")
        return;
    std::int32_t kind = 0;
    std::int32_t count = 0;
    std::int64_t job = 0;
    std::int32_t pid = 0; // its own first, then its ancestors'
    if (!take(message, kind) || !take(message, count) || !take(message, job) || count < 1 ||
        !take(message, pid))
        return;
    m_known.insert(pid);
    std::string configuration;
    if ((kind & kActivities) != 0 && !m_configuration.empty() && m_asked.insert(pid).second)
        configuration = m_configuration;
    send("req", configuration, to);
}

void KinetoDaemon::serve(int ms) {
    pollfd file{m_file, POLLIN, 0};
    if (::poll(&file, 1, ms) <= 0)
        return;
    std::string bytes(kMostMessage, '\0');
    for (;;) {
        sockaddr_un from{};
        socklen_t size = sizeof from;
        const ssize_t n =
            ::recvfrom(m_file, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        const std::size_t length = ::strnlen(from.sun_path, sizeof from.sun_path);
        answer({bytes.data(), static_cast<std::size_t>(n)}, std::string(from.sun_path, length));
    }
}

} // namespace warpline::capture
