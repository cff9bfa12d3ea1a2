// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/gzip_writer.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>
#include <zlib.h>

namespace warpline {

namespace {

constexpr std::size_t kWindow = 32768;
// On traces level 1 is about three times as fast as zlib's own default and a quarter larger.
constexpr int kLevel = 1;

Bytef* bytes(const std::string& s) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(s.data())); // zlib only reads through it
}

} // namespace

GzipWriter::GzipWriter(OutputFile& file, unsigned threads)
    : m_file(file), m_threads(std::max(1U, threads != 0 ? threads : std::thread::hardware_concurrency())) {}

GzipWriter::Piece GzipWriter::compress(const std::string& plain, const std::string& before, bool last) {
    Piece piece;
    piece.plainSize = plain.size();
    piece.crc = static_cast<std::uint32_t>(
        crc32(crc32(0, nullptr, 0), bytes(plain), static_cast<uInt>(plain.size())));

    z_stream z{};
    if (deflateInit2(&z, kLevel, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    if (!before.empty())
        deflateSetDictionary(&z, bytes(before), static_cast<uInt>(before.size()));
    z.next_in = bytes(plain);
    z.avail_in = static_cast<uInt>(plain.size());
    piece.compressed.resize(deflateBound(&z, static_cast<uLong>(plain.size())) + 64);
    z.next_out = bytes(piece.compressed);
    z.avail_out = static_cast<uInt>(piece.compressed.size());
    // A sync flush ends on a byte, so that pieces can stand one after another.
    deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH);
    piece.compressed.resize(piece.compressed.size() - z.avail_out);
    deflateEnd(&z);
    return piece;
}

Result<Done> GzipWriter::takeFirst() {
    const Piece piece = m_running.front().get();
    m_running.pop_front();
    m_crc =
        static_cast<std::uint32_t>(crc32_combine(m_crc, piece.crc, static_cast<z_off_t>(piece.plainSize)));
    m_plainSize += piece.plainSize;
    if (!m_headerWritten) {
        m_headerWritten = true;
        // Deflate, no name, no date (the same trace gives the same bytes), fastest, Unix.
        const std::string_view header("\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10);
        if (auto done = m_file.write(header); !done.ok())
            return done;
    }
    return m_file.write(piece.compressed);
}

Result<Done> GzipWriter::start(std::string piece, bool last) {
    while (m_running.size() >= m_threads + 1) {
        if (auto done = takeFirst(); !done.ok())
            return done;
    }
    std::string before = std::move(m_before);
    m_before = piece.substr(piece.size() - std::min(piece.size(), kWindow));
    m_running.push_back(std::async(std::launch::async, [plain = std::move(piece), before = std::move(before),
                                                        last] { return compress(plain, before, last); }));
    return Done{};
}

Result<Done> GzipWriter::write(std::string piece) {
    if (piece.empty())
        return Done{};
    return start(std::move(piece), false);
}

Result<Done> GzipWriter::finish() {
    if (auto done = start({}, true); !done.ok())
        return done;
    while (!m_running.empty()) {
        if (auto done = takeFirst(); !done.ok())
            return done;
    }
    std::string trailer;
    for (const std::uint32_t word : {m_crc, static_cast<std::uint32_t>(m_plainSize)}) {
        for (int shift = 0; shift < 32; shift += 8)
            trailer.push_back(static_cast<char>((word >> shift) & 0xFFU));
    }
    return m_file.write(trailer);
}

} // namespace warpline
