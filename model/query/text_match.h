// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace warpline {

/// Upper-case ASCII letters as lower-case ones; other bytes stay.
std::string foldCase(std::string_view text);

/// A text to look for in others, as it stands or as a regular expression (Perl's syntax); case does not
/// count. Matching may be done from several threads.
class TextPattern {
  public:
    /// `text` anywhere in the other.
    static TextPattern containing(std::string_view text);
    /// An error where the expression cannot be read, with the reason.
    static Result<TextPattern> regex(std::string_view expression);

    TextPattern(TextPattern&&) noexcept;
    TextPattern& operator=(TextPattern&&) noexcept;
    ~TextPattern();

    /// `scratch` is reused between calls and belongs to the caller's thread. Throws std::runtime_error where
    /// a regular expression takes too many steps to be decided.
    [[nodiscard]] bool matches(std::string_view text, std::string& scratch) const;

  private:
    struct Regex;
    TextPattern();
    std::string m_folded;
    std::unique_ptr<const Regex> m_regex;
};

} // namespace warpline
