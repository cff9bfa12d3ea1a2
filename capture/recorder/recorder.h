// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/protocol/wire.h"
#include "capture/recorder/decoder.h"
#include "model/base/result.h"
#include "model/store/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace warpline::capture {

/// When a program begins to be recorded.
enum class BeginWhen { Now, Delay, Profiler, Range };

/// What is recorded, how, and where to.
struct RecordConfig {
    // The program: launched, or attached to.
    std::vector<std::string> command;
    std::string folder;                                           ///< to launch it in; empty = this one
    std::vector<std::pair<std::string, std::string>> environment; ///< beside this program's own
    pid_t attach = 0;                                             ///< > 0: attach to this one instead

    std::uint64_t kinds = wire::Kind::Default;
    BeginWhen begin = BeginWhen::Now;
    std::int64_t delayMs = 0;
    std::string rangeName; ///< BeginWhen::Range: how its name begins; empty = any
    std::int64_t rangeSkip = 0;
    std::int64_t rangeCount = 0; ///< 0 = no end
    std::int64_t durationMs = 0; ///< from the first process's start on; 0 = until the program ends

    std::string output;          ///< a .wpl; "-" = standard output; empty = none, only live
    std::uint64_t sizeLimit = 0; ///< bytes of the file; 0 = none. Recording ends there
    std::uint64_t ringBytes = 0; ///< the file keeps to about that, the oldest goes; 0 = keeps all

    bool gatherOutput = false;  ///< the program's output goes to RecordStatus::output, not to ours
    bool outputToError = false; ///< its standard output goes to our standard error
    bool endProgram = false;    ///< when recording ends first, end the program (its process group)
    std::int64_t attachTimeoutMs = 10'000;
    std::string agent;          ///< path of libwarpline-agent.so; empty = beside this program
    std::string cupti;          ///< path of libcupti.so for programs that do not bring it; empty = found
    bool torch = false;         ///< the torch helper: emit_nvtx, steps, snapshot when out of memory
    bool memoryHistory = false; ///< PyTorch's allocator history; a snapshot is left beside the output
    std::string helper;         ///< folder of the torch helper; empty = beside this program
    std::uint32_t bufferCount = 16;
    std::uint32_t bufferBytes = 4u << 20;
};

struct ProcessStatus {
    std::int64_t pid = 0;
    std::string program;
    std::int64_t rank = -1;
    bool connected = false;
    bool recording = false;
};

struct RecordStatus {
    enum class State {
        Starting, ///< no process of the program uses CUDA yet
        Waiting,  ///< connected, not recording yet
        Recording,
        Finished, ///< the file is whole
        Failed,
    };
    State state = State::Starting;
    RecordCounts counts;
    double recordsPerSecond = 0;
    double kernelsPerSecond = 0;
    std::uint64_t dropped = 0; ///< on every hop together
    std::uint64_t fileBytes = 0;
    std::int64_t durationNs = 0; ///< since the first process began to record
    std::vector<ProcessStatus> processes;
    std::vector<std::string> messages;  ///< sentences, oldest first
    std::string reason;                 ///< why it ended: "the program ended", "stopped", ...
    std::optional<int> exitCode;        ///< of a launched program, as a shell has it
    std::string output;                 ///< what the program wrote (gatherOutput), its end
    std::vector<std::string> snapshots; ///< files that the allocator history was saved to
};

/// Records one program. Everything happens on a thread of its own; all functions can be called from any.
class Recorder {
  public:
    /// Launches or attaches. An error is one sentence, and nothing was touched.
    static Result<std::unique_ptr<Recorder>> start(RecordConfig config);
    ~Recorder(); ///< stops

    /// Ends the recording; the program goes on unless endProgram is set. Returns at once; see finished().
    void stop();
    /// Records no more until resume(); the program stays connected.
    void pause();
    void resume();
    /// Puts a mark at this moment.
    void mark(const std::string& name);

    [[nodiscard]] RecordStatus status() const;
    /// The file is whole and the program gone or let go.
    [[nodiscard]] bool finished() const;
    /// Waits up to `ms` for that; < 0 = as long as it takes.
    bool wait(std::int64_t ms = -1) const;
    /// Waits for the launched program to end, up to `ms`; < 0 = as long as it takes.
    bool waitForProgram(std::int64_t ms = -1) const;

    /// The newest events as a trace of about `events` rows, made anew on the calling thread; null before
    /// there are any. Blocks that are part of it are shared, not copied.
    [[nodiscard]] TracePtr latest(std::size_t events = 400'000) const;
    /// Raised with each block of events; for knowing whether latest() would give more.
    [[nodiscard]] std::uint64_t revision() const;

  private:
    class Impl;
    explicit Recorder(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// The path of the agent: what `given` says, or the library beside this program or in its lib folder.
Result<std::string> findAgent(const std::string& given);
/// The same for the torch helper's folder.
Result<std::string> findTorchHelper(const std::string& given);

} // namespace warpline::capture
