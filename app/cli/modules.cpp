// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/modules.h"
#include "app/cli/command.h"
#include "app/cli/data_table.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/base/format.h"

#include <fmt/format.h>
#include <memory>

namespace warpline::cli {

namespace {

using Align = TextTable::Align;

struct ModulesOptions {
    std::string file;
    bool merge = false;
    RangeOptions range;
    OutputOptions output;
};

DataTable dataOf(const ModuleTree& tree) {
    DataTable data({"module", "path", "depth", "merged", "calls", "cpu_total_ns", "cpu_self_ns",
                    "cuda_total_ns", "cuda_self_ns", "cuda_backward_ns", "kernels", "cuda_mem_bytes",
                    "self_cuda_mem_bytes"});
    std::vector<std::string> paths(tree.rows.size());
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
        const ModuleRow& row = tree.rows[i];
        const std::string& above = paths[row.parent];
        if (i != 0)
            paths[i] = fmt::format("{}{}{}", above, above.empty() ? "" : "/", tree.label(i));
        data.addRow({tree.label(i), paths[i], std::int64_t{row.depth}, std::int64_t{row.merged},
                     static_cast<std::int64_t>(row.calls), row.cpuTotal, row.cpuSelf, row.gpuTotal,
                     row.gpuSelf, row.gpuBackward, static_cast<std::int64_t>(row.kernels), row.allocated,
                     row.selfAllocated});
    }
    return data;
}

std::string textOf(const Trace& trace, const ModuleTree& tree, const ModulesOptions& options) {
    std::string out =
        fmt::format("{}: {} in the stacks; the first row is all of the trace\n{}\n", printable(trace.path),
                    counted(tree.rows.size() - 1, "module", "modules"), lossNote(trace));
    if (!tree.hasModules)
        return out + "No modules were recorded: record with with_stack=True (and with_modules=True).\n";
    std::vector<TextTable::Column> columns = {
        {"Module", Align::Left, true, 0},       {"Calls", Align::Right, false, 1},
        {"CPU total", Align::Right, false, 0},  {"CPU self", Align::Right, false, 2},
        {"CUDA total", Align::Right, false, 0}, {"CUDA self", Align::Right, false, 1},
        {"Backward", Align::Right, false, 2},   {"Kernels", Align::Right, false, 3}};
    if (tree.hasMemory)
        columns.push_back({"CUDA Mem", Align::Right, false, 1});
    TextTable table(std::move(columns));
    const std::size_t most = options.output.rows();
    for (std::size_t i = 0; i < tree.rows.size() && (most == 0 || i < most); ++i) {
        const ModuleRow& row = tree.rows[i];
        std::vector<std::string> cells = {std::string(row.depth, ' ') + printable(tree.label(i)),
                                          formatCount(static_cast<std::int64_t>(row.calls)),
                                          formatDuration(row.cpuTotal),
                                          formatDuration(row.cpuSelf),
                                          formatDuration(row.gpuTotal),
                                          formatDuration(row.gpuSelf),
                                          formatDuration(row.gpuBackward),
                                          formatCount(static_cast<std::int64_t>(row.kernels))};
        if (tree.hasMemory)
            cells.push_back(formatBytes(row.allocated));
        table.addRow(std::move(cells));
    }
    out += table.render(options.output.width());
    if (most != 0 && tree.rows.size() > most)
        out += fmt::format("{} not shown (--limit 0 shows all)\n",
                           counted(tree.rows.size() - most, "more row is", "more rows are"));
    return out;
}

Result<Done> runModules(const ModulesOptions& options) {
    auto opened = openTrace(options.file);
    if (!opened.ok())
        return opened.error();
    const TracePtr trace = opened.value();
    const auto range = options.range.in(*trace);
    if (!range.ok())
        return range.error();
    const auto stacks = TraceStacks::build(trace);
    if (!stacks.ok())
        return stacks.error();
    ModuleQuery query;
    query.range = range.value();
    query.merge = options.merge;
    const auto tree = moduleTree(*stacks.value(), query);
    if (!tree.ok())
        return tree.error();
    if (!options.output.json && !options.output.csv)
        return print(textOf(*trace, tree.value(), options));
    DataTable data = dataOf(tree.value());
    if (options.output.rows() != 0)
        data.keepFirst(options.output.rows());
    if (options.output.csv)
        return print(data.csv());
    return print(rowsJson(data));
}

} // namespace

void declareModules(CLI::App& app, Work& work) {
    auto options = std::make_shared<ModulesOptions>();
    CLI::App* command =
        app.add_subcommand("modules", "The tree of torch.nn modules: CPU time, GPU time, calls, memory");
    command->add_option("FILE", options->file, "The trace; - reads the standard input")->required();
    command->add_flag("--merge", options->merge, "Modules of one class at one place as one: Block \u00D76");
    addRangeOption(*command, options->range);
    addStepOption(*command, options->range);
    addOutputOptions(*command, options->output);
    command->group("Commands");
    command->footer("Totals hold what submodules take. CUDA times are sums over the kernels, copies and sets "
                    "that a module "
                    "launched,\nits backward among them. What no module did is the first row's own.\n"
                    "\nExamples:\n"
                    "  warpline-cli modules trace.json.gz --merge\n"
                    "  warpline-cli modules trace.json.gz --step 3 --json");
    command->callback([options, &work] { work = [options] { return runModules(*options); }; });
}

} // namespace warpline::cli
