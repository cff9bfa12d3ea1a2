// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/ops.h"
#include "app/cli/command.h"
#include "app/cli/data_table.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/base/format.h"
#include "model/base/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace warpline::cli {

namespace {

using Align = TextTable::Align;

const std::map<std::string, OpRows> kRows = {{"ops", OpRows::Ops},
                                             {"annotations", OpRows::Annotations},
                                             {"kernels", OpRows::Kernels},
                                             {"runtime", OpRows::Runtime},
                                             {"python", OpRows::Python}};
const std::map<std::string, OpGroup> kGroups = {{"name", OpGroup::Name},
                                                {"shape", OpGroup::Shape},
                                                {"stack", OpGroup::Stack},
                                                {"module", OpGroup::Module}};

/// Columns that can be sorted by, as they are typed: the fields without their units, and torch's names.
const std::map<std::string, std::string> kSorts = {{"name", "name"},
                                                   {"count", "count"},
                                                   {"self_cpu", "self_cpu_ns"},
                                                   {"self_cpu_ns", "self_cpu_ns"},
                                                   {"self_cpu_time_total", "self_cpu_ns"},
                                                   {"cpu_total", "cpu_total_ns"},
                                                   {"cpu_total_ns", "cpu_total_ns"},
                                                   {"cpu_time_total", "cpu_total_ns"},
                                                   {"self_cuda", "self_cuda_ns"},
                                                   {"self_cuda_ns", "self_cuda_ns"},
                                                   {"self_cuda_time_total", "self_cuda_ns"},
                                                   {"cuda_total", "cuda_total_ns"},
                                                   {"cuda_total_ns", "cuda_total_ns"},
                                                   {"cuda_time_total", "cuda_total_ns"},
                                                   {"gpu_busy", "gpu_busy_ns"},
                                                   {"gpu_busy_ns", "gpu_busy_ns"},
                                                   {"cpu_mem", "cpu_mem_bytes"},
                                                   {"cpu_mem_bytes", "cpu_mem_bytes"},
                                                   {"cpu_memory_usage", "cpu_mem_bytes"},
                                                   {"self_cpu_mem", "self_cpu_mem_bytes"},
                                                   {"self_cpu_mem_bytes", "self_cpu_mem_bytes"},
                                                   {"self_cpu_memory_usage", "self_cpu_mem_bytes"},
                                                   {"cuda_mem", "cuda_mem_bytes"},
                                                   {"cuda_mem_bytes", "cuda_mem_bytes"},
                                                   {"cuda_memory_usage", "cuda_mem_bytes"},
                                                   {"self_cuda_mem", "self_cuda_mem_bytes"},
                                                   {"self_cuda_mem_bytes", "self_cuda_mem_bytes"},
                                                   {"self_cuda_memory_usage", "self_cuda_mem_bytes"},
                                                   {"input_shapes", "input_shapes"},
                                                   {"source", "source"},
                                                   {"module", "module"}};

struct OpsOptions {
    std::string file;
    std::string rows = "ops";
    std::string group = "name";
    std::string sort;
    RangeOptions range;
    OutputOptions output;
};

const char* rowsNoun(OpRows rows) {
    switch (rows) {
    case OpRows::Ops:
        return "ops";
    case OpRows::Annotations:
        return "annotations";
    case OpRows::Kernels:
        return "kernels, copies or sets";
    case OpRows::Runtime:
        return "runtime calls";
    case OpRows::Python:
        return "Python functions";
    }
    return "";
}

/// Frames as a JSON list.
RawJson listOf(const FrameTable& frames, const std::vector<FrameId>& ids) {
    RawJson list;
    JsonWriter json(list.json);
    json.beginArray();
    for (const FrameId id : ids)
        json.text(frames.name(id));
    json.endArray();
    return list;
}

/// Modules from the outermost to the innermost, as a path.
std::string modulePath(const TraceStacks& stacks, StackId stack) {
    std::string path;
    const std::vector<FrameId> frames = opGroupFrames(stacks, stack, OpGroup::Module);
    for (auto it = frames.rbegin(); it != frames.rend(); ++it)
        path += fmt::format("{}{}", path.empty() ? "" : "/", stacks.frames().name(*it));
    return path;
}

DataTable dataOf(const Trace& trace, const OpTable& table, const OpQuery& query) {
    std::vector<std::string> fields = {"name",
                                       "count",
                                       "self_cpu_ns",
                                       "cpu_total_ns",
                                       "self_cuda_ns",
                                       "cuda_total_ns",
                                       "gpu_busy_ns",
                                       "cpu_mem_bytes",
                                       "self_cpu_mem_bytes",
                                       "cuda_mem_bytes",
                                       "self_cuda_mem_bytes",
                                       "input_shapes",
                                       "stack",
                                       "source",
                                       "module"};
    const TraceStacks& stacks = *query.stacks;
    const auto known = [](std::string text) { return text.empty() ? Cell(std::monostate{}) : Cell(text); };
    if (query.rows == OpRows::Annotations)
        fields.emplace_back("gpu_span_ns");
    DataTable data(std::move(fields));
    for (const OpRow& row : table.rows) {
        std::vector<Cell> cells = {std::string(trace.strings.view(row.name)),
                                   static_cast<std::int64_t>(row.count),
                                   row.selfCpu,
                                   row.cpuTotal,
                                   row.selfDevice,
                                   row.deviceTotal,
                                   row.deviceBusy,
                                   row.cpuMemory,
                                   row.selfCpuMemory,
                                   row.deviceMemory,
                                   row.selfDeviceMemory};
        const std::string shape(trace.strings.view(row.shape));
        if (!row.shape)
            cells.emplace_back(std::monostate{});
        else if (isStrictJson(shape))
            cells.emplace_back(RawJson{shape});
        else
            cells.emplace_back(shape);
        if (query.group == OpGroup::Stack)
            cells.emplace_back(listOf(stacks.frames(), opGroupFrames(stacks, row.stack, query.group)));
        else
            cells.emplace_back(std::monostate{}); // not one stack
        cells.push_back(known(std::string(stacks.frames().name(row.source))));
        cells.push_back(query.group == OpGroup::Module ? known(modulePath(stacks, row.stack))
                                                       : Cell(std::monostate{}));
        if (query.rows == OpRows::Annotations)
            cells.emplace_back(row.deviceSpan);
        data.addRow(std::move(cells));
    }
    return data;
}

/// One column of the text: what stands above it and how it is made from a row.
struct TextColumn {
    TextTable::Column column;
    std::function<std::string(const DataTable&, std::size_t)> text;
};

TextColumn duration(const char* title, const char* field, int dispensable = 0) {
    return {{title, Align::Right, false, dispensable}, [field](const DataTable& data, std::size_t row) {
                return formatDuration(data.integer(row, field));
            }};
}

TextColumn average(const char* title, const char* field) {
    return {{title, Align::Right, false, 2}, [field](const DataTable& data, std::size_t row) {
                const std::int64_t count = std::max<std::int64_t>(1, data.integer(row, "count"));
                return formatDuration(data.integer(row, field) / count);
            }};
}

TextColumn share(const char* title, const char* field, TimeNs whole) {
    return {{title, Align::Right, false, 3}, [field, whole](const DataTable& data, std::size_t row) {
                if (whole == 0)
                    return std::string("-");
                return formatPercent(static_cast<double>(data.integer(row, field)) /
                                     static_cast<double>(whole));
            }};
}

TextColumn bytes(const char* title, const char* field) {
    return {{title, Align::Right, false, 1}, [field](const DataTable& data, std::size_t row) {
                return formatBytes(data.integer(row, field));
            }};
}

/// torch's columns in torch's order; what the trace cannot fill is left out.
std::vector<TextColumn> textColumns(const OpTable& table, OpRows rows, OpGroup group) {
    std::vector<TextColumn> columns;
    columns.push_back({{"Name", Align::Left, true, 0},
                       [](const DataTable& data, std::size_t row) { return data.text(row, "name"); }});
    if (rows != OpRows::Kernels) {
        columns.push_back(share("Self CPU %", "self_cpu_ns", table.selfCpuTotal));
        columns.push_back(duration("Self CPU", "self_cpu_ns"));
        columns.push_back(share("CPU total %", "cpu_total_ns", table.selfCpuTotal));
        columns.push_back(duration("CPU total", "cpu_total_ns"));
        columns.push_back(average("CPU time avg", "cpu_total_ns"));
    }
    if (table.hasDeviceTime) {
        columns.push_back(duration("Self CUDA", "self_cuda_ns"));
        columns.push_back(share("Self CUDA %", "self_cuda_ns", table.selfDeviceTotal));
        columns.push_back(duration("CUDA total", "cuda_total_ns"));
        columns.push_back(average("CUDA time avg", "cuda_total_ns"));
        columns.push_back(duration("GPU busy", "gpu_busy_ns", 1));
        if (rows == OpRows::Annotations)
            columns.push_back(duration("GPU span", "gpu_span_ns", 1));
    }
    if (table.hasMemory && rows != OpRows::Kernels) {
        columns.push_back(bytes("CPU Mem", "cpu_mem_bytes"));
        columns.push_back(bytes("Self CPU Mem", "self_cpu_mem_bytes"));
        columns.push_back(bytes("CUDA Mem", "cuda_mem_bytes"));
        columns.push_back(bytes("Self CUDA Mem", "self_cuda_mem_bytes"));
    }
    columns.push_back({{"# of Calls", Align::Right, false, 0}, [](const DataTable& data, std::size_t row) {
                           return formatCount(data.integer(row, "count"));
                       }});
    if (group == OpGroup::Shape) {
        columns.push_back(
            {{"Input Shapes", Align::Left, true, 0},
             [](const DataTable& data, std::size_t row) { return data.text(row, "input_shapes"); }});
    }
    if (group == OpGroup::Stack || group == OpGroup::Module) {
        const char* const field = group == OpGroup::Stack ? "source" : "module";
        columns.push_back(
            {{group == OpGroup::Stack ? "Source" : "Module", Align::Left, true, 0},
             [field](const DataTable& data, std::size_t row) { return data.text(row, field); }});
    }
    return columns;
}

/// Why there is nothing to see, and what to do.
std::string emptyReason(const Trace& trace, OpRows rows, bool ranged) {
    if (ranged)
        return fmt::format("No {} start in this range; the trace lasts {}.\n", rowsNoun(rows),
                           formatDuration(trace.extent.duration()));
    std::string there;
    for (const auto& [name, other] : kRows) {
        const bool any =
            std::any_of(trace.categories.begin(), trace.categories.end(), [&](const Category& c) {
                switch (other) {
                case OpRows::Ops:
                    return c.kind == SliceKind::CpuOp;
                case OpRows::Annotations:
                    return c.kind == SliceKind::Annotation;
                case OpRows::Kernels:
                    return isDeviceWork(c.kind);
                case OpRows::Runtime:
                    return isApiCall(c.kind);
                case OpRows::Python:
                    return c.kind == SliceKind::Python;
                }
                return false;
            });
        if (any && other != rows)
            there += fmt::format("{}--rows {}", there.empty() ? "" : ", ", name);
    }
    return fmt::format("The trace has no {}{}.\n", rowsNoun(rows),
                       there.empty() ? "" : fmt::format("; it has others: {}", there));
}

std::string textOf(const Trace& trace, const OpTable& table, const DataTable& data, std::size_t found,
                   OpRows rows, OpGroup group, const OpsOptions& options) {
    std::string out = fmt::format("{}: {} in {}", printable(trace.path), counted(found, "row", "rows"),
                                  formatDuration(table.span));
    out += fmt::format("\nSelf CPU time total: {}", formatDuration(table.selfCpuTotal));
    if (table.hasDeviceTime)
        out += fmt::format("   Self CUDA time total: {}   GPU busy: {}",
                           formatDuration(table.selfDeviceTotal), formatDuration(table.deviceBusy));
    out += "\n" + lossNote(trace) + "\n";
    if (data.size() == 0)
        return out + emptyReason(trace, rows, options.range.given());

    const auto columns = textColumns(table, rows, group);
    std::vector<TextTable::Column> heads;
    for (const TextColumn& column : columns)
        heads.push_back(column.column);
    TextTable text(std::move(heads));
    for (std::size_t row = 0; row < data.size(); ++row) {
        std::vector<std::string> cells;
        for (const TextColumn& column : columns)
            cells.push_back(column.text(data, row));
        text.addRow(std::move(cells));
    }
    out += text.render(options.output.width());
    if (data.size() < found)
        out += fmt::format("{} not shown (--limit 0 shows all)\n",
                           counted(found - data.size(), "more row is", "more rows are"));
    return out;
}

Result<Done> runOps(const OpsOptions& options) {
    auto opened = openTrace(options.file);
    if (!opened.ok())
        return opened.error();
    const TracePtr trace = opened.value();
    const auto range = options.range.in(*trace);
    if (!range.ok())
        return range.error();

    OpQuery query;
    query.rows = kRows.at(options.rows);
    query.group = kGroups.at(options.group);
    query.range = range.value();
    const auto stacks = TraceStacks::build(trace);
    if (!stacks.ok())
        return stacks.error();
    query.stacks = stacks.value();
    const auto result = opTable(*OpTree::build(trace), query);
    if (!result.ok())
        return result.error();
    const OpTable& table = result.value();

    DataTable data = dataOf(*trace, table, query);
    if (!options.sort.empty())
        data.sortBy(kSorts.at(options.sort));
    const std::size_t found = data.size();
    if (options.output.rows() != 0)
        data.keepFirst(options.output.rows());

    if (options.output.csv)
        return print(data.csv());
    if (!options.output.json)
        return print(textOf(*trace, table, data, found, query.rows, query.group, options));
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject();
    json.key("totals").beginObject();
    json.field("self_cpu_ns", table.selfCpuTotal);
    json.field("self_cuda_ns", table.selfDeviceTotal);
    json.field("gpu_busy_ns", table.deviceBusy);
    json.field("span_ns", table.span);
    json.endObject();
    json.key("rows");
    data.writeJson(json);
    json.endObject();
    out.push_back('\n');
    return print(out);
}

} // namespace

void declareOps(CLI::App& app, Work& work) {
    auto options = std::make_shared<OpsOptions>();
    CLI::App* command = app.add_subcommand(
        "ops", "The op table: which ops took the time, counted as torch.profiler's key_averages()");
    command->add_option("FILE", options->file, "The trace; - reads the standard input")->required();
    command
        ->add_option("--rows", options->rows,
                     "What the rows are: ops, annotations (record_function), kernels (with copies and sets), "
                     "runtime (runtime and driver calls), python; default ops")
        ->type_name("KIND")
        ->check(CLI::IsMember({"ops", "annotations", "kernels", "runtime", "python"}));
    command
        ->add_option("--group", options->group,
                     "Rows by name, or by name and input shape, stack (the Python lines that called it) "
                     "or module; default name")
        ->type_name("name|shape|stack|module")
        ->check(CLI::IsMember({"name", "shape", "stack", "module"}));
    command
        ->add_option("--sort", options->sort,
                     "Column to sort by, largest first: name, count, self_cpu, cpu_total, self_cuda, "
                     "cuda_total, gpu_busy, cpu_mem, self_cpu_mem, cuda_mem, self_cuda_mem, input_shapes, "
                     "source, module, or "
                     "torch's name for it (self_cuda_time_total); default self_cuda")
        ->type_name("COLUMN")
        ->check([](const std::string& name) -> std::string {
            return kSorts.count(name) != 0 ? "" : fmt::format("there is no column \"{}\"", name);
        });
    addRangeOption(*command, options->range);
    addStepOption(*command, options->range);
    addOutputOptions(*command, options->output);
    command->group("Commands");
    command->footer(
        "Self CPU is a call's time less its children's. CUDA times are sums over the kernels, copies and "
        "sets\n"
        "that an op launched: work on two streams at once counts twice. GPU busy counts it once.\n"
        "Rows of different kinds overlap in time; they are never mixed.\n"
        "\nExamples:\n"
        "  warpline-cli ops trace.json.gz --step 3\n"
        "  warpline-cli ops trace.json.gz --group shape --sort count\n"
        "  warpline-cli ops trace.json.gz --group module --sort self_cuda\n"
        "  warpline-cli ops trace.json.gz --rows kernels --csv > kernels.csv\n"
        "  zcat trace.json.gz | warpline-cli ops - --json --limit 10");
    command->callback([options, &work] { work = [options] { return runOps(*options); }; });
}

} // namespace warpline::cli
