// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"
#include "app/cli/command.h"
#include "app/cli/flame_text.h"
#include "app/cli/memory_at.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "model/analysis/memory_flame.h"
#include "model/base/format.h"
#include "model/export/flame_writer.h"
#include "model/import/import.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace warpline::cli {

namespace {

const std::map<std::string, FlameWeight> kWeights = {{"cpu", FlameWeight::CpuTime},
                                                     {"cuda", FlameWeight::GpuTime},
                                                     {"gpu", FlameWeight::GpuTime},
                                                     {"calls", FlameWeight::Calls},
                                                     {"memory", FlameWeight::Allocated}};
const std::map<std::string, FlameFormat> kFormats = {{"collapsed", FlameFormat::Collapsed},
                                                     {"speedscope", FlameFormat::Speedscope},
                                                     {"json", FlameFormat::Json},
                                                     {"svg", FlameFormat::Svg}};

struct FlameOptions {
    std::string file;
    std::string weight;
    std::string direction = "top-down";
    std::string format;
    std::string out;
    std::string focus;
    std::string profile;
    std::string at = "peak";
    std::optional<std::int64_t> device;
    std::string backward = "forward";
    bool byModule = false;
    bool python = false;
    bool byThread = false;
    bool merge = false;
    bool hidePlumbing = false;
    bool json = false;
    bool dark = false;
    bool wide = false;
    long long limit = 25;
    int width = 1600;
    RangeOptions range;
};

const char* weightNoun(FlameWeight weight) {
    switch (weight) {
    case FlameWeight::CpuTime:
        return "CPU time";
    case FlameWeight::GpuTime:
        return "GPU time";
    case FlameWeight::Calls:
        return "Calls";
    case FlameWeight::Allocated:
        return "Bytes allocated";
    }
    return "";
}

/// What a trace is weighed by where nobody says: the device's time where there is any.
FlameWeight usualWeight(const Trace& trace) {
    const bool device = std::any_of(trace.tracks.begin(), trace.tracks.end(),
                                    [](const Track& t) { return t.kind == TrackKind::Stream; });
    return device ? FlameWeight::GpuTime : FlameWeight::CpuTime;
}

FlameShape shapeOf(const FlameOptions& options) {
    FlameShape shape;
    shape.bottomUp = options.direction == "bottom-up";
    shape.byThread = options.byThread;
    shape.mergeModules = options.merge;
    shape.hidePlumbing = options.hidePlumbing;
    shape.backwardWithForward = options.backward == "forward";
    if (options.byModule)
        shape.frames = FlameShape::Frames::Modules;
    else if (options.python)
        shape.frames = FlameShape::Frames::Python;
    return shape;
}

/// The frame that --focus names: by its whole name, its function or its class of modules.
Result<FrameId> focusOf(const FrameTable& frames, const std::string& name, const std::string& path) {
    FrameId found;
    std::string others;
    for (std::uint32_t f = 1; f <= frames.size(); ++f) {
        const Frame& frame = frames.at(FrameId{f});
        if (frames.strings.view(frame.name) == name)
            return FrameId{f};
        if (frames.strings.view(frame.function) != name)
            continue;
        if (found)
            others = fmt::format("{}, {}", frames.name(found), frames.name(FrameId{f}));
        found = FrameId{f};
    }
    if (!found)
        return Error::failed(fmt::format("{}: there is no frame \"{}\" in it.", path, printable(name)));
    if (!others.empty())
        return Error::failed(fmt::format("{}: \"{}\" is the name of several functions ({}); write one whole.",
                                         path, printable(name), printable(others)));
    return found;
}

/// What there is to weigh, whatever the file is.
struct Weighed {
    FrameTablePtr frames;
    StackTablePtr stacks;
    std::vector<StackWeight> weights;
    WeightUnit unit = WeightUnit::Count;
    std::string noun;
    std::string path;
    std::string note; ///< for the head of the text
    bool isTrace = false;
    std::string absent; ///< why there is nothing, where there is nothing
};

std::string absence(const Trace& trace, FlameWeight weight, bool ranged) {
    if (ranged)
        return fmt::format("Nothing of it lies in this range; the trace lasts {}.",
                           formatDuration(trace.extent.duration()));
    switch (weight) {
    case FlameWeight::GpuTime:
        return "The trace has no kernels, copies or sets; --weight cpu weighs what the host did.";
    case FlameWeight::Allocated:
        return "The trace has no allocations on a device: record with profile_memory=True, or open a memory "
               "snapshot.";
    default:
        return "The trace has no spans of host threads.";
    }
}

Result<Weighed> weighTrace(const TracePtr& trace, const FlameOptions& options) {
    const auto range = options.range.in(*trace);
    if (!range.ok())
        return range.error();
    const FlameWeight weight = options.weight.empty() ? usualWeight(*trace) : kWeights.at(options.weight);
    const auto stacks = TraceStacks::build(trace);
    if (!stacks.ok())
        return stacks.error();
    auto weights = stackWeights(*stacks.value(), weight, range.value(), options.byThread);
    if (!weights.ok())
        return weights.error();
    return Weighed{stacks.value()->framesPtr(),
                   stacks.value()->stacksPtr(),
                   std::move(weights).value(),
                   unitOf(weight),
                   weightNoun(weight),
                   trace->path,
                   lossNote(*trace),
                   true,
                   absence(*trace, weight, options.range.given())};
}

/// The profile to show: the one that the file opens with, or what --profile names by name or number.
Result<Weighed> weighProfile(const std::vector<ProfilePtr>& profiles, const FlameOptions& options) {
    ProfilePtr profile = profiles.front();
    if (!options.profile.empty()) {
        std::string names;
        profile = nullptr;
        for (std::size_t i = 0; i < profiles.size(); ++i) {
            names += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", i + 1, printable(profiles[i]->name));
            if (profiles[i]->name == options.profile || std::to_string(i + 1) == options.profile)
                profile = profiles[i];
        }
        if (!profile)
            return Error::failed(fmt::format("{}: there is no profile \"{}\" in it; it has {}.", options.file,
                                             printable(options.profile), names));
    }
    if (!options.weight.empty() || options.range.given())
        return Error::failed(
            fmt::format("{}: this is a profile with one weight and no events: --weight, --range and --step "
                        "are for traces.",
                        options.file));
    Weighed w;
    w.frames = profile->frames;
    w.stacks = profile->stacks;
    w.weights = profile->weights;
    w.unit = profile->unit;
    w.path = profile->path;
    w.noun = profile->name.empty() ? profile->format
                                   : fmt::format("{} \"{}\"", profile->format, printable(profile->name));
    w.absent = "The profile is empty: its weights are all 0.";
    for (const Diagnostic& d : profile->diagnostics.rows())
        w.note += d.message + "\n";
    if (profiles.size() > 1 && options.profile.empty())
        w.note += fmt::format("{} profiles are in the file; --profile names another\n", profiles.size());
    return w;
}

/// The moment that holds just before a time.
Moment momentBefore(const MemoryDevice& device, TimeNs time) {
    return time == INT64_MIN ? kBeforeHistory : device.momentAt(time - 1);
}

/// What is live at a moment of a snapshot, or what was allocated in a range of it.
Result<Weighed> weighMemory(const std::vector<MemoryHistoryPtr>& histories, const FlameOptions& options) {
    if (histories.size() > 1)
        return Error::failed(fmt::format("{}: it holds {} memory snapshots; name one of them: {}, ...",
                                         options.file, histories.size(), histories.front()->path));
    const MemoryHistory& history = *histories.front();
    if (!options.weight.empty() && kWeights.at(options.weight) != FlameWeight::Allocated)
        return Error::failed(
            fmt::format("{}: this is a memory snapshot: it can be weighed by memory only.", history.path));
    if (options.range.step)
        return Error::failed(
            fmt::format("{}: a memory snapshot has no numbered steps; say --range or --at.", history.path));
    const auto device = memoryDevice(history, options.device);
    if (!device.ok())
        return device.error();
    const MemoryDevice& d = *device.value();
    const MemoryStacks stacks = memoryStacks(history);
    Weighed w;
    w.frames = stacks.frames;
    w.stacks = stacks.stacks;
    w.unit = WeightUnit::Bytes;
    w.path = history.path;
    w.isTrace = true;
    if (const auto range = RangeText::parse(options.range.range)) {
        if (!d.hasTimes)
            return Error::failed(fmt::format(
                "{}: its events have no times, so that there is no range of them.", history.path));
        const TimeRange r = range->in(d.extent());
        w.weights = allocatedWeights(stacks, d, momentBefore(d, r.begin), momentBefore(d, r.end));
        w.noun = fmt::format("Bytes allocated on {}", d.name());
        w.absent = "Nothing was allocated in this range.";
        return w;
    }
    const auto moment = MemoryAt::parse(options.at)->in(history, d);
    if (!moment.ok())
        return moment.error();
    w.weights = liveWeights(stacks, d, moment.value());
    w.noun = fmt::format("Memory of {} at {}", d.name(), options.at == "peak" ? "its peak" : options.at);
    w.absent = "Nothing is allocated at this moment.";
    return w;
}

Result<Weighed> weighFile(const FlameOptions& options) {
    auto opened = openFile(options.file);
    if (!opened.ok())
        return opened.error();
    if (opened.value().traces.empty() && !opened.value().profiles.empty())
        return weighProfile(opened.value().profiles, options);
    if (opened.value().traces.empty())
        return weighMemory(opened.value().memory, options);
    auto trace = onlyTrace(std::move(opened).value(), options.file);
    if (!trace.ok())
        return trace.error();
    return weighTrace(trace.value(), options);
}

Result<Done> runFlame(const FlameOptions& options) {
    auto weighed = weighFile(options);
    if (!weighed.ok())
        return weighed.error();
    const Weighed& w = weighed.value();
    FlameShape shape = shapeOf(options);
    if (!options.focus.empty()) {
        const auto focus = focusOf(*w.frames, options.focus, w.path);
        if (!focus.ok())
            return focus.error();
        shape.focus = focus.value();
    }
    const auto tree = flameTree(w.frames, *w.stacks, w.weights, w.unit, shape);
    if (!tree.ok())
        return tree.error();
    const FlameCoverage coverage = flameCoverage(*w.frames, *w.stacks, w.weights);

    std::optional<FlameFormat> format;
    if (!options.format.empty())
        format = kFormats.at(options.format);
    else if (options.json)
        format = FlameFormat::Json;
    else if (!options.out.empty())
        format = flameFormatOf(options.out);
    if (!format && !options.out.empty() && options.out != "-")
        return Error::failed(fmt::format("{}: say with --format what to write, or end the name in .svg, "
                                         ".json, .speedscope.json or .txt.",
                                         printable(options.out)));
    if (!format) {
        FlameTextOptions text;
        text.rows = options.limit < 0 ? 0 : static_cast<std::size_t>(options.limit);
        text.width = options.wide ? 0 : outputWidth();
        text.head = fmt::format("{}: {}", printable(w.path), w.noun);
        text.note = w.note;
        text.absent = w.absent;
        text.coverage = w.isTrace;
        return print(flameTextTree(tree.value(), coverage, text));
    }
    FlameExport out;
    out.format = *format;
    out.title = fmt::format("{} of {}", w.noun, w.path);
    out.width = options.width;
    out.dark = options.dark;
    out.indent = 1;
    out.coverage = coverage;
    if (options.out.empty())
        return print(flameText(tree.value(), out));
    return writeFlame(tree.value(), options.out, out);
}

std::string isCount(const std::string& text) {
    return text.find_first_not_of("0123456789") == std::string::npos ? "" : "not a number of rows";
}

} // namespace

void declareFlame(CLI::App& app, Work& work) {
    auto options = std::make_shared<FlameOptions>();
    CLI::App* command = app.add_subcommand(
        "flame", "The flame graph: which Python lines, modules and ops the time went to, by stack");
    command
        ->add_option("FILE", options->file,
                     "The trace, a memory snapshot, or a profile (collapsed stacks, speedscope, Hatchet); - "
                     "reads the standard input")
        ->required();
    command->add_option("--profile", options->profile, "Of a file with several profiles: its name or number")
        ->type_name("NAME");
    command
        ->add_option("--weight", options->weight,
                     "What a stack weighs: cuda (durations of kernels, copies and sets), cpu (self time of "
                     "host threads), calls, memory (bytes allocated on devices; of a snapshot, bytes live at "
                     "--at or allocated in --range); default cuda, or cpu where there is no device")
        ->type_name("cpu|cuda|calls|memory")
        ->check(CLI::IsMember({"cpu", "cuda", "gpu", "calls", "memory"}));
    command
        ->add_option(
            "--direction", options->direction,
            "top-down (what calls it) or bottom-up (the innermost frames first, their callers below)")
        ->type_name("top-down|bottom-up")
        ->check(CLI::IsMember({"top-down", "bottom-up"}));
    command
        ->add_option("--format", options->format,
                     "collapsed (a;b;c 12), speedscope, json (the tree), svg; default a table for people, or "
                     "what the name after -o says")
        ->type_name("collapsed|speedscope|json|svg")
        ->check(CLI::IsMember({"collapsed", "speedscope", "json", "svg"}));
    command->add_option("-o,--output", options->out, "Write to a file")->type_name("OUT");
    command->add_flag("--by-module", options->byModule, "Modules only, and below each what it did itself");
    command->add_flag("--python", options->python, "Python lines only")
        ->excludes(command->get_option("--by-module"));
    command->add_flag("--by-thread", options->byThread, "Threads apart; without it they come together");
    command->add_flag("--merge", options->merge, "Modules of one class at one place as one: Block \u00D76");
    command->add_flag("--hide-plumbing", options->hidePlumbing,
                      "Leave out well-known machinery (_call_impl, <built-in ...>); its time stays with its "
                      "caller");
    command
        ->add_option("--backward", options->backward,
                     "Where backward ops stand: forward (under the op whose gradient they compute), own "
                     "(where they ran); default forward")
        ->type_name("forward|own")
        ->check(CLI::IsMember({"forward", "own"}));
    command
        ->add_option("--focus", options->focus,
                     "Only stacks with this frame: what it calls, or (bottom-up) who calls it")
        ->type_name("FRAME");
    command
        ->add_option(
            "--at", options->at,
            "Of a snapshot: peak, end, a time since its start (12ms), nanoseconds, or event:N; default "
            "peak")
        ->type_name("MOMENT")
        ->check([](const std::string& text) -> std::string {
            return MemoryAt::parse(text) ? "" : fmt::format("\"{}\" is no moment", text);
        });
    command
        ->add_option("--device", options->device,
                     "Of a snapshot: this GPU; default the one with the "
                     "highest peak")
        ->type_name("N");
    addRangeOption(*command, options->range);
    addStepOption(*command, options->range);
    command->add_flag("--json", options->json, "The same as --format json")
        ->excludes(command->get_option("--format"));
    command->add_option("--limit", options->limit, "Rows of the table at most, 0 = all; default 25")
        ->type_name("N")
        ->check(isCount);
    command->add_flag("--wide", options->wide, "Do not fit the table to the terminal");
    command->add_option("--width", options->width, "Pixels of the SVG; default 1600")
        ->type_name("N")
        ->check(CLI::Range(200, 20000));
    command->add_flag("--dark", options->dark, "A dark SVG");
    command->group("Commands");
    command->footer(
        "A kernel's stack is what launched it: Python lines, modules, ops, the call. A backward op stands "
        "under\nthe forward op whose gradient it computes. Sums are exact: the cuda total is the sum of all "
        "kernels,\ncopies and sets; what has no stack is named. CPU time is a call's time less its "
        "children's; of a range\nit is what lies in the range. Kernels count where they start in it.\n"
        "\nExamples:\n"
        "  warpline-cli flame trace.json.gz --hide-plumbing --merge\n"
        "  warpline-cli flame trace.json.gz --weight cpu --step 3 -o cpu.svg\n"
        "  warpline-cli flame trace.json.gz --format collapsed | flamegraph.pl > gpu.svg\n"
        "  warpline-cli flame snapshot.pickle --at end -o memory.svg\n"
        "  warpline-cli flame trace.json.gz --direction bottom-up --focus aten::copy_");
    command->callback([options, &work] { work = [options] { return runFlame(*options); }; });
}

} // namespace warpline::cli
