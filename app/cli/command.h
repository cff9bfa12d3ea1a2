// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <functional>

namespace CLI {
class App;
}

namespace warpline::cli {

/// What the shell is told.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNotDone = 1;
inline constexpr int kExitWrongUsage = 2;

/// The work of a command once its options are read. An error with an empty message has been told already.
using Work = std::function<Result<Done>()>;

/// What the shell is told when the work is done, where that is not kExitDone: "record" hands on what its
/// program said.
void setExitCode(int code);

/// Each declares one command with its options; where that command is called, `work` is set to what it does.
void declareInfo(CLI::App& app, Work& work);
void declareOps(CLI::App& app, Work& work);
void declareKernels(CLI::App& app, Work& work);
void declareFlame(CLI::App& app, Work& work);
void declareModules(CLI::App& app, Work& work);
void declareMemory(CLI::App& app, Work& work);
void declareConvert(CLI::App& app, Work& work);
void declareRecord(CLI::App& app, Work& work);
void declareAttach(CLI::App& app, Work& work);
void declareTargets(CLI::App& app, Work& work);

} // namespace warpline::cli
