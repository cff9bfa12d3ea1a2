// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/raw_source.h"

#include "model/import/bytes/quote.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpline {
namespace {

class FileSource final : public RawSource {
  public:
    FileSource(int fd, bool owned, std::string label, std::uint64_t size, bool canSeek)
        : m_fd(fd), m_owned(owned), m_seekable(canSeek), m_label(std::move(label)) {
        fileBytes = size;
        if (canSeek)
            ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    ~FileSource() override {
        if (m_owned)
            ::close(m_fd);
    }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    Result<std::size_t> read(char* to, std::size_t size) override {
        // A pipe gives little at a time: go on until the buffer is full, so that what comes after works on
        // large pieces whatever the source.
        std::size_t got = 0;
        while (got < size) {
            const ssize_t n = ::read(m_fd, to + got, size - got);
            if (n > 0) {
                got += static_cast<std::size_t>(n);
                m_done += static_cast<std::uint64_t>(n);
            } else if (n == 0) {
                break;
            } else if (errno != EINTR) {
                if (got > 0) // the next call meets the error again, without these bytes being lost
                    break;
                return Error::failed(
                    fmt::format("Reading {} failed at byte {}: {}.", m_label, m_done, std::strerror(errno)));
            }
        }
        return got;
    }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_done; }
    [[nodiscard]] bool seekable() const override { return m_seekable; }
    bool seek(std::uint64_t offset) override {
        if (!m_seekable || ::lseek(m_fd, static_cast<off_t>(offset), SEEK_SET) < 0)
            return false;
        m_done = offset;
        return true;
    }

  private:
    int m_fd;
    bool m_owned;
    bool m_seekable;
    std::string m_label;
    std::uint64_t m_done = 0;
};

class MemorySource final : public RawSource {
  public:
    explicit MemorySource(std::string_view bytes) : m_bytes(bytes) { fileBytes = bytes.size(); }

    Result<std::size_t> read(char* to, std::size_t size) override {
        const std::size_t n = std::min(size, m_bytes.size() - m_at);
        if (n > 0)
            std::memcpy(to, m_bytes.data() + m_at, n);
        m_at += n;
        return n;
    }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_at; }
    [[nodiscard]] bool seekable() const override { return true; }
    bool seek(std::uint64_t offset) override {
        if (offset > m_bytes.size())
            return false;
        m_at = static_cast<std::size_t>(offset);
        return true;
    }

  private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
};

Error openError(const std::string& path, int code) {
    const std::string file = inQuotes(path);
    std::error_code ignored;
    switch (code) {
    case ENOENT: {
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        if (!folder.empty() && !std::filesystem::exists(folder, ignored))
            return Error::failed(fmt::format("Cannot open {}: there is no folder {}. Check the path.", file,
                                             inQuotes(folder.string())));
        return Error::failed(
            fmt::format("Cannot open {}: there is no such file. Check the name and the folder.", file));
    }
    case ENOTDIR:
        return Error::failed(
            fmt::format("Cannot open {}: a part of the path is a file, not a folder. Check the path.", file));
    case EACCES:
    case EPERM:
        return Error::failed(fmt::format("Cannot open {}: you have no permission to read it. Change its "
                                         "permissions (chmod +r) or open a copy of it.",
                                         file));
    case ELOOP:
        return Error::failed(
            fmt::format("Cannot open {}: its symbolic links lead in a circle. Open the file itself.", file));
    case EMFILE:
    case ENFILE:
        return Error::failed(
            fmt::format("Cannot open {}: too many files are open. Close some and try again.", file));
    default:
        return Error::failed(fmt::format("Cannot open {}: {}.", file, std::strerror(code)));
    }
}

} // namespace

Result<std::unique_ptr<RawSource>> openFileSource(const std::string& path) {
    if (path == "-") {
        if (::isatty(STDIN_FILENO) == 1)
            return Error::failed("Cannot read a trace from the standard input: it is a terminal. Pipe a file "
                                 "into it, or give a file name.");
        struct stat info {};
        if (::fstat(STDIN_FILENO, &info) != 0)
            return Error::failed(fmt::format("Cannot read the standard input: {}.", std::strerror(errno)));
        if (S_ISDIR(info.st_mode))
            return Error::failed("Cannot read a trace from the standard input: it is a folder. Give a file.");
        // "< file" may start anywhere in the file; sources that seek count from the start, so do not offer
        // it.
        const std::uint64_t size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
        return std::unique_ptr<RawSource>(
            std::make_unique<FileSource>(STDIN_FILENO, false, "the standard input", size, false));
    }
    if (path.empty())
        return Error::failed("Cannot open a trace: the file name is empty.");
    if (path.find('\0') != std::string::npos)
        return Error::failed(
            fmt::format("Cannot open {}: a file name cannot hold a zero byte.", inQuotes(path)));
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return openError(path, errno);
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        const int code = errno;
        ::close(fd);
        return openError(path, code);
    }
    if (S_ISDIR(info.st_mode)) {
        ::close(fd);
        return Error::wrongKind(
            fmt::format("Cannot open {}: it is a folder. Open a trace file in it.", inQuotes(path)));
    }
    if (S_ISBLK(info.st_mode)) {
        ::close(fd);
        return Error::wrongKind(fmt::format(
            "Cannot open {}: it is a disk device, not a file. Open a trace file.", inQuotes(path)));
    }
    const bool regular = S_ISREG(info.st_mode);
    return std::unique_ptr<RawSource>(std::make_unique<FileSource>(
        fd, true, inQuotes(path), regular ? static_cast<std::uint64_t>(info.st_size) : 0, regular));
}

std::unique_ptr<RawSource> openMemorySource(std::string_view bytes) {
    return std::make_unique<MemorySource>(bytes);
}

} // namespace warpline
