// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <string>

namespace warpline::capture {

/// Where the Python that runs in a program leaves its files.
struct PythonPaths {
    std::string output; ///< of the recording
    std::string folder; ///< the recorder's private one
    std::int64_t pid = 0;
    std::uint32_t number = 0; ///< of the request

    /// "OUT.PID.snapshot.pickle" beside the output.
    [[nodiscard]] std::string snapshot() const;
    /// What the script has to say: "ok", or why not.
    [[nodiscard]] std::string answer() const;
};

/// Switches PyTorch's allocator history on, and has the program save it when it ends by itself.
std::string startHistoryScript(const PythonPaths& paths);
/// Saves the history and switches it off.
std::string dumpHistoryScript(const PythonPaths& paths);

} // namespace warpline::capture
