// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/byte_source.h"

#include <memory>
#include <string>
#include <string_view>

namespace warpline {

/// The bytes as they lie on disk, in a pipe or in memory.
class RawSource : public ByteSource {
  public:
    /// Whether seek() works: not for pipes.
    [[nodiscard]] virtual bool seekable() const = 0;
    /// Goes to a byte; false where the system refuses.
    virtual bool seek(std::uint64_t offset) = 0;
};

/// Opens a file, a named pipe or, for "-", the standard input. The error is a sentence for the user.
Result<std::unique_ptr<RawSource>> openFileSource(const std::string& path);
/// Reads from memory, which outlives the source.
std::unique_ptr<RawSource> openMemorySource(std::string_view bytes);

} // namespace warpline
