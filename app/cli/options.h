// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/import.h"
#include "model/store/memory_history.h"
#include "model/store/trace.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::cli {

/// How the result is written, the same for every command.
struct OutputOptions {
    bool json = false;
    bool csv = false;
    bool wide = false;
    long long limit = -1; ///< rows; 0 = all, -1 = not said

    /// The rows to write at most; 0 = all.
    [[nodiscard]] std::size_t rows() const {
        constexpr std::size_t kTextRows = 25;
        if (limit >= 0)
            return static_cast<std::size_t>(limit);
        return json || csv ? 0 : kTextRows;
    }
    /// Columns of the terminal to keep to; 0 = no limit.
    [[nodiscard]] std::size_t width() const;
};
void addOutputOptions(CLI::App& command, OutputOptions& options);

/// A range as it is typed. An end that is left open is the trace's.
struct RangeText {
    struct Moment {
        bool relative = false; ///< counted from the start of the trace
        TimeNs value = 0;
    };
    std::optional<Moment> begin;
    std::optional<Moment> end;

    static std::optional<RangeText> parse(std::string_view text);
    [[nodiscard]] TimeRange in(TimeRange extent) const;
    [[nodiscard]] TimeRange in(const Trace& trace) const { return in(trace.extent); }
};

/// --range, and --step where a command has it; at most one of them is given.
struct RangeOptions {
    std::string range;
    std::optional<std::int64_t> step;

    [[nodiscard]] bool given() const { return !range.empty() || step.has_value(); }
    /// What was asked for, on the trace's clock; no value = the whole trace.
    [[nodiscard]] Result<std::optional<TimeRange>> in(const Trace& trace) const;
};
void addRangeOption(CLI::App& command, RangeOptions& options);
void addStepOption(CLI::App& command, RangeOptions& options);

/// Opens a file that holds one trace; of an archive with several, the error names them.
Result<TracePtr> openTrace(const std::string& path);
/// The same of what is open already.
Result<TracePtr> onlyTrace(Opened opened, const std::string& path);

/// A memory snapshot, a trace, or one of each, from one or two files in any order.
struct OneOfEach {
    MemoryHistoryPtr memory;
    TracePtr trace;
};
Result<OneOfEach> openMemory(const std::vector<std::string>& paths);

/// For the head of a table: that something of the file could not be kept, and where to read what. Empty
/// where all is well.
std::string lossNote(const Trace& trace);
/// "1 kernel", "3,210 kernels".
std::string counted(std::uint64_t count, const char* one, const char* many);

} // namespace warpline::cli
