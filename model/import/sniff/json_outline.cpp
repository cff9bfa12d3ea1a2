// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/sniff/json_outline.h"

#include <algorithm>

namespace warpline {
namespace {

constexpr std::size_t kMaxKeys = 64;
constexpr std::size_t kMaxElements = 16;

class Outliner {
  public:
    explicit Outliner(std::string_view text) : m_text(text) {}

    JsonOutline run() {
        m_out.array = m_text[0] == '[';
        while (m_at < m_text.size() && !m_out.closed)
            step();
        m_out.inFirst = m_out.array && m_count == 1 && m_depth > 1;
        return std::move(m_out);
    }

  private:
    using Kind = JsonOutline::Kind;

    void step() {
        const char c = m_text[m_at];
        switch (c) {
        case '{':
        case '[':
            if (m_depth > 0)
                value(c == '{' ? Kind::Object : Kind::Array, {});
            // One bit a level tells objects from arrays; what is deeper than 64 is of no interest here.
            if (m_depth < 64)
                m_objects = c == '{' ? m_objects | bit(m_depth) : m_objects & ~bit(m_depth);
            ++m_depth;
            m_keyNext = c == '{';
            ++m_at;
            return;
        case '}':
        case ']':
            ++m_at;
            m_keyNext = false;
            if (--m_depth == 0)
                m_out.closed = true;
            return;
        case ',':
            m_keyNext = inObject();
            ++m_at;
            return;
        case ':':
            m_keyNext = false;
            ++m_at;
            return;
        case '"':
            return string();
        case ' ':
        case '\n':
        case '\r':
        case '\t':
            ++m_at;
            return;
        default:
            word(c);
        }
    }
    void string() {
        const std::size_t begin = ++m_at;
        while (m_at < m_text.size() && m_text[m_at] != '"')
            m_at += m_text[m_at] == '\\' ? 2 : 1;
        if (m_at >= m_text.size()) {
            m_at = m_text.size(); // cut inside: tells nothing
            return;
        }
        const std::string_view text = m_text.substr(begin, m_at - begin);
        ++m_at;
        if (m_keyNext)
            key(text);
        else
            value(Kind::String, text);
    }
    void word(char first) {
        while (m_at < m_text.size() &&
               std::string_view("{}[],:\" \n\r\t").find(m_text[m_at]) == std::string_view::npos)
            ++m_at;
        value(first == '-' || (first >= '0' && first <= '9') ? Kind::Number : Kind::Word, {});
    }
    void key(std::string_view text) {
        m_keyNext = false;
        if (m_depth == 1)
            m_key = text;
        if (m_depth == 0 || m_depth > JsonOutline::kDepths)
            return;
        std::vector<std::string_view>& keys = m_out.keys[m_depth - 1];
        if (keys.size() < kMaxKeys && std::find(keys.begin(), keys.end(), text) == keys.end())
            keys.push_back(text);
    }
    void value(Kind kind, std::string_view text) {
        if (m_depth == 1 && inObject() && m_out.members.size() < kMaxKeys)
            m_out.members.push_back({m_key, kind, text});
        if (!m_out.array)
            return;
        if (m_depth == 1 && !inObject()) {
            ++m_count;
            if (m_out.elements.size() < kMaxElements)
                m_out.elements.push_back({kind, 0, true});
        } else if (m_depth == 2 && !inObject() && m_count == m_out.elements.size() && m_count > 0) {
            ++m_out.elements.back().members;
            m_out.elements.back().numbers &= kind == Kind::Number;
        }
    }
    [[nodiscard]] bool inObject() const {
        return m_depth > 0 && m_depth <= 64 && (m_objects & bit(m_depth - 1)) != 0;
    }
    static std::uint64_t bit(std::size_t level) { return std::uint64_t{1} << level; }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_depth = 0;
    std::uint64_t m_objects = 0;
    bool m_keyNext = false;
    std::string_view m_key;
    std::size_t m_count = 0; ///< elements of a root array so far
    JsonOutline m_out;
};

} // namespace

const JsonOutline::Member* JsonOutline::find(std::string_view key) const {
    const auto it =
        std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
    return it == members.end() ? nullptr : &*it;
}

bool JsonOutline::hasAt(std::size_t depth, std::string_view key) const {
    return depth < keys.size() && std::find(keys[depth].begin(), keys[depth].end(), key) != keys[depth].end();
}

JsonOutline outlineOf(std::string_view text) {
    return Outliner(text).run();
}

} // namespace warpline
