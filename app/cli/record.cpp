// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/record_kineto.h"
#include "app/cli/record_options.h"
#include "model/query/search.h"

#include <algorithm>
#include <memory>

namespace warpline::cli {

namespace {

struct LaunchOptions : RecordOptions {
    std::vector<std::string> program;
    bool kill = false;
    bool torch = false;
    std::string helper;
    std::string kineto;
    std::int64_t kinetoIterations = 0;
};

Result<Done> runPytorchProfiler(const LaunchOptions& options) {
    static constexpr std::string_view kEnd = ".json";
    if (!options.output.ends_with(kEnd) || options.output.size() == kEnd.size())
        return Error::failed("PyTorch's profiler writes JSON: give a NAME.json with -o.");
    KinetoOptions kineto;
    kineto.program = options.program;
    kineto.output = options.output;
    constexpr TimeNs kMs = 1'000'000;
    TimeNs time = 0;
    if (parseDuration(options.delay, time))
        kineto.delayMs = time / kMs;
    time = 0;
    if (parseDuration(options.kineto, time))
        kineto.durationMs = std::max<std::int64_t>(1, time / kMs);
    kineto.iterations = options.kinetoIterations;
    kineto.json = options.json;
    return runKineto(kineto);
}

Result<Done> runRecord(const LaunchOptions& options) {
    if (!options.kineto.empty() || options.kinetoIterations > 0)
        return runPytorchProfiler(options);
    auto config = recordConfig(options);
    if (!config.ok())
        return config.error();
    config.value().command = options.program;
    config.value().endProgram = options.kill;
    config.value().torch = options.torch;
    config.value().helper = options.helper;
    auto recorder = capture::Recorder::start(std::move(config).value());
    if (!recorder.ok())
        return recorder.error();
    return watch(*recorder.value(), options, WhenInterrupted::PassedOn);
}

} // namespace

void declareRecord(CLI::App& app, Work& work) {
    auto options = std::make_shared<LaunchOptions>();
    CLI::App* command = app.add_subcommand("record", "Run a program and record what it does on the GPU");
    command->add_option("PROGRAM", options->program, "The program and its arguments, behind --")->required();
    addRecordOptions(*command, *options);
    command->add_flag("--kill", options->kill,
                      "End the program (its process group) when the recording ends before it");
    auto* kineto =
        command
            ->add_option(
                "--kineto", options->kineto,
                "PyTorch: have its own profiler write a trace (ops, shapes, stacks, memory) of so long, to "
                "NAME_PID.json for -o NAME.json; --delay says when")
            ->type_name("TIME")
            ->check([](const std::string& text) -> std::string {
                TimeNs time = 0;
                return parseDuration(text, time) && time > 0
                           ? std::string()
                           : "\"" + text + "\" is no time: write one as 400ms";
            });
    command
        ->add_option("--kineto-iterations", options->kinetoIterations, "The same for so many optimizer steps")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->excludes(kineto);
    command->add_flag(
        "--torch", options->torch,
        "PyTorch: name ops (emit_nvtx), mark optimizer steps, save a snapshot when memory runs out");
    command
        ->add_option("--helper", options->helper,
                     "Where the folder \"torch\" of the helper is, if not beside this program")
        ->type_name("FOLDER");
    command->footer(
        "The program runs as it would alone: its output is passed on, Ctrl-C reaches it, its exit status is "
        "this\ncommand's. All processes that it starts are recorded too (torchrun, shells), into one file. "
        "A second\nCtrl-C ends the recording and leaves the program running.\n"
        "\nExamples:\n"
        "  warpline-cli record -o run.wpl -- python train.py --epochs 1\n"
        "  warpline-cli record -o run.wpl --delay 30s --duration 10s -- torchrun --nproc-per-node 8 "
        "train.py\n"
        "  warpline-cli record -o run.wpl --torch --memory-history -- python train.py\n"
        "  ssh server warpline-cli record -o - -- python train.py | warpline-cli info -");
    command->callback([options, &work] { work = [options] { return runRecord(*options); }; });
}

} // namespace warpline::cli
