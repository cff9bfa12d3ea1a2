// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/wpl/shared_chunks.h"

namespace warpline::wpl {

PackedChunk packProperties(const Properties& properties, int level) {
    BlockWriter w;
    std::uint32_t rows = 0;
    for (const auto& [key, value] : properties) {
        // A value too long for a chunk is no property of ours; importers bound them too.
        if (w.size() + key.size() + value.size() > kMostRawBytes / 2)
            continue;
        w.text(key);
        w.text(value);
        ++rows;
    }
    return pack(ChunkType::Properties, rows, w.take(), level);
}

bool readProperties(std::uint32_t rows, std::string_view raw, Properties& to) {
    BlockReader r(raw);
    to.clear();
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        std::string key(r.text());
        std::string value(r.text());
        to.emplace_back(std::move(key), std::move(value));
    }
    return r.ok();
}

PackedChunk packDiagnostics(const std::vector<Diagnostic>& rows, int level) {
    BlockWriter w;
    for (const Diagnostic& d : rows) {
        w.text(d.id);
        w.number(static_cast<std::uint64_t>(d.severity));
        w.number(d.count);
        w.text(d.message);
        w.number(d.firstOffset);
        w.signedNumber(d.firstTime);
    }
    return pack(ChunkType::Diagnostics, static_cast<std::uint32_t>(rows.size()), w.take(), level);
}

bool readDiagnostics(std::uint32_t rows, std::string_view raw, std::vector<Diagnostic>& to) {
    BlockReader r(raw);
    to.clear();
    for (std::uint32_t i = 0; i < rows && r.ok(); ++i) {
        Diagnostic d;
        d.id = r.text();
        d.severity = static_cast<Diagnostic::Severity>(
            r.number(static_cast<std::uint64_t>(Diagnostic::Severity::DataLoss)));
        d.count = r.number();
        d.message = r.text();
        d.firstOffset = r.number();
        d.firstTime = r.signedNumber();
        to.push_back(std::move(d));
    }
    return r.ok();
}

} // namespace warpline::wpl
