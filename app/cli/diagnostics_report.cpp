// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/diagnostics_report.h"

#include "app/cli/text.h"
#include "model/base/format.h"

#include <fmt/format.h>

namespace warpline::cli {

void writeDiagnostics(JsonWriter& json, const Diagnostics& diagnostics) {
    json.beginArray();
    for (const Diagnostic& d : diagnostics.rows()) {
        json.beginObject();
        json.field("id", d.id);
        json.field("severity", severityName(d.severity));
        json.field("count", d.count);
        json.field("message", d.message);
        json.key("first_offset");
        d.firstOffset != Diagnostic::kNoOffset ? json.unsignedInteger(d.firstOffset) : json.null();
        json.key("first_time_ns");
        d.firstTime != INT64_MIN ? json.integer(d.firstTime) : json.null();
        json.endObject();
    }
    json.endArray();
}

std::string diagnosticsText(const Diagnostics& diagnostics) {
    const auto& rows = diagnostics.rows();
    if (rows.empty())
        return "\nNothing had to be repaired, nothing was lost.\n";
    std::string out =
        diagnostics.hasLoss() ? "\nNot all of the file could be kept:\n" : "\nFound while reading:\n";
    for (const auto severity :
         {Diagnostic::Severity::DataLoss, Diagnostic::Severity::Warning, Diagnostic::Severity::Info}) {
        for (const Diagnostic& d : rows) {
            if (d.severity != severity)
                continue;
            out += fmt::format("  {:<10} {}", severityName(severity), printable(d.message));
            if (d.firstOffset != Diagnostic::kNoOffset)
                out +=
                    fmt::format(" (first at byte {})", formatCount(static_cast<std::int64_t>(d.firstOffset)));
            out += "\n";
        }
    }
    return out;
}

std::string lossNote(const Diagnostics& diagnostics) {
    for (const Diagnostic& d : diagnostics.rows())
        if (d.severity == Diagnostic::Severity::DataLoss)
            return fmt::format("Read with losses: {} (\"warpline-cli info\" tells all)\n", d.message);
    return {};
}

} // namespace warpline::cli
