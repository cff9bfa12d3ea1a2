// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/options.h"

#include "app/cli/diagnostics_report.h"
#include "app/cli/output.h"
#include "model/base/format.h"
#include "model/import/import.h"
#include "model/query/search.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace warpline::cli {

namespace {

constexpr const char* kRangeHelp =
    "Only what starts in A:B. A time with a unit (ns, us, ms, s) counts from the start of the trace, one "
    "without is nanoseconds on the trace's own clock, as start_ns of info --json; either may be left out: "
    "10ms:12.5ms, 2s:, :300us";

std::optional<RangeText::Moment> parseMoment(std::string_view text) {
    RangeText::Moment moment;
    const char* const end = text.data() + text.size();
    const auto plain = std::from_chars(text.data(), end, moment.value);
    if (plain.ec == std::errc() && plain.ptr == end)
        return moment;
    moment.relative = true;
    if (!parseDuration(text, moment.value))
        return std::nullopt;
    return moment;
}

} // namespace

std::size_t OutputOptions::width() const {
    return wide ? 0 : outputWidth();
}

void addOutputOptions(CLI::App& command, OutputOptions& options) {
    auto* json = command.add_flag("--json", options.json, "Write one JSON document; all times in ns");
    command.add_flag("--csv", options.csv, "Write comma-separated values with a header")->excludes(json);
    command.add_flag("--wide", options.wide,
                     "Do not fit the table to the terminal: whole names, all columns");
    command.add_option("--limit", options.limit, "Rows at most, 0 = all (25; with --json or --csv all)")
        ->type_name("N")
        ->check([](const std::string& text) -> std::string {
            return text.find_first_not_of("0123456789") == std::string::npos ? "" : "not a number of rows";
        });
}

std::optional<RangeText> RangeText::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    const std::string_view from = text.substr(0, colon);
    const std::string_view to = text.substr(colon + 1);
    if (from.empty() && to.empty())
        return std::nullopt;
    RangeText range;
    if (!from.empty() && !(range.begin = parseMoment(from)))
        return std::nullopt;
    if (!to.empty() && !(range.end = parseMoment(to)))
        return std::nullopt;
    if (range.begin && range.end && range.begin->relative == range.end->relative &&
        range.begin->value >= range.end->value)
        return std::nullopt;
    return range;
}

TimeRange RangeText::in(TimeRange extent) const {
    const auto resolve = [&](const std::optional<Moment>& moment, TimeNs open) {
        if (!moment)
            return open;
        TimeNs time = moment->value;
        if (moment->relative && __builtin_add_overflow(extent.begin, moment->value, &time))
            time = moment->value < 0 ? INT64_MIN : INT64_MAX;
        return time;
    };
    // The last event may start where the trace ends.
    const TimeNs last = extent.end == INT64_MAX ? INT64_MAX : extent.end + 1;
    return {resolve(begin, std::min(extent.begin, last)), resolve(end, last)};
}

void addRangeOption(CLI::App& command, RangeOptions& options) {
    command.add_option("--range", options.range, kRangeHelp)
        ->type_name("A:B")
        ->check([](const std::string& text) -> std::string {
            if (RangeText::parse(text))
                return {};
            return fmt::format("\"{}\" is no range: write two times, A before B, as 10ms:20ms", text);
        });
}

void addStepOption(CLI::App& command, RangeOptions& options) {
    command.add_option("--step", options.step, "Only what starts in the step of this number")
        ->type_name("N")
        ->excludes(command.get_option("--range"));
}

Result<std::optional<TimeRange>> RangeOptions::in(const Trace& trace) const {
    std::optional<TimeRange> result;
    if (step) {
        const auto found = std::find_if(trace.steps.begin(), trace.steps.end(),
                                        [&](const Step& s) { return s.number == *step; });
        if (found == trace.steps.end()) {
            if (trace.steps.empty())
                return Error::failed(
                    fmt::format("{}: no steps are marked in it (ProfilerStep annotations).", trace.path));
            return Error::failed(fmt::format("{}: there is no step {}; it has {} to {}.", trace.path, *step,
                                             trace.steps.front().number, trace.steps.back().number));
        }
        result = found->range;
    } else if (const auto parsed = RangeText::parse(range)) {
        result = parsed->in(trace);
        if (result->empty())
            return Error::failed(fmt::format("{}: the range {} is empty there; the trace lasts {}.",
                                             trace.path, range, formatDuration(trace.extent.duration())));
    }
    return result;
}

namespace {

/// The one recording of a kind; of several, the error names them.
template <class Recording>
Result<Recording> onlyOne(std::vector<Recording> found, const std::string& path, const char* kind) {
    if (found.size() == 1)
        return std::move(found.front());
    std::string names;
    constexpr std::size_t kNamed = 6;
    for (std::size_t i = 0; i < found.size() && i < kNamed; ++i)
        names += fmt::format("{}{}", i == 0 ? "" : ", ", found[i]->path);
    if (found.size() > kNamed)
        names += " ...";
    return Error::failed(
        fmt::format("{}: it holds {} {}; name one of them: {}", path, found.size(), kind, names));
}

} // namespace

Result<TracePtr> openTrace(const std::string& path) {
    auto opened = openFile(path);
    if (!opened.ok())
        return opened.error();
    return onlyTrace(std::move(opened).value(), path);
}

Result<TracePtr> onlyTrace(Opened opened, const std::string& path) {
    for (const ProfilePtr& profile : opened.profiles)
        if (profile->timeline)
            opened.traces.push_back(profile->timeline);
    if (!opened.traces.empty())
        return onlyOne(std::move(opened.traces), path, "traces");
    if (opened.memory.empty())
        return Error::failed(fmt::format("{}: This is a profile without times, not a trace. "
                                         "\"warpline-cli flame\" shows what is in it.",
                                         path));
    return Error::failed(
        fmt::format("{}: This is a memory snapshot, not a trace: it has no ops and no kernels. "
                    "\"warpline-cli memory\" tells what is in it.",
                    path));
}

Result<OneOfEach> openMemory(const std::vector<std::string>& paths) {
    OneOfEach result;
    for (const std::string& path : paths) {
        auto opened = openFile(path);
        if (!opened.ok())
            return opened.error();
        Opened& files = opened.value();
        if (!files.memory.empty()) {
            if (result.memory)
                return Error::failed(
                    fmt::format("{}: This is a memory snapshot, as the file before it; the second file "
                                "is a trace of the same run.",
                                path));
            auto one = onlyOne(std::move(files.memory), path, "memory snapshots");
            if (!one.ok())
                return one.error();
            result.memory = std::move(one).value();
        } else {
            if (result.trace)
                return Error::failed(
                    fmt::format("{}: This is a trace, as the file before it; one of the two must be a "
                                "memory snapshot.",
                                path));
            auto one = onlyTrace(std::move(files), path);
            if (!one.ok())
                return one.error();
            result.trace = std::move(one).value();
        }
    }
    return result;
}

std::string lossNote(const Trace& trace) {
    return lossNote(trace.diagnostics);
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", formatCount(static_cast<std::int64_t>(count)), count == 1 ? one : many);
}

} // namespace warpline::cli
