// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/memory_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warpline {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

/// Which stacks have a frame with the text, by one walk from callers to callees.
std::vector<bool> stacksWith(const MemoryHistory& history, const std::string& text) {
    const StackTree& stacks = history.stacks;
    std::vector<bool> frames(stacks.frameCount());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const MemoryFrame& f = stacks.frame(FrameId::fromIndex(i));
        const std::string whole =
            lowered(fmt::format("{}:{} {} {}", history.strings.view(f.file), f.line,
                                history.strings.view(f.name), history.strings.view(f.fx)));
        frames[i] = whole.find(text) != std::string::npos;
    }
    std::vector<bool> has(stacks.stackCount());
    for (std::size_t i = 0; i < has.size(); ++i) {
        const StackTree::Node& node = stacks.node(StackId::fromIndex(i));
        has[i] = frames[node.frame.index()] || (node.caller && has[node.caller.index()]);
    }
    return has;
}

/// The end of a block as far as the history goes.
Moment lastOf(const MemoryDevice& device, std::size_t row) {
    return std::min(device.blocks.death[row], device.lastMoment());
}

std::int64_t distance(const MemoryDevice& device, Moment from, Moment to) {
    if (to <= from)
        return 0;
    return device.hasTimes ? device.timeOf(to) - device.timeOf(from)
                           : static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
}

/// A number and its unit: bytes, or ns (events as they are).
std::optional<std::int64_t> quantity(std::string_view text) {
    double value = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    if (r.ec != std::errc() || !std::isfinite(value))
        return std::nullopt;
    const std::string unit =
        lowered(std::string_view(r.ptr, static_cast<std::size_t>(text.data() + text.size() - r.ptr)));
    struct Unit {
        std::string_view name;
        double factor;
    };
    static constexpr Unit kUnits[] = {
        {"", 1},
        {"b", 1},
        {"ev", 1},
        {"ns", 1},
        {"us", 1e3},
        {"µs", 1e3},
        {"ms", 1e6},
        {"s", 1e9},
        {"k", 1024},
        {"kb", 1024},
        {"kib", 1024},
        {"m", 1048576.0},
        {"mb", 1048576.0},
        {"mib", 1048576.0},
        {"g", 1073741824.0},
        {"gb", 1073741824.0},
        {"gib", 1073741824.0},
    };
    for (const Unit& u : kUnits)
        if (u.name == unit && std::abs(value * u.factor) < 9e18)
            return static_cast<std::int64_t>(value * u.factor);
    return std::nullopt;
}

/// "size>=1MiB": takes the word as a condition on `min` and `max` where it is one.
bool condition(std::string_view word, std::string_view name, std::optional<std::int64_t>& min,
               std::optional<std::int64_t>& max) {
    if (!word.starts_with(name))
        return false;
    word.remove_prefix(name.size());
    if (word.empty() || (word[0] != '<' && word[0] != '>' && word[0] != '='))
        return false;
    const char op = word[0];
    word.remove_prefix(1);
    const bool equal = word.starts_with('=');
    if (equal)
        word.remove_prefix(1);
    const auto value = quantity(word);
    if (!value)
        return false;
    if (op == '>')
        min = *value + (equal ? 0 : 1);
    else if (op == '<')
        max = *value - (equal ? 0 : 1);
    else
        min = max = *value;
    return true;
}

} // namespace

std::int64_t blockLifetime(const MemoryDevice& device, std::size_t row) {
    return distance(device, device.blocks.birth[row], lastOf(device, row));
}

std::int64_t blockAge(const MemoryDevice& device, std::size_t row, Moment moment) {
    return distance(device, device.blocks.birth[row], std::min(moment, lastOf(device, row)));
}

std::vector<std::uint32_t> listBlocks(const MemoryHistory& history, const MemoryDevice& device,
                                      const BlockFilter& f, BlockSort sort, bool descending,
                                      std::stop_token stop) {
    const MemoryBlockTable& b = device.blocks;
    const std::string text = lowered(f.stackText);
    std::vector<bool> withText;
    if (!text.empty())
        withText = stacksWith(history, text);
    const Moment ageAt = f.aliveAt.value_or(device.lastMoment());
    const auto within = [](std::int64_t v, const std::optional<std::int64_t>& min,
                           const std::optional<std::int64_t>& max) {
        return (!min || v >= *min) && (!max || v <= *max);
    };
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < b.count(); ++i) {
        if ((i & 0xFFFF) == 0 && stop.stop_requested())
            return {};
        if (f.aliveAt && !b.aliveAt(i, *f.aliveAt))
            continue;
        if (f.overlaps && (b.birth[i] > f.overlaps->second || b.death[i] <= f.overlaps->first))
            continue;
        if (!within(b.size[i], f.minSize, f.maxSize))
            continue;
        if ((f.category && b.category[i] != *f.category) || (f.stream && b.stream[i] != *f.stream) ||
            (f.pool && b.pool[i] != *f.pool) || (f.stack && b.stack[i] != f.stack))
            continue;
        if (f.address && *f.address - b.address[i] >=
                             static_cast<std::uint64_t>(std::max<std::int64_t>(b.allocated[i], 1)))
            continue;
        if (!text.empty() && !(b.stack[i] && withText[b.stack[i].index()]))
            continue;
        if ((f.minLifetime || f.maxLifetime) &&
            !within(blockLifetime(device, i), f.minLifetime, f.maxLifetime))
            continue;
        if ((f.minAge || f.maxAge) && !within(blockAge(device, i, ageAt), f.minAge, f.maxAge))
            continue;
        rows.push_back(static_cast<std::uint32_t>(i));
    }
    const auto key = [&](std::uint32_t row) -> std::int64_t {
        switch (sort) {
        case BlockSort::Size:
            return b.size[row];
        case BlockSort::Allocated:
            return b.allocated[row];
        case BlockSort::Birth:
            return b.birth[row];
        case BlockSort::Death:
            return b.death[row];
        case BlockSort::Lifetime:
            return blockLifetime(device, row);
        case BlockSort::Age:
            return blockAge(device, row, ageAt);
        case BlockSort::Address: // in the order of unsigned numbers
            return static_cast<std::int64_t>(b.address[row] ^ (std::uint64_t{1} << 63));
        case BlockSort::Category:
            return static_cast<std::int64_t>(b.category[row]);
        case BlockSort::Stream:
            return b.stream[row];
        case BlockSort::Pool:
            return b.pool[row];
        case BlockSort::Stack:
            break;
        }
        return 0;
    };
    std::vector<std::pair<std::int64_t, std::uint32_t>> keyed;
    keyed.reserve(rows.size());
    if (sort == BlockSort::Stack) {
        // By the innermost frame's text, each text made once.
        std::vector<std::pair<std::string, std::uint32_t>> texts;
        std::vector<std::int64_t> rank(history.stacks.frameCount() + 1, -1);
        for (std::size_t i = 0; i < history.stacks.frameCount(); ++i)
            texts.emplace_back(history.frameText(FrameId::fromIndex(i)), static_cast<std::uint32_t>(i));
        std::sort(texts.begin(), texts.end());
        for (std::size_t i = 0; i < texts.size(); ++i)
            rank[texts[i].second] = static_cast<std::int64_t>(i);
        for (const std::uint32_t row : rows)
            keyed.emplace_back(
                b.stack[row] ? rank[history.stacks.node(b.stack[row]).frame.index()] : std::int64_t{-1}, row);
    } else {
        for (const std::uint32_t row : rows)
            keyed.emplace_back(key(row), row);
    }
    if (stop.stop_requested())
        return {};
    if (descending)
        std::sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) {
            return x.first != y.first ? x.first > y.first : x.second < y.second;
        });
    else
        std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = keyed[i].second;
    return rows;
}

BlockFilter parseBlockFilter(std::string_view text) {
    BlockFilter filter;
    while (!text.empty()) {
        const std::size_t space = text.find(' ');
        const std::string_view word = text.substr(0, space);
        text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
        if (word.empty())
            continue;
        if (condition(word, "size", filter.minSize, filter.maxSize) ||
            condition(word, "life", filter.minLifetime, filter.maxLifetime) ||
            condition(word, "age", filter.minAge, filter.maxAge))
            continue;
        if (word.starts_with("addr:") || word.starts_with("0x")) {
            std::string_view digits = word.starts_with("addr:") ? word.substr(5) : word;
            if (digits.starts_with("0x"))
                digits.remove_prefix(2);
            std::uint64_t address = 0;
            const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
            if (r.ec == std::errc() && r.ptr == digits.data() + digits.size() && !digits.empty()) {
                filter.address = address;
                continue;
            }
        }
        filter.stackText += (filter.stackText.empty() ? "" : " ") + std::string(word);
    }
    return filter;
}

} // namespace warpline
