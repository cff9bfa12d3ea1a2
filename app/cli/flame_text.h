// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"

#include <cstddef>
#include <string>

namespace warpline::cli {

struct FlameTextOptions {
    std::size_t rows = 25; ///< 0 = all
    std::size_t width = 0; ///< columns; 0 = no limit
    std::string head;      ///< "gpt.json.gz: GPU time"
    std::string note;      ///< a line below the head, or empty
    bool coverage = true;  ///< tell how much of the weight has what in its stack
    std::string absent;    ///< what to say of an empty tree
};

/// The heaviest nodes of a tree as an indented table, and how much of the weight has what in its stack.
/// Frames that only pass all of their weight on are left out.
std::string flameTextTree(const FlameTree& tree, const FlameCoverage& coverage,
                          const FlameTextOptions& options);

} // namespace warpline::cli
