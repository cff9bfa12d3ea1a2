// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/remote_call.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <fmt/format.h>
#include <memory>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace warpline::capture {

#ifdef __x86_64__

namespace {

/// The whole vector state of today's processors takes 11 KiB.
constexpr std::size_t kMostVectorState = std::size_t{64} << 10;
constexpr std::uint64_t kRedZone = 128;
/// Futex operations: what locks wait with, and what condition variables, semaphores and joins do.
constexpr std::uint64_t kFutexCommand = 0x7F;
constexpr std::uint64_t kFutexWaitBitset = 9;

std::int64_t nowMs() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

void sleepUs(long us) {
    const timespec t{0, us * 1000};
    ::nanosleep(&t, nullptr);
}

long trace(__ptrace_request request, pid_t tid, std::uint64_t address, const void* data) {
    return ::ptrace(request, tid, reinterpret_cast<void*>(address), const_cast<void*>(data));
}

/// Libraries in whose code a thread may hold a lock that dlopen, malloc or thread creation needs.
bool holdsLocks(const Mapping& m) {
    static constexpr std::string_view kStarts[] = {"libc.so",     "libc-2.",     "ld-linux", "ld-2.",
                                                   "libdl",       "libpthread",  "libgcc_s", "libjemalloc",
                                                   "libtcmalloc", "libmimalloc", "libhoard", "libtbbmalloc"};
    for (const std::string_view start : kStarts)
        if (m.file().starts_with(start))
            return true;
    return false;
}

} // namespace

struct RemoteThread::State {
    user_regs_struct registers{};
    std::vector<char> vectors;
    std::uint64_t signalMask = 0;
};

bool remoteCallsWork() {
    return true;
}

RemoteThread::RemoteThread() : m_state(new State) {}

RemoteThread::~RemoteThread() {
    release();
    constexpr std::int64_t kPatience = 3000;
    const std::int64_t deadline = nowMs() + kPatience;
    while (!m_late.empty() && nowMs() < deadline) {
        letLateOnesGo();
        sleepUs(500);
    }
    delete m_state;
}

void RemoteThread::letGo(pid_t tid) {
    (void)trace(PTRACE_DETACH, tid, 0, nullptr);
}

RemoteThread::Stop RemoteThread::stop(pid_t tid, std::int64_t deadline) {
    if (trace(PTRACE_SEIZE, tid, 0, nullptr) != 0)
        return Stop::Gone;
    if (trace(PTRACE_INTERRUPT, tid, 0, nullptr) != 0) {
        letGo(tid);
        return Stop::Gone;
    }
    for (;;) {
        int status = 0;
        const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
        if (got == tid) {
            if (!WIFSTOPPED(status))
                return Stop::Gone;
            constexpr int kEvent = 16;
            if (status >> kEvent == PTRACE_EVENT_STOP)
                return Stop::Done;
            // A signal on its way: let it be delivered, the stop comes after it.
            const auto signal = static_cast<std::uintptr_t>(WSTOPSIG(status));
            (void)trace(PTRACE_CONT, tid, 0, reinterpret_cast<void*>(signal));
            continue;
        }
        if (got < 0 && errno != EINTR)
            return Stop::Gone;
        if (nowMs() > deadline) {
            m_late.push_back(tid); // in a system call that nothing interrupts
            return Stop::Late;
        }
        sleepUs(50);
    }
}

void RemoteThread::letLateOnesGo() {
    std::erase_if(m_late, [&](pid_t tid) {
        int status = 0;
        const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
        if (got == tid && WIFSTOPPED(status))
            letGo(tid);
        return got != 0;
    });
}

bool RemoteThread::isSafe(const std::vector<Mapping>& maps) const {
    const user_regs_struct& r = m_state->registers;
    const Mapping* where = nullptr;
    for (const Mapping& m : maps)
        if (r.rip >= m.begin && r.rip < m.end)
            where = &m;
    if (where == nullptr)
        return false;
    const auto call = static_cast<std::int64_t>(r.orig_rax);
    if (call < 0)
        return !holdsLocks(*where);
    if (where->file().starts_with("ld-"))
        return false;
    switch (call) {
    case SYS_futex:
        return (r.rsi & kFutexCommand) == kFutexWaitBitset;
    case SYS_brk:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_mprotect:
    case SYS_clone:
    case SYS_clone3:
    case SYS_rt_sigreturn:
        return false;
    default:
        return true;
    }
}

Result<Done> RemoteThread::stopAtSafePoint(pid_t pid, std::int64_t timeoutMs) {
    m_pid = pid;
    const std::int64_t deadline = nowMs() + timeoutMs;
    constexpr std::size_t kMostThreads = 16;
    bool reached = false;
    do {
        std::vector<pid_t> threads = threadsOf(pid);
        if (threads.size() > kMostThreads)
            threads.resize(kMostThreads);
        letLateOnesGo();
        for (const pid_t tid : threads) {
            if (std::find(m_late.begin(), m_late.end(), tid) != m_late.end())
                continue;
            errno = 0;
            const Stop stopped = stop(tid, std::min(deadline, nowMs() + 200));
            if (stopped == Stop::Gone && errno == EPERM)
                return Error::failed(
                    fmt::format("The system does not let this program attach to process {} (a "
                                "container's seccomp rules, or a missing CAP_SYS_PTRACE): attach as "
                                "root, or launch it with \"record\".",
                                pid));
            if (stopped != Stop::Done)
                continue;
            reached = true;
            m_tid = tid;
            m_state->vectors.resize(kMostVectorState);
            iovec vectors{m_state->vectors.data(), m_state->vectors.size()};
            const bool read =
                trace(PTRACE_GETREGS, tid, 0, &m_state->registers) == 0 &&
                trace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &vectors) == 0 &&
                trace(PTRACE_GETSIGMASK, tid, sizeof m_state->signalMask, &m_state->signalMask) == 0;
            if (read && isSafe(mappingsOf(pid))) {
                m_state->vectors.resize(vectors.iov_len);
                m_saved = true;
                return Done{};
            }
            letGo(tid);
            m_tid = 0;
        }
        sleepUs(500);
    } while (nowMs() < deadline);
    return Error::failed(
        reached ? fmt::format("Process {} was never at a place where it could be attached to: it is "
                              "busy with its memory or its locks. Try again.",
                              pid)
                : fmt::format("Process {} does not stop (it hangs in the kernel, or has ended).", pid));
}

Result<std::uint64_t> RemoteThread::call(std::uint64_t function, const std::string& text,
                                         std::uint64_t number) {
    const auto failed = [&](const char* what) {
        return Error::failed(
            fmt::format("Process {}: {} ({}).", m_pid, what, std::generic_category().message(errno)));
    };
    // Below what the thread's own code may still use; the text there, and beneath it the return address 0.
    constexpr std::uint64_t kRoom = 8192;
    constexpr std::uint64_t kAlign = 16;
    if (text.size() + kAlign > kRoom)
        return Error::failed("The agent's path is too long.");
    const std::uint64_t base = (m_state->registers.rsp - kRedZone - kRoom) / kAlign * kAlign;
    std::string bytes(sizeof(std::uint64_t), '\0');
    bytes += text;
    bytes.push_back('\0');
    const iovec local{bytes.data(), bytes.size()};
    const iovec remote{reinterpret_cast<void*>(base - sizeof(std::uint64_t)), bytes.size()};
    if (::process_vm_writev(m_pid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(bytes.size()))
        return failed("its stack cannot be written");

    // No signal handler of the program runs in between; a fault must come through, it is the end mark.
    std::uint64_t mask = ~std::uint64_t{0};
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
        mask &= ~(std::uint64_t{1} << (signal - 1));
    user_regs_struct r = m_state->registers;
    constexpr std::uint64_t kDirection = 0x400;
    r.rip = function;
    r.rdi = base;
    r.rsi = number;
    r.rax = 0;
    r.rsp = base - sizeof(std::uint64_t);
    r.orig_rax = ~std::uint64_t{0}; // no system call to be taken up again
    r.eflags &= ~kDirection;
    if (trace(PTRACE_SETSIGMASK, m_tid, sizeof mask, &mask) != 0 ||
        trace(PTRACE_SETREGS, m_tid, 0, &r) != 0 || trace(PTRACE_CONT, m_tid, 0, nullptr) != 0)
        return failed("its thread cannot be set going");

    constexpr std::int64_t kPatience = 30'000;
    const std::int64_t deadline = nowMs() + kPatience;
    for (;;) {
        int status = 0;
        const pid_t got = ::waitpid(m_tid, &status, __WALL | WNOHANG);
        if (got == 0 || (got < 0 && errno == EINTR)) {
            if (nowMs() > deadline) {
                (void)trace(PTRACE_INTERRUPT, m_tid, 0, nullptr);
                (void)::waitpid(m_tid, &status, __WALL);
                return Error::failed(
                    fmt::format("Process {} did not load the agent within 30 s: it waits for a lock. "
                                "It was let go on, and may be disturbed.",
                                m_pid));
            }
            sleepUs(50);
            continue;
        }
        if (got < 0 || !WIFSTOPPED(status)) {
            m_saved = false;
            m_tid = 0;
            return Error::failed(fmt::format("Process {} ended while it was attached to.", m_pid));
        }
        if (trace(PTRACE_GETREGS, m_tid, 0, &r) != 0)
            return failed("its registers cannot be read");
        const int signal = WSTOPSIG(status);
        if (signal == SIGSEGV && r.rip == 0)
            return std::uint64_t{r.rax};
        if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE)
            return Error::failed(
                fmt::format("Process {}: loading the agent went wrong (signal {}); the program was put "
                            "back as it was.",
                            m_pid, signal));
        (void)trace(PTRACE_CONT, m_tid, 0, nullptr);
    }
}

void RemoteThread::release() {
    if (m_tid == 0)
        return;
    if (m_saved) {
        const iovec vectors{m_state->vectors.data(), m_state->vectors.size()};
        (void)trace(PTRACE_SETREGSET, m_tid, NT_X86_XSTATE, &vectors);
        (void)trace(PTRACE_SETREGS, m_tid, 0, &m_state->registers);
        (void)trace(PTRACE_SETSIGMASK, m_tid, sizeof m_state->signalMask, &m_state->signalMask);
    }
    letGo(m_tid);
    m_tid = 0;
    m_saved = false;
}

#else

struct RemoteThread::State {};
bool remoteCallsWork() {
    return false;
}
RemoteThread::RemoteThread() : m_state(new State) {}
RemoteThread::~RemoteThread() {
    delete m_state;
}
Result<Done> RemoteThread::stopAtSafePoint(pid_t, std::int64_t) {
    return Error::failed("Attaching works on x86-64 only.");
}
Result<std::uint64_t> RemoteThread::call(std::uint64_t, const std::string&, std::uint64_t) {
    return Error::failed("Attaching works on x86-64 only.");
}
void RemoteThread::release() {}

#endif

} // namespace warpline::capture
