// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>
#include <zstd.h>

/// Packs bytes for tests.
namespace pack {

inline std::string gzip(std::string_view bytes, int level = 6) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        throw std::runtime_error("deflate");
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

inline std::string zstd(std::string_view bytes, int level = 3, int windowLog = 0) {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    if (windowLog > 0)
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog);
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size) != 0)
        throw std::runtime_error(ZSTD_getErrorName(size));
    out.resize(size);
    return out;
}

/// A skippable Zstandard frame.
inline std::string zstdSkippable(std::string_view bytes) {
    std::string out("\x50\x2A\x4D\x18", 4);
    for (int shift = 0; shift < 32; shift += 8)
        out += static_cast<char>(bytes.size() >> shift & 0xFF);
    return out.append(bytes);
}

enum class Kind { Zip, Tar };
using Members = std::vector<std::pair<std::string, std::string>>;

inline std::string littleEndian(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i)
        out += static_cast<char>(value >> (8 * i) & 0xFF);
    return out;
}

inline std::string zip(const Members& members) {
    std::string out;
    std::string list;
    for (const auto& [name, bytes] : members) {
        // A gzip stream holds what a zip wants: its ten bytes of header and eight of trailer taken off.
        const std::string gz = gzip(bytes);
        const std::string packed = gz.substr(10, gz.size() - 18);
        const auto crc =
            crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
        // Flag 0x800: names are UTF-8; method 8: deflate.
        const std::string common = littleEndian(20, 2) + littleEndian(0x800, 2) + littleEndian(8, 2) +
                                   littleEndian(0x21'0000, 4) + littleEndian(crc, 4) +
                                   littleEndian(packed.size(), 4) + littleEndian(bytes.size(), 4) +
                                   littleEndian(name.size(), 2) + littleEndian(0, 2);
        list += "PK\x01\x02" + littleEndian(20, 2) + common + littleEndian(0, 6) + littleEndian(0, 4) +
                littleEndian(out.size(), 4) + name;
        out += "PK\x03\x04" + common + name + packed;
    }
    const std::size_t at = out.size();
    return out + list + "PK\x05\x06" + littleEndian(0, 4) + littleEndian(members.size(), 2) +
           littleEndian(members.size(), 2) + littleEndian(list.size(), 4) + littleEndian(at, 4) +
           littleEndian(0, 2);
}

inline std::string tar(const Members& members) {
    std::string out;
    for (const auto& [name, bytes] : members) {
        std::string header(512, '\0');
        const auto put = [&](std::size_t at, const std::string& text) {
            header.replace(at, text.size(), text);
        };
        const auto octal = [](std::uint64_t value, int digits) {
            std::string text;
            for (int i = digits - 1; i >= 0; --i)
                text += static_cast<char>('0' + (value >> (3 * i) & 7));
            return text;
        };
        put(0, name);
        put(100, octal(0644, 7));
        put(108, octal(0, 7));
        put(116, octal(0, 7));
        put(124, octal(bytes.size(), 11));
        put(136, octal(0, 11));
        put(148, "        ");
        put(156, name.ends_with('/') ? "5" : "0");
        put(257, std::string("ustar\0"
                             "00",
                             8));
        std::uint64_t sum = 0;
        for (const char c : header)
            sum += static_cast<unsigned char>(c);
        put(148, octal(sum, 6) + std::string(1, '\0'));
        out += header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
    }
    return out + std::string(1024, '\0');
}

/// An archive; a name with '/' at its end is a folder.
inline std::string archive(Kind kind, const Members& members) {
    return kind == Kind::Zip ? zip(members) : tar(members);
}

/// ASCII and the rest of the Basic Multilingual Plane as UTF-16, with surrogates passed through.
inline std::string utf16(std::u16string_view text, bool bigEndian) {
    std::string out;
    for (const char16_t c : text) {
        const char high = static_cast<char>(c >> 8);
        const char low = static_cast<char>(c & 0xFF);
        out += bigEndian ? high : low;
        out += bigEndian ? low : high;
    }
    return out;
}

} // namespace pack
