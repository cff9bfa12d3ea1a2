// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/store/memory_history.h"

namespace warpline::snapshot {

enum class Form { Pickle, Json, Sqlite };

/// Reads a memory snapshot of torch.cuda.memory in one of its forms, whole or cut. The source stands at its
/// beginning. Damage, losses and oddities are in MemoryHistory::diagnostics; what is no snapshot after all
/// gives Error::Kind::WrongKind.
Result<MemoryHistoryPtr> readSnapshot(ByteSource& source, Form form, const ImportOptions& options);

} // namespace warpline::snapshot
