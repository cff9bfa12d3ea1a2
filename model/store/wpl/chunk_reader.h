// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/store/wpl/format.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace warpline::wpl {

/// A chunk as it lies in the file, its checksum found right.
struct StoredChunk {
    ChunkHeader header;
    std::string stored;
    std::uint64_t offset = 0; ///< of its header in the file

    /// The bytes unpacked, or nothing where they cannot be.
    [[nodiscard]] std::optional<std::string> unpack() const;
};

/// Reads the chunks of a file in order, from any stream of bytes.
class ChunkReader {
  public:
    /// Fills up to `size` bytes and gives how many; 0 = the end.
    using Source = std::function<Result<std::size_t>(char* to, std::size_t size)>;
    explicit ChunkReader(Source source) : m_source(std::move(source)) {}

    enum class End {
        None,
        Whole,   ///< index and trailer are there
        Cut,     ///< the file ends without them: the writer was stopped
        Damaged, ///< a chunk whose checksum is wrong, or no chunk at all: what follows was not read
    };

    /// Reads the file header: an error where it is not a file of ours or of a version too new.
    Result<Done> begin(const std::string& name);
    /// The next chunk, none at the end.
    Result<std::optional<StoredChunk>> next();
    [[nodiscard]] End end() const { return m_end; }
    /// Where reading stopped.
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }

  private:
    /// How many of the bytes there were.
    Result<std::size_t> read(char* to, std::size_t size);

    Source m_source;
    std::uint64_t m_offset = 0;
    End m_end = End::None;
};

} // namespace warpline::wpl
