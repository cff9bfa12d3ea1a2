// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/sniff.h"

#include "model/import/sniff/kinds.h"

#include <fmt/format.h>

namespace warpline {

Sniffed isChromeTrace() {
    return {Sniffed::Format::ChromeTrace, {}};
}

Sniffed isOther(std::string sentence) {
    return {Sniffed::Format::Other, std::move(sentence)};
}

Sniffed isProfile(std::string_view what) {
    return {Sniffed::Format::Profile, fmt::format("This is {}, not a trace.", what)};
}

Sniffed isMemory(Sniffed::Format format, std::string_view what) {
    return {format, fmt::format("This is {}, not a trace.", what)};
}

Sniffed notRead(std::string_view what, std::string_view advice) {
    return isOther(fmt::format("This is {}. This version of Warpline does not read it.{}{}", what,
                               advice.empty() ? "" : " ", advice));
}

/// A line as "[unknown];main 12" begins with a bracket too.
bool startsAWord(std::string_view text) {
    const std::size_t at =
        text.front() == '[' ? text.find_first_not_of(" \t\r\n", 1) : std::string_view::npos;
    if (at == std::string_view::npos)
        return false;
    const std::string_view rest = text.substr(at);
    const char c = rest.front();
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '/';
    return letter && !rest.starts_with("true") && !rest.starts_with("false") && !rest.starts_with("null") &&
           !rest.starts_with("NaN") && !rest.starts_with("Infinity");
}

Sniffed sniff(std::string_view head, bool whole) {
    if (head.empty())
        return isOther(
            "This file is empty (0 bytes): nothing was written to it, or the copy failed. Record the trace "
            "or copy the file again.");
    const std::size_t first = head.find_first_not_of(" \t\r\n\v\f");
    if (first == std::string_view::npos)
        return isOther(
            whole ? "There is nothing in this file but white space. Record the trace or copy the file again."
                  : "There is nothing but white space in the first part of this file; it is no trace.");
    if (std::optional<Sniffed> known = sniffBinary(head))
        return *known;
    if (head[first] == '{' || (head[first] == '[' && !startsAWord(head.substr(first))))
        if (std::optional<Sniffed> known = sniffJson(head.substr(first), whole))
            return *known;
    if (hasTraceEvents(head) || head.find("\"traceEvents\"") != std::string_view::npos)
        return isChromeTrace();
    return sniffText(head, whole);
}

} // namespace warpline
