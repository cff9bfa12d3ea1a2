// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/recorder.h"
#include "model/base/result.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace warpline::cli {

/// What record and attach have in common, as typed.
struct RecordOptions {
    std::string output;
    std::vector<std::string> what;
    std::string delay;
    std::string duration;
    std::string sizeLimit;
    std::string ring;
    std::string range;
    bool anyRange = false;
    std::int64_t rangeSkip = 0;
    std::int64_t rangeCount = 0;
    bool profiler = false;
    bool memory = false;
    bool json = false;
    std::string agent;
    std::string cupti;
    std::uint32_t buffers = 16;
};
void addRecordOptions(CLI::App& command, RecordOptions& options);
/// The options as the recorder takes them, or what is wrong with them.
Result<capture::RecordConfig> recordConfig(const RecordOptions& options);

/// How the waiting ends where the recording has no end of its own.
enum class WhenInterrupted {
    Stop,     ///< the first Ctrl-C ends the recording
    PassedOn, ///< the program gets Ctrl-C itself; the second one ends the recording
};
/// Waits for a recording to end and tells what became of it.
Result<Done> watch(capture::Recorder& recorder, const RecordOptions& options, WhenInterrupted interrupted);

} // namespace warpline::cli
