// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/text_match.h"

// How many steps one text may take before an expression is given up: some expressions take time that grows
// exponentially with the text. A name is matched in a few hundred.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define BOOST_REGEX_MAX_STATE_COUNT 2000000
#include <boost/regex.hpp>
#pragma GCC diagnostic pop

#include <fmt/format.h>

#include <algorithm>

namespace warpline {

namespace {

char foldChar(char c) {
    return static_cast<char>(c + ((c >= 'A' && c <= 'Z') ? 'a' - 'A' : 0));
}

void foldInto(std::string& out, std::string_view text) {
    out.resize(text.size());
    std::transform(text.begin(), text.end(), out.begin(), foldChar);
}

} // namespace

std::string foldCase(std::string_view text) {
    std::string out;
    foldInto(out, text);
    return out;
}

struct TextPattern::Regex {
    boost::regex expression;
};

TextPattern::TextPattern() = default;
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

TextPattern TextPattern::containing(std::string_view text) {
    TextPattern p;
    p.m_folded = foldCase(text);
    return p;
}

Result<TextPattern> TextPattern::regex(std::string_view expression) {
    try {
        auto regex = std::make_unique<Regex>();
        regex->expression.assign(expression.begin(), expression.end(),
                                 boost::regex::perl | boost::regex::icase);
        TextPattern p;
        p.m_regex = std::move(regex);
        return p;
    } catch (const boost::regex_error& e) {
        // Boost adds where it stood, over several lines; the first sentence is the reason.
        std::string reason = e.what();
        reason = reason.substr(0, reason.find_first_of(".\n"));
        return Error::failed(fmt::format("The regular expression /{}/ cannot be read: {}.", expression,
                                         foldCase(reason.substr(0, 1)) + reason.substr(1)));
    }
}

bool TextPattern::matches(std::string_view text, std::string& scratch) const {
    if (m_regex)
        return boost::regex_search(text.begin(), text.end(), m_regex->expression);
    foldInto(scratch, text);
    return scratch.find(m_folded) != std::string::npos;
}

} // namespace warpline
