// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/profile_info.h"

#include "app/cli/data_table.h"
#include "app/cli/diagnostics_report.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/base/format.h"

#include <fmt/format.h>

namespace warpline::cli {

namespace {

const char* unitName(WeightUnit unit) {
    switch (unit) {
    case WeightUnit::Nanoseconds:
        return "ns";
    case WeightUnit::Bytes:
        return "bytes";
    case WeightUnit::Count:
        break;
    }
    return "count";
}

} // namespace

void ProfileInfo::writeJson(JsonWriter& json, std::size_t) const {
    const Profile& p = m_profile;
    json.beginObject();
    json.field("path", p.path);
    json.field("format", p.format);
    json.field("compression", p.compression);
    json.field("bytes", p.fileBytes);
    json.field("events", p.samples);
    json.key("start_ns");
    p.timeline ? json.integer(p.timeline->extent.begin) : json.null();
    json.key("duration_ns");
    p.timeline ? json.integer(p.timeline->extent.duration()) : json.null();
    json.field("name", p.name);
    json.field("unit", unitName(p.unit));
    json.field("total", p.total);
    json.field("stacks", static_cast<std::uint64_t>(p.weights.size()));
    json.field("frames", static_cast<std::uint64_t>(p.frames->size()));
    json.key("diagnostics");
    writeDiagnostics(json, p.diagnostics);
    json.endObject();
}

std::string ProfileInfo::text(std::size_t, std::size_t) const {
    const Profile& p = m_profile;
    std::string out = printable(p.path) + "\n";
    const auto line = [&](const char* name, const std::string& value) {
        out += fmt::format("  {:<10} {}\n", name, value);
    };
    line("Format", p.format + (p.compression.empty() ? "" : ", " + p.compression));
    if (!p.name.empty())
        line("Name", printable(p.name));
    line("Total", fmt::format("{} in {}", formatWeight(p.total, p.unit),
                              counted(p.weights.size(), "stack", "stacks")));
    if (p.timeline)
        line("Time", formatDuration(p.timeline->extent.duration()));
    return out + diagnosticsText(p.diagnostics);
}

std::string ProfileInfo::csv() const {
    const Profile& p = m_profile;
    std::string out;
    appendCsvField(out, p.path);
    out.push_back(',');
    appendCsvField(out, p.format);
    out.push_back(',');
    appendCsvField(out, p.compression);
    const std::string start = p.timeline ? fmt::format("{}", p.timeline->extent.begin) : std::string();
    const std::string duration =
        p.timeline ? fmt::format("{}", p.timeline->extent.duration()) : std::string();
    out += fmt::format(",{},{},,,,{},{},,,,,,,,{}\n", p.fileBytes, p.samples, start, duration,
                       p.diagnostics.rows().size());
    return out;
}

} // namespace warpline::cli
