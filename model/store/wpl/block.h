// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpline::wpl {

namespace Encoding {
inline constexpr std::uint8_t Delta = 1;  ///< each value less the one before it, wrapping
inline constexpr std::uint8_t Planes = 2; ///< first the lowest bytes of all values, then the next ones ...
} // namespace Encoding

template <std::size_t Size>
using UnsignedOf =
    std::conditional_t<Size == 1, std::uint8_t,
                       std::conditional_t<Size == 2, std::uint16_t,
                                          std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

/// Builds the raw bytes of a chunk.
class BlockWriter {
  public:
    void number(std::uint64_t v) {
        while (v >= 0x80) {
            m_bytes.push_back(static_cast<char>(v | 0x80));
            v >>= 7;
        }
        m_bytes.push_back(static_cast<char>(v));
    }
    void signedNumber(std::int64_t v) {
        number((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63));
    }
    void text(std::string_view t) {
        number(t.size());
        m_bytes += t;
    }
    void bytes(std::string_view b) { m_bytes += b; }
    /// Values of 1, 2, 4 or 8 bytes, ids too; how many is not written.
    template <class T>
    void column(std::span<const T> values, bool delta = false) {
        using U = UnsignedOf<sizeof(T)>;
        static_assert(sizeof(U) == sizeof(T) && std::is_trivially_copyable_v<T>);
        const std::uint8_t encoding = (delta ? Encoding::Delta : 0) | (sizeof(U) > 1 ? Encoding::Planes : 0);
        m_bytes.push_back(static_cast<char>(encoding));
        const std::size_t at = m_bytes.size();
        m_bytes.resize(at + values.size() * sizeof(U));
        char* to = m_bytes.data() + at;
        U before = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            U v;
            std::memcpy(&v, &values[i], sizeof v);
            const U out = delta ? static_cast<U>(v - before) : v;
            before = v;
            for (std::size_t b = 0; b < sizeof(U); ++b)
                to[b * values.size() + i] = static_cast<char>(out >> (8 * b));
        }
    }

    [[nodiscard]] std::string take() { return std::move(m_bytes); }
    [[nodiscard]] std::size_t size() const { return m_bytes.size(); }

  private:
    std::string m_bytes;
};

/// Reads what BlockWriter wrote, from anyone: past the end or where a value is impossible it turns bad and
/// gives zeroes from then on.
class BlockReader {
  public:
    explicit BlockReader(std::string_view bytes) : m_at(bytes.data()), m_end(bytes.data() + bytes.size()) {}

    [[nodiscard]] bool ok() const { return m_ok; }
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(m_end - m_at); }
    void fail() {
        m_ok = false;
        m_at = m_end;
    }

    std::uint64_t number() {
        std::uint64_t v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (m_at == m_end)
                break;
            const auto b = static_cast<unsigned char>(*m_at++);
            v |= static_cast<std::uint64_t>(b & 0x7F) << shift;
            if ((b & 0x80) == 0)
                return v;
        }
        fail();
        return 0;
    }
    std::int64_t signedNumber() {
        const std::uint64_t v = number();
        return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
    }
    /// A number of at most `most`.
    std::uint64_t number(std::uint64_t most) {
        const std::uint64_t v = number();
        if (v > most) {
            fail();
            return 0;
        }
        return v;
    }
    /// How many things follow that take `least` bytes each: never more than there is room for.
    std::size_t count(std::size_t least) {
        return static_cast<std::size_t>(number(left() / (least == 0 ? 1 : least)));
    }
    std::string_view text() { return bytes(static_cast<std::size_t>(number(left()))); }
    std::string_view bytes(std::size_t size) {
        if (size > left()) {
            fail();
            return {};
        }
        const std::string_view b(m_at, size);
        m_at += size;
        return b;
    }
    /// Fills `values`; leaves them as they are where the block is bad.
    template <class T>
    bool column(std::span<T> values) {
        using U = UnsignedOf<sizeof(T)>;
        static_assert(sizeof(U) == sizeof(T) && std::is_trivially_copyable_v<T>);
        const std::string_view encodingByte = bytes(1);
        const auto encoding =
            encodingByte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(encodingByte[0]);
        const std::size_t n = values.size();
        if (!m_ok || encoding > (Encoding::Delta | Encoding::Planes) || n > left() / sizeof(U)) {
            fail();
            return false;
        }
        const auto* from = reinterpret_cast<const unsigned char*>(m_at);
        m_at += n * sizeof(U);
        const bool planes = (encoding & Encoding::Planes) != 0;
        const std::size_t perByte = planes ? n : 1;
        const std::size_t perValue = planes ? 1 : sizeof(U);
        U before = 0;
        for (std::size_t i = 0; i < n; ++i) {
            U v = 0;
            for (std::size_t b = 0; b < sizeof(U); ++b)
                v = static_cast<U>(
                    v | static_cast<U>(static_cast<U>(from[b * perByte + i * perValue]) << (8 * b)));
            if ((encoding & Encoding::Delta) != 0) {
                v = static_cast<U>(v + before);
                before = v;
            }
            std::memcpy(static_cast<void*>(&values[i]), &v, sizeof v); // ids too
        }
        return true;
    }
    /// A column of `n` values, none where the block is too short for it.
    template <class T>
    std::vector<T> columnOf(std::size_t n) {
        std::vector<T> values;
        if (n > left() / sizeof(T)) {
            fail();
            return values;
        }
        values.resize(n);
        column(std::span<T>(values));
        return values;
    }

  private:
    const char* m_at;
    const char* m_end;
    bool m_ok = true;
};

} // namespace warpline::wpl
