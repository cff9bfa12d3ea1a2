// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/import.h"
#include "model/store/wpl/recording.h"

#include <memory>
#include <vector>

namespace warpline::wpl {

/// Makes a trace of recorded events: sorts, nests, links, as for any other format. The blocks are as checked
/// by readEventChunk(). Errors: cancelled.
Result<std::shared_ptr<Trace>> buildRecording(const Dictionary& dictionary,
                                              const std::vector<EventBlockPtr>& blocks,
                                              const ImportOptions& options);

} // namespace warpline::wpl
