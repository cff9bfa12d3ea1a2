// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/flame/json_cursor.h"

#include "model/base/json.h"

#include <cstring>

namespace warpline::flame {

void JsonCursor::space() {
    while (m_at < m_text.size() && std::strchr(" \t\r\n", m_text[m_at]) != nullptr && m_text[m_at] != '\0')
        ++m_at;
}

JsonCursor::Type JsonCursor::peek() {
    space();
    if (m_failed || m_at >= m_text.size())
        return Type::Nothing;
    const char c = m_text[m_at];
    switch (c) {
    case '{':
        return Type::Object;
    case '[':
        return Type::Array;
    case '"':
        return Type::String;
    case 't':
    case 'f':
    case 'n':
        return Type::Word;
    default:
        return c == '-' || (c >= '0' && c <= '9') ? Type::Number : Type::Nothing;
    }
}

bool JsonCursor::open(char bracket) {
    space();
    if (m_failed || m_at >= m_text.size() || m_text[m_at] != bracket)
        return fail();
    ++m_at;
    return true;
}

bool JsonCursor::closes(char bracket, bool first) {
    space();
    if (m_at >= m_text.size()) {
        fail();
        return true;
    }
    if (m_text[m_at] == bracket) {
        ++m_at;
        return true;
    }
    if (first)
        return false;
    if (m_text[m_at] != ',') {
        fail();
        return true;
    }
    ++m_at;
    // Some writers leave a comma behind the last element.
    space();
    if (m_at < m_text.size() && m_text[m_at] == bracket) {
        ++m_at;
        return true;
    }
    return false;
}

bool JsonCursor::colon() {
    space();
    if (m_at >= m_text.size() || m_text[m_at] != ':')
        return fail();
    ++m_at;
    return true;
}

bool JsonCursor::skipString() {
    space();
    if (m_failed || m_at >= m_text.size() || m_text[m_at] != '"')
        return fail();
    for (std::size_t i = m_at + 1; i < m_text.size(); ++i) {
        if (m_text[i] == '\\') {
            ++i;
        } else if (m_text[i] == '"') {
            m_at = i + 1;
            return true;
        }
    }
    m_at = m_text.size();
    return fail();
}

bool JsonCursor::string(std::string& out) {
    space();
    const std::size_t begin = m_at;
    if (!skipString())
        return false;
    const std::string_view body = m_text.substr(begin + 1, m_at - begin - 2);
    out.clear();
    if (!appendUnescaped(out, body))
        out.assign(body);
    return true;
}

bool JsonCursor::number(std::string_view& out) {
    if (peek() != Type::Number)
        return fail();
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && m_text[m_at] != '\0' &&
           std::strchr("+-.eE0123456789", m_text[m_at]) != nullptr)
        ++m_at;
    out = m_text.substr(begin, m_at - begin);
    return true;
}

bool JsonCursor::skip() {
    // Brackets are matched by kind; what stands between them is looked at as far as strings need it.
    std::string open;
    do {
        space();
        if (m_failed || m_at >= m_text.size())
            return fail();
        const char c = m_text[m_at];
        if (c == '"') {
            if (!skipString())
                return false;
        } else if (c == '{' || c == '[') {
            open.push_back(c == '{' ? '}' : ']');
            ++m_at;
        } else if (c == '}' || c == ']') {
            if (open.empty() || open.back() != c)
                return fail();
            open.pop_back();
            ++m_at;
        } else if (c == ',' || c == ':') {
            if (open.empty())
                return fail();
            ++m_at;
        } else {
            const std::size_t begin = m_at;
            while (m_at < m_text.size() && std::strchr(",:{}[]\" \t\r\n", m_text[m_at]) == nullptr)
                ++m_at;
            if (m_at == begin)
                return fail();
        }
    } while (!open.empty());
    return true;
}

bool JsonCursor::atEnd() {
    space();
    return !m_failed && m_at >= m_text.size();
}

} // namespace warpline::flame
