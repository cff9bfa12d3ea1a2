// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace warpline {

/// The bytes of one document, decompressed, in order. What a file is compressed with is told by its first
/// bytes, never by its name; layers are peeled until none is left (a .zst in a .gz opens). UTF-16 comes as
/// UTF-8, a byte order mark is taken off.
class ByteSource {
  public:
    /// Where and how a compressed stream or archive broke off. What came before it was delivered.
    struct Damage {
        std::string message;
        std::uint64_t offset = 0; ///< in the decompressed bytes
    };

    virtual ~ByteSource() = default;
    /// Fills up to `size` bytes; 0 = the end. Only reading errors of the system are errors: a damaged stream
    /// delivers all that could be decoded, then 0, and damage() tells.
    virtual Result<std::size_t> read(char* to, std::size_t size) = 0;
    [[nodiscard]] virtual std::optional<Damage> damage() const { return std::nullopt; }
    /// Bytes of the file on disk used so far, for progress.
    [[nodiscard]] virtual std::uint64_t bytesDone() const = 0;

    std::string name;            ///< path, or FILE!MEMBER
    std::string compression;     ///< "", "gzip", "zstd", "zip", "tar", "tar.gz", "zstd in gzip"
    std::uint64_t fileBytes = 0; ///< size on disk; 0 = not known (a pipe)
};

/// Calls `use` for the document of a file, or for each member of an archive (folders, AppleDouble files and
/// empty members left out); stops at the first error that `use` gives. "-" is the standard input;
/// FILE!MEMBER one member.
Result<Done> forEachByteSource(const std::string& path, const std::function<Result<Done>(ByteSource&)>& use);
/// The same for bytes in memory, which outlive the call.
Result<Done> forEachByteSource(std::string_view bytes, const std::string& name,
                               const std::function<Result<Done>(ByteSource&)>& use);

} // namespace warpline
