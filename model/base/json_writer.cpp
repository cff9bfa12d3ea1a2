// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/json_writer.h"

#include "model/base/json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace warpline {

namespace {

/// Bytes that a JSON string must not hold as they are, and DEL, which terminals would take as a command.
constexpr std::array<bool, 256> kEscaped = [] {
    std::array<bool, 256> escaped{};
    for (std::size_t c = 0; c < 0x20; ++c)
        escaped[c] = true;
    escaped['"'] = escaped['\\'] = escaped[0x7F] = true;
    return escaped;
}();

} // namespace

void appendJsonString(std::string& out, std::string_view text) {
    std::string repaired;
    const auto beyondAscii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    if (std::any_of(text.begin(), text.end(), beyondAscii) && !isUtf8(text)) {
        repaired = toUtf8(text);
        text = repaired;
    }
    out.push_back('"');
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (!kEscaped[c])
            continue;
        out.append(text, from, at - from);
        from = at + 1;
        switch (c) {
        case '"':
            out.append("\\\"");
            break;
        case '\\':
            out.append("\\\\");
            break;
        case '\n':
            out.append("\\n");
            break;
        case '\t':
            out.append("\\t");
            break;
        case '\r':
            out.append("\\r");
            break;
        default:
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
        }
    }
    out.append(text, from);
    out.push_back('"');
}

void appendJsonNumber(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out.append("null");
        return;
    }
    constexpr double kExact = 9007199254740992.0; // 2^53: integers up to here are written as such
    if (value == std::trunc(value) && std::abs(value) < kExact && !(value == 0 && std::signbit(value)))
        fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(value));
    else
        fmt::format_to(std::back_inserter(out), "{}", value);
}

void JsonWriter::newLine() {
    if (m_indent == 0)
        return;
    m_out.push_back('\n');
    m_out.append(m_levels.size() * static_cast<std::size_t>(m_indent), ' ');
}

void JsonWriter::beforeValue() {
    if (m_afterKey) {
        m_afterKey = false;
        return;
    }
    if (m_levels.empty())
        return;
    assert(!m_levels.back().object && "a value in an object needs a key");
    if (!m_levels.back().empty)
        m_out.push_back(',');
    m_levels.back().empty = false;
    newLine();
}

void JsonWriter::close(char bracket) {
    assert(!m_levels.empty() && !m_afterKey);
    const bool empty = m_levels.back().empty;
    m_levels.pop_back();
    if (!empty)
        newLine();
    m_out.push_back(bracket);
}

JsonWriter& JsonWriter::beginObject() {
    beforeValue();
    m_out.push_back('{');
    m_levels.push_back({true});
    return *this;
}

JsonWriter& JsonWriter::endObject() {
    assert(!m_levels.empty() && m_levels.back().object);
    close('}');
    return *this;
}

JsonWriter& JsonWriter::beginArray() {
    beforeValue();
    m_out.push_back('[');
    m_levels.push_back({false});
    return *this;
}

JsonWriter& JsonWriter::endArray() {
    assert(!m_levels.empty() && !m_levels.back().object);
    close(']');
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    assert(!m_levels.empty() && m_levels.back().object && !m_afterKey);
    if (!m_levels.back().empty)
        m_out.push_back(',');
    m_levels.back().empty = false;
    newLine();
    appendJsonString(m_out, name);
    m_out.append(m_indent == 0 ? ":" : ": ");
    m_afterKey = true;
    return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
    beforeValue();
    appendJsonString(m_out, value);
    return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
    beforeValue();
    fmt::format_to(std::back_inserter(m_out), "{}", value);
    return *this;
}

JsonWriter& JsonWriter::unsignedInteger(std::uint64_t value) {
    beforeValue();
    fmt::format_to(std::back_inserter(m_out), "{}", value);
    return *this;
}

JsonWriter& JsonWriter::number(double value) {
    beforeValue();
    appendJsonNumber(m_out, value);
    return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
    beforeValue();
    m_out.append(value ? "true" : "false");
    return *this;
}

JsonWriter& JsonWriter::null() {
    beforeValue();
    m_out.append("null");
    return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
    beforeValue();
    m_out.append(json);
    return *this;
}

} // namespace warpline
