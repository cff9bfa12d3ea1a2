// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"

#include "model/import/byte_source.h"
#include "model/import/chrome/chrome_reader.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>

namespace warpline {

namespace {

/// Reads one document with the format that reads it. A new format is a folder beside chrome/ and a line here.
Result<TracePtr> readDocument(ByteSource& source, const ImportOptions& options) {
    auto trace = chrome::readChromeTrace(source, options);
    if (!trace.ok())
        return trace.error();
    return TracePtr(std::move(trace).value());
}

template <class Open>
Result<std::vector<TracePtr>> collect(const std::string& name, const ImportOptions& options, Open&& open) {
    std::vector<TracePtr> traces;
    std::optional<Error> notOurs;
    try {
        auto result = open([&](ByteSource& source) -> Result<Done> {
            if (options.progress != nullptr)
                options.progress->bytesTotal = source.fileBytes;
            auto trace = readDocument(source, options);
            if (trace.ok()) {
                traces.push_back(std::move(trace).value());
                return Done{};
            }
            // An archive may hold a readme beside its traces.
            if (trace.error().kind != Error::Kind::WrongKind)
                return trace.error();
            if (!notOurs)
                notOurs = trace.error();
            return Done{};
        });
        if (!result.ok())
            return result.error();
    } catch (const std::bad_alloc&) {
        return Error::failed(fmt::format("{}: there is not enough memory to open it.", name));
    } catch (const std::exception& e) {
        return Error::failed(fmt::format("{}: reading it failed: {}.", name, e.what()));
    }
    if (traces.empty()) {
        if (notOurs)
            return *notOurs;
        return Error::wrongKind(fmt::format("{}: the archive holds no file that is not empty.", name));
    }
    if (options.progress != nullptr)
        options.progress->stage = Progress::Stage::Finished;
    return traces;
}

} // namespace

Result<std::vector<TracePtr>> openTraces(const std::string& path, const ImportOptions& options) {
    return collect(path, options, [&](const auto& use) { return forEachByteSource(path, use); });
}

Result<std::vector<TracePtr>> openTracesFromMemory(std::string_view bytes, const std::string& name,
                                                   const ImportOptions& options) {
    return collect(name, options, [&](const auto& use) { return forEachByteSource(bytes, name, use); });
}

} // namespace warpline
