// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/recording_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

namespace warpline::capture {

namespace {

bool isEvents(wpl::ChunkType type) {
    return type == wpl::ChunkType::Events || type == wpl::ChunkType::EventMemory ||
           type == wpl::ChunkType::EventCounters;
}

} // namespace

RecordingFile::~RecordingFile() {
    if (m_file >= 0 && m_file != STDOUT_FILENO)
        ::close(m_file);
}

Error RecordingFile::failure(const char* what) const {
    return Error::failed(fmt::format("{}: cannot be {}: {}.", m_path == "-" ? "standard output" : m_path,
                                     what, std::generic_category().message(errno)));
}

Result<Done> RecordingFile::open(const std::string& path, std::uint64_t ringBytes) {
    m_path = path;
    m_ringBytes = ringBytes;
    if (path == "-") {
        m_file = STDOUT_FILENO;
        m_ringBytes = 0;
    } else {
        m_created = ::access(path.c_str(), F_OK) != 0;
        m_file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (m_file < 0)
            return failure("written");
    }
    return Done{};
}

Result<Done> RecordingFile::begin() {
    // A pipe or a device cannot be emptied, and need not be.
    if (m_file != STDOUT_FILENO && ::ftruncate(m_file, 0) != 0 && errno != EINVAL)
        return failure("emptied");
    return writeHead();
}

void RecordingFile::abandon() {
    if (m_file < 0 || m_file == STDOUT_FILENO)
        return;
    ::close(m_file);
    m_file = -1;
    if (m_created)
        (void)::unlink(m_path.c_str());
}

Result<Done> RecordingFile::put(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(m_file, bytes.data(), bytes.size());
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return failure("written");
        }
        m_bytes += static_cast<std::uint64_t>(n);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

Result<Done> RecordingFile::put(const wpl::PackedChunk& chunk) {
    m_pieces.push_back({chunk.header, m_bytes, chunk.bytes.size()});
    return put(chunk.bytes);
}

Result<Done> RecordingFile::writeHead() {
    wpl::ChunkWriter writer([&](std::string_view bytes) { return put(bytes); });
    if (auto done = writer.begin(); !done.ok())
        return done;
    return put(wpl::packRecordingHead());
}

Result<Done> RecordingFile::write(const wpl::Dictionary& dictionary, const wpl::EventBlock& block) {
    // One write for all: a reader never sees half of it, if the system can help it.
    std::string together;
    for (const wpl::PackedChunk& chunk : wpl::packRecording(dictionary, m_marks, block)) {
        m_pieces.push_back({chunk.header, m_bytes + together.size(), chunk.bytes.size()});
        together += chunk.bytes;
    }
    if (auto done = put(together); !done.ok())
        return done;
    if (m_ringBytes > 0 && m_bytes > m_ringBytes)
        return shrink(dictionary);
    return Done{};
}

Result<Done> RecordingFile::shrink(const wpl::Dictionary& dictionary) {
    std::vector<Piece> kept;
    std::uint64_t keptBytes = 0;
    bool full = false;
    for (auto it = m_pieces.rbegin(); it != m_pieces.rend(); ++it) {
        if (!isEvents(it->header.type))
            continue;
        full |= keptBytes + it->size > m_ringBytes / 2;
        if (full) {
            m_forgotten += it->header.rows;
            continue;
        }
        keptBytes += it->size;
        kept.push_back(*it);
    }
    const int old = m_file;
    const std::string fresh = m_path + ".new";
    m_file = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (m_file < 0) {
        m_file = old;
        return failure("shortened");
    }
    m_bytes = 0;
    m_marks = {};
    m_pieces.clear();
    auto done = writeHead();
    for (const wpl::PackedChunk& chunk : wpl::packRecording(dictionary, m_marks, {}))
        if (done.ok())
            done = put(chunk);
    for (auto it = kept.rbegin(); it != kept.rend() && done.ok(); ++it) {
        std::string bytes(it->size, '\0');
        std::size_t at = 0;
        while (at < bytes.size()) {
            const ssize_t n =
                ::pread(old, bytes.data() + at, bytes.size() - at, static_cast<off_t>(it->offset + at));
            if (n <= 0) {
                ::close(old);
                return failure("read back");
            }
            at += static_cast<std::size_t>(n);
        }
        m_pieces.push_back({it->header, m_bytes, it->size});
        done = put(bytes);
    }
    ::close(old);
    if (done.ok() && ::rename(fresh.c_str(), m_path.c_str()) != 0)
        return failure("put in its place");
    return done;
}

Result<Done> RecordingFile::finish(const wpl::Dictionary& dictionary) {
    if (auto done = write(dictionary, {}); !done.ok())
        return done;
    wpl::ChunkWriter writer([&](std::string_view bytes) { return put(bytes); });
    for (const Piece& p : m_pieces)
        writer.note(p.header, p.offset);
    if (auto done = writer.finish(m_bytes); !done.ok())
        return done;
    if (m_file != STDOUT_FILENO && ::close(m_file) != 0 && errno != EINTR) {
        m_file = -1;
        return failure("written");
    }
    m_file = -1;
    return Done{};
}

} // namespace warpline::capture
