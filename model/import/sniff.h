// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <string>
#include <string_view>

namespace warpline {

/// What the first bytes of a document (decompressed) say it is.
struct Sniffed {
    enum class Format {
        ChromeTrace,  ///< an object with traceEvents, an array of events, or something broken that looks like
                      ///< one
        MemoryPickle, ///< a memory snapshot of PyTorch, in the form the name says
        MemoryJson,
        MemorySqlite,
        Profile, ///< stacks with weights: collapsed stacks, speedscope, Hatchet
        Other,   ///< something else, which `sentence` names
    };
    Format format = Format::ChromeTrace;
    /// For all but ChromeTrace, one true sentence for the user: what it is, and what to do ("This is a Git
    /// LFS pointer, not the trace itself: run \"git lfs pull\" to fetch it (135 MB)."). No file name in it.
    std::string sentence;

    [[nodiscard]] bool isMemory() const {
        return format == Format::MemoryPickle || format == Format::MemoryJson ||
               format == Format::MemorySqlite;
    }
};

/// `head` is the start of the document (up to 1 MiB), `whole` whether that is all of it.
Sniffed sniff(std::string_view head, bool whole);

} // namespace warpline
