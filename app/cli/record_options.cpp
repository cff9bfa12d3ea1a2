// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/record_options.h"

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "model/base/format.h"
#include "model/base/json_writer.h"
#include "model/query/search.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <map>

namespace warpline::cli {

namespace {

namespace Kind = wire::Kind;

const std::map<std::string, std::uint64_t>& kindNames() {
    static const std::map<std::string, std::uint64_t> kNames{
        {"kernels", Kind::Kernels},   {"copies", Kind::Copies},  {"sets", Kind::Sets},
        {"sync", Kind::Sync},         {"calls", Kind::Calls},    {"all-calls", Kind::AllCalls},
        {"nvtx", Kind::Nvtx},         {"memory", Kind::Memory},  {"graphs", Kind::GraphLevel},
        {"overhead", Kind::Overhead}, {"default", Kind::Default}};
    return kNames;
}

/// 512M, 2G, 1024.
bool parseSize(const std::string& text, std::uint64_t& bytes) {
    const char* const end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, bytes);
    if (r.ec != std::errc() || bytes == 0)
        return false;
    std::string_view unit(r.ptr, static_cast<std::size_t>(end - r.ptr));
    if (unit.ends_with("iB"))
        unit.remove_suffix(2);
    else if (unit.ends_with("B"))
        unit.remove_suffix(1);
    int shift = 0;
    if (unit == "K" || unit == "k")
        shift = 10;
    else if (unit == "M")
        shift = 20;
    else if (unit == "G")
        shift = 30;
    else if (!unit.empty())
        return false;
    if (bytes > (~std::uint64_t{0} >> 1 >> shift))
        return false;
    bytes <<= shift;
    return true;
}

std::string checkSize(const std::string& text) {
    std::uint64_t ignored = 0;
    return parseSize(text, ignored) ? std::string()
                                    : fmt::format("\"{}\" is no size: write one as 512M or 2G", text);
}

std::string checkTime(const std::string& text) {
    TimeNs time = 0;
    return parseDuration(text, time) && time >= 0 &&
                   std::isalpha(static_cast<unsigned char>(text.back())) != 0
               ? std::string()
               : fmt::format("\"{}\" is no time: write one with its unit, as 500ms or 10s", text);
}

std::int64_t milliseconds(const std::string& text) {
    TimeNs time = 0;
    constexpr TimeNs kMs = 1'000'000;
    return parseDuration(text, time) ? (time + kMs - 1) / kMs : 0;
}

std::atomic<int> g_interrupts{0};
std::atomic<bool> g_terminated{false};

void onSignal(int signal, siginfo_t* info, void* /*context*/) {
    // From a terminal the program gets it too; from a "kill" it is meant for us alone.
    if (signal == SIGINT && info->si_code != SI_USER && info->si_code != SI_TKILL)
        ++g_interrupts;
    else
        g_terminated = true;
}

void listenForSignals() {
    struct sigaction action {};
    action.sa_sigaction = &onSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    (void)::sigaction(SIGINT, &action, nullptr);
    (void)::sigaction(SIGTERM, &action, nullptr);
    // Where the result goes to a pipe that is closed, that is an error like any other.
    (void)std::signal(SIGPIPE, SIG_IGN);
}

Result<Done> tell(const capture::RecordStatus& s, const RecordOptions& options) {
    for (const std::string& m : s.messages)
        printError(m);
    const auto count = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    if (options.json) {
        std::string out;
        JsonWriter json(out, 1);
        json.beginObject();
        json.field("path", options.output);
        json.field("bytes", count(s.fileBytes));
        json.field("records", count(s.counts.records));
        json.field("kernels", count(s.counts.kernels));
        json.field("copies", count(s.counts.copies));
        json.field("sets", count(s.counts.sets));
        json.field("calls", count(s.counts.calls));
        json.field("markers", count(s.counts.markers));
        json.field("allocations", count(s.counts.allocations));
        json.field("dropped", count(s.dropped));
        json.field("duration_ns", s.durationNs);
        json.field("reason", s.reason);
        json.key("exit_code");
        if (s.exitCode)
            json.integer(*s.exitCode);
        else
            json.null();
        json.key("processes").beginArray();
        for (const auto& p : s.processes) {
            json.beginObject();
            json.field("pid", p.pid);
            json.field("program", p.program);
            json.key("rank");
            if (p.rank >= 0)
                json.integer(p.rank);
            else
                json.null();
            json.endObject();
        }
        json.endArray();
        json.key("snapshots").beginArray();
        for (const std::string& path : s.snapshots)
            json.text(path);
        json.endArray();
        json.endObject();
        out.push_back('\n');
        if (options.output == "-")
            std::fputs(out.c_str(), stderr);
        else
            return print(out);
        return Done{};
    }
    std::string text =
        fmt::format("{}: {} in {}, {}{}\n", options.output == "-" ? "Recorded" : printable(options.output),
                    counted(s.counts.kernels, "kernel", "kernels"), formatDuration(s.durationNs),
                    formatBytes(static_cast<std::int64_t>(s.fileBytes)),
                    s.dropped == 0 ? std::string()
                                   : fmt::format(", {} dropped", counted(s.dropped, "record", "records")));
    for (const std::string& path : s.snapshots)
        text += fmt::format("{}: the allocator's history\n", printable(path));
    std::fputs(text.c_str(), stderr);
    return Done{};
}

} // namespace

void addRecordOptions(CLI::App& command, RecordOptions& options) {
    command
        .add_option("-o,--output", options.output,
                    "The recording, NAME.wpl; - streams it to the standard output")
        ->type_name("OUT")
        ->required();
    command
        .add_option(
            "--what", options.what,
            "What to record, separated by commas: kernels, copies, sets, sync, calls (of the runtime and the "
            "driver, those that matter), all-calls, nvtx, memory, graphs (a graph launch as a whole), "
            "overhead; default: all but all-calls and graphs")
        ->delimiter(',')
        ->type_name("KINDS")
        ->check([](const std::string& name) -> std::string {
            return kindNames().contains(name) ? std::string() : fmt::format("there is no kind \"{}\"", name);
        });
    auto* delay = command.add_option("--delay", options.delay, "Begin so long after CUDA is initialised")
                      ->type_name("TIME")
                      ->check(checkTime);
    auto* profiler =
        command.add_flag("--profiler-api", options.profiler,
                         "Begin at cudaProfilerStart (torch.cuda.profiler.start), pause at cudaProfilerStop");
    command
        .add_option("--nvtx-range", options.range, "Begin at an NVTX range whose name begins so; \"\" = any")
        ->type_name("NAME")
        ->excludes(delay)
        ->excludes(profiler)
        ->each([&options](const std::string&) { options.anyRange = true; });
    delay->excludes(profiler);
    command.add_option("--nvtx-skip", options.rangeSkip, "Let so many such ranges pass first")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--nvtx-count", options.rangeCount, "Record so many of them; 0 = to the end")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--duration", options.duration, "End the recording after so long")
        ->type_name("TIME")
        ->check(checkTime);
    auto* limit =
        command.add_option("--size-limit", options.sizeLimit, "End the recording when it is so long")
            ->type_name("SIZE")
            ->check(checkSize);
    command.add_option("--ring", options.ring, "Keep the recording to about this size: the oldest goes")
        ->type_name("SIZE")
        ->check(checkSize)
        ->excludes(limit);
    command.add_flag(
        "--memory-history", options.memory,
        "PyTorch: record the allocator's history with stacks, and save it as OUT.PID.snapshot.pickle");
    command.add_option("--buffers", options.buffers, "Buffers of 4 MiB that records may wait in (16)")
        ->type_name("N")
        ->check(CLI::Range(2, 256));
    command.add_option("--agent", options.agent, "Where libwarpline-agent.so is, if not beside this program")
        ->type_name("PATH");
    command.add_option("--cupti", options.cupti, "The libcupti.so to use where the program brings none")
        ->type_name("PATH");
    command.add_flag(
        "--json", options.json,
        "Tell what was recorded as JSON on the standard output; the program's goes to standard error");
    command.group("Commands");
}

Result<capture::RecordConfig> recordConfig(const RecordOptions& options) {
    capture::RecordConfig config;
    if (!options.what.empty()) {
        config.kinds = 0;
        for (const std::string& name : options.what)
            config.kinds |= kindNames().at(name);
    }
    if (options.profiler) {
        config.begin = capture::BeginWhen::Profiler;
    } else if (options.anyRange) {
        config.begin = capture::BeginWhen::Range;
        config.rangeName = options.range;
        config.rangeSkip = options.rangeSkip;
        config.rangeCount = options.rangeCount;
    } else if (!options.delay.empty()) {
        config.begin = capture::BeginWhen::Delay;
        config.delayMs = milliseconds(options.delay);
    }
    config.durationMs = milliseconds(options.duration);
    (void)parseSize(options.sizeLimit, config.sizeLimit);
    (void)parseSize(options.ring, config.ringBytes);
    if (config.ringBytes > 0 && options.output == "-")
        return Error::failed("A stream cannot be kept to a size: give a file with --ring.");
    config.output = options.output;
    config.memoryHistory = options.memory;
    config.agent = options.agent;
    config.cupti = options.cupti;
    config.bufferCount = options.buffers;
    config.outputToError = options.json || options.output == "-";
    return config;
}

Result<Done> watch(capture::Recorder& recorder, const RecordOptions& options, WhenInterrupted interrupted) {
    constexpr std::int64_t kLookEveryMs = 100;
    listenForSignals();
    bool stopped = false;
    while (!recorder.wait(kLookEveryMs)) {
        const int enough = interrupted == WhenInterrupted::Stop ? 1 : 2;
        if (!stopped && (g_terminated || g_interrupts >= enough)) {
            stopped = true;
            recorder.stop();
        }
    }
    const capture::RecordStatus atEnd = recorder.status();
    if (auto told = tell(atEnd, options); !told.ok())
        return told;
    // The program may run on for long; its exit code is ours, unless we were told to go.
    while (!stopped && !g_terminated && !recorder.waitForProgram(kLookEveryMs)) {
    }
    const capture::RecordStatus status = recorder.status();
    if (status.state == capture::RecordStatus::State::Failed)
        return Error::failed("");
    if (status.exitCode)
        setExitCode(*status.exitCode);
    return Done{};
}

} // namespace warpline::cli
