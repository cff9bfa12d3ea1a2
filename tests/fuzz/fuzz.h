// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Opens whatever bytes it is given; aborts where a promise is broken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Documents to damage, where none are named.
std::vector<std::string> fuzzSeeds();
/// Pieces to put in; at least eight.
const std::vector<std::string_view>& fuzzWords();
