// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/import.h"
#include "model/store/wpl/chunk_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpline::wpl {

/// A chunk that could not be used.
struct BadChunk {
    std::uint64_t offset = 0;
    ChunkType type = ChunkType::Head;
};

/// Makes a trace of the chunks of a saved one. Everything is checked: numbers of rows against what is there,
/// references against what they refer to, orders that queries rely on. Nothing where a chunk is impossible;
/// `bad` is set then. Where the file is not `whole`, the rows that are there are opened without the links
/// that would stand behind them, if the file goes as far as its first slices.
std::shared_ptr<Trace> readTables(const std::vector<StoredChunk>& chunks, bool whole, unsigned threads,
                                  std::optional<BadChunk>& bad);
/// True where rows, lanes, tracks and references fit each other.
bool tablesFit(const Trace& trace);

} // namespace warpline::wpl
