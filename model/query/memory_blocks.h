// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

/// Which blocks a list shows; all conditions hold together.
struct BlockFilter {
    std::optional<Moment> aliveAt;
    std::optional<std::int64_t> minSize, maxSize;         ///< bytes asked for, inclusive
    std::optional<std::int64_t> minLifetime, maxLifetime; ///< ns, or events where there are no times
    std::optional<std::int64_t> minAge, maxAge;           ///< at `aliveAt` (or the end), in the same unit
    std::optional<std::uint64_t> address;                 ///< of the block, or any byte within it
    std::optional<std::pair<Moment, Moment>> overlaps;    ///< alive at some moment of [first, second]
    std::optional<MemoryCategory> category;
    std::optional<std::uint32_t> stream;
    std::optional<std::uint16_t> pool;
    StackId stack;         ///< this very stack
    std::string stackText; ///< a text that a frame of the stack has (function, file, file:line); letters of
                           ///< either case
};

enum class BlockSort { Size, Allocated, Birth, Death, Lifetime, Age, Address, Stack, Category, Stream, Pool };

/// How long a block lived, in ns or, where the device has no times, in events. One that is alive at the end
/// lived until the last event.
std::int64_t blockLifetime(const MemoryDevice& device, std::size_t row);
/// How old it was at a moment; 0 before its birth.
std::int64_t blockAge(const MemoryDevice& device, std::size_t row, Moment moment);

/// Rows of the blocks that pass, sorted; equal ones in order of birth. When stopped, the result is empty.
std::vector<std::uint32_t> listBlocks(const MemoryHistory& history, const MemoryDevice& device,
                                      const BlockFilter& filter, BlockSort sort, bool descending,
                                      std::stop_token stop = {});

/// Reads a filter as it is typed: "size>1MiB age>2ms life<10us addr:0x7f.. conv2d". Words that are no
/// condition are the stack text. Units B, KiB, MiB, GiB, ns, us, ms, s, ev (events).
BlockFilter parseBlockFilter(std::string_view text);

} // namespace warpline
