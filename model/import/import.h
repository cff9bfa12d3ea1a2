// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/store/memory_history.h"
#include "model/store/profile.h"
#include "model/store/trace.h"

#include <stop_token>
#include <string>
#include <vector>

namespace warpline {

struct ImportOptions {
    unsigned threads = 0; ///< 0 = as many as there are processors
    std::stop_token stop;
    Progress* progress = nullptr; ///< may be null; outlives the call
    /// Of a recording that comes by and by: its newest events so far, as often as they can be arranged;
    /// called by the reading thread, which reads on afterwards.
    std::function<void(TracePtr)> partial;
};

/// What a file holds: an archive may hold several things of several kinds.
struct Opened {
    std::vector<TracePtr> traces;
    std::vector<MemoryHistoryPtr> memory;
    std::vector<ProfilePtr> profiles; ///< of a file with several, the one it opens with first

    [[nodiscard]] bool empty() const { return traces.empty() && memory.empty() && profiles.empty(); }
};

/// Opens a file of any format that Warpline reads, whatever it is called; "-" is the standard input. An
/// archive (zip, tar) gives one thing a member; FILE!MEMBER names one. A file with damage is opened as far as
/// it goes and its diagnostics tell; a file that is nothing of ours gives Error::Kind::WrongKind and a
/// sentence that says what it is. Opened is never empty.
Result<Opened> openFile(const std::string& path, const ImportOptions& options = {});
/// Opens a document from memory, for tests; `name` is used in messages.
Result<Opened> openFromMemory(std::string_view bytes, const std::string& name,
                              const ImportOptions& options = {});

/// The traces of a file, for who can use nothing else; a profile with times counts as one. A file without any
/// gives Error::Kind::WrongKind and says what it holds instead.
Result<std::vector<TracePtr>> openTraces(const std::string& path, const ImportOptions& options = {});

/// Opens a trace from memory, for tests; `name` is used in messages.
Result<std::vector<TracePtr>> openTracesFromMemory(std::string_view bytes, const std::string& name,
                                                   const ImportOptions& options = {});

} // namespace warpline
