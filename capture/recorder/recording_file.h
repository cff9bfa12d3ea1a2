// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/wpl/recording.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpline::capture {

/// The file of a recording as it grows: what write() got is in the file, whatever happens to this program
/// next.
class RecordingFile {
  public:
    RecordingFile() = default;
    ~RecordingFile();
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    /// Opens "-" (standard output) or a file, which stays as it is until begin(). `ringBytes` > 0 keeps the
    /// file to about that size: the oldest events go, what they refer to stays. Not for "-".
    Result<Done> open(const std::string& path, std::uint64_t ringBytes);
    /// Empties the file and begins the recording in it.
    Result<Done> begin();
    /// Nothing came of the recording: leaves the file as it was, or away.
    void abandon();
    Result<Done> write(const wpl::Dictionary& dictionary, const wpl::EventBlock& block);
    /// Writes the index: the recording is whole.
    Result<Done> finish(const wpl::Dictionary& dictionary);

    [[nodiscard]] std::uint64_t bytes() const { return m_bytes; }
    /// Events that a ring let go.
    [[nodiscard]] std::uint64_t forgotten() const { return m_forgotten; }
    [[nodiscard]] const std::string& path() const { return m_path; }

  private:
    struct Piece {
        wpl::ChunkHeader header;
        std::uint64_t offset;
        std::uint64_t size;
    };
    Result<Done> put(std::string_view bytes);
    Result<Done> put(const wpl::PackedChunk& chunk);
    Result<Done> writeHead();
    /// Writes the file anew with the newer half of its events.
    Result<Done> shrink(const wpl::Dictionary& dictionary);
    [[nodiscard]] Error failure(const char* what) const;

    std::string m_path;
    int m_file = -1;
    bool m_created = false; ///< there was no such file before
    std::uint64_t m_bytes = 0;
    std::uint64_t m_ringBytes = 0;
    std::uint64_t m_forgotten = 0;
    wpl::DictionaryMarks m_marks;
    std::vector<Piece> m_pieces; ///< all chunks, in the order of the file
};

} // namespace warpline::capture
