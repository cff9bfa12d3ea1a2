// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/session_file.h"
#include "views/document.h"
#include "views/memory/memory_item.h"
#include "views/timeline/track_layout.h"

#include <optional>
#include <string>
#include <string_view>

/// Things of a session by what the files call them, since the numbers of one opening mean nothing in the
/// next.
namespace warpline::sessionNames {

SessionFile::TrackRef refOf(const Row& row, std::uint32_t source);
/// The row of that name in one of the document's traces.
std::optional<Row> rowOf(const TrackLayout& layout, const SessionFile::TrackRef& ref, int item);

/// The slice of that name and start, in the trace's own time; none if there is none.
SliceId sliceOf(const Trace& trace, std::string_view name, TimeNs start);

/// "0x7f2c40000000/1981": the address, and the event that allocated it, since addresses are used again.
std::string textOf(const MemoryItem& item, const BlockRef& block);
BlockRef blockOf(const MemoryItem& item, int memory, int device, const std::string& text);

} // namespace warpline::sessionNames
