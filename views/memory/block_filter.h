// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "views/document.h"
#include "views/memory/memory_item.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace warpline {

class MemoryFocus;

/// What the document's selection says of blocks: by the frames of their own stacks, or by the op and the
/// Python line that a joined trace has at their allocation.
struct BlockNarrowing {
    MemoryItem item;
    std::size_t device = 0; ///< index into MemoryHistory::devices
    std::optional<Document::Item> joined;
    int source = -1; ///< index of that trace
    int memory = -1; ///< index of the history
    Selection selection;

    /// None where the selection narrows nothing of the allocator that is looked at.
    static std::optional<BlockNarrowing> of(const MemoryFocus& focus);
};

/// Runs in a job. By row of the block table: 1 = the block counts.
Result<std::vector<char>> blockMask(const BlockNarrowing& by, const std::stop_token& stop);

} // namespace warpline
