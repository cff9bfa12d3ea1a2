// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/format.h"

#include <cassert>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace warpline::wpl {

namespace {

constexpr std::size_t kChecksumAt = 24;

template <class T>
void put(char*& at, T value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
}
template <class T>
void get(const char*& at, T& value) {
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
}

std::uint64_t checksum(std::string_view header, std::string_view stored) {
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, header.data(), kChecksumAt);
    XXH64_update(&state, stored.data(), stored.size());
    return XXH64_digest(&state);
}

} // namespace

std::array<char, kChunkHeaderBytes> encodeHeader(ChunkHeader header, std::string_view stored) {
    std::array<char, kChunkHeaderBytes> bytes{};
    char* at = bytes.data();
    put(at, header.type);
    put(at, header.flags);
    put(at, header.rows);
    put(at, header.rawBytes);
    put(at, header.storedBytes);
    put(at, checksum({bytes.data(), bytes.size()}, stored));
    return bytes;
}

ChunkHeader decodeHeader(std::string_view bytes) {
    assert(bytes.size() >= kChunkHeaderBytes);
    ChunkHeader header;
    const char* at = bytes.data();
    get(at, header.type);
    get(at, header.flags);
    get(at, header.rows);
    get(at, header.rawBytes);
    get(at, header.storedBytes);
    get(at, header.checksum);
    return header;
}

bool checksumHolds(std::string_view header, std::string_view stored) {
    return checksum(header, stored) == decodeHeader(header).checksum;
}

} // namespace warpline::wpl
