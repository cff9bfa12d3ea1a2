// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/import/snapshot/sink.h"

namespace warpline::snapshot {

/// Reads a snapshot that was written as an SQLite database, as torch.cuda.memory._dump_snapshot_sqlite()
/// would (pytorch/pytorch#178670, proposed in March 2026; a torch/cuda/memory.py of that year that was looked
/// at does not have it). Its description names the three tables, device_traces, blocks and segments; the
/// columns id, time_us, size, action and frames of the first, state and size of the second; that `segment_id`
/// joins blocks and segments and `addr` joins device_traces and blocks. No file of it was at hand, so that
/// everything else is taken to be named as the keys of the dictionaries, "frames" to be JSON, and the names
/// that are likely for the same thing are taken too (addr or address, device or device_id...). Columns may be
/// missing; those that are not known are passed over.
///
/// The database is opened in memory and for reading only; nothing of its schema is run: no views, triggers,
/// virtual tables or functions.
Result<Done> readSqlite(ByteSource& source, Sink& sink, const ImportOptions& options);

} // namespace warpline::snapshot
