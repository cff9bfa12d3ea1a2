// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/diagnostics.h"
#include "model/store/wpl/block.h"
#include "model/store/wpl/chunk_writer.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Chunks that finished traces and recordings have in common.
namespace warpline::wpl {

using Properties = std::vector<std::pair<std::string, std::string>>;

/// The texts [first, first + n) of a table, as text(i) gives them.
template <class TextOf>
PackedChunk packStringsChunk(std::size_t first, std::size_t n, TextOf&& text, int level) {
    BlockWriter w;
    w.number(first);
    std::vector<std::uint32_t> lengths(n);
    for (std::size_t i = 0; i < n; ++i)
        lengths[i] = static_cast<std::uint32_t>(text(first + i).size());
    w.column(std::span<const std::uint32_t>(lengths));
    for (std::size_t i = 0; i < n; ++i)
        w.bytes(text(first + i));
    return pack(ChunkType::Strings, static_cast<std::uint32_t>(n), w.take(), level);
}
/// Calls add(text) for each text of the chunk; false where the chunk is impossible or does not follow
/// `known` texts.
template <class Add>
bool readStringsChunk(std::uint32_t rows, std::string_view raw, std::size_t known, Add&& add) {
    BlockReader r(raw);
    if (r.number() != known)
        return false;
    const auto lengths = r.columnOf<std::uint32_t>(rows);
    for (const std::uint32_t length : lengths) {
        const std::string_view text = r.bytes(length);
        if (!r.ok() || !add(text))
            return false;
    }
    return r.ok() && r.left() == 0;
}

PackedChunk packProperties(const Properties& properties, int level);
bool readProperties(std::uint32_t rows, std::string_view raw, Properties& to);
PackedChunk packDiagnostics(const std::vector<Diagnostic>& rows, int level);
bool readDiagnostics(std::uint32_t rows, std::string_view raw, std::vector<Diagnostic>& to);

} // namespace warpline::wpl
