// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/import/snapshot/sink.h"

namespace warpline::snapshot {

/// Reads a pickle of protocol 2 to 5 as data: None, booleans, numbers, texts, bytes, lists, tuples,
/// dictionaries, sets, and the memo. Whatever would import, build or call something is refused by its name
/// and place, before anything is done with it. A pickle that ends early gives what it has (Sink::cut).
Result<Done> readPickle(ByteSource& source, Sink& sink, const ImportOptions& options);

} // namespace warpline::snapshot
