// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/attach.h"

#include "capture/protocol/wire.h"
#include "capture/recorder/process_files.h"
#include "capture/recorder/remote_call.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace warpline::capture {

namespace {

bool isLibc(const Mapping& m) {
    return m.file() == "libc.so.6" || m.file().starts_with("libc-2.");
}
bool isCuda(const Mapping& m) {
    return m.file().starts_with("libcuda.so");
}
bool isAgent(const Mapping& m) {
    return m.file().starts_with("libwarpline-agent.so");
}

bool mayTraceAny() {
    // CAP_SYS_PTRACE is bit 19.
    const auto effective = statusField(::getpid(), "CapEff");
    constexpr unsigned long kPtrace = 1ul << 19;
    return effective && (std::strtoul(effective->c_str(), nullptr, 16) & kPtrace) != 0;
}

bool descendsFromUs(pid_t pid) {
    for (int depth = 0; depth < 64 && pid > 1; ++depth) {
        if (pid == ::getpid())
            return true;
        pid = static_cast<pid_t>(std::atoi(statusField(pid, "PPid").value_or("0").c_str()));
    }
    return false;
}

std::string userName(uid_t uid) {
    const passwd* entry = ::getpwuid(uid);
    return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

/// The path of a mapped file as it can be opened from here: the program may be in a container.
std::string reachable(pid_t pid, const std::string& path) {
    return fmt::format("/proc/{}/root{}", pid, path);
}

/// Where a library is loaded: what is added to its symbols' values.
std::uint64_t loadAddress(const std::vector<Mapping>& maps, const std::string& path) {
    std::uint64_t lowest = 0;
    for (const Mapping& m : maps)
        if (m.path == path && m.offset == 0 && (lowest == 0 || m.begin < lowest))
            lowest = m.begin;
    return lowest;
}

template <class Is>
const Mapping* findMapping(const std::vector<Mapping>& maps, Is is) {
    const auto it = std::find_if(maps.begin(), maps.end(), is);
    return it == maps.end() ? nullptr : &*it;
}

/// What the agent in the program says of itself; Idle where there is none, or where it cannot be read.
wire::Stage stageOf(pid_t pid) {
    const std::vector<Mapping> maps = mappingsOf(pid);
    const Mapping* agent = findMapping(maps, isAgent);
    const std::uint64_t at =
        agent == nullptr ? 0 : symbolIn(reachable(pid, agent->path), wire::kStageVariable);
    if (at == 0)
        return wire::Stage::Idle;
    auto value = static_cast<std::uint32_t>(wire::Stage::Idle);
    const iovec here{&value, sizeof value};
    const iovec there{reinterpret_cast<void*>(loadAddress(maps, agent->path) + at), sizeof value};
    if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof value))
        return wire::Stage::Idle;
    return static_cast<wire::Stage>(value);
}

Result<Done> mayBegin(pid_t pid, wire::Stage stage) {
    switch (stage) {
    case wire::Stage::Idle:
        return Done{};
    case wire::Stage::Serving:
        break;
    case wire::Stage::Stopping:
    case wire::Stage::Finalizing:
    case wire::Stage::Closing:
        return Error::failed(
            fmt::format("Process {} is still leaving its last recording ({}): try again in a moment.", pid,
                        stage == wire::Stage::Stopping     ? "the last records are being delivered"
                        : stage == wire::Stage::Finalizing ? "CUPTI is being taken out"
                                                           : "the connection is being closed"));
    }
    return Error::failed(fmt::format("Process {} is being recorded already.", pid));
}

/// A recording that has just ended needs a moment until its agent has left.
Result<Done> waitUntilIdle(pid_t pid) {
    constexpr int kServingLooks = 50;  // half a second: its recorder may be gone
    constexpr int kLeavingLooks = 500; // five seconds
    constexpr useconds_t kBetween = 10'000;
    wire::Stage stage = stageOf(pid);
    for (int look = 0;
         stage != wire::Stage::Idle && look < (stage == wire::Stage::Serving ? kServingLooks : kLeavingLooks);
         ++look) {
        ::usleep(kBetween);
        stage = stageOf(pid);
    }
    return mayBegin(pid, stage);
}

Result<Done> canAttachAtAll(pid_t pid) {
    struct stat status {};
    if (pid <= 0 || ::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0)
        return Error::failed(fmt::format("There is no process {}.", pid));
    if (pid == ::getpid())
        return Error::failed("A recorder cannot attach to itself.");
    const std::string state = statusField(pid, "State").value_or("?");
    if (state.starts_with('Z') || state.starts_with('X'))
        return Error::failed(fmt::format("Process {} has ended already.", pid));
    const bool any = mayTraceAny();
    if (status.st_uid != ::geteuid() && !any)
        return Error::failed(fmt::format("Process {} belongs to {}: attach as that user or as root.", pid,
                                         userName(status.st_uid)));
    const int scope = std::atoi(readWhole("/proc/sys/kernel/yama/ptrace_scope").value_or("0").c_str());
    if (scope == 3)
        return Error::failed(
            "This system forbids attaching altogether (kernel.yama.ptrace_scope is 3): launch the "
            "program with \"record\" instead.");
    if (scope == 2 && !any)
        return Error::failed("Only root may attach here (kernel.yama.ptrace_scope is 2).");
    if (scope == 1 && !any && !descendsFromUs(pid))
        return Error::failed(
            "This system lets a program be attached to by its parents only "
            "(kernel.yama.ptrace_scope is 1): attach as root, or set it to 0 with \"sudo sysctl "
            "kernel.yama.ptrace_scope=0\".");
    if (const auto tracer = statusField(pid, "TracerPid"); tracer && *tracer != "0")
        return Error::failed(
            fmt::format("A debugger (process {}) holds process {}: end it first.", *tracer, pid));
    const std::string executable = fmt::format("/proc/{}/exe", pid);
    if (::access(executable.c_str(), R_OK) != 0)
        return Error::failed(
            fmt::format("Process {} does not let itself be looked into: it is the kernel's, or another "
                        "user's or container's. Attach as root, or from within the container.",
                        pid));
    const int elf = elfClassOf(executable);
    if (elf == 1)
        return Error::failed(fmt::format("Process {} is a 32-bit program, which has no CUDA.", pid));
    if (elf == 0 || !remoteCallsWork())
        return Error::failed("Attaching works for x86-64 programs only: launch it with \"record\" instead.");
    const std::vector<Mapping> maps = mappingsOf(pid);
    if (maps.empty())
        return Error::failed(
            fmt::format("Process {} does not let itself be looked into (a container's rules?): attach "
                        "as root, or from within the container.",
                        pid));
    if (findMapping(maps, isLibc) == nullptr)
        return Error::failed(
            fmt::format("Process {} is linked statically or with another C library than glibc: launch "
                        "it with \"record\" instead.",
                        pid));
    if (findMapping(maps, isCuda) == nullptr)
        return Error::failed(
            fmt::format("Process {} uses no CUDA (yet): wait until it does, or launch it with "
                        "\"record\".",
                        pid));
    return Done{};
}

} // namespace

Result<Done> canAttach(pid_t pid, bool patient) {
    if (auto can = canAttachAtAll(pid); !can.ok())
        return can;
    return patient ? waitUntilIdle(pid) : mayBegin(pid, stageOf(pid));
}

Result<Done> attachAgent(pid_t pid, const std::string& agent, const std::string& socket,
                         std::int64_t timeoutMs) {
    if (auto can = canAttach(pid, true); !can.ok())
        return can;
    std::vector<Mapping> maps = mappingsOf(pid);
    // In a container the agent must be there too; it is looked for by the same path.
    if (::access(reachable(pid, agent).c_str(), R_OK) != 0)
        return Error::failed(
            fmt::format("Process {} cannot read the agent ({}): it is in a container; copy the agent "
                        "there, to the same path.",
                        pid, agent));
    if (::access(reachable(pid, socket).c_str(), F_OK) != 0)
        return Error::failed(
            fmt::format("Process {} cannot reach the recorder ({}): it is in a container; record from "
                        "within it.",
                        pid, socket));
    const Mapping* libc = findMapping(maps, isLibc);
    std::uint64_t open = symbolIn(reachable(pid, libc->path), "dlopen");
    std::uint64_t base = loadAddress(maps, libc->path);
    // Before glibc 2.34 it stood in a library of its own.
    if (open == 0) {
        const Mapping* libdl = findMapping(maps, [](const Mapping& m) {
            return m.file() == "libdl.so.2" || m.file().starts_with("libdl-2.");
        });
        if (libdl != nullptr) {
            open = symbolIn(reachable(pid, libdl->path), "dlopen");
            base = loadAddress(maps, libdl->path);
        }
    }
    if (open == 0 || base == 0)
        return Error::failed(
            fmt::format("Process {}: the loader's dlopen was not found in {}.", pid, libc->path));

    RemoteThread thread;
    if (auto stopped = thread.stopAtSafePoint(pid, timeoutMs); !stopped.ok())
        return stopped;
    const Mapping* mapped = findMapping(maps, isAgent);
    if (mapped == nullptr) {
        constexpr std::uint64_t kNowAndStay = 0x2 | 0x1000; // RTLD_NOW | RTLD_NODELETE
        const auto handle = thread.call(base + open, agent, kNowAndStay);
        if (!handle.ok())
            return handle.error();
        if (handle.value() == 0)
            return Error::failed(
                fmt::format("Process {} could not load the agent ({}): its C library may be older "
                            "than 2.34.",
                            pid, agent));
        maps = mappingsOf(pid);
        mapped = findMapping(maps, isAgent);
        if (mapped == nullptr)
            return Error::failed(
                fmt::format("Process {} loaded the agent, but it is nowhere to be seen.", pid));
    }
    // Of the file that is mapped: an earlier recording may have brought another build of it.
    const std::uint64_t start = symbolIn(reachable(pid, mapped->path), wire::kStartFunction);
    if (start == 0)
        return Error::failed(fmt::format("Process {} has loaded an agent that is none of Warpline's ({}).",
                                         pid, mapped->path));
    const auto started = thread.call(loadAddress(maps, mapped->path) + start, socket, 0);
    if (!started.ok())
        return started.error();
    if (static_cast<std::uint32_t>(started.value()) == EBUSY)
        return Error::failed(fmt::format("Process {} is being recorded already.", pid));
    if (static_cast<std::uint32_t>(started.value()) != 0)
        return Error::failed(fmt::format("The agent could not start in process {} (error {}).", pid,
                                         static_cast<std::uint32_t>(started.value())));
    return Done{};
}

std::vector<GpuProgram> gpuPrograms() {
    std::vector<GpuProgram> out;
    DIR* folder = ::opendir("/proc");
    if (folder == nullptr)
        return out;
    while (const dirent* entry = ::readdir(folder)) {
        const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
        if (pid <= 0 || pid == ::getpid())
            continue;
        const std::vector<Mapping> maps = mappingsOf(pid);
        GpuProgram p;
        p.cuda = findMapping(maps, isCuda) != nullptr;
        bool device = false;
        const std::string files = fmt::format("/proc/{}/fd", pid);
        if (DIR* open = p.cuda ? nullptr : ::opendir(files.c_str())) {
            while (const dirent* file = ::readdir(open)) {
                char target[256];
                const ssize_t n = ::readlink((files + "/" + file->d_name).c_str(), target, sizeof target);
                device |= n > 11 &&
                          std::string_view(target, static_cast<std::size_t>(n)).starts_with("/dev/nvidia");
            }
            ::closedir(open);
        }
        if (!p.cuda && !device)
            continue;
        struct stat status {};
        if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0)
            continue;
        p.pid = pid;
        p.user = userName(status.st_uid);
        p.command = commandOf(pid);
        if (const auto can = canAttach(pid); !can.ok())
            p.whyNot = can.error().message;
        out.push_back(std::move(p));
    }
    ::closedir(folder);
    std::sort(out.begin(), out.end(), [](const GpuProgram& a, const GpuProgram& b) { return a.pid < b.pid; });
    return out;
}

} // namespace warpline::capture
