// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pickle {

/// Pieces of pickles, written by hand, so that tests can write what no pickler would.
inline std::string little(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i)
        out.push_back(static_cast<char>(value >> (8 * i)));
    return out;
}
inline std::string text(std::string_view t) {
    return t.size() < 256 ? "\x8c" + little(t.size(), 1) + std::string(t)
                          : "X" + little(t.size(), 4) + std::string(t);
}
/// LONG1 of eight bytes: any number.
inline std::string number(std::int64_t v) {
    return "\x8a" + little(8, 1) + little(static_cast<std::uint64_t>(v), 8);
}
inline std::string item(std::string_view key, const std::string& value) {
    return text(key) + value;
}
inline std::string dict(const std::string& items) {
    return "}(" + items + "u";
}
inline std::string list(const std::string& values) {
    return "](" + values + "e";
}
inline std::string entry(std::string_view action, std::int64_t address, std::int64_t size,
                         std::int64_t timeUs) {
    return dict(item("action", text(action)) + item("addr", number(address)) + item("size", number(size)) +
                item("stream", number(0)) + item("time_us", number(timeUs)));
}
/// A whole snapshot of one device: `events` one after the other.
inline std::string snapshot(const std::string& events, const std::string& segments = {}) {
    return "\x80\x04" + dict(item("segments", list(segments)) + item("device_traces", list(list(events)))) +
           ".";
}

} // namespace pickle
