// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// The agent's thread and its doors: the driver's InitializeInjection, an attach's warpline_agent_start, the
// process's forks and its end.

#include "capture/agent/capture.h"
#include "capture/agent/channel.h"
#include "capture/agent/cuda_devices.h"
#include "capture/agent/hello.h"
#include "capture/agent/lock.h"
#include "capture/agent/python.h"
#include "capture/agent/sender.h"
#include "capture/agent/thread.h"
#include "capture/protocol/wire.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/// wire::kStageVariable
extern "C" {
__attribute__((visibility("default"))) constinit std::uint32_t warpline_agent_stage = 0;
}

namespace warpline::agent {

namespace {

void stage(wire::Stage s) {
    __atomic_store_n(&warpline_agent_stage, static_cast<std::uint32_t>(s), __ATOMIC_RELEASE);
}

constexpr std::int64_t kSecond = 1'000'000'000;
/// How long the driver's initialisation waits for the recorder's configuration, and the program's end for the
/// last records to be sent.
constexpr std::int64_t kInitPatience = 2 * kSecond;
constexpr std::int64_t kExitPatience = 3 * kSecond;
constexpr std::size_t kMostCommand = 80 << 10;

/// States and answers wait here until the thread sends them.
struct Message {
    wire::Frame type = wire::Frame::State;
    wire::StateHeader state;
    wire::PythonDone python;
    char text[600] = {};
};

/// Who calls CUPTI first. In the driver's initialisation only the thread that the driver called may.
enum class Starter : int { Nobody, Caller, Worker };

struct Agent {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    Channel channel;
    Sender sender;
    Settings settings;
    Message messages[64];
    std::size_t messageFirst = 0;
    std::size_t messageCount = 0;
    char socketPath[108] = {};
    int wakeFile = -1;
    bool running = false; ///< the thread is there
    bool configured = false;
    bool attached = false;
    bool callerWaits = false; ///< InitializeInjection will start the recording
    bool doorsSet = false;
    int exiting = 0;          ///< the process ends: send what is there and go
    std::int64_t startAt = 0; ///< Begin::Delay, monotonic
};

constinit Agent g_agent;
constinit char g_command[kMostCommand]; ///< the frame being obeyed

void wake() {
    const std::uint64_t one = 1;
    if (g_agent.wakeFile >= 0)
        (void)!::write(g_agent.wakeFile, &one, sizeof one);
}

void post(const Message& message) {
    {
        const Lock lock(g_agent.mutex);
        constexpr std::size_t kRoom = sizeof g_agent.messages / sizeof g_agent.messages[0];
        if (g_agent.messageCount == kRoom)
            return;
        g_agent.messages[(g_agent.messageFirst + g_agent.messageCount++) % kRoom] = message;
    }
    wake();
}

void postState(std::uint32_t state, std::uint32_t code, const char* text) {
    Message m;
    m.state = {static_cast<wire::State>(state), code};
    std::snprintf(m.text, sizeof m.text, "%s", text);
    post(m);
}

void postPython(std::uint32_t number, int status) {
    Message m;
    m.type = wire::Frame::PythonDone;
    m.python = {number, status};
    post(m);
}

bool sendMessages() {
    for (;;) {
        Message m;
        {
            const Lock lock(g_agent.mutex);
            if (g_agent.messageCount == 0)
                return true;
            m = g_agent.messages[g_agent.messageFirst];
            g_agent.messageFirst = (g_agent.messageFirst + 1) % (sizeof g_agent.messages / sizeof m);
            --g_agent.messageCount;
        }
        const bool state = m.type == wire::Frame::State;
        const iovec pieces[] = {
            {state ? static_cast<void*>(&m.state) : &m.python, state ? sizeof m.state : sizeof m.python},
            {m.text, std::strlen(m.text)}};
        if (!g_agent.channel.send(m.type, pieces, 2))
            return false;
    }
}

/// Sends what waits; while the connection is gone, buffers are only given back.
bool sendBuffers() {
    bool ok = g_agent.channel.open() && !g_capture.silent();
    while (Buffer* buffer = g_capture.buffers().takeReady()) {
        if (ok)
            ok = g_agent.sender.sendBuffer(g_agent.channel, g_capture, *buffer);
        g_capture.buffers().giveBack(buffer);
    }
    return ok;
}

/// Threads are called after the one that makes them. Those that CUPTI makes live on, and must not look like
/// the agent's.
class NamedForCupti {
  public:
    NamedForCupti() { (void)::pthread_setname_np(::pthread_self(), "cupti"); }
    ~NamedForCupti() { (void)::pthread_setname_np(::pthread_self(), wire::kAgentThread); }
    NamedForCupti(const NamedForCupti&) = delete;
    NamedForCupti& operator=(const NamedForCupti&) = delete;
};

/// What the configuration asks for first: called by the driver's caller or by the agent's thread.
void beginAsConfigured() {
    if (!g_capture.open(g_agent.settings, {&wake, &postState}))
        return;
    switch (g_agent.settings.begin) {
    case Begin::Now:
        (void)g_capture.start();
        break;
    case Begin::Profiler:
    case Begin::Range:
        (void)g_capture.arm();
        break;
    case Begin::Delay:
        g_agent.startAt = monotonicNow() + std::int64_t{g_agent.settings.delayMs} * 1'000'000;
        [[fallthrough]];
    case Begin::Wait:
        postState(static_cast<std::uint32_t>(wire::State::Waiting), 0, "");
        break;
    }
}

void configure(const char* fields, std::size_t size) {
    g_agent.settings = {};
    readConfiguration(fields, size, g_agent.settings);
    g_agent.settings.late = g_agent.attached;
    bool mine = false;
    {
        const Lock lock(g_agent.mutex);
        g_agent.configured = true;
        mine = !g_agent.callerWaits;
        ::pthread_cond_broadcast(&g_agent.changed);
    }
    if (mine) {
        const NamedForCupti named;
        beginAsConfigured();
    }
}

enum class Next { GoOn, Leave };

Next obey(const wire::FrameHeader& header) {
    switch (header.type) {
    case wire::Frame::Configure:
        configure(g_command, header.size);
        break;
    case wire::Frame::Start: {
        const NamedForCupti named;
        g_agent.startAt = 0;
        (void)g_capture.start();
        break;
    }
    case wire::Frame::Stop:
        g_agent.startAt = 0;
        g_capture.stop();
        break;
    case wire::Frame::Flush:
        g_capture.flush(true);
        break;
    case wire::Frame::Detach:
        return Next::Leave;
    case wire::Frame::Python:
        if (header.size > sizeof(std::uint32_t)) {
            std::uint32_t number = 0;
            std::memcpy(&number, g_command, sizeof number);
            if (!runPython(number, g_command + sizeof number, header.size - sizeof number, &postPython))
                postPython(number, 1);
        }
        break;
    default:
        break; // of a later version
    }
    return Next::GoOn;
}

bool commands(bool& leave) {
    for (;;) {
        wire::FrameHeader header;
        const int got = g_agent.channel.receive(header, g_command, sizeof g_command);
        if (got < 0)
            return false;
        if (got == 0)
            return true;
        if (obey(header) == Next::Leave) {
            leave = true;
            return true;
        }
    }
}

bool hello() {
    // The command buffer serves: nothing was received yet.
    const std::size_t size = writeHello(g_command, 16 << 10, g_agent.attached);
    if (!g_agent.channel.send(wire::Frame::Hello, g_command, size))
        return false;
    if (!g_agent.attached)
        return true;
    constexpr std::size_t kMostDevices = 32;
    wire::DeviceInfo devices[kMostDevices];
    const std::size_t count = cudaDevices(devices, kMostDevices);
    return count == 0 || g_agent.channel.send(wire::Frame::Devices, devices, count * sizeof devices[0]);
}

/// Records are counted and measured with CUPTI's help: they are sent before it is taken out. What comes after
/// is what it still had as it went.
void leaveProgram() {
    stage(wire::Stage::Stopping);
    g_capture.stop();
    (void)sendBuffers();
    stage(wire::Stage::Finalizing);
    g_capture.detach();
    stage(wire::Stage::Closing);
}

void serve() {
    Agent& a = g_agent;
    if (!hello())
        return;
    std::int64_t nextFlush = monotonicNow();
    std::int64_t nextThreads = nextFlush;
    bool leave = false;
    while (!leave) {
        const bool recording = g_capture.recording();
        const std::int64_t period =
            std::int64_t{a.settings.flushMs > 0 ? a.settings.flushMs : 250} * 1'000'000;
        std::int64_t until = recording ? nextFlush - monotonicNow() : kSecond;
        if (a.startAt != 0 && a.startAt - monotonicNow() < until)
            until = a.startAt - monotonicNow();
        if (until < 0)
            until = 0;
        pollfd files[] = {{a.channel.file(), POLLIN, 0}, {a.wakeFile, POLLIN, 0}};
        (void)::poll(files, 2, static_cast<int>(until / 1'000'000 + 1));
        std::uint64_t ignored = 0;
        (void)!::read(a.wakeFile, &ignored, sizeof ignored);

        const bool exiting = __atomic_load_n(&a.exiting, __ATOMIC_ACQUIRE) != 0;
        if (a.startAt != 0 && monotonicNow() >= a.startAt) {
            const NamedForCupti named;
            a.startAt = 0;
            (void)g_capture.start();
        }
        if (g_capture.takeFlushWanted())
            g_capture.flush(true);
        const std::int64_t now = monotonicNow();
        if (!exiting && g_capture.recording() && now >= nextFlush) {
            g_capture.flush(false);
            nextFlush = now + period;
            if (!a.sender.sendClock(a.channel, g_capture) || !a.sender.sendCounters(a.channel, g_capture))
                return;
        }
        if (!sendMessages() || !sendBuffers())
            return;
        if (now >= nextThreads) {
            nextThreads = now + 2 * kSecond;
            if (!a.sender.sendThreads(a.channel))
                return;
        }
        if (exiting)
            break;
        if (!commands(leave))
            return;
    }
    if (leave)
        leaveProgram();
    (void)(sendMessages() && sendBuffers() && a.sender.sendThreads(a.channel) &&
           a.sender.sendCounters(a.channel, g_capture) && a.channel.send(wire::Frame::Bye, nullptr, 0));
}

void* body(void* /*unused*/) {
    Agent& a = g_agent;
    g_capture.unsilence();
    if (a.channel.connect(a.socketPath) == 0)
        serve();
    const bool exiting = __atomic_load_n(&a.exiting, __ATOMIC_ACQUIRE) != 0;
    // The recorder is gone, or has sent us away: the program runs on as if we had never been.
    g_capture.silence();
    if (!exiting && g_capture.isOpen())
        leaveProgram();
    (void)sendBuffers(); // only gives them back
    g_capture.buffers().trim();
    const Lock lock(a.mutex);
    a.running = false;
    a.messageCount = 0;
    // Last, so that who sees the connection's end may attach again at once.
    a.channel.close();
    stage(wire::Stage::Idle);
    ::pthread_cond_broadcast(&a.changed);
    return nullptr;
}

/// Waits for `done` to hold until the deadline; the mutex is held.
template <class Done>
void waitUntil(std::int64_t patience, Done done) {
    timespec end{};
    ::clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += patience / kSecond;
    while (!done())
        if (::pthread_cond_timedwait(&g_agent.changed, &g_agent.mutex, &end) == ETIMEDOUT)
            return;
}

void beforeFork() {
    ::pthread_mutex_lock(&g_agent.mutex);
}
void afterForkInParent() {
    ::pthread_mutex_unlock(&g_agent.mutex);
}
void afterForkInChild() {
    // CUDA does not work in a forked child, and the thread is not there: say and record nothing.
    g_agent.mutex = PTHREAD_MUTEX_INITIALIZER;
    g_capture.silence();
    g_agent.channel.forget();
    g_agent.running = false;
    stage(wire::Stage::Idle);
    if (g_agent.wakeFile >= 0)
        ::close(g_agent.wakeFile);
    g_agent.wakeFile = -1;
    __atomic_store_n(&g_agent.exiting, 2, __ATOMIC_RELEASE);
}

void atExit() {
    Agent& a = g_agent;
    if (__atomic_load_n(&a.exiting, __ATOMIC_ACQUIRE) == 2)
        return;
    {
        const Lock lock(a.mutex);
        if (!a.running)
            return;
    }
    a.channel.setDeadline(monotonicNow() + kExitPatience);
    g_capture.stop();
    g_capture.flush(true);
    __atomic_store_n(&a.exiting, 1, __ATOMIC_RELEASE);
    wake();
    const Lock lock(a.mutex);
    waitUntil(kExitPatience, [&] { return !a.running; });
}

/// Starts the thread unless it runs. `caller` says that this thread begins the recording once configured.
int launch(const char* path, bool attached, bool caller) {
    Agent& a = g_agent;
    const Lock lock(a.mutex);
    if (a.running)
        return EBUSY;
    if (path == nullptr || path[0] == '\0' || std::strlen(path) >= sizeof a.socketPath)
        return EINVAL;
    std::snprintf(a.socketPath, sizeof a.socketPath, "%s", path);
    a.attached = attached;
    a.configured = false;
    a.callerWaits = caller;
    a.startAt = 0;
    a.messageCount = 0;
    __atomic_store_n(&a.exiting, 0, __ATOMIC_RELEASE);
    a.channel.setDeadline(0);
    a.sender.reset();
    if (a.wakeFile < 0)
        a.wakeFile = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!a.doorsSet) {
        a.doorsSet = true;
        (void)::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild);
        (void)std::atexit(&atExit);
    }
    stage(wire::Stage::Serving);
    if (!startThread(&body, nullptr, wire::kAgentThread, std::size_t{1} << 20)) {
        stage(wire::Stage::Idle);
        return EAGAIN;
    }
    a.running = true;
    return 0;
}

} // namespace

} // namespace warpline::agent

extern "C" {

/// Called by the CUDA driver as it initialises, where CUDA_INJECTION64_PATH names this library.
__attribute__((visibility("default"))) int InitializeInjection(void) {
    using namespace warpline;
    using namespace warpline::agent;
    const char* path = std::getenv(wire::kSocketVariable);
    if (path == nullptr || launch(path, false, true) != 0)
        return 1;
    bool mine = false;
    {
        const Lock lock(g_agent.mutex);
        waitUntil(kInitPatience, [] { return g_agent.configured || !g_agent.running; });
        mine = g_agent.configured;
        g_agent.callerWaits = false; // too late now: the thread does it
    }
    if (mine)
        beginAsConfigured();
    return 1;
}

/// Called by an attach, once the library is loaded. Returns at once; see wire::kStartFunction.
__attribute__((visibility("default"))) int warpline_agent_start(const char* socketPath) {
    return warpline::agent::launch(socketPath, true, false);
}
}
