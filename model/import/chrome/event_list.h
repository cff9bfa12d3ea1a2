// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/chrome/batch.h"
#include "model/import/chrome/registry.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::chrome {

/// Text that came from the source and was not used yet.
struct Pending {
    std::string text;
    std::uint64_t offset = 0; ///< of its first byte, in the decompressed file
    bool atEnd = false;       ///< the source has no more
};

/// Reads the events of a list on several threads.
///
/// The text is cut into pieces where an event seems to begin: a brace after a brace and a comma. That guess
/// can be wrong (an array of objects among the arguments, a brace in a name), and needs no check of its own:
/// a piece that begins right and that a parser reads whole to its last byte proves where the next one begins.
/// Where it does not, what is left of it and the next piece are read again as one. Pieces that a strict
/// parser refuses somewhere go through the forgiving reader from there on, event by event.
class EventListReader {
  public:
    EventListReader(ByteSource& source, Trace& trace, Registry& registry, unsigned threads,
                    std::stop_token stop, Progress* progress);
    ~EventListReader();
    EventListReader(const EventListReader&) = delete;
    EventListReader& operator=(const EventListReader&) = delete;

    /// Reads the list whose first byte after "[" is the first of `pending`, to its "]" or the end of the
    /// source, and appends what it holds to `out`. `pending` is then what follows the list; `closed` whether
    /// it had an end. Errors: reading failed, or cancelled.
    Result<Done> read(Pending& pending, std::vector<Batch>& out, bool& closed);

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace warpline::chrome
