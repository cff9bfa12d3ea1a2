// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

/// Appends a string as JSON, quotes included. The result is valid JSON and valid UTF-8 whatever the text
/// holds: control characters are escaped, bytes that are no UTF-8 become U+FFFD.
void appendJsonString(std::string& out, std::string_view text);
/// Appends a number so that it reads back as the same double; null where it is not finite.
void appendJsonNumber(std::string& out, double value);

/// Writes one JSON document into a string, value by value. Commas, colons and (where asked for) line breaks
/// are its business; calls in an order that makes no document are a mistake of the program (assert).
/// Integers are written exactly.
class JsonWriter {
  public:
    /// `indent` spaces a level; 0 = all in one line.
    explicit JsonWriter(std::string& out, int indent = 0) : m_out(out), m_indent(indent) {}

    JsonWriter& beginObject();
    JsonWriter& endObject();
    JsonWriter& beginArray();
    JsonWriter& endArray();
    JsonWriter& key(std::string_view name);

    JsonWriter& text(std::string_view value);
    JsonWriter& integer(std::int64_t value);
    JsonWriter& unsignedInteger(std::uint64_t value);
    JsonWriter& number(double value);
    JsonWriter& boolean(bool value);
    JsonWriter& null();
    /// A value that is JSON already.
    JsonWriter& raw(std::string_view json);

    JsonWriter& field(std::string_view name, std::string_view value) { return key(name).text(value); }
    JsonWriter& field(std::string_view name, const char* value) { return key(name).text(value); }
    JsonWriter& field(std::string_view name, std::int64_t value) { return key(name).integer(value); }
    JsonWriter& field(std::string_view name, std::uint64_t value) { return key(name).unsignedInteger(value); }

  private:
    void beforeValue();
    void newLine();
    void close(char bracket);

    std::string& m_out;
    int m_indent;
    struct Level {
        bool object;
        bool empty = true;
    };
    std::vector<Level> m_levels;
    bool m_afterKey = false;
};

} // namespace warpline
