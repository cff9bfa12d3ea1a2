// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/chunk_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <zstd.h>

namespace warpline::wpl {

std::optional<std::string> StoredChunk::unpack() const {
    if ((header.flags & ChunkFlag::Zstd) == 0) {
        if (stored.size() != header.rawBytes)
            return std::nullopt;
        return stored;
    }
    // The frame says itself how much it holds: nothing is allocated on the header's word alone.
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != header.rawBytes)
        return std::nullopt;
    std::string raw(header.rawBytes, '\0');
    const std::size_t n = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
    if (ZSTD_isError(n) != 0 || n != raw.size())
        return std::nullopt;
    return raw;
}

Result<std::size_t> ChunkReader::read(char* to, std::size_t size) {
    std::size_t got = 0;
    while (got < size) {
        auto n = m_source(to + got, size - got);
        if (!n.ok())
            return n;
        if (n.value() == 0)
            break;
        got += n.value();
    }
    m_offset += got;
    return got;
}

Result<Done> ChunkReader::begin(const std::string& name) {
    std::array<char, kFileHeaderBytes> header{};
    auto got = read(header.data(), header.size());
    if (!got.ok())
        return got.error();
    if (std::string_view(header.data(), kMagic.size()) != kMagic)
        return Error::wrongKind(fmt::format("{}: it is no Warpline recording.", name));
    std::uint32_t version = 0;
    std::memcpy(&version, header.data() + kMagic.size(), sizeof version);
    if (got.value() < header.size())
        return Error::failed(fmt::format("{}: the recording was cut off right at its start.", name));
    if (version == 0 || version > kVersion)
        return Error::failed(
            fmt::format("{}: a newer Warpline wrote it (format {}, this one reads up to {}); open it "
                        "with that one.",
                        name, version, kVersion));
    return Done{};
}

Result<std::optional<StoredChunk>> ChunkReader::next() {
    if (m_end != End::None)
        return std::optional<StoredChunk>{};
    StoredChunk chunk;
    chunk.offset = m_offset;
    std::array<char, kChunkHeaderBytes> bytes{};
    const auto stop = [&](End end) {
        m_end = end;
        m_offset = chunk.offset;
        return std::optional<StoredChunk>{};
    };
    auto got = read(bytes.data(), bytes.size());
    if (!got.ok())
        return got.error();
    if (got.value() < bytes.size())
        return stop(End::Cut);
    const std::string_view header(bytes.data(), bytes.size());
    chunk.header = decodeHeader(header);
    // A chunk that does not shrink is stored as it is, so that it is never much longer than its content.
    if (chunk.header.rawBytes > kMostRawBytes || chunk.header.storedBytes > kMostRawBytes)
        return stop(End::Damaged);
    constexpr std::size_t kStep = std::size_t{1} << 20;
    while (chunk.stored.size() < chunk.header.storedBytes) {
        const std::size_t had = chunk.stored.size();
        const std::size_t wanted = std::min<std::size_t>(kStep, chunk.header.storedBytes - had);
        chunk.stored.resize(had + wanted);
        got = read(chunk.stored.data() + had, wanted);
        if (!got.ok())
            return got.error();
        if (got.value() < wanted)
            return stop(End::Cut);
    }
    if (!checksumHolds(header, chunk.stored))
        return stop(End::Damaged);
    if (chunk.header.type == ChunkType::Index) {
        std::array<char, kTrailerBytes> trailer{};
        got = read(trailer.data(), trailer.size());
        if (!got.ok())
            return got.error();
        if (got.value() < trailer.size())
            return stop(End::Cut);
        std::uint64_t indexAt = 0;
        std::memcpy(&indexAt, trailer.data(), sizeof indexAt);
        const bool whole = indexAt == chunk.offset &&
                           std::string_view(trailer.data() + sizeof indexAt, kEndMagic.size()) == kEndMagic;
        m_end = whole ? End::Whole : End::Damaged;
        return std::optional<StoredChunk>{};
    }
    return std::optional<StoredChunk>(std::move(chunk));
}

} // namespace warpline::wpl
