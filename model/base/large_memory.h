// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>

namespace warpline {

/// From this size on, memory is asked for in large pages.
inline constexpr std::size_t kLargeMemory = std::size_t{2} << 20;

/// Like std::malloc, for std::free and std::realloc. What is large is aligned to the machine's large pages
/// and given in such where the system has them: filling it then costs a fraction of the page faults.
[[nodiscard]] void* allocateLarge(std::size_t bytes);

} // namespace warpline
