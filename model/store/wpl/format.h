// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The file format of Warpline's own, as model/store/FORMAT.md tells it.
namespace warpline::wpl {

inline constexpr std::string_view kMagic{"\x89WPL\r\n\x1a\n", 8};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kFileHeaderBytes = 16; ///< magic, u32 version, u32 reserved
inline constexpr std::size_t kChunkHeaderBytes = 32;
inline constexpr std::size_t kTrailerBytes = 16; ///< u64 offset of the index chunk, end magic
inline constexpr std::string_view kEndMagic{"\nWPLEND\n", 8};
/// No chunk holds more, unpacked; a reader refuses what claims to.
inline constexpr std::uint64_t kMostRawBytes = std::uint64_t{64} << 20;
/// What writers aim at.
inline constexpr std::size_t kRowsPerChunk = std::size_t{1} << 17;

/// Four letters, first in the file first.
constexpr std::uint32_t fourLetters(const char (&text)[5]) {
    std::uint32_t v = 0;
    for (int i = 3; i >= 0; --i)
        v = v << 8 | static_cast<unsigned char>(text[i]);
    return v;
}

enum class ChunkType : std::uint32_t {
    Head = fourLetters("HEAD"),
    Strings = fourLetters("STRS"),
    Shapes = fourLetters("SHPS"),
    Categories = fourLetters("CATS"),
    Processes = fourLetters("PROC"),
    Tracks = fourLetters("TRAK"),
    Lanes = fourLetters("LANE"),
    RawTracks = fourLetters("RAWT"),
    Slices = fourLetters("SLIC"),
    Links = fourLetters("LINK"),
    Counters = fourLetters("CNTR"),
    Memory = fourLetters("MEMO"),
    Flows = fourLetters("FLOW"),
    Metadata = fourLetters("META"),
    Devices = fourLetters("DEVI"),
    Steps = fourLetters("STEP"),
    Properties = fourLetters("PROP"),
    Diagnostics = fourLetters("DIAG"),
    // of a recording: what has not been sorted and nested yet
    EventTracks = fourLetters("ETRK"),
    Events = fourLetters("EVNT"),
    EventMemory = fourLetters("EMEM"),
    EventCounters = fourLetters("ECTR"),
    Index = fourLetters("INDX"),
};

namespace ChunkFlag {
inline constexpr std::uint32_t Zstd = 1; ///< the stored bytes are one zstd frame
/// A reader that does not know the type must not open the file; without it, it skips the chunk.
inline constexpr std::uint32_t Needed = 2;
inline constexpr std::uint32_t Known = Zstd | Needed;
} // namespace ChunkFlag

/// What stands before a chunk's bytes, in this order, little-endian.
struct ChunkHeader {
    ChunkType type = ChunkType::Head;
    std::uint32_t flags = 0;
    std::uint32_t rows = 0;     ///< what the type counts; 0 where it counts nothing
    std::uint32_t rawBytes = 0; ///< unpacked
    std::uint64_t storedBytes = 0;
    std::uint64_t checksum = 0; ///< XXH64 of the 24 bytes before it and the stored bytes
};

/// How a file's content is meant.
enum class Layout : std::uint8_t {
    Tables = 1,    ///< a finished trace: tables as they lie in memory
    Recording = 2, ///< events as they came
};

/// The header as bytes, with the checksum over itself and `stored`.
std::array<char, kChunkHeaderBytes> encodeHeader(ChunkHeader header, std::string_view stored);
/// The bytes as a header; the checksum is not looked at.
ChunkHeader decodeHeader(std::string_view bytes);
/// True where the checksum is that of the header and the stored bytes.
bool checksumHolds(std::string_view header, std::string_view stored);

} // namespace warpline::wpl
