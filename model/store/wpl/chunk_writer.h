// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/wpl/format.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::wpl {

/// A chunk ready to be written.
struct PackedChunk {
    ChunkHeader header;
    std::string bytes; ///< header and stored bytes, one after the other
};

/// Compresses (where that helps) and frames one chunk. `raw` is at most kMostRawBytes long.
PackedChunk pack(ChunkType type, std::uint32_t rows, std::string_view raw, int level,
                 std::uint32_t flags = 0);

/// Writes a file's chunks one after the other through a function, and its index and trailer at the end.
class ChunkWriter {
  public:
    using Sink = std::function<Result<Done>(std::string_view)>;
    explicit ChunkWriter(Sink sink) : m_sink(std::move(sink)) {}

    Result<Done> begin();
    Result<Done> write(const PackedChunk& chunk);
    Result<Done> write(ChunkType type, std::uint32_t rows, std::string_view raw, int level) {
        return write(pack(type, rows, raw, level));
    }
    /// The index and the trailer: the file is whole.
    Result<Done> finish();
    /// For a file whose chunks were written by other means: tells of one of them, and ends the file, which is
    /// `bytes` long.
    void note(const ChunkHeader& header, std::uint64_t offset) {
        m_index.push_back({header.type, header.rows, offset});
    }
    Result<Done> finish(std::uint64_t bytes) {
        m_offset = bytes;
        return finish();
    }
    [[nodiscard]] std::uint64_t bytes() const { return m_offset; }

  private:
    struct Entry {
        ChunkType type;
        std::uint32_t rows;
        std::uint64_t offset;
    };
    Result<Done> put(std::string_view bytes);

    Sink m_sink;
    std::uint64_t m_offset = 0;
    std::vector<Entry> m_index;
};

} // namespace warpline::wpl
