// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpline {

/// Bytes as text and back (RFC 4648, with padding); nothing where the text is not that.
std::string toBase64(std::string_view bytes);
std::optional<std::string> fromBase64(std::string_view text);

} // namespace warpline
