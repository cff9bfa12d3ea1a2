// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/repair_text.h"

#include <algorithm>
#include <iterator>

namespace warpline::repairing {
namespace {

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// From `at` over digits.
std::size_t digits(std::string_view word, std::size_t at) {
    while (at < word.size() && isDigit(word[at]))
        ++at;
    return at;
}

/// A decimal number in whatever form, put into JSON's; empty where it is none.
std::string strictNumber(std::string_view word) {
    std::string out;
    std::size_t at = 0;
    if (word[0] == '-' || word[0] == '+') {
        if (word[0] == '-')
            out = "-";
        at = 1;
    }
    const std::size_t whole = digits(word, at);
    std::string_view integer = word.substr(at, whole - at);
    at = whole;
    std::string_view fraction;
    if (at < word.size() && word[at] == '.') {
        const std::size_t end = digits(word, at + 1);
        fraction = word.substr(at + 1, end - at - 1);
        at = end;
    }
    if (integer.empty() && fraction.empty())
        return {};
    while (integer.size() > 1 && integer[0] == '0')
        integer.remove_prefix(1);
    out.append(integer.empty() ? "0" : integer);
    if (!fraction.empty())
        out.append(".").append(fraction);
    if (at < word.size() && (word[at] | 0x20) == 'e') {
        std::size_t exponent = at + 1;
        if (exponent < word.size() && (word[exponent] == '-' || word[exponent] == '+'))
            ++exponent;
        const std::size_t end = digits(word, exponent);
        if (end == exponent)
            return {};
        out.append(word.substr(at, end - at));
        at = end;
    }
    return at == word.size() ? out : std::string();
}

bool isNotANumber(std::string_view word) {
    std::string low;
    for (const char c : word.substr(0, 16))
        low += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    std::string_view name = low;
    if (name.starts_with('-') || name.starts_with('+'))
        name.remove_prefix(1);
    return name == "nan" || name.starts_with("nan(") || name.starts_with("-nan") || name == "inf" ||
           name == "infinity" || name == "none" || name == "undefined" || name == "nil" || name == "null" ||
           name.starts_with("1.#");
}

} // namespace

QuotedKey quotedKey(std::string_view text, std::size_t at) {
    QuotedKey found;
    const std::size_t begin = at + 1;
    std::size_t end = begin;
    while (end < text.size() && text[end] != '"') {
        if (static_cast<unsigned char>(text[end]) < 0x20)
            return found;
        end += text[end] == '\\' ? 2 : 1;
    }
    if (end >= text.size()) {
        found.cut = true;
        return found;
    }
    found.key = text.substr(begin, end - begin);
    const std::size_t colon = skipSpace(text, end + 1);
    found.cut = colon == text.size();
    found.plausible = !found.cut && text[colon] == ':';
    return found;
}

bool isEventKey(std::string_view key) {
    static constexpr std::string_view kKeys[] = {"ph",   "cat",  "name",  "pid", "tid",  "ts",
                                                 "dur",  "args", "id",    "bp",  "s",    "tts",
                                                 "tdur", "id2",  "scope", "sf",  "cname"};
    return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

bool isFrameKey(std::string_view key) {
    static constexpr std::string_view kKeys[] = {
        "traceName",         "displayTimeUnit",   "baseTimeNanoseconds", "schemaVersion",
        "deviceProperties",  "traceEvents",       "distributedInfo",     "otherData",
        "metadata",          "systemTraceEvents", "stackFrames",         "samples",
        "trace_id",          "record_shapes",     "with_stack",          "with_flops",
        "with_modules",      "profile_memory",    "viztracer_metadata",  "file_info",
        "powerTraceAsString"};
    return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

ListEnd endsList(std::string_view text, std::size_t at, bool final) {
    const auto atEnd = final ? ListEnd::Yes : ListEnd::TextEnds;
    std::size_t next = skipSpace(text, at + 1);
    if (next < text.size() && text[next] == '}')
        next = skipSpace(text, next + 1);
    if (next == text.size())
        return atEnd;
    if (text[next] == '[')
        return ListEnd::Yes;
    if (text[next] != ',')
        return ListEnd::No;
    next = skipSpace(text, next + 1);
    if (next == text.size())
        return atEnd;
    if (text[next] != '"')
        return text[next] == '[' ? ListEnd::Yes : ListEnd::No;
    const QuotedKey key = quotedKey(text, next);
    if (key.cut && !final)
        return ListEnd::TextEnds;
    return isFrameKey(key.key) ? ListEnd::Yes : ListEnd::No;
}

std::string strictWord(std::string_view word, bool& odd) {
    if (word == "true" || word == "false" || word == "null")
        return std::string(word);
    if (word == "True" || word == "False") {
        odd = true;
        return word == "True" ? "true" : "false";
    }
    if (isNotANumber(word)) {
        odd = true;
        return "null";
    }
    if (std::string number = strictNumber(word); !number.empty()) {
        odd |= number != word;
        return number;
    }
    odd = true;
    std::string out = "\"";
    for (std::size_t at = 0; at < word.size();) {
        const char c = word[at];
        const int length = utf8Length(word, at);
        if (length <= 0) {
            out += "\xEF\xBF\xBD";
            ++at;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '"') {
            out += '?'; // words end before quotes and spaces; the rest of these has no place in one
            ++at;
        } else {
            out.append(word.substr(at, static_cast<std::size_t>(length)));
            at += static_cast<std::size_t>(length);
        }
    }
    return out + '"';
}

int utf8Length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80)
        return 1;
    // The smallest and the largest second byte leave out long forms, surrogates and what is beyond U+10FFFF.
    std::size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        length = 3;
        low = first == 0xE0 ? 0xA0 : 0x80;
        high = first == 0xED ? 0x9F : 0xBF;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        low = first == 0xF0 ? 0x90 : 0x80;
        high = first == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i >= text.size())
            return -1;
        if (byte(at + i) < low || byte(at + i) > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return static_cast<int>(length);
}

} // namespace warpline::repairing
