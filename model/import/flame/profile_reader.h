// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/store/profile.h"

#include <vector>

namespace warpline::flame {

/// Reads collapsed stacks (also torch's export_stacks), speedscope JSON (sampled and evented), Hatchet's JSON
/// as Triton's Proton writes it, and flame trees that this program wrote. One profile each of a speedscope
/// file and of a Hatchet metric, the one that the file opens with first. A document that is none of these
/// gives Error::Kind::WrongKind and a sentence.
Result<std::vector<ProfilePtr>> readProfiles(ByteSource& source, const ImportOptions& options);

// The formats, each over the whole text.
Result<std::vector<ProfilePtr>> readCollapsed(std::string_view text, const ByteSource& source,
                                              const ImportOptions& options);
Result<std::vector<ProfilePtr>> readSpeedscope(std::string_view text, const ByteSource& source,
                                               const ImportOptions& options);
Result<std::vector<ProfilePtr>> readCallTree(std::string_view text, const ByteSource& source,
                                             const ImportOptions& options);

} // namespace warpline::flame
