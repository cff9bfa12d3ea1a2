// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/large_memory.h"

#include <cstdlib>
#include <sys/mman.h>

namespace warpline {

void* allocateLarge(std::size_t bytes) {
    constexpr std::size_t kPage = std::size_t{2} << 20;
    if (bytes < kLargeMemory)
        return std::malloc(bytes);
    void* memory = nullptr;
    if (::posix_memalign(&memory, kPage, bytes) != 0)
        return nullptr;
    // Whole large pages only: the rest would take memory that nobody asked for. Advice; may be refused.
    ::madvise(memory, bytes / kPage * kPage, MADV_HUGEPAGE);
    return memory;
}

} // namespace warpline
