// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/store/trace.h"

#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

struct ImportOptions {
    unsigned threads = 0; ///< 0 = as many as there are processors
    std::stop_token stop;
    Progress* progress = nullptr; ///< may be null; outlives the call
};

/// Opens a file of any format that Warpline reads, whatever it is called; "-" is the standard input. An
/// archive (zip, tar) gives one trace a member; FILE!MEMBER names one. A file with damage is opened as far as
/// it goes and Trace::diagnostics tells; a file that is no trace gives Error::Kind::WrongKind and a sentence
/// that says what it is.
Result<std::vector<TracePtr>> openTraces(const std::string& path, const ImportOptions& options = {});

/// Opens a trace from memory, for tests; `name` is used in messages.
Result<std::vector<TracePtr>> openTracesFromMemory(std::string_view bytes, const std::string& name,
                                                   const ImportOptions& options = {});

} // namespace warpline
