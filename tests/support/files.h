// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace warpline::test {

/// A file's bytes; none where it cannot be read.
inline std::optional<std::string> readFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (!file)
        return std::nullopt;
    return std::move(bytes).str();
}

} // namespace warpline::test
