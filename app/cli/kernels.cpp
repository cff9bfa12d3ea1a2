// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/command.h"
#include "app/cli/data_table.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/text.h"
#include "app/cli/text_table.h"
#include "model/analysis/ops.h"
#include "model/base/format.h"

#include <fmt/format.h>
#include <map>
#include <memory>

namespace warpline::cli {

namespace {

const std::map<std::string, std::string> kSorts = {{"name", "name"},
                                                   {"device", "device"},
                                                   {"count", "count"},
                                                   {"total", "total_ns"},
                                                   {"total_ns", "total_ns"},
                                                   {"avg", "avg_ns"},
                                                   {"avg_ns", "avg_ns"},
                                                   {"min", "min_ns"},
                                                   {"min_ns", "min_ns"},
                                                   {"median", "median_ns"},
                                                   {"median_ns", "median_ns"},
                                                   {"max", "max_ns"},
                                                   {"max_ns", "max_ns"},
                                                   {"share", "share"},
                                                   {"occupancy", "occupancy"},
                                                   {"registers", "registers"},
                                                   {"shared_memory", "shared_memory_bytes"},
                                                   {"shared_memory_bytes", "shared_memory_bytes"},
                                                   {"tensor_core", "tensor_core"}};

struct KernelsOptions {
    std::string file;
    std::string sort;
    RangeOptions range;
    OutputOptions output;
};

DataTable dataOf(const Trace& trace, const KernelTable& table) {
    DataTable data({"name", "device", "streams", "count", "total_ns", "avg_ns", "min_ns", "median_ns",
                    "max_ns", "share", "occupancy", "registers", "shared_memory_bytes", "tensor_core"});
    const auto known = [](std::int64_t value) { return value >= 0 ? Cell(value) : Cell(std::monostate{}); };
    for (const KernelRow& row : table.rows) {
        data.addRow({std::string(trace.strings.view(row.name)), trace.processes[row.process].pid,
                     RawJson{fmt::format("[{}]", fmt::join(row.streams, ","))},
                     static_cast<std::int64_t>(row.count), row.total, row.average, row.min, row.median,
                     row.max, row.share,
                     row.occupancyPercent >= 0 ? Cell(row.occupancyPercent) : Cell(std::monostate{}),
                     known(row.registers), known(row.sharedMemoryBytes),
                     row.tensorCore == KernelRow::TensorCore::Unknown
                         ? Cell(std::monostate{})
                         : Cell(row.tensorCore == KernelRow::TensorCore::Yes)});
    }
    return data;
}

std::string textOf(const Trace& trace, const KernelTable& table, const DataTable& data, std::size_t found,
                   const KernelsOptions& options) {
    std::string out =
        fmt::format("{}: {}, {} of GPU time (sum of the durations)\n{}\n", printable(trace.path),
                    counted(found, "kernel", "kernels"), formatDuration(table.total), lossNote(trace));
    if (data.size() == 0) {
        return out + (options.range.given()
                          ? fmt::format("No kernel starts in this range; the trace lasts {}.\n",
                                        formatDuration(trace.extent.duration()))
                          : "The trace has no kernels, copies or sets: it was recorded without GPU "
                            "activities.\n");
    }
    using Align = TextTable::Align;
    TextTable text({{"Name", Align::Left, true, 0},
                    {"GPU", Align::Right, false, 1},
                    {"Streams", Align::Left, false, 3},
                    {"Count", Align::Right, false, 0},
                    {"Total", Align::Right, false, 0},
                    {"Share", Align::Right, false, 0},
                    {"Avg", Align::Right, false, 0},
                    {"Min", Align::Right, false, 2},
                    {"Median", Align::Right, false, 1},
                    {"Max", Align::Right, false, 2},
                    {"Occupancy", Align::Right, false, 3},
                    {"Registers", Align::Right, false, 4},
                    {"Shared", Align::Right, false, 4},
                    {"Tensor Cores", Align::Left, false, 3}});
    for (std::size_t row = 0; row < data.size(); ++row) {
        const auto number = [&](const char* field) { return data.integer(row, field); };
        const auto said = [&](const char* field) {
            return !std::holds_alternative<std::monostate>(data.at(row, field));
        };
        std::string streams = data.text(row, "streams");
        streams = streams.substr(1, streams.size() - 2);
        const auto* occupancy = std::get_if<double>(&data.at(row, "occupancy"));
        const auto* tensorCore = std::get_if<bool>(&data.at(row, "tensor_core"));
        text.addRow({data.text(row, "name"), data.text(row, "device"), streams, formatCount(number("count")),
                     formatDuration(number("total_ns")),
                     formatPercent(std::get<double>(data.at(row, "share"))), formatDuration(number("avg_ns")),
                     formatDuration(number("min_ns")), formatDuration(number("median_ns")),
                     formatDuration(number("max_ns")),
                     occupancy != nullptr ? formatPercent(*occupancy / 100) : "-",
                     said("registers") ? data.text(row, "registers") : "-",
                     said("shared_memory_bytes") ? formatBytes(number("shared_memory_bytes")) : "-",
                     tensorCore == nullptr ? "-"
                     : *tensorCore         ? "yes"
                                           : "no"});
    }
    out += text.render(options.output.width());
    if (data.size() < found)
        out += fmt::format("{} not shown (--limit 0 shows all)\n",
                           counted(found - data.size(), "more kernel is", "more kernels are"));
    return out;
}

Result<Done> runKernels(const KernelsOptions& options) {
    auto opened = openTrace(options.file);
    if (!opened.ok())
        return opened.error();
    const TracePtr trace = opened.value();
    const auto range = options.range.in(*trace);
    if (!range.ok())
        return range.error();
    const auto result = kernelTable(*trace, range.value());
    if (!result.ok())
        return result.error();

    DataTable data = dataOf(*trace, result.value());
    if (!options.sort.empty())
        data.sortBy(kSorts.at(options.sort));
    const std::size_t found = data.size();
    if (options.output.rows() != 0)
        data.keepFirst(options.output.rows());

    if (options.output.csv)
        return print(data.csv());
    if (!options.output.json)
        return print(textOf(*trace, result.value(), data, found, options));
    return print(rowsJson(data));
}

} // namespace

void declareKernels(CLI::App& app, Work& work) {
    auto options = std::make_shared<KernelsOptions>();
    CLI::App* command =
        app.add_subcommand("kernels", "The kernel table: kernels, copies and sets by name and GPU");
    command->add_option("FILE", options->file, "The trace; - reads the standard input")->required();
    command
        ->add_option("--sort", options->sort,
                     "Column to sort by, largest first: name, device, count, total, avg, min, median, max, "
                     "share, occupancy, registers, shared_memory, tensor_core; default total")
        ->type_name("COLUMN")
        ->check([](const std::string& name) -> std::string {
            return kSorts.count(name) != 0 ? "" : fmt::format("there is no column \"{}\"", name);
        });
    addRangeOption(*command, options->range);
    addOutputOptions(*command, options->output);
    command->group("Commands");
    command->footer(
        "Share is of the durations of all kernels, copies and sets in the range. Occupancy is the "
        "launches' estimate,\nin percent, weighted by duration. Tensor Cores: what the kernel's "
        "name tells, - where it does not.\n"
        "\nExamples:\n"
        "  warpline-cli kernels trace.json.gz\n"
        "  warpline-cli kernels trace.json.gz --sort count --limit 10\n"
        "  warpline-cli kernels trace.json.gz --range 10ms:20ms --json");
    command->callback([options, &work] { work = [options] { return runKernels(*options); }; });
}

} // namespace warpline::cli
