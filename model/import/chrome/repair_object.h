// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/repair.h"

namespace warpline::repairing {

/// Reads the event that begins with the brace at `at`; `consumed` counts from the start of the text.
RepairedEvent repairObject(std::string_view text, std::size_t at, bool final);

} // namespace warpline::repairing
