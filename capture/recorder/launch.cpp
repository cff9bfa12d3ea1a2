// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/launch.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace warpline::capture {

namespace {

/// Our environment with some variables set anew.
std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>>& set) {
    std::vector<std::string> out;
    for (char** e = environ; *e != nullptr; ++e) {
        const std::string_view entry(*e);
        const auto name = entry.substr(0, entry.find('='));
        bool replaced = false;
        for (const auto& [key, value] : set)
            replaced |= name == key;
        if (!replaced)
            out.emplace_back(entry);
    }
    for (const auto& [key, value] : set)
        out.push_back(key + "=" + value);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& t : texts)
        out.push_back(t.data());
    out.push_back(nullptr);
    return out;
}

} // namespace

Result<pid_t> launchProgram(const LaunchRequest& request) {
    std::vector<std::string> command = request.command;
    std::vector<std::string> environment = environmentWith(request.environment);
    const std::vector<char*> arguments = pointers(command);
    const std::vector<char*> variables = pointers(environment);
    // Closes itself where the program starts; else the errno comes through.
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0)
        return Error::failed("No pipe can be made: " + std::generic_category().message(errno) + ".");
    const pid_t pid = ::fork();
    if (pid == 0) {
        // Only what is safe between fork and exec.
        if (request.ownGroup)
            (void)::setpgid(0, 0);
        int code = 0;
        if (!request.folder.empty() && ::chdir(request.folder.c_str()) != 0)
            code = errno;
        if (code == 0) {
            if (request.output >= 0)
                (void)::dup2(request.output, STDOUT_FILENO);
            if (request.error >= 0)
                (void)::dup2(request.error, STDERR_FILENO);
            (void)::signal(SIGINT, SIG_DFL);
            (void)::signal(SIGPIPE, SIG_DFL);
            sigset_t none;
            (void)::sigemptyset(&none);
            (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
            ::execvpe(arguments[0], arguments.data(), variables.data());
            code = errno;
        }
        (void)!::write(report[1], &code, sizeof code);
        ::_exit(127);
    }
    ::close(report[1]);
    int code = 0;
    ssize_t n = 0;
    do {
        n = ::read(report[0], &code, sizeof code);
    } while (n < 0 && errno == EINTR);
    ::close(report[0]);
    if (pid < 0)
        return Error::failed("No process can be made: " + std::generic_category().message(errno) + ".");
    if (n == sizeof code) {
        int ignored = 0;
        (void)::waitpid(pid, &ignored, 0);
        return Error::failed(
            fmt::format("{}: it cannot be started: {}.", command[0], std::generic_category().message(code)));
    }
    return pid;
}

int exitCodeOf(int status) {
    constexpr int kSignal = 128;
    return WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace warpline::capture
