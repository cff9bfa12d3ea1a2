// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// What /proc tells of other processes.
namespace warpline::capture {

struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    bool executable = false;
    std::string path; ///< also [vdso], [stack]; empty = no file

    /// The file's name without its folder.
    [[nodiscard]] std::string_view file() const {
        const std::string_view p(path);
        return p.substr(p.rfind('/') + 1);
    }
};

/// A whole file, of /proc too; nothing where it cannot be read.
std::optional<std::string> readWhole(const std::string& path);
std::vector<Mapping> mappingsOf(pid_t pid);
std::vector<pid_t> threadsOf(pid_t pid); ///< the main one first
/// A field of /proc/PID/status, without the blanks around it.
std::optional<std::string> statusField(pid_t pid, std::string_view name);
/// Program and arguments, joined by spaces.
std::string commandOf(pid_t pid);

/// Where a function of a shared library's file stands, from the library's load address on; 0 = it has none of
/// that name. The file is read, not loaded: it may be another machine's or another container's.
std::uint64_t symbolIn(const std::string& file, std::string_view name);
/// 1 for 32-bit, 2 for 64-bit programs of this processor's kind; 0 for anything else.
int elfClassOf(const std::string& file);

} // namespace warpline::capture
