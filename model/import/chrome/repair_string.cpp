// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/repair_string.h"

#include "model/import/chrome/repair.h"
#include "model/import/chrome/repair_text.h"

#include <fmt/format.h>

namespace warpline::repairing {
namespace {

enum class Answer { No, Yes, TextEnds };

/// What comes after the comma at `at` in an object: a key, or another repairable thing.
Answer keyFollows(std::string_view text, std::size_t at) {
    const std::size_t next = skipSpace(text, at);
    if (next == text.size())
        return Answer::TextEnds;
    if (text[next] != '"')
        return Answer::No;
    const QuotedKey key = quotedKey(text, next);
    return key.plausible ? Answer::Yes : key.cut ? Answer::TextEnds : Answer::No;
}

/// Whether a quote at `at` ends a value in an object.
Answer endsMember(std::string_view text, std::size_t at) {
    std::size_t next = skipSpace(text, at + 1);
    if (next == text.size())
        return Answer::TextEnds;
    if (text[next] == '"') // a forgotten comma
        return keyFollows(text, next);
    if (text[next] == '}') {
        next = skipSpace(text, next + 1);
        if (next == text.size())
            return Answer::TextEnds;
        if (text[next] == '"')
            return keyFollows(text, next);
        const bool sense = std::string_view(",}]{").find(text[next]) != std::string_view::npos ||
                           static_cast<unsigned char>(text[next]) < 0x20;
        return sense ? Answer::Yes : Answer::No;
    }
    if (text[next] == ']') { // an event without its brace, at the end of the list
        const ListEnd end = endsList(text, next, false);
        return end == ListEnd::Yes ? Answer::Yes : end == ListEnd::No ? Answer::No : Answer::TextEnds;
    }
    if (text[next] != ',')
        return Answer::No;
    next = skipSpace(text, next + 1);
    if (next == text.size())
        return Answer::TextEnds;
    // A comma too many, or an event without its brace.
    if (text[next] == '}' || text[next] == ',' || text[next] == '{')
        return Answer::Yes;
    return keyFollows(text, next);
}

Answer endsElement(std::string_view text, std::size_t at) {
    std::size_t next = skipSpace(text, at + 1);
    if (next == text.size())
        return Answer::TextEnds;
    if (text[next] == ']' || text[next] == '}')
        return Answer::Yes;
    if (text[next] != ',')
        return Answer::No;
    next = skipSpace(text, next + 1);
    if (next == text.size())
        return Answer::TextEnds;
    return std::string_view("\"{[]},-0123456789tfnNI").find(text[next]) != std::string_view::npos
               ? Answer::Yes
               : Answer::No;
}

Answer endsKey(std::string_view text, std::size_t at) {
    const std::size_t next = skipSpace(text, at + 1);
    if (next == text.size())
        return Answer::TextEnds;
    // A colon; or none, and a value, or no value either.
    return std::string_view(":,}\"{[-0123456789").find(text[next]) != std::string_view::npos ? Answer::Yes
                                                                                             : Answer::No;
}

/// A quote after a backslash that is meant to end the string, as in "C:\temp\": only then may a key with
/// plain quotes come after it, in a way that no valid text has.
bool endsInBackslash(std::string_view text, std::size_t quote) {
    std::size_t next = skipSpace(text, quote + 1);
    while (next < text.size() && (text[next] == '}' || text[next] == ']'))
        next = skipSpace(text, next + 1);
    if (next == text.size() || text[next] != ',')
        return false;
    next = skipSpace(text, next + 1);
    if (next < text.size() && text[next] == '{')
        next = skipSpace(text, next + 1);
    return next < text.size() && text[next] == '"' && quotedKey(text, next).plausible;
}

/// Four hexadecimal digits at `at`, or -1.
int hex4(std::string_view text, std::size_t at) {
    if (at + 4 > text.size())
        return -1;
    int value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        const char c = text[i];
        const char low = static_cast<char>(c | 0x20);
        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (low >= 'a' && low <= 'f')
            value = value * 16 + (low - 'a' + 10);
        else
            return -1;
    }
    return value;
}

bool isLeadSurrogate(int u) {
    return u >= 0xD800 && u < 0xDC00;
}
bool isTrailSurrogate(int u) {
    return u >= 0xDC00 && u < 0xE000;
}

class StringReader {
  public:
    StringReader(std::string_view text, std::size_t& at, Place place, bool final, std::string& out,
                 std::uint32_t& repairs)
        : m_text(text), m_at(at), m_place(place), m_final(final), m_out(out), m_repairs(repairs) {}

    StringEnd run() {
        m_begin = m_at++;
        m_out += '"';
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '"') {
                StringEnd end{};
                if (quote(end))
                    return end;
            } else if (c == '\\') {
                if (m_at + 12 > m_text.size() && !m_final) // room for a pair of surrogates
                    break;
                if (backslash())
                    return StringEnd::Closed;
            } else {
                character(c);
            }
        }
        return StringEnd::TextEnds;
    }

  private:
    /// True where the string is done with, as `end` says.
    bool quote(StringEnd& end) {
        const char before = lastSolid();
        if (before == '{' && beginsEvent(m_text, m_solid)) {
            m_at = m_solid;
            end = StringEnd::NewEvent;
            return true;
        }
        // The closing quote is missing: the next member begins here.
        if (before == ',' && m_place != Place::Key && m_commaAt == m_solid) {
            const QuotedKey key = quotedKey(m_text, m_at);
            if (key.plausible && isEventKey(key.key)) {
                m_out.resize(m_commaOut);
                m_out += '"';
                m_at = m_commaAt;
                m_repairs |= Repair::UnescapedQuote;
                end = StringEnd::Closed;
                return true;
            }
        }
        Answer answer = m_place == Place::Key           ? endsKey(m_text, m_at)
                        : m_place == Place::ObjectValue ? endsMember(m_text, m_at)
                                                        : endsElement(m_text, m_at);
        if (answer == Answer::TextEnds) {
            if (!m_final) {
                end = StringEnd::TextEnds;
                return true;
            }
            answer = Answer::Yes; // the file is cut behind it
        }
        ++m_at;
        if (answer == Answer::Yes) {
            m_out += '"';
            end = StringEnd::Closed;
            return true;
        }
        m_out += "\\\"";
        m_solid = m_at - 1;
        m_repairs |= Repair::UnescapedQuote;
        return false;
    }
    /// True where the string ends with it.
    bool backslash() {
        const char next = m_at + 1 < m_text.size() ? m_text[m_at + 1] : '\0';
        m_solid = m_at + 1;
        if (next == '"' && m_place != Place::Key && endsInBackslash(m_text, m_at + 1)) {
            m_out += "\\\\\"";
            m_at += 2;
            m_repairs |= Repair::BadEscape;
            return true;
        }
        if (next != '\0' && std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos) {
            m_out += m_text.substr(m_at, 2);
            m_at += 2;
            return false;
        }
        const int unit = next == 'u' ? hex4(m_text, m_at + 2) : -1;
        if (unit < 0) {
            m_out += "\\\\";
            m_repairs |= Repair::BadEscape;
            m_solid = m_at++;
            return false;
        }
        if (isLeadSurrogate(unit) && m_text.substr(m_at + 6, 2) == "\\u" &&
            isTrailSurrogate(hex4(m_text, m_at + 8))) {
            m_out += m_text.substr(m_at, 12);
            m_at += 12;
        } else if (isLeadSurrogate(unit) || isTrailSurrogate(unit)) {
            m_out += "\\ufffd"; // half a character is none
            m_repairs |= Repair::BadEscape;
            m_at += 6;
        } else {
            m_out += m_text.substr(m_at, 6);
            m_at += 6;
        }
        m_solid = m_at - 1;
        return false;
    }
    void character(char c) {
        if (static_cast<unsigned char>(c) < 0x20) {
            m_repairs |= Repair::ControlCharacter;
            if (c == '\n')
                m_out += "\\n";
            else if (c == '\t')
                m_out += "\\t";
            else if (c == '\r')
                m_out += "\\r";
            else
                m_out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
            if (!isSpace(c))
                m_solid = m_at;
            ++m_at;
            return;
        }
        if (c == ',') {
            m_commaAt = m_at;
            m_commaOut = m_out.size();
        }
        if (c != ' ')
            m_solid = m_at;
        if (static_cast<unsigned char>(c) < 0x80) {
            m_out += c;
            ++m_at;
            return;
        }
        const int length = utf8Length(m_text, m_at);
        if (length <= 0) {
            m_out += "\xEF\xBF\xBD";
            m_repairs |= Repair::InvalidUtf8;
            ++m_at;
            return;
        }
        m_out += m_text.substr(m_at, static_cast<std::size_t>(length));
        m_at += static_cast<std::size_t>(length);
    }
    /// The last byte of the string so far that is no white space.
    [[nodiscard]] char lastSolid() const { return m_solid > m_begin ? m_text[m_solid] : '\0'; }

    std::string_view m_text;
    std::size_t& m_at;
    Place m_place;
    bool m_final;
    std::string& m_out;
    std::uint32_t& m_repairs;
    std::size_t m_begin = 0;
    std::size_t m_solid = 0;
    std::size_t m_commaAt = 0;
    std::size_t m_commaOut = 0;
};

} // namespace

StringEnd readString(std::string_view text, std::size_t& at, Place place, bool final, std::string& out,
                     std::uint32_t& repairs) {
    const std::uint32_t before = repairs;
    const StringEnd end = StringReader(text, at, place, final, out, repairs).run();
    if (end != StringEnd::Closed)
        repairs = before; // nothing of it stays
    return end;
}

bool beginsEvent(std::string_view text, std::size_t at, bool inArray) {
    const std::size_t next = skipSpace(text, at + 1);
    if (next == text.size() || text[next] != '"')
        return false;
    const QuotedKey key = quotedKey(text, next);
    if (!key.plausible)
        return false;
    // "ph" and "cat" begin nothing else; another key of events needs the end of an event before it.
    if (key.key == "ph" || key.key == "cat")
        return true;
    if (inArray || !isEventKey(key.key))
        return false;
    std::size_t before = at;
    const auto back = [&] {
        while (before > 0 && isSpace(text[before - 1]))
            --before;
        return before > 0 ? text[--before] : '\0';
    };
    return back() == ',' && back() == '}';
}

} // namespace warpline::repairing
