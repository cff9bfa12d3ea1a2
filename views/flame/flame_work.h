// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "views/document.h"
#include "views/flame/flame_view.h"
#include "views/flame/lazy_stacks.h"

#include <optional>
#include <stop_token>

namespace warpline {

class MemoryFocus;

/// What the width of a frame stands for. The last two are those of an allocator's history.
enum class FlameMeasure {
    GpuTime,
    CpuTime,
    Calls,
    Allocated, ///< by the trace's own records, in the range
    Live,      ///< bytes there at the moment that the memory views look at
    Between,   ///< bytes allocated between their marks; without marks in all of the history
};
[[nodiscard]] constexpr bool isOfHistory(FlameMeasure measure) {
    return measure == FlameMeasure::Live || measure == FlameMeasure::Between;
}

/// What a flame graph is made of, as chosen in the panel.
struct FlameRequest {
    FlameMeasure measure = FlameMeasure::GpuTime;
    FlameShape shape;
    std::optional<TimeRange> range; ///< session time
    int source = 0;
    int against = -1; ///< a source to take the difference to; -1 = none
    QString op;       ///< only what is below this op; empty = all
};

/// A flame graph, ready to be shown.
struct FlameData {
    FlameTreePtr tree;
    FlameCoverage coverage;
    FlameMeasure measure = FlameMeasure::GpuTime;
    QString name;             ///< what is weighed: "GPU time", "Bytes live at the peak"
    bool coverageSays = true; ///< whether lines and modules of stacks mean something
};

/// Which bytes of a history are weighed.
struct MemoryWanted {
    MemoryHistoryPtr history;
    std::shared_ptr<LazyMemoryStacks> stacks;
    std::size_t device = 0; ///< index into MemoryHistory::devices
    Moment after = kBeforeHistory;
    Moment upTo = 0; ///< Live: the moment
    QString name;
};

[[nodiscard]] QString measureName(FlameMeasure measure);
/// As the memory views are set now; nothing to weigh where they have no history.
std::optional<MemoryWanted> memoryWanted(const MemoryFocus& focus, FlameMeasure measure);

// These run in jobs.
Result<FlameData> flameOfTrace(const Document::Item& item, const std::optional<Document::Item>& base,
                               const FlameRequest& request, const std::stop_token& stop);
Result<FlameData> flameOfProfile(const ProfilePtr& profile, const FlameShape& shape,
                                 const std::stop_token& stop);
Result<FlameData> flameOfMemory(const MemoryWanted& wanted, FlameMeasure measure, const FlameShape& shape,
                                const std::stop_token& stop);
/// The longest event whose own frame this is, in the range; modules that came together count as each.
Result<SliceId> longestOf(const Document::Item& item, FrameId frame, std::optional<TimeRange> range,
                          const std::stop_token& stop);

/// The names on the way to a node, for the selection; empty for the root and for what stands for no frame.
/// In a bottom-up tree the name of the frame alone: it means the frame wherever it is.
QStringList pathOfNode(const FlameTree& tree, std::uint32_t node);
/// The node that such a path leads to, passing over what the tree does not show; where no way leads there,
/// the heaviest node of the last name; the root if there is none.
std::uint32_t nodeOfPath(const FlameTree& tree, const QStringList& path);

} // namespace warpline
