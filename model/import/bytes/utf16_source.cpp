// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/layers.h"

#include <algorithm>
#include <cstring>

namespace warpline {
namespace {

class Utf16Source final : public LayerSource {
  public:
    Utf16Source(std::unique_ptr<ByteSource> source, bool bigEndian)
        : LayerSource(std::move(source)), m_input(inner()), m_high(bigEndian ? 0 : 1) {}

    Result<std::size_t> read(char* to, std::size_t size) override {
        std::size_t made = 0;
        while (made < size) {
            if (m_spillAt < m_spill.size()) {
                to[made++] = m_spill[m_spillAt++];
                continue;
            }
            Result<bool> more = m_input.fill();
            if (!more.ok()) {
                if (made == 0)
                    return more.error();
                break; // the next call meets the error again
            }
            if (!more.value()) {
                if (!flush())
                    break;
                continue;
            }
            made += convert(to + made, size - made);
        }
        addProduced(made);
        return made;
    }

  private:
    static constexpr char32_t kReplacement = 0xFFFD;

    /// Takes bytes while whole characters fit; a character that does not fit goes to m_spill.
    std::size_t convert(char* to, std::size_t room) {
        const std::string_view in = m_input.view();
        std::size_t at = 0;
        std::size_t made = 0;
        while (at < in.size() && made < room && m_spillAt == m_spill.size()) {
            if (m_haveHalf) {
                const char pair[2] = {m_half, in[at++]};
                m_haveHalf = false;
                made += unit(unitOf(pair), to + made, room - made);
                continue;
            }
            // Nearly everything is ASCII.
            while (at + 1 < in.size() && made < room && in[at + m_high] == 0 && m_lead == 0 &&
                   static_cast<unsigned char>(in[at + 1 - m_high]) < 0x80) {
                to[made++] = in[at + 1 - m_high];
                at += 2;
            }
            if (at == in.size() || made == room)
                break;
            if (at + 1 == in.size()) {
                m_half = in[at++];
                m_haveHalf = true;
                break;
            }
            made += unit(unitOf(in.data() + at), to + made, room - made);
            at += 2;
        }
        m_input.use(at);
        return made;
    }
    [[nodiscard]] char32_t unitOf(const char* pair) const {
        return static_cast<char32_t>(static_cast<unsigned char>(pair[m_high]) << 8 |
                                     static_cast<unsigned char>(pair[1 - m_high]));
    }
    std::size_t unit(char32_t u, char* to, std::size_t room) {
        std::size_t made = 0;
        if (m_lead != 0) {
            const char32_t lead = m_lead;
            m_lead = 0;
            if (u >= 0xDC00 && u < 0xE000)
                return put(0x10000 + ((lead - 0xD800) << 10) + (u - 0xDC00), to, room);
            made = put(kReplacement, to, room);
        }
        if (u >= 0xD800 && u < 0xDC00) {
            m_lead = u;
            return made;
        }
        return made + put(u >= 0xDC00 && u < 0xE000 ? kReplacement : u, to + made, room - made);
    }
    std::size_t put(char32_t c, char* to, std::size_t room) {
        char bytes[4];
        std::size_t n = 0;
        const auto byte = [&](char32_t b) { bytes[n++] = static_cast<char>(static_cast<unsigned char>(b)); };
        if (c < 0x80) {
            byte(c);
        } else if (c < 0x800) {
            byte(0xC0 | c >> 6);
            byte(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            byte(0xE0 | c >> 12);
            byte(0x80 | (c >> 6 & 0x3F));
            byte(0x80 | (c & 0x3F));
        } else {
            byte(0xF0 | c >> 18);
            byte(0x80 | (c >> 12 & 0x3F));
            byte(0x80 | (c >> 6 & 0x3F));
            byte(0x80 | (c & 0x3F));
        }
        if (n <= room && m_spillAt == m_spill.size()) {
            std::memcpy(to, bytes, n);
            return n;
        }
        if (m_spillAt == m_spill.size()) {
            m_spill.clear();
            m_spillAt = 0;
        }
        m_spill.append(bytes, n);
        return 0;
    }
    /// At the end: what was begun and not finished.
    bool flush() {
        if (m_lead == 0 && !m_haveHalf)
            return false;
        m_lead = 0;
        m_haveHalf = false;
        put(kReplacement, nullptr, 0);
        return true;
    }

    InputBuffer m_input;
    std::size_t m_high; ///< which byte of a pair is the high one
    char32_t m_lead = 0;
    char m_half = 0;
    bool m_haveHalf = false;
    std::string m_spill;
    std::size_t m_spillAt = 0;
};

/// Whether the text is ASCII in 16-bit units and begins with what JSON begins with.
bool looksLikeUtf16Json(std::string_view head, std::size_t high) {
    std::size_t at = 0;
    const auto ascii = [&](std::size_t i) { return head[i + high] == '\0' && head[i + 1 - high] > 0; };
    while (at + 1 < head.size() && ascii(at)) {
        const char c = head[at + 1 - high];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            break;
        at += 2;
    }
    if (at + 1 >= head.size() || !ascii(at))
        return false;
    const char c = head[at + 1 - high];
    return (c == '{' || c == '[') && (at + 3 >= head.size() || ascii(at + 2));
}

} // namespace

EncodingGuess guessEncoding(std::string_view head) {
    if (head.starts_with("\xEF\xBB\xBF"))
        return {TextEncoding::Utf8, 3};
    if (head.starts_with("\xFF\xFE"))
        return {TextEncoding::Utf16Little, 2};
    if (head.starts_with("\xFE\xFF"))
        return {TextEncoding::Utf16Big, 2};
    if (looksLikeUtf16Json(head, 1))
        return {TextEncoding::Utf16Little, 0};
    if (looksLikeUtf16Json(head, 0))
        return {TextEncoding::Utf16Big, 0};
    return {};
}

std::unique_ptr<ByteSource> openUtf16(std::unique_ptr<ByteSource> inner, bool bigEndian) {
    return std::make_unique<Utf16Source>(std::move(inner), bigEndian);
}

} // namespace warpline
