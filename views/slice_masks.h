// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/slice_filter.h"
#include "views/document.h"

#include <stop_token>

namespace warpline {

/// Parts of a selection that narrow a view. A view is not narrowed by what is chosen among its own rows.
enum class FilterPart : unsigned { Op = 1, Kernel = 2, Frame = 4, Tracks = 8, All = 15 };
constexpr FilterPart operator|(FilterPart a, FilterPart b) {
    return static_cast<FilterPart>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(FilterPart parts, FilterPart part) {
    return (static_cast<unsigned>(parts) & static_cast<unsigned>(part)) != 0;
}

/// What a selection asks of one of the document's traces. A frame of a snapshot's stacks asks nothing: its
/// lines are those of the calls, a trace's those where functions begin.
SliceFilter filterOf(const Selection& selection, int source, FilterPart parts = FilterPart::All);

/// Runs in a job. Empty where the filter asks for nothing.
Result<SliceMask> maskOf(const Document::Item& item, const SliceFilter& filter, const std::stop_token& stop);

/// Runs in a job. The events that the selection names: those of its op, kernel and frame, where all that it
/// asks for holds.
Result<std::vector<SliceRef>> namedSlices(const std::vector<Document::Item>& items,
                                          const Selection& selection, const std::stop_token& stop);

/// What narrows a view, as the end of a sentence: "under aten::mm, on stream 7"; empty for nothing.
QString filterText(const Document& document, FilterPart parts = FilterPart::All);

} // namespace warpline
