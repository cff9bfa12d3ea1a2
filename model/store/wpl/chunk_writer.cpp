// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/chunk_writer.h"

#include "model/store/wpl/block.h"

#include <array>
#include <cassert>
#include <zstd.h>

namespace warpline::wpl {

PackedChunk pack(ChunkType type, std::uint32_t rows, std::string_view raw, int level, std::uint32_t flags) {
    assert(raw.size() <= kMostRawBytes);
    PackedChunk out;
    out.header = {type, flags, rows, static_cast<std::uint32_t>(raw.size()), raw.size(), 0};
    out.bytes.resize(kChunkHeaderBytes + ZSTD_compressBound(raw.size()));
    const std::size_t packed =
        ZSTD_compress(out.bytes.data() + kChunkHeaderBytes, out.bytes.size() - kChunkHeaderBytes, raw.data(),
                      raw.size(), level);
    if (ZSTD_isError(packed) == 0 && packed < raw.size()) {
        out.header.flags |= ChunkFlag::Zstd;
        out.header.storedBytes = packed;
        out.bytes.resize(kChunkHeaderBytes + packed);
    } else {
        out.bytes.resize(kChunkHeaderBytes);
        out.bytes += raw;
    }
    const auto header = encodeHeader(out.header, std::string_view(out.bytes).substr(kChunkHeaderBytes));
    out.bytes.replace(0, header.size(), header.data(), header.size());
    return out;
}

Result<Done> ChunkWriter::put(std::string_view bytes) {
    auto done = m_sink(bytes);
    if (done.ok())
        m_offset += bytes.size();
    return done;
}

Result<Done> ChunkWriter::begin() {
    std::array<char, kFileHeaderBytes> header{};
    kMagic.copy(header.data(), kMagic.size());
    std::memcpy(header.data() + kMagic.size(), &kVersion, sizeof kVersion);
    return put({header.data(), header.size()});
}

Result<Done> ChunkWriter::write(const PackedChunk& chunk) {
    m_index.push_back({chunk.header.type, chunk.header.rows, m_offset});
    return put(chunk.bytes);
}

Result<Done> ChunkWriter::finish() {
    BlockWriter out;
    std::vector<std::uint32_t> types;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint64_t> offsets;
    // A recording of days has many chunks; what does not fit is found by reading on.
    constexpr std::size_t kMostEntries = std::size_t{1} << 21;
    for (const Entry& e : m_index) {
        if (types.size() == kMostEntries)
            break;
        types.push_back(static_cast<std::uint32_t>(e.type));
        rows.push_back(e.rows);
        offsets.push_back(e.offset);
    }
    out.column(std::span<const std::uint32_t>(types));
    out.column(std::span<const std::uint32_t>(rows));
    out.column(std::span<const std::uint64_t>(offsets), true);
    const std::uint64_t indexAt = m_offset;
    constexpr int kLevel = 3;
    const PackedChunk index =
        pack(ChunkType::Index, static_cast<std::uint32_t>(types.size()), out.take(), kLevel);
    if (auto done = put(index.bytes); !done.ok())
        return done;
    std::array<char, kTrailerBytes> trailer{};
    std::memcpy(trailer.data(), &indexAt, sizeof indexAt);
    kEndMagic.copy(trailer.data() + sizeof indexAt, kEndMagic.size());
    return put({trailer.data(), trailer.size()});
}

} // namespace warpline::wpl
