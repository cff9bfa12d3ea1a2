// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

// What the agent in a recorded program and the recorder say to each other. Both sides include this header and
// nothing else of each other, so it needs no library: neither exceptions nor the standard library's objects.
//
// The connection is a UNIX stream socket that the recorder listens on; the agent connects to it. Each side
// sends frames: a FrameHeader, then `size` bytes. All numbers are in the order of the machine, both sides run
// on the same one.
//
//   agent                          recorder
//   Hello  ----------------------->
//          <----------------------- Configure
//          <----------------------- Start            (unless the configuration says that it starts by itself)
//   State, Strings, Calls, Clock, Threads, Counters, Records ... -->
//          <----------------------- Stop, Start, Flush, Detach, Python
//   Bye    ----------------------->                  (the program ends, or Detach is done)

#include <cstdint>

namespace warpline::wire {

inline constexpr std::uint32_t kMagic = 0x314C5057; ///< "WPL1"
/// Raised when a frame changes its meaning; the recorder refuses an agent of another version by a sentence.
inline constexpr std::uint32_t kVersion = 1;
/// No frame is longer; whoever gets a longer one closes the connection.
inline constexpr std::uint64_t kMostFrameBytes = std::uint64_t{64} << 20;

/// The name of the environment variable that holds the socket's path, for a program that is launched.
inline constexpr const char* kSocketVariable = "WARPLINE_SOCKET";
/// Where the agent looks for CUPTI before anywhere else, if it is set: an absolute path.
inline constexpr const char* kCuptiVariable = "WARPLINE_CUPTI";
/// What an attach calls once the agent is loaded: int warpline_agent_start(const char* socketPath); 0 = the
/// agent's thread runs, EBUSY = it runs for another recorder, else an errno.
inline constexpr const char* kStartFunction = "warpline_agent_start";

/// What the agent's thread is called.
inline constexpr const char* kAgentThread = "warpline-agent";

/// A variable that the agent exports, a Stage: whether the program is being recorded, as seen from outside
/// without stopping it. (The thread's name would not tell: CUPTI's own threads inherit it.)
inline constexpr const char* kStageVariable = "warpline_agent_stage";
enum class Stage : std::uint32_t {
    Idle,       ///< may be attached to
    Serving,    ///< the thread runs, for a recorder
    Stopping,   ///< leaving: what is recorded is switched off and delivered
    Finalizing, ///< leaving: CUPTI is being taken out
    Closing,    ///< leaving: the last things are sent
};

enum class Frame : std::uint32_t {
    // agent to recorder
    Hello = 1,  ///< HelloHeader, then Fields: pid, exe, command, cwd, host, rank, ... (see kHello...)
    Strings,    ///< StringsHeader, then per string: u32 length, its bytes (no NUL)
    Calls,      ///< per function: CallName; tells what the callback ids of API records are called
    Records,    ///< RecordsHeader, u16 size per record, padding to 8 bytes, the records one after the other
    Clock,      ///< ClockPair
    Threads,    ///< per thread: ThreadName
    Counters,   ///< Counters
    State,      ///< StateHeader, then a sentence for the user (may be empty)
    Bye,        ///< empty: nothing follows
    PythonDone, ///< PythonDone, then what Python said
    Devices,    ///< per GPU: DeviceInfo; after Hello, where CUDA ran before the agent came
    // recorder to agent
    Configure = 64, ///< Fields: see kConfig...
    Start,          ///< empty
    Stop,           ///< empty: record no more, deliver what there is; Start may follow
    Flush,          ///< empty: deliver what there is
    Detach,         ///< empty: Stop, give CUPTI back and end the agent's thread
    Python,         ///< u32 number, then source text, run under the interpreter's lock; PythonDone answers
};

struct FrameHeader {
    std::uint32_t magic = kMagic;
    Frame type = Frame::Bye;
    std::uint64_t size = 0;
};
static_assert(sizeof(FrameHeader) == 16);

struct HelloHeader {
    std::uint32_t version = kVersion;
    std::uint32_t reserved = 0;
};

/// Fields are "key=value" texts, each ended by NUL: either side may send more than the other knows.
/// Hello: pid, ppid, exe, command (arguments joined by spaces), host, how ("injected", "attached"),
/// visible_devices, rank, local_rank, world_size (where the environment has them).
/// Configure: those below.
namespace config {
inline constexpr const char* kKinds = "kinds";          ///< decimal mask of Kind
inline constexpr const char* kBegin = "begin";          ///< now, wait, delay, profiler, range
inline constexpr const char* kDelayMs = "delay_ms";     ///< begin=delay
inline constexpr const char* kRangeName = "range_name"; ///< begin=range: the name's start; empty = any range
inline constexpr const char* kRangeSkip = "range_skip"; ///< begin=range: so many are let pass first
inline constexpr const char* kRangeCount = "range_count";   ///< begin=range: so many are recorded; 0 = no end
inline constexpr const char* kBufferBytes = "buffer_bytes"; ///< of one of CUPTI's buffers
inline constexpr const char* kBufferCount = "buffer_count"; ///< at most so many of them
inline constexpr const char* kFlushMs = "flush_ms";         ///< how often what is complete is delivered
} // namespace config

/// What is recorded: bits of Configure's mask.
namespace Kind {
inline constexpr std::uint64_t Kernels = 1;
inline constexpr std::uint64_t Copies = 2; ///< copies within a device, to and from it, and between devices
inline constexpr std::uint64_t Sets = 4;
inline constexpr std::uint64_t Sync = 8;      ///< waits for events, streams and contexts
inline constexpr std::uint64_t Calls = 16;    ///< runtime and driver calls that matter: launches, copies...
inline constexpr std::uint64_t AllCalls = 32; ///< every runtime and driver call; costs
inline constexpr std::uint64_t Nvtx = 64;     ///< markers, ranges, names
inline constexpr std::uint64_t Memory = 128;  ///< allocations and pools of the driver
inline constexpr std::uint64_t GraphLevel = 256; ///< a graph launch is one record, not one a node
inline constexpr std::uint64_t Overhead = 512;   ///< CUPTI's own work
inline constexpr std::uint64_t Default = Kernels | Copies | Sets | Sync | Calls | Nvtx | Memory | Overhead;
} // namespace Kind

/// Strings are numbered from 1 in the order they are sent, a numbering a connection; 0 = null. In records,
/// the eight bytes of a `const char*` hold such a number (see kTextFields).
struct StringsHeader {
    std::uint32_t first = 0; ///< number of the first string
    std::uint32_t count = 0;
};

struct CallName {
    std::uint32_t domain = 0; ///< 1 driver, 2 runtime
    std::uint32_t callback = 0;
    std::uint32_t name = 0; ///< a string's number
    std::uint32_t reserved = 0;
};

struct RecordsHeader {
    std::uint32_t count = 0;
    std::uint32_t bytes = 0;   ///< of the records together
    std::uint64_t dropped = 0; ///< records that CUPTI itself lost since the last batch
};

/// The same moment on CUPTI's clock and in nanoseconds since the Unix epoch. Where CUPTI takes its times from
/// the agent, both are the same and `shared` is 1.
struct ClockPair {
    std::uint64_t cupti = 0;
    std::uint64_t unixNs = 0;
    std::uint32_t shared = 0;
    std::uint32_t reserved = 0;
};

struct ThreadName {
    std::uint32_t tid = 0;
    char name[28] = {};
};

/// A GPU as the driver describes it.
struct DeviceInfo {
    std::uint32_t ordinal = 0; ///< of the process: CUDA_VISIBLE_DEVICES renumbers
    std::uint32_t major = 0;   ///< of its compute capability
    std::uint32_t minor = 0;
    std::uint32_t multiprocessors = 0;
    std::uint64_t memoryBytes = 0;
    std::uint8_t uuid[16] = {};
    char name[88] = {}; ///< ends with NUL
};
static_assert(sizeof(DeviceInfo) == 128);

/// All since the agent connected.
struct Counters {
    std::uint64_t records = 0;        ///< sent
    std::uint64_t bytes = 0;          ///< of record batches sent
    std::uint64_t cuptiDropped = 0;   ///< records: CUPTI had no room
    std::uint64_t agentDropped = 0;   ///< records: the agent's buffers were all waiting to be sent
    std::uint64_t refusedBuffers = 0; ///< CUPTI asked for a buffer and got none
    std::uint64_t waitingBuffers = 0; ///< now
};

enum class State : std::uint32_t {
    Waiting = 1, ///< configured, not recording yet
    Recording,
    Stopped,
    Failed,   ///< cannot record; the sentence says why
    Note,     ///< no change; the sentence says what cannot be recorded as asked
    Detached, ///< CUPTI was given back
};
struct StateHeader {
    State state = State::Note;
    std::uint32_t code = 0; ///< of CUPTI, where it is the cause
};

struct PythonDone {
    std::uint32_t number = 0; ///< as in the request
    std::int32_t status = 0;  ///< 0 done, 1 raised an exception, 2 there is no interpreter
};

/// Where texts stand in a record of CUPTI. Layouts only ever grew at their end since CUDA 11.
struct TextField {
    std::uint32_t kind; ///< CUpti_ActivityKind
    std::uint32_t offset;
};
inline constexpr TextField kTextFields[] = {
    {3, 104}, {10, 104}, // kernels: name
    {8, 136},            // device: name
    {11, 24},            // name of a thread, a stream ...
    {12, 40}, {12, 48},  // marker: name, domain
    {49, 64}, {49, 120}, // memory: variable, library
};

} // namespace warpline::wire
