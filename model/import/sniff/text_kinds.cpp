// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/quote.h"
#include "model/import/sniff/kinds.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <vector>

namespace warpline {
namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// The lines of the head that have something in them, the last one only where it is whole.
std::vector<std::string_view> lines(std::string_view text, std::size_t most, bool whole) {
    std::vector<std::string_view> out;
    while (!text.empty() && out.size() < most) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos && !whole)
            break;
        if (const std::string_view line = trimmed(text.substr(0, end)); !line.empty())
            out.push_back(line);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

/// A pointer says how large the file is that it stands for; sizes there are counted in thousands.
Sniffed lfsPointer(std::string_view head) {
    std::string size;
    if (const std::size_t at = head.find("\nsize "); at != std::string_view::npos) {
        std::uint64_t bytes = 0;
        const std::string_view digits = head.substr(at + 6, 20);
        if (std::from_chars(digits.data(), digits.data() + digits.size(), bytes).ec == std::errc()) {
            if (bytes < 1000)
                size = fmt::format(" ({} bytes)", bytes);
            else if (bytes < 1'000'000)
                size = fmt::format(" ({:.0f} kB)", static_cast<double>(bytes) / 1e3);
            else if (bytes < 1'000'000'000)
                size = fmt::format(" ({:.0f} MB)", static_cast<double>(bytes) / 1e6);
            else
                size = fmt::format(" ({:.1f} GB)", static_cast<double>(bytes) / 1e9);
        }
    }
    return isOther(
        fmt::format("This is a Git LFS pointer, not the file itself: run \"git lfs pull\" in its repository "
                    "to fetch it{}.",
                    size));
}

bool startsWithNoCase(std::string_view text, std::string_view part) {
    return text.size() >= part.size() &&
           std::equal(part.begin(), part.end(), text.begin(), [](char a, char b) {
               return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
           });
}

Sniffed markup(std::string_view text) {
    const std::size_t html = std::min(text.find("<html"), text.find("<HTML"));
    if (startsWithNoCase(text, "<!doctype html") || html < 1000) {
        std::string title;
        if (const std::size_t at = text.find("<title"); at != std::string_view::npos) {
            const std::size_t begin = text.find('>', at);
            const std::size_t end = text.find('<', begin);
            if (begin != std::string_view::npos && end != std::string_view::npos && end > begin + 1)
                title =
                    fmt::format(" titled {}", inQuotes(trimmed(text.substr(begin + 1, end - begin - 1)), 80));
        }
        return isOther(
            fmt::format("This is a web page (HTML){}, not a trace: a download often gives one where a login "
                        "is needed or the file is gone. Download the file itself again.",
                        title));
    }
    if (contains(text.substr(0, 1000), "<Error>"))
        return isOther(
            "This is the error message of a file store (XML), not the file. Check the address and your "
            "rights to it, and download the file again.");
    return notRead("an XML document");
}

/// How many fields a line of a table has; commas in quotes do not count.
std::size_t fields(std::string_view line) {
    std::size_t count = 1;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            ++count;
    }
    return count;
}

Sniffed table(std::string_view header) {
    if (contains(header, "\"Kernel Name\"") && contains(header, "\"ID\""))
        return notRead("a table of Nsight Compute (ncu --csv)");
    if (contains(header, "Total Time (ns)") || contains(header, "Time (%)") || contains(header, "Start (ns)"))
        return notRead("a table of Nsight Systems (nsys stats, CSV)",
                       "Open a trace rather than a summary of one.");
    if (contains(header, "\"Agent_Id\"") || contains(header, "\"Dispatch_Id\""))
        return notRead("a table of AMD's rocprofv3 (CSV)");
    return notRead(fmt::format("a table (CSV) with the columns {}{}", header.substr(0, 80),
                               header.size() > 80 ? "\u2026" : ""));
}

/// "a;b;c 12": a stack and how often it was seen, which may be a fraction.
bool isFoldedStack(std::string_view line) {
    const std::size_t space = line.find_last_of(" \t");
    if (space == std::string_view::npos || space + 1 == line.size() || space == 0)
        return false;
    const std::string_view count = line.substr(space + 1);
    return count.front() >= '0' && count.front() <= '9' && std::count(count.begin(), count.end(), '.') <= 1 &&
           std::all_of(count.begin(), count.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

/// Lines that are stacks, some of them of more than one frame, or all of them of a name without spaces.
bool areFoldedStacks(const std::vector<std::string_view>& first) {
    std::size_t lines = 0;
    std::size_t stacks = 0;
    std::size_t deep = 0;
    std::size_t plain = 0;
    for (const std::string_view line : first) {
        if (line.starts_with('#') || line.starts_with("//"))
            continue;
        ++lines;
        if (!isFoldedStack(line))
            continue;
        ++stacks;
        const std::string_view names = trimmed(line.substr(0, line.find_last_of(" \t")));
        deep += contains(names, ";") ? 1 : 0;
        plain += names.find_first_of(" \t,") == std::string_view::npos ? 1 : 0;
    }
    if (deep > 0)
        return 2 * stacks >= lines;
    return lines > 1 && plain == lines;
}

} // namespace

Sniffed sniffText(std::string_view head, bool whole) {
    const std::string_view text = trimmed(head);
    if (text.starts_with("version https://git-lfs.github.com/spec/"))
        return lfsPointer(head);
    if (text.starts_with('<'))
        return markup(text);
    const std::vector<std::string_view> first =
        lines(head, 20, whole || head.find('\n') == std::string_view::npos);
    if (first.empty())
        return isOther("This is a text file, not a trace.");
    if (contains(head, "==PROF==") || contains(head, "==ERROR=="))
        return notRead("text that Nsight Compute printed");
    if (contains(head, "Self CPU %"))
        return isOther(
            "This is a table that torch.profiler printed, not a trace. Open the trace that it was made from "
            "(export_chrome_trace).");
    if (areFoldedStacks(first))
        return isProfile("a list of folded stacks, as flame graphs are made from");
    if (fields(first[0]) >= 3 && (first.size() == 1 || fields(first[1]) >= 3))
        return table(first[0]);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
    if (std::any_of(first[0].begin(), first[0].end(), control))
        return isOther("This is a binary file of a kind that Warpline does not know, not a trace.");
    return isOther(
        fmt::format("This is a text file that begins with {}, not a trace.", inQuotes(first[0], 60)));
}

} // namespace warpline
