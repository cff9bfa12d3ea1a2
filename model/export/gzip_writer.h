// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/export/output_file.h"

#include <cstdint>
#include <deque>
#include <future>
#include <string>

namespace warpline {

/// Writes one gzip member, compressed in pieces by several threads at once: each piece knows the 32 KiB
/// before it, so that nearly nothing is lost against one thread's work, and any gunzip reads it.
class GzipWriter {
  public:
    /// `threads` 0 = as many as there are processors.
    explicit GzipWriter(OutputFile& file, unsigned threads = 0);

    /// Takes the next piece of the plain text; about a megabyte is a good size.
    Result<Done> write(std::string piece);
    /// Writes what is still under way and the trailer. The file is not committed.
    Result<Done> finish();

  private:
    struct Piece {
        std::string compressed;
        std::uint32_t crc = 0;
        std::size_t plainSize = 0;
    };
    static Piece compress(const std::string& plain, const std::string& before, bool last);
    Result<Done> start(std::string piece, bool last);
    Result<Done> takeFirst();

    OutputFile& m_file;
    std::size_t m_threads;
    std::deque<std::future<Piece>> m_running;
    std::string m_before; ///< the end of the last piece: what the next one may refer to
    std::uint32_t m_crc = 0;
    std::uint64_t m_plainSize = 0;
    bool m_headerWritten = false;
};

} // namespace warpline
