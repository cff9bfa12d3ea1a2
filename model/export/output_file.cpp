// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace warpline {

OutputFile::~OutputFile() {
    if (m_file < 0)
        return;
    if (m_file != STDOUT_FILENO)
        ::close(m_file);
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

Error OutputFile::failure(const char* what, int code) const {
    return Error::failed(fmt::format("{}: cannot be {}: {}.", m_path == "-" ? "standard output" : m_path,
                                     what, std::generic_category().message(code)));
}

Result<Done> OutputFile::open(const std::string& path) {
    m_path = path;
    if (path == "-") {
        m_file = STDOUT_FILENO;
        return Done{};
    }
    // A link stays a link: what it leads to is replaced.
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    m_target = real ? real.get() : path;

    struct stat there {};
    const bool exists = ::stat(m_target.c_str(), &there) == 0;
    if (exists && !S_ISREG(there.st_mode)) {
        m_file = ::open(m_target.c_str(), O_WRONLY | O_CLOEXEC);
        if (m_file < 0)
            return failure("written", errno);
        return Done{};
    }
    // Never a name that is taken: "trace.json.tmp" may be the cut recording that is being converted.
    for (int attempt = 0; attempt < 100; ++attempt) {
        m_temporary = fmt::format("{}.{}.{}.tmp", m_target, ::getpid(), attempt);
        m_file = ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (m_file >= 0 || errno != EEXIST)
            break;
    }
    if (m_file < 0)
        return failure("written", errno);
    if (exists)
        (void)::fchmod(m_file, there.st_mode & 07777); // as good as it gets; the umask's mode is fine too
    return Done{};
}

Result<Done> OutputFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(m_file, bytes.data(), bytes.size());
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return failure("written", errno);
        }
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

Result<Done> OutputFile::commit() {
    const int file = m_file;
    if (file == STDOUT_FILENO) {
        m_file = -1;
        return Done{};
    }
    // Some file systems tell only here that the disk is full.
    if (::close(file) != 0 && errno != EINTR) {
        const int code = errno;
        m_file = -1;
        if (!m_temporary.empty())
            ::unlink(m_temporary.c_str());
        return failure("written", code);
    }
    m_file = -1;
    if (!m_temporary.empty() && ::rename(m_temporary.c_str(), m_target.c_str()) != 0) {
        const int code = errno;
        ::unlink(m_temporary.c_str());
        return failure("put in its place", code);
    }
    return Done{};
}

} // namespace warpline
