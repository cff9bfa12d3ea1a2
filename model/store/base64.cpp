// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/base64.h"

#include <algorithm>
#include <cstdint>

namespace warpline {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string toBase64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = (group << 8) | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            out.push_back(k <= n ? kDigits[(group >> (18 - 6 * k)) & 63U] : '=');
    }
    return out;
}

std::optional<std::string> fromBase64(std::string_view text) {
    if (text.size() % 4 != 0)
        return std::nullopt;
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        std::size_t padding = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const char c = text[i + k];
            const std::size_t digit = kDigits.find(c);
            const bool last = i + 4 == text.size();
            if (c == '=' && last && k >= 2)
                ++padding;
            else if (digit == std::string_view::npos || padding > 0)
                return std::nullopt;
            group = (group << 6) | (c == '=' ? 0U : static_cast<std::uint32_t>(digit));
        }
        for (std::size_t k = 0; k + padding < 3; ++k)
            out.push_back(static_cast<char>((group >> (16 - 8 * k)) & 0xFFU));
    }
    return out;
}

} // namespace warpline
