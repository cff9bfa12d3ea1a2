// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <string_view>

/// Says whether a text is one JSON value by RFC 8259 and valid UTF-8, and nothing else. Plain on purpose: it
/// is there to check readers that are not.
class StrictJson {
  public:
    static bool isObject(std::string_view text) {
        StrictJson json(text);
        json.space();
        return !text.empty() && json.peek() == '{' && json.value() && json.atEnd();
    }
    static bool isValue(std::string_view text) {
        StrictJson json(text);
        return json.value() && json.atEnd();
    }

  private:
    explicit StrictJson(std::string_view text) : m_text(text) {}

    [[nodiscard]] char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    bool take(char c) {
        if (m_at >= m_text.size() || m_text[m_at] != c)
            return false;
        ++m_at;
        return true;
    }
    bool take(std::string_view word) {
        if (m_text.substr(m_at, word.size()) != word)
            return false;
        m_at += word.size();
        return true;
    }
    void space() {
        while (m_at < m_text.size() &&
               std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos)
            ++m_at;
    }
    bool atEnd() {
        space();
        return m_at == m_text.size();
    }
    bool value() {
        space();
        switch (peek()) {
        case '{':
            return list('}', true);
        case '[':
            return list(']', false);
        case '"':
            return string();
        case 't':
            return take("true");
        case 'f':
            return take("false");
        case 'n':
            return take("null");
        default:
            return number();
        }
    }
    bool list(char end, bool object) {
        ++m_at;
        space();
        if (take(end))
            return true;
        do {
            space();
            if (object) {
                if (peek() != '"' || !string())
                    return false;
                space();
                if (!take(':'))
                    return false;
            }
            if (!value())
                return false;
            space();
        } while (take(','));
        return take(end);
    }
    bool digits() {
        const std::size_t begin = m_at;
        while (peek() >= '0' && peek() <= '9')
            ++m_at;
        return m_at > begin;
    }
    bool number() {
        take('-');
        if (!take('0') && !digits())
            return false;
        if (take('.') && !digits())
            return false;
        if (take('e') || take('E')) {
            if (!take('+'))
                take('-');
            return digits();
        }
        return true;
    }
    bool string() {
        ++m_at;
        while (m_at < m_text.size()) {
            const auto c = static_cast<unsigned char>(m_text[m_at]);
            if (c == '"') {
                ++m_at;
                return true;
            }
            if (c < 0x20)
                return false;
            if (c == '\\') {
                if (!escape())
                    return false;
            } else if (!character(c)) {
                return false;
            }
        }
        return false;
    }
    bool escape() {
        ++m_at;
        const char c = peek();
        ++m_at;
        if (c != 'u')
            return c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
        unsigned unit = 0;
        if (!hex(unit))
            return false;
        if (unit >= 0xD800 && unit < 0xDC00) { // the other half must follow
            unsigned other = 0;
            return take("\\u") && hex(other) && other >= 0xDC00 && other < 0xE000;
        }
        return unit < 0xDC00 || unit >= 0xE000;
    }
    bool hex(unsigned& unit) {
        for (int i = 0; i < 4; ++i, ++m_at) {
            const std::size_t digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(peek());
            if (digit == std::string_view::npos)
                return false;
            unit = unit * 16 + static_cast<unsigned>(digit % 16);
        }
        return true;
    }
    bool character(unsigned char c) {
        ++m_at;
        if (c < 0x80)
            return true;
        int more = 0;
        unsigned code = 0;
        if (c >= 0xC0 && c < 0xE0) {
            more = 1;
            code = c & 0x1Fu;
        } else if (c >= 0xE0 && c < 0xF0) {
            more = 2;
            code = c & 0x0Fu;
        } else if (c >= 0xF0 && c < 0xF8) {
            more = 3;
            code = c & 0x07u;
        } else {
            return false;
        }
        for (int i = 0; i < more; ++i, ++m_at) {
            if (m_at >= m_text.size() || (static_cast<unsigned char>(m_text[m_at]) & 0xC0) != 0x80)
                return false;
            code = code << 6 | (static_cast<unsigned char>(m_text[m_at]) & 0x3Fu);
        }
        constexpr unsigned kLeast[] = {0, 0x80, 0x800, 0x10000};
        return code >= kLeast[more] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};
