// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/data_table.h"
#include "app/cli/diagnostics_report.h"
#include "app/cli/memory_at.h"
#include "app/cli/memory_info.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/analysis/memory_from_trace.h"
#include "model/analysis/memory_holders.h"
#include "model/analysis/memory_join.h"
#include "model/analysis/memory_oom.h"
#include "model/base/format.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace warpline::cli {

namespace {

struct MemoryOptions {
    std::vector<std::string> files;
    std::optional<std::int64_t> device;
    std::string at = "peak";
    std::string group = "stack";
    OutputOptions output;
};

void writeOutOfMemory(JsonWriter& json, const MemoryHistory& history, const MemoryDevice& device,
                      const OutOfMemoryReport& r) {
    json.beginObject();
    json.field("device", device.ordinal);
    json.field("event", static_cast<std::int64_t>(r.event.event));
    json.key("time_ns");
    device.hasTimes ? json.integer(r.time) : json.null();
    json.field("requested_bytes", r.event.requested);
    json.key("device_free_bytes");
    r.event.deviceFree >= 0 ? json.integer(r.event.deviceFree) : json.null();
    json.field("reserved_bytes", r.reserved);
    json.field("live_requested_bytes", r.requested);
    json.field("reserved_free_bytes", r.reservedFree);
    json.field("pending_bytes", r.pending);
    json.key("unusable").beginArray();
    for (const OutOfMemoryReport::Unusable& u : r.unusable) {
        json.beginObject();
        json.field("reason", unusableReasonName(u.reason));
        json.field("bytes", u.bytes);
        json.field("largest_bytes", u.largest);
        json.field("pieces", u.pieces);
        json.endObject();
    }
    json.endArray();
    json.field("message", r.sentence);
    json.key("stack").beginArray();
    for (const std::string& frame : stackTexts(history, r.stack))
        json.text(frame);
    json.endArray();
    json.endObject();
}

DataTable dataOf(const MemoryHistory& history, const Holders& holders) {
    DataTable data(
        {"label", "bytes", "allocated_bytes", "blocks", "largest_bytes", "longest_life", "share", "stack"});
    // Stacks have many frames in common: each is written once.
    std::vector<std::string> lines(history.stacks.frameCount());
    std::string stack;
    for (const Holder& h : holders.rows) {
        stack.assign(1, '[');
        for (StackId s = h.stack; s; s = history.stacks.node(s).caller) {
            const FrameId frame = history.stacks.node(s).frame;
            std::string& line = lines[frame.index()];
            if (line.empty())
                appendJsonString(line, stackLine(history, frame));
            if (stack.size() > 1)
                stack.push_back(',');
            stack.append(line);
        }
        stack.push_back(']');
        data.addRow({h.label, h.bytes, h.allocated, static_cast<std::int64_t>(h.blocks), h.largest,
                     h.longestLife, h.share, RawJson{stack}});
    }
    return data;
}

std::string textOf(const MemoryHistory& history, const MemoryDevice& device, const Holders& holders,
                   std::size_t found, const MemoryOptions& options, const MemoryJoin* join) {
    std::string out =
        fmt::format("{}: {}\n{}", printable(history.path), history.format, lossNote(history.diagnostics));
    for (const MemoryDevice& d : history.devices)
        if (!options.device || &d == &device)
            out += "\n" + memoryDeviceText(d);
    const LiveIndex index(device);
    for (std::size_t i = 0; i < device.outOfMemory.size() && i < 5; ++i) {
        const OutOfMemoryReport r = outOfMemoryReport(history, device, index, i);
        out += fmt::format("\nOut of memory at {}: {}\n", momentText(device, r.event.event + 1), r.sentence);
    }
    if (join != nullptr)
        out += fmt::format("\n{}: {}.\n", printable(join->trace().path), join->evidence());
    out += fmt::format("\n{} at {}: {} in {}, by {}\n", device.name(), momentText(device, holders.moment),
                       formatBytes(holders.bytes), counted(holders.blocks, "block", "blocks"), options.group);
    if (holders.rows.empty())
        return out + "Nothing is allocated at that moment.\n";
    using Align = TextTable::Align;
    TextTable table({{"Held by", Align::Left, true, 0},
                     {"Bytes", Align::Right, false, 0},
                     {"Share", Align::Right, false, 0},
                     {"Blocks", Align::Right, false, 0},
                     {"Largest", Align::Right, false, 1},
                     {"Longest lived", Align::Right, false, 2}});
    for (const Holder& h : holders.rows)
        table.addRow(
            {h.label, formatBytes(h.bytes), formatPercent(h.share),
             formatCount(static_cast<std::int64_t>(h.blocks)), formatBytes(h.largest),
             device.hasTimes ? formatDuration(h.longestLife) : formatCount(h.longestLife) + " events"});
    out += table.render(options.output.width());
    if (holders.rows.size() < found)
        out += fmt::format("{} not shown (--limit 0 shows all)\n",
                           counted(found - holders.rows.size(), "more group is", "more groups are"));
    return out;
}

Result<Done> runMemory(const MemoryOptions& options) {
    auto opened = openMemory(options.files);
    if (!opened.ok())
        return opened.error();
    MemoryHistoryPtr history = opened.value().memory;
    const TracePtr trace = opened.value().trace;
    if (!history) {
        history = memoryOfTrace(trace);
        if (!history)
            return Error::failed(
                fmt::format("{}: there are no GPU allocator records in this trace: record with "
                            "profile_memory=True, or name a memory snapshot.",
                            trace->path));
    }
    MemoryJoinPtr join;
    if (trace) {
        auto joined = MemoryJoin::build(history, trace);
        if (!joined.ok())
            return joined.error();
        join = std::move(joined).value();
    }
    const auto device = memoryDevice(*history, options.device);
    if (!device.ok()) {
        // An empty snapshot is one all the same.
        if (!history->devices.empty() || !options.output.json || options.device)
            return device.error();
        return print("{\n \"devices\": [],\n \"at\": null,\n \"holders\": [],\n \"oom\": []\n}\n");
    }
    const MemoryDevice& d = *device.value();
    const auto moment = MemoryAt::parse(options.at)->in(*history, d);
    if (!moment.ok())
        return moment.error();
    HolderQuery query;
    query.group = *holderGroupOf(options.group);
    query.join = join.get();
    const LiveIndex index(d);
    Holders holders = holdersAt(*history, d, index, moment.value(), query);
    const std::size_t found = holders.rows.size();
    if (options.output.rows() != 0 && found > options.output.rows())
        holders.rows.resize(options.output.rows());

    if (options.output.csv)
        return print(dataOf(*history, holders).csv());
    if (!options.output.json)
        return print(textOf(*history, d, holders, found, options, join.get()));
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject();
    json.key("devices").beginArray();
    for (const MemoryDevice& each : history->devices)
        if (!options.device || &each == &d)
            writeMemoryDevice(json, each);
    json.endArray();
    json.key("at").beginObject();
    json.field("device", d.ordinal);
    json.field("event", static_cast<std::int64_t>(holders.moment) - 1);
    json.key("time_ns");
    holders.moment > 0 && d.hasTimes ? json.integer(d.timeOf(holders.moment)) : json.null();
    json.field("requested_bytes", d.curves.requested[holders.moment]);
    json.field("allocated_bytes", d.curves.allocated[holders.moment]);
    json.field("reserved_bytes", d.curves.reserved[holders.moment]);
    json.endObject();
    json.key("holders");
    dataOf(*history, holders).writeJson(json);
    json.key("oom").beginArray();
    for (const MemoryDevice& each : history->devices) {
        if (options.device && &each != &d)
            continue;
        const LiveIndex live(each);
        for (std::size_t i = 0; i < each.outOfMemory.size() && i < 1000; ++i)
            writeOutOfMemory(json, *history, each, outOfMemoryReport(*history, each, live, i));
    }
    json.endArray();
    if (join) {
        json.key("trace").beginObject();
        json.field("path", trace->path);
        json.field("matched_allocations", join->matched());
        json.field("allocations", join->allocations());
        json.endObject();
    }
    json.endObject();
    out.push_back('\n');
    return print(out);
}

} // namespace

void declareMemory(CLI::App& app, Work& work) {
    auto options = std::make_shared<MemoryOptions>();
    CLI::App* command =
        app.add_subcommand("memory", "Who holds the memory of a GPU, at its peak or any moment");
    command
        ->add_option(
            "FILE", options->files,
            "A memory snapshot (torch.cuda.memory._dump_snapshot), or a trace recorded with "
            "profile_memory=True; with two files a snapshot and a trace of the same run; - reads the "
            "standard input")
        ->required()
        ->expected(1, 2);
    command->add_option("--device", options->device, "Only this GPU")->type_name("N");
    command
        ->add_option(
            "--at", options->at,
            "When: peak (default), end, event:N, or a time: with a unit (us, ms, s) counted from the "
            "start of the history, without one nanoseconds on its own clock")
        ->type_name("WHEN")
        ->check([](const std::string& text) -> std::string {
            return MemoryAt::parse(text)
                       ? ""
                       : fmt::format("\"{}\" is no moment: peak, end, event:100, 12ms", text);
        });
    command
        ->add_option("--group", options->group,
                     "Sum up by stack (default), frame, file, op, module, category, stream, pool or size")
        ->type_name("BY")
        ->check([](const std::string& text) -> std::string {
            return holderGroupOf(text) ? "" : fmt::format("there is no group \"{}\"", text);
        });
    addOutputOptions(*command, options->output);
    command->group("Commands");
    command->footer(
        "Bytes are those that the program asked for; what the allocator rounds up is in allocated_bytes.\n"
        "Event -1 is the state before the first event.\n"
        "\nExamples:\n"
        "  warpline-cli memory snapshot.pickle\n"
        "  warpline-cli memory snapshot.pickle --at end --group category\n"
        "  warpline-cli memory snapshot.pickle trace.json.gz --group op --csv\n"
        "  warpline-cli memory snapshot.pickle --json | jq '.devices[].peak'");
    command->callback([options, &work] { work = [options] { return runMemory(*options); }; });
}

} // namespace warpline::cli
