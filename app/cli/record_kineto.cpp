// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/record_kineto.h"

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "capture/recorder/kineto.h"
#include "capture/recorder/launch.h"
#include "model/base/json_writer.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpline::cli {

namespace {

/// A private folder that goes with this object.
class Folder {
  public:
    Folder() {
        std::string path = "/tmp/warpline-XXXXXX";
        if (::mkdtemp(path.data()) != nullptr)
            m_path = path;
    }
    ~Folder() {
        std::error_code ignored;
        if (!m_path.empty())
            std::filesystem::remove_all(m_path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::string& path() const { return m_path; }

  private:
    std::string m_path;
};

Result<Done> tell(const KinetoOptions& options, const capture::KinetoDaemon& daemon, int exitCode) {
    std::vector<std::string> files;
    const std::string base =
        options.output.substr(0, options.output.size() - std::string_view(".json").size());
    for (const std::int32_t pid : daemon.asked()) {
        std::string path = fmt::format("{}_{}.json", base, pid);
        if (std::filesystem::exists(path))
            files.push_back(std::move(path));
    }
    if (daemon.known().empty())
        printError("No process of the program asked for work: it uses no PyTorch, or one without Kineto.");
    else if (files.empty())
        printError("The program ended before its profiler had written anything.");
    if (!options.json) {
        for (const std::string& f : files)
            std::fprintf(stderr, "%s\n", printable(f).c_str());
        return Done{};
    }
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject();
    json.key("paths").beginArray();
    for (const std::string& f : files)
        json.text(f);
    json.endArray();
    json.field("processes", static_cast<std::int64_t>(daemon.known().size()));
    json.field("exit_code", std::int64_t{exitCode});
    json.endObject();
    out.push_back('\n');
    return print(out);
}

} // namespace

Result<Done> runKineto(const KinetoOptions& options) {
    const Folder folder;
    capture::KinetoDaemon daemon;
    if (auto opened = daemon.open(folder.path()); !opened.ok())
        return opened;
    capture::LaunchRequest launch;
    launch.command = options.program;
    launch.environment = daemon.environment();
    if (options.json)
        launch.output = STDERR_FILENO;
    auto child = capture::launchProgram(launch);
    if (!child.ok())
        return child.error();
    // Ctrl-C is the program's.
    (void)std::signal(SIGINT, SIG_IGN);
    capture::KinetoRequest request;
    request.output = std::filesystem::absolute(options.output);
    request.durationMs = options.durationMs;
    request.iterations = options.iterations;
    const auto armAt = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.delayMs);
    bool armed = false;
    int status = 0;
    while (::waitpid(child.value(), &status, WNOHANG) == 0) {
        if (!armed && std::chrono::steady_clock::now() >= armAt) {
            armed = true;
            daemon.arm(request);
        }
        constexpr int kTurnMs = 50;
        daemon.serve(kTurnMs);
    }
    const int code = capture::exitCodeOf(status);
    setExitCode(code);
    return tell(options, daemon, code);
}

} // namespace warpline::cli
