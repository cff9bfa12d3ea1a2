// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace warpline::scan {

/// Readable bytes that must follow any text handed to these functions, all zero. The zeros stop every loop,
/// so that no function needs to know where the text ends.
inline constexpr std::size_t kPadding = 64;

inline bool isSpace(char c) {
    return c == ' ' || (static_cast<unsigned char>(c) - 9u) <= 4u;
}

/// The first byte that is no white space.
inline const char* skipSpace(const char* p) {
    // One blank or none is the rule within a line; a longer run is an indentation.
    if (!isSpace(*p))
        return p;
    if (!isSpace(*++p))
        return p;
#ifdef __SSE2__
    const __m128i blank = _mm_set1_epi8(' ');
    const __m128i tab = _mm_set1_epi8(9);
    const __m128i span = _mm_set1_epi8(4);
    for (;;) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i control = _mm_sub_epi8(v, tab);
        const __m128i space =
            _mm_or_si128(_mm_cmpeq_epi8(v, blank), _mm_cmpeq_epi8(_mm_min_epu8(control, span), control));
        const auto mask = static_cast<unsigned>(_mm_movemask_epi8(space));
        if (mask != 0xFFFFu)
            return p + std::countr_one(mask);
        p += 16;
    }
#else
    while (isSpace(*p))
        ++p;
    return p;
#endif
}

/// From the byte after an opening quote to the closing quote. Sets `escaped` where a backslash came before
/// it. Null at a control character, which the zeros after the text are too; `stop` says where.
inline const char* stringEnd(const char* p, bool& escaped, const char*& stop) {
    for (;;) {
#ifdef __SSE2__
        const __m128i quote = _mm_set1_epi8('"');
        const __m128i slash = _mm_set1_epi8('\\');
        const __m128i last = _mm_set1_epi8(0x1F);
        unsigned mask = 0;
        for (;;) {
            const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            const __m128i hits =
                _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                             _mm_cmpeq_epi8(_mm_min_epu8(v, last), v));
            mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
            if (mask != 0)
                break;
            p += 16;
        }
        p += std::countr_zero(mask);
#else
        while (*p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20)
            ++p;
#endif
        if (*p == '"')
            return p;
        if (*p != '\\') {
            stop = p;
            return nullptr;
        }
        escaped = true;
        if (static_cast<unsigned char>(p[1]) < 0x20) {
            stop = p + 1;
            return nullptr;
        }
        p += 2;
    }
}

/// From an opening bracket or brace to the byte after its closing one, strings passed over. Brackets are only
/// counted, not matched by kind. Null where the text ends first, or at a control character in a string;
/// `stop` says where.
inline const char* nestedEnd(const char* p, const char*& stop) {
    int depth = 0;
    for (;;) {
        const char c = *p;
        if (c == '"') {
            bool escaped = false;
            p = stringEnd(p + 1, escaped, stop);
            if (p == nullptr)
                return nullptr;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if (c == ']' || c == '}') {
            if (--depth == 0)
                return p + 1;
        } else if (c == '\0') {
            stop = p;
            return nullptr;
        }
        ++p;
#ifdef __SSE2__
        // Hop over what is neither quote, bracket nor brace ([ ] differ from { } by the bit 0x20 only).
        for (;;) {
            const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
            const __m128i hits = _mm_or_si128(
                _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                             _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
                _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_setzero_si128())));
            const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
            if (mask != 0) {
                p += std::countr_zero(mask);
                break;
            }
            p += 16;
        }
#endif
    }
}

/// The byte after a number, or after whatever else stands there up to a separator.
inline const char* scalarEnd(const char* p) {
    for (;;) {
        const char c = *p;
        if (c == ',' || c == '}' || c == ']' || c == '\0' || isSpace(c))
            return p;
        ++p;
    }
}

/// A text of up to eight bytes as one word: its bytes, zero after them. All bits for a longer one.
inline std::uint64_t shortWord(const char* p, std::size_t size) {
    if (size > 8)
        return ~std::uint64_t{0};
    std::uint64_t w = 0;
    std::memcpy(&w, p, 8); // the padding makes this readable
    return size == 8 ? w : w & ((std::uint64_t{1} << (8 * size)) - 1);
}

} // namespace warpline::scan
