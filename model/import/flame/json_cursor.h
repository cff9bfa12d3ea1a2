// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpline::flame {

/// Walks over a JSON document in memory, value by value, without building it: for large documents of a known
/// form. After a mistake every call gives false and `offset()` is where it stands.
///
/// ```
/// json.object([&](std::string_view key) { return key == "name" ? json.string(name) : json.skip(); });
/// ```
class JsonCursor {
  public:
    explicit JsonCursor(std::string_view text) : m_text(text) {}

    enum class Type { Object, Array, String, Number, Word, Nothing };
    /// What the next value is.
    Type peek();
    /// Calls f(key) for each member; f reads the value and gives false to stop with a mistake.
    template <class F>
    bool object(F&& f) {
        if (!open('{'))
            return false;
        std::string key;
        for (bool first = true; !m_failed; first = false) {
            if (closes('}', first))
                return !m_failed;
            if (!string(key) || !colon() || !f(std::string_view(key)))
                return fail();
        }
        return false;
    }
    /// Calls f() for each element; f reads it.
    template <class F>
    bool array(F&& f) {
        if (!open('['))
            return false;
        for (bool first = true; !m_failed; first = false) {
            if (closes(']', first))
                return !m_failed;
            if (!f())
                return fail();
        }
        return false;
    }
    bool string(std::string& out);
    /// A number as it is written.
    bool number(std::string_view& out);
    /// Passes over any value, however deep.
    bool skip();
    /// Whether nothing but white space is left.
    bool atEnd();

    [[nodiscard]] bool failed() const { return m_failed; }
    /// The value that is wrong is of another type than is needed: the document is JSON all the same.
    bool fail() {
        m_failed = true;
        return false;
    }
    [[nodiscard]] std::size_t offset() const { return m_at; }
    void seek(std::size_t offset) { m_at = offset; }

  private:
    void space();
    bool open(char bracket);
    /// After an element: whether the list ends here. A comma is passed over otherwise.
    bool closes(char bracket, bool first);
    bool colon();
    bool skipString();

    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_failed = false;
};

} // namespace warpline::flame
