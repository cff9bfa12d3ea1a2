// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/diagnostics.h"
#include "model/store/frames.h"
#include "model/store/trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpline {

/// A profile that another program wrote as stacks and weights: collapsed stacks, speedscope, Hatchet.
/// Immutable once read.
struct Profile {
    std::string path;        ///< as opened; FILE!MEMBER for a member of an archive
    std::string format;      ///< "collapsed stacks", "speedscope profile", "Hatchet call tree"
    std::string compression; ///< as of Trace
    std::uint64_t fileBytes = 0;
    std::string name;       ///< what the file calls it; may be empty
    std::string weightName; ///< what is weighed where the file says: "time (ns)"; may be empty
    WeightUnit unit = WeightUnit::Count;
    FrameTablePtr frames;
    StackTablePtr stacks;
    std::vector<StackWeight> weights; ///< one entry a stack, none of them 0
    std::int64_t total = 0;
    std::uint64_t samples = 0; ///< lines, samples or events that were read
    /// The same on a time axis, where the file has an order in time; null otherwise.
    TracePtr timeline;
    Diagnostics diagnostics;

    [[nodiscard]] std::size_t bytes() const;
};
using ProfilePtr = std::shared_ptr<const Profile>;

} // namespace warpline
