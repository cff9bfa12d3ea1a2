// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "model/base/format.h"
#include "model/base/json_writer.h"
#include "model/export/chrome_writer.h"
#include "model/export/wpl_writer.h"
#include "model/import/import.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace warpline::cli {

namespace {

struct ConvertOptions {
    std::string in;
    std::string out;
    RangeOptions range;
    bool json = false;
};

bool endsWith(const std::string& text, std::string_view end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// A piece of a trace as a trace of its own: written as JSON beside the result, and read again.
Result<TracePtr> cutOut(const Trace& trace, const ExportOptions& options, const std::string& beside) {
    const std::string path = beside + ".cut.json";
    auto done = writeChromeTrace(trace, path, options);
    if (!done.ok())
        return done.error();
    auto opened = openTraces(path);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    if (!opened.ok())
        return opened.error();
    return opened.value().front();
}

Result<Done> save(const TracePtr& trace, const ConvertOptions& options, const ExportOptions& exportOptions) {
    if (!endsWith(options.out, ".wpl"))
        return writeChromeTrace(*trace, options.out, exportOptions);
    if (!exportOptions.range)
        return writeWpl(*trace, options.out);
    auto piece = cutOut(*trace, exportOptions, options.out);
    if (!piece.ok())
        return piece.error();
    return writeWpl(*piece.value(), options.out);
}

Result<Done> runConvert(const ConvertOptions& options) {
    auto opened = openTrace(options.in);
    if (!opened.ok())
        return opened.error();
    const Trace& trace = *opened.value();
    ExportOptions exportOptions;
    auto range = options.range.in(trace);
    if (!range.ok())
        return range.error();
    exportOptions.range = range.value();
    if (auto done = save(opened.value(), options, exportOptions); !done.ok())
        return done;
    if (options.out == "-")
        return Done{};

    std::error_code ignored;
    const auto size = std::filesystem::file_size(options.out, ignored);
    const auto bytes = ignored ? std::int64_t{0} : static_cast<std::int64_t>(size);
    if (!options.json)
        return print(fmt::format("{}: {}\n{}", printable(options.out), formatBytes(bytes), lossNote(trace)));
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject();
    json.field("path", options.out);
    json.field("bytes", bytes);
    json.endObject();
    out.push_back('\n');
    return print(out);
}

} // namespace

void declareConvert(CLI::App& app, Work& work) {
    auto options = std::make_shared<ConvertOptions>();
    CLI::App* command = app.add_subcommand(
        "convert", "Write a trace again: as Chrome JSON or .wpl, repaired, compressed, or only a part of it");
    command->add_option("IN", options->in, "The trace; - reads the standard input")->required();
    command
        ->add_option("OUT", options->out,
                     "NAME.json, NAME.json.gz or NAME.wpl; - writes JSON to the standard output")
        ->required()
        ->check([](const std::string& name) -> std::string {
            if (name == "-" || endsWith(name, ".json") || endsWith(name, ".json.gz") ||
                endsWith(name, ".wpl"))
                return {};
            return fmt::format("\"{}\" does not end in .json, .json.gz or .wpl", name);
        });
    addRangeOption(*command, options->range);
    command->get_option("--range")->description("Only what overlaps A:B, whole. A time with a unit (ns, us, "
                                                "ms, s) counts from the start of the trace, "
                                                "one without is nanoseconds on the trace's own clock; either "
                                                "may be left out: 10ms:12.5ms, 2s:, :300us");
    command->add_flag("--json", options->json, "Tell what was written as JSON");
    command->group("Commands");
    command->footer(
        "All that the trace holds is kept: events, arguments, arrows, counters, metadata, exact "
        "times. OUT appears\nonly once it is whole; until then a file of that name stays as it was.\n"
        "\nExamples:\n"
        "  warpline-cli convert broken.json repaired.json.gz\n"
        "  warpline-cli convert trace.json.gz cut.json.gz --range 10ms:20ms\n"
        "  warpline-cli convert trace.json.zst - | jq '.traceEvents | length'");
    command->callback([options, &work] { work = [options] { return runConvert(*options); }; });
}

} // namespace warpline::cli
