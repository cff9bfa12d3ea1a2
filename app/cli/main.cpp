// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/help.h"
#include "app/cli/output.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <string>

namespace {

using namespace warpline;

constexpr const char* kDescription =
    "Looks into GPU traces and memory snapshots: what is in them, which ops and kernels took the\n"
    "time, what held the memory; and records them.\n"
    "Reads Chrome JSON traces as torch.profiler (Kineto) and others write them: .json, .json.gz, .zst,\n"
    ".zip, whatever the file is called; - is the standard input, FILE.zip!MEMBER one file of an archive.";

constexpr const char* kFooter =
    "\nExamples:\n"
    "  warpline-cli info trace.json.gz\n"
    "  warpline-cli ops trace.json.gz --sort self_cuda --limit 10\n"
    "  warpline-cli kernels trace.json.gz --range 10ms:20ms --json\n"
    "  warpline-cli flame trace.json.gz --weight cuda --format svg -o gpu.svg\n"
    "  warpline-cli memory snapshot.pickle --at peak --group stack\n"
    "  warpline-cli convert trace.json.gz cut.json.gz --range 10ms:20ms\n"
    "  warpline-cli record -o run.wpl -- python train.py\n"
    "\nExit status: 0 done (a damaged file that could be read counts), 1 not done, "
    "2 wrong usage.";

int g_exitCode = cli::kExitDone;

/// What is wrong with the command line, and where to read how it is right.
std::string usageMessage(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
    const auto called = app.get_subcommands();
    if (!called.empty())
        return fmt::format("{} (see warpline-cli {} --help)", e.what(), called.front()->get_name());
    if (argc > 1)
        return fmt::format("there is no {} \"{}\" (see warpline-cli --help)",
                           argv[1][0] == '-' ? "option" : "command", argv[1]);
    return "a command is needed, like info, ops or record (see warpline-cli --help)";
}

int run(int argc, char** argv) {
    CLI::App app(kDescription, "warpline-cli");
    app.set_version_flag("--version", std::string("warpline-cli " WARPLINE_VERSION));
    app.footer(kFooter);
    app.require_subcommand(1);
    app.formatter(std::make_shared<cli::HelpFormatter>());

    cli::Work work;
    cli::declareInfo(app, work);
    cli::declareOps(app, work);
    cli::declareKernels(app, work);
    cli::declareFlame(app, work);
    cli::declareModules(app, work);
    cli::declareMemory(app, work);
    cli::declareConvert(app, work);
#ifdef WARPLINE_CAPTURE
    cli::declareRecord(app, work);
    cli::declareAttach(app, work);
    cli::declareTargets(app, work);
#endif

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) // --help, --version
            return app.exit(e);
        cli::printError(usageMessage(app, e, argc, argv));
        return cli::kExitWrongUsage;
    }

    const Result<Done> done = work();
    if (done.ok())
        return g_exitCode;
    if (!done.error().message.empty())
        cli::printError(done.error().message);
    return cli::kExitNotDone;
}

} // namespace

void warpline::cli::setExitCode(int code) {
    g_exitCode = code;
}

int main(int argc, char** argv) {
    // Piped into head: end without a word when the reader has gone, even where the parent ignores the signal.
    std::signal(SIGPIPE, SIG_DFL);
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        warpline::cli::printError("Not enough memory.");
    } catch (const std::exception& e) {
        warpline::cli::printError(e.what());
    }
    return warpline::cli::kExitNotDone;
}
