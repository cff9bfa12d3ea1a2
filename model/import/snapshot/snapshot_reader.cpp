// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/snapshot_reader.h"

#include "model/analysis/memory_categories.h"
#include "model/import/snapshot/json_reader.h"
#include "model/import/snapshot/pickle_reader.h"
#include "model/import/snapshot/sqlite_reader.h"

namespace warpline::snapshot {

Result<MemoryHistoryPtr> readSnapshot(ByteSource& source, Form form, const ImportOptions& options) {
    Sink sink;
    const auto read = [&]() -> Result<Done> {
        switch (form) {
        case Form::Json:
            return readJson(source, sink, options);
        case Form::Sqlite:
            return readSqlite(source, sink, options);
        case Form::Pickle:
            break;
        }
        return readPickle(source, sink, options);
    };
    if (const auto r = read(); !r.ok())
        return r.error();
    if (options.stop.stop_requested())
        return Error::cancelled();
    if (options.progress != nullptr)
        options.progress->stage = Progress::Stage::Arranging;
    std::shared_ptr<MemoryHistory> history = sink.finish();
    history->path = source.name;
    history->compression = source.compression;
    history->fileBytes = source.fileBytes;
    history->format = form == Form::Json     ? "PyTorch memory snapshot (JSON)"
                      : form == Form::Sqlite ? "PyTorch memory snapshot (SQLite)"
                                             : "PyTorch memory snapshot (pickle)";
    inferCategories(*history);
    return MemoryHistoryPtr(std::move(history));
}

} // namespace warpline::snapshot
