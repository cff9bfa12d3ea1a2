// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "model/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace warpline {

enum class FlameFormat {
    Collapsed,  ///< "a;b;c 12" a line, for flamegraph.pl, inferno and speedscope
    Speedscope, ///< JSON of speedscope.app, one sampled profile
    Json,       ///< the tree: {name, kind, file, line, self, total, count, children}
    Svg,        ///< a picture that needs nothing else
};

struct FlameExport {
    FlameFormat format = FlameFormat::Collapsed;
    std::string title; ///< "GPU time of gpt.json.gz"
    std::uint32_t root = FlameTree::kRoot;
    int width = 1600;                      ///< Svg: pixels
    bool icicle = true;                    ///< Svg: the root on top
    bool dark = false;                     ///< Svg
    int indent = 0;                        ///< Json: spaces a level
    std::optional<FlameCoverage> coverage; ///< Json: told beside the root
};

/// The tree as text. Sums are kept: what is read back weighs the same in total and in every frame. In
/// collapsed stacks a ";" in a name becomes ":", a line break a space.
std::string flameText(const FlameTree& tree, const FlameExport& options);
/// Writes it to a file, which appears only once it is whole; "-" is the standard output.
Result<Done> writeFlame(const FlameTree& tree, const std::string& path, const FlameExport& options);
/// The format that a file's name asks for: .svg, .speedscope.json, .json (the tree), .txt, .folded,
/// .collapsed.
std::optional<FlameFormat> flameFormatOf(std::string_view path);

} // namespace warpline
