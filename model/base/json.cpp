// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/json.h"

#include <charconv>

namespace warpline {

namespace {

void appendCodePoint(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | (c >> 6));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | (c >> 12));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (c >> 18));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    }
}

bool hex4(std::string_view s, std::size_t at, std::uint32_t& out) {
    if (at + 4 > s.size())
        return false;
    const auto r = std::from_chars(s.data() + at, s.data() + at + 4, out, 16);
    return r.ec == std::errc() && r.ptr == s.data() + at + 4;
}

/// How many bytes the UTF-8 sequence at `i` has; 0 = it is none.
std::size_t sequenceLength(std::string_view s, std::size_t i) {
    const auto b = [&](std::size_t k) { return static_cast<unsigned char>(s[i + k]); };
    const auto tail = [&](std::size_t k) { return (b(k) & 0xC0) == 0x80; };
    const unsigned char c = b(0);
    const std::size_t left = s.size() - i;
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        return left >= 2 && tail(1) ? 2 : 0;
    if (c >= 0xE0 && c <= 0xEF) {
        if (left < 3 || !tail(1) || !tail(2))
            return 0;
        if ((c == 0xE0 && b(1) < 0xA0) || (c == 0xED && b(1) > 0x9F))
            return 0;
        return 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        if (left < 4 || !tail(1) || !tail(2) || !tail(3))
            return 0;
        if ((c == 0xF0 && b(1) < 0x90) || (c == 0xF4 && b(1) > 0x8F))
            return 0;
        return 4;
    }
    return 0;
}

/// One strict reader for both uses: with a value to fill, or none to check only.
class Reader {
  public:
    Reader(std::string_view text, int depth) : m_text(text), m_depth(depth) {}

    bool document(JsonValue* out) {
        space();
        if (!value(out, 0))
            return false;
        space();
        return m_at == m_text.size();
    }

  private:
    [[nodiscard]] char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    void space() {
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
                break;
            ++m_at;
        }
    }
    bool literal(std::string_view word) {
        if (m_text.substr(m_at, word.size()) != word)
            return false;
        m_at += word.size();
        return true;
    }
    bool value(JsonValue* out, int depth) {
        switch (peek()) {
        case '{':
            return depth < m_depth && object(out, depth);
        case '[':
            return depth < m_depth && array(out, depth);
        case '"':
            if (out != nullptr)
                out->type = JsonValue::Type::String;
            return string(out != nullptr ? &out->text : nullptr);
        case 't':
        case 'f':
            if (out != nullptr) {
                out->type = JsonValue::Type::Bool;
                out->boolean = peek() == 't';
            }
            return literal(peek() == 't' ? "true" : "false");
        case 'n':
            return literal("null");
        default:
            return number(out);
        }
    }
    bool digits() {
        const std::size_t from = m_at;
        while (peek() >= '0' && peek() <= '9')
            ++m_at;
        return m_at > from;
    }
    bool number(JsonValue* out) {
        const std::size_t from = m_at;
        if (peek() == '-')
            ++m_at;
        if (peek() == '0') {
            ++m_at;
        } else if (!digits()) {
            return false;
        }
        if (peek() == '.') {
            ++m_at;
            if (!digits())
                return false;
        }
        if (peek() == 'e' || peek() == 'E') {
            ++m_at;
            if (peek() == '+' || peek() == '-')
                ++m_at;
            if (!digits())
                return false;
        }
        if (out != nullptr) {
            out->type = JsonValue::Type::Number;
            out->text = m_text.substr(from, m_at - from);
        }
        return true;
    }
    bool string(std::string* out) {
        const std::size_t from = ++m_at;
        bool escaped = false;
        for (; m_at < m_text.size(); ++m_at) {
            const auto c = static_cast<unsigned char>(m_text[m_at]);
            if (c < 0x20)
                return false;
            if (c == '\\') {
                escaped = true;
                ++m_at;
            } else if (c == '"') {
                const auto body = m_text.substr(from, m_at++ - from);
                if (!isUtf8(body))
                    return false;
                if (out != nullptr && !escaped) {
                    *out = body;
                    return true;
                }
                std::string ignored;
                return !escaped || appendUnescaped(out != nullptr ? *out : ignored, body);
            }
        }
        return false;
    }
    bool array(JsonValue* out, int depth) {
        if (out != nullptr)
            out->type = JsonValue::Type::Array;
        ++m_at;
        space();
        if (peek() == ']') {
            ++m_at;
            return true;
        }
        for (;;) {
            space();
            if (!value(out != nullptr ? &out->items.emplace_back() : nullptr, depth + 1))
                return false;
            space();
            if (peek() == ']') {
                ++m_at;
                return true;
            }
            if (peek() != ',')
                return false;
            ++m_at;
        }
    }
    bool object(JsonValue* out, int depth) {
        if (out != nullptr)
            out->type = JsonValue::Type::Object;
        ++m_at;
        space();
        if (peek() == '}') {
            ++m_at;
            return true;
        }
        for (;;) {
            space();
            if (peek() != '"')
                return false;
            JsonMember* member = out != nullptr ? &out->members.emplace_back() : nullptr;
            if (!string(member != nullptr ? &member->key : nullptr))
                return false;
            space();
            if (peek() != ':')
                return false;
            ++m_at;
            space();
            if (!value(member != nullptr ? &member->value : nullptr, depth + 1))
                return false;
            space();
            if (peek() == '}') {
                ++m_at;
                return true;
            }
            if (peek() != ',')
                return false;
            ++m_at;
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth;
};

} // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
    for (const auto& [k, v] : members)
        if (k == key)
            return &v;
    return nullptr;
}

std::optional<std::int64_t> JsonValue::integer() const {
    if (type != Type::Number && type != Type::String)
        return std::nullopt;
    std::int64_t v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size())
        return std::nullopt;
    return v;
}

std::optional<JsonValue> parseJson(std::string_view text) {
    JsonValue v;
    if (!Reader(text, 64).document(&v))
        return std::nullopt;
    return v;
}

bool isStrictJson(std::string_view text) {
    return Reader(text, 512).document(nullptr);
}

bool appendUnescaped(std::string& out, std::string_view body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != '\\') {
            out += body[i];
            continue;
        }
        if (++i == body.size())
            return false;
        switch (body[i]) {
        case '"':
        case '\\':
        case '/':
            out += body[i];
            break;
        case 'b':
            out += '\b';
            break;
        case 'f':
            out += '\f';
            break;
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'u': {
            std::uint32_t c = 0;
            if (!hex4(body, i + 1, c))
                return false;
            i += 4;
            if (c >= 0xD800 && c < 0xDC00) {
                std::uint32_t low = 0;
                if (body.substr(i + 1, 2) == "\\u" && hex4(body, i + 3, low) && low >= 0xDC00 &&
                    low < 0xE000) {
                    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                    i += 6;
                } else {
                    c = 0xFFFD;
                }
            } else if (c >= 0xDC00 && c < 0xE000) {
                c = 0xFFFD;
            }
            appendCodePoint(out, c);
            break;
        }
        default:
            return false;
        }
    }
    return true;
}

bool isUtf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t n = sequenceLength(text, i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

std::string toUtf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t n = sequenceLength(text, i);
        if (n == 0) {
            out += "\xEF\xBF\xBD";
            ++i;
        } else {
            out.append(text, i, n);
            i += n;
        }
    }
    return out;
}

} // namespace warpline
