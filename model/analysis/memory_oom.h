// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/memory_state.h"
#include "model/store/memory_history.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpline {

/// Why an allocation did not fit although memory was reserved.
struct OutOfMemoryReport {
    OutOfMemoryEvent event;
    TimeNs time = 0;                                         ///< 0 without times
    std::uint32_t stream = 0;                                ///< that asked
    StackId stack;                                           ///< that asked
    std::int64_t requested = 0, allocated = 0, reserved = 0; ///< curves at that moment
    std::int64_t reservedFree = 0;                           ///< reserved and in no block
    std::int64_t pending = 0;                                ///< held only by frees that wait for a stream

    /// Free memory that was reserved and could not serve this request, by reason; sums to reservedFree.
    struct Unusable {
        enum class Reason {
            OtherStream, ///< cached for another stream
            OtherPool,   ///< a private pool's, or the pool of small blocks
            TooSmall,    ///< right stream and pool, but no stretch is large enough: fragmentation
            WouldFit,    ///< large enough after all (by what the history knows)
        };
        Reason reason = Reason::TooSmall;
        std::int64_t bytes = 0;
        std::int64_t largest = 0;
        std::uint64_t pieces = 0;
    };
    std::vector<Unusable> unusable; ///< by bytes, descending

    struct Segment {
        std::uint64_t address = 0;
        std::int64_t size = 0;
        std::int64_t free = 0;
        std::int64_t largestFree = 0;
        std::uint16_t pool = 0;
        std::uint32_t stream = 0;
        std::uint8_t flags = 0;
        Unusable::Reason reason = Unusable::Reason::TooSmall;
    };
    std::vector<Segment> segments; ///< those with free memory, most first

    /// In one or two sentences: "16 MiB were asked for; the driver had 136 GiB free, but ..."
    std::string sentence;
};

/// `which` counts MemoryDevice::outOfMemory.
OutOfMemoryReport outOfMemoryReport(const MemoryHistory& history, const MemoryDevice& device,
                                    const LiveIndex& index, std::size_t which);
[[nodiscard]] const char* unusableReasonName(OutOfMemoryReport::Unusable::Reason reason);

} // namespace warpline
