// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/chrome/batch.h"
#include "model/import/chrome/registry.h"
#include "model/import/import.h"

#include <optional>
#include <vector>

namespace warpline::chrome {

/// How the frame around the events was.
struct FrameReport {
    std::optional<ByteSource::Damage> damage; ///< the compressed stream broke off
    bool unclosed = false;                    ///< the event list or the document has no end
    bool broken = false;                      ///< the frame is not JSON somewhere
    std::uint64_t brokenAt = 0;
    std::uint64_t restarts = 0; ///< further event lists after the first
    std::uint64_t droppedProperties = 0;
};

struct BuildInput {
    std::vector<Batch> batches; ///< in the order of the file
    const Registry& registry;
    FrameReport frame;
    const ImportOptions& options;
};

/// Makes a trace of what was read: pairs begins and ends, sorts, nests, lays out tracks and lanes, links
/// launches and device work, collects counters and memory records, and says what was odd. The trace holds the
/// strings, arguments, categories and raw tracks already. Errors: cancelled.
Result<Done> build(Trace& trace, BuildInput input);

} // namespace warpline::chrome
