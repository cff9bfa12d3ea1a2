// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/import/snapshot/sink.h"

namespace warpline::snapshot {

/// Reads a snapshot that was written as an SQLite database: the tables device_traces, blocks and segments,
/// whose columns are named as the keys of the dictionaries; "frames" are JSON. The database is opened in
/// memory and for reading only; nothing of its schema is run: no views, triggers, virtual tables or
/// functions.
Result<Done> readSqlite(ByteSource& source, Sink& sink, const ImportOptions& options);

} // namespace warpline::snapshot
