// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/export/flame_writer.h"

#include <string>

namespace warpline {

/// The tree as a picture: valid XML, no script, no font or file from elsewhere; each frame tells its name,
/// weight and share when pointed at.
std::string flameSvg(const FlameTree& tree, const FlameExport& options);

/// A label that fits into `chars` characters: "…" for what is left out, on the left of a path, else at the
/// end. Empty where nothing readable fits.
std::string fitLabel(const FlameTree& tree, std::uint32_t node, std::size_t chars);

} // namespace warpline
