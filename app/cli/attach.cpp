// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/attach.h"
#include "app/cli/command.h"
#include "app/cli/data_table.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/record_options.h"
#include "app/cli/text_table.h"

#include <memory>

namespace warpline::cli {

namespace {

struct AttachOptions : RecordOptions {
    int pid = 0;
};

Result<Done> runAttach(const AttachOptions& options) {
    auto config = recordConfig(options);
    if (!config.ok())
        return config.error();
    config.value().attach = options.pid;
    auto recorder = capture::Recorder::start(std::move(config).value());
    if (!recorder.ok())
        return recorder.error();
    return watch(*recorder.value(), options, WhenInterrupted::Stop);
}

Result<Done> runTargets(const OutputOptions& options) {
    const std::vector<capture::GpuProgram> programs = capture::gpuPrograms();
    DataTable table({"pid", "user", "cuda", "attach", "why_not", "command"});
    for (const auto& p : programs)
        table.addRow({std::int64_t{p.pid}, p.user, p.cuda, p.whyNot.empty(),
                      p.whyNot.empty() ? Cell() : Cell(p.whyNot), p.command});
    if (options.rows() > 0)
        table.keepFirst(options.rows());
    if (options.csv)
        return print(table.csv());
    if (options.json) {
        std::string out;
        JsonWriter json(out, 1);
        json.beginObject();
        json.key("targets");
        table.writeJson(json);
        json.endObject();
        out.push_back('\n');
        return print(out);
    }
    if (programs.empty())
        return print("No program here uses a GPU, as far as this user can see.\n");
    using Align = TextTable::Align;
    TextTable text({{"PID", Align::Right},
                    {"User", Align::Left},
                    {"Attach", Align::Left, true},
                    {"Command", Align::Left, true}});
    for (std::size_t i = 0; i < table.size(); ++i)
        text.addRow({table.text(i, "pid"), table.text(i, "user"),
                     programs[i].whyNot.empty() ? "yes" : programs[i].whyNot, table.text(i, "command")});
    return print(text.render(options.width()));
}

} // namespace

void declareAttach(CLI::App& app, Work& work) {
    auto options = std::make_shared<AttachOptions>();
    CLI::App* command = app.add_subcommand("attach", "Record a program that runs already");
    command
        ->add_option("PID", options->pid, "The program's process id; \"targets\" lists those that use a GPU")
        ->required();
    addRecordOptions(*command, *options);
    command->footer(
        "The program is stopped for some milliseconds, no debugger is needed, and when the recording ends it "
        "runs on\nat its old speed. NVTX ranges are recorded only if the program was launched with "
        "\"record\". Ctrl-C ends the\nrecording.\n"
        "\nExamples:\n"
        "  warpline-cli attach 4711 -o now.wpl --duration 5s\n"
        "  warpline-cli attach 4711 -o now.wpl --duration 5s --memory-history");
    command->callback([options, &work] { work = [options] { return runAttach(*options); }; });
}

void declareTargets(CLI::App& app, Work& work) {
    auto options = std::make_shared<OutputOptions>();
    CLI::App* command = app.add_subcommand(
        "targets", "List the programs here that use a GPU, and whether they can be attached to");
    addOutputOptions(*command, *options);
    command->group("Commands");
    command->callback([options, &work] { work = [options] { return runTargets(*options); }; });
}

} // namespace warpline::cli
