// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <atomic>
#include <cstdint>

namespace warpline {

/// How far a long job is, written by the job and read by anyone at any time.
struct Progress {
    /// Bytes of the file as it lies on disk (compressed ones where it is compressed); total 0 = unknown.
    std::atomic<std::uint64_t> bytesDone{0};
    std::atomic<std::uint64_t> bytesTotal{0};
    std::atomic<std::uint64_t> events{0};
    enum class Stage : int { Reading, Arranging, Analysing, Finished };
    std::atomic<Stage> stage{Stage::Reading};
};

} // namespace warpline
