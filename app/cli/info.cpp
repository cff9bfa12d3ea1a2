// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/info_report.h"
#include "app/cli/memory_info.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/profile_info.h"
#include "model/import/import.h"

#include <memory>
#include <string>
#include <vector>

namespace warpline::cli {

namespace {

struct InfoOptions {
    std::vector<std::string> files;
    OutputOptions output;
};

Result<Done> runInfo(const InfoOptions& options) {
    std::string out;
    JsonWriter json(out, 1);
    if (options.output.json)
        json.beginObject().key("files").beginArray();
    else if (options.output.csv)
        out = infoCsvHeader();

    bool failed = false;
    bool first = true;
    for (const std::string& file : options.files) {
        auto opened = openFile(file);
        if (!opened.ok()) {
            failed = true;
            printError(opened.error().message);
            continue;
        }
        const auto write = [&](const auto& report) {
            if (options.output.json) {
                report.writeJson(json, options.output.rows());
            } else if (options.output.csv) {
                out += report.csv();
            } else {
                if (!first)
                    out.push_back('\n');
                out += report.text(options.output.rows(), options.output.width());
            }
            first = false;
        };
        for (const TracePtr& trace : opened.value().traces)
            write(InfoReport(*trace));
        for (const MemoryHistoryPtr& memory : opened.value().memory)
            write(MemoryInfo(*memory));
        for (const ProfilePtr& profile : opened.value().profiles)
            write(ProfileInfo(*profile));
    }
    if (options.output.json) {
        json.endArray().endObject();
        out.push_back('\n');
    }
    // With one file that could not be read there is nothing to print but the error.
    if (!failed || !first) {
        if (auto done = print(out); !done.ok())
            return done;
    }
    return failed ? Result<Done>(Error::failed({})) : Result<Done>(Done{});
}

} // namespace

void declareInfo(CLI::App& app, Work& work) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command =
        app.add_subcommand("info", "What files hold, and what had to be repaired or left out of them");
    command
        ->add_option("FILE", options->files,
                     "Traces, memory snapshots and profiles; - reads the standard input")
        ->required();
    addOutputOptions(*command, options->output);
    command->get_option("--limit")->description(
        "Threads of a process at most, 0 = all (25; with --json all)");
    command->group("Commands");
    command->footer("Examples:\n"
                    "  warpline-cli info trace.json.gz\n"
                    "  warpline-cli info rank*.json.gz --csv\n"
                    "  warpline-cli info trace.json --json | jq '.files[].diagnostics'");
    command->callback([options, &work] { work = [options] { return runInfo(*options); }; });
}

} // namespace warpline::cli
