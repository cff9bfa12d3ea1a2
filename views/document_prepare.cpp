// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/document.h"
#include "views/timeline/row_series.h"

#include <utility>

namespace warpline {

Document::Prepared Document::prepare(std::vector<TracePtr> traces) {
    Prepared prepared;
    prepared.session = Session::of(std::move(traces));
    for (const Source& source : prepared.session->sources) {
        Item item;
        item.trace = source.trace;
        item.shift = source.shift;
        item.spans = std::make_shared<const SpanIndex>(source.trace);
        item.ops = OpTree::build(source.trace);
        item.families = std::make_shared<const FamilyIndex>(*source.trace);
        item.series = SourceSeries::of(source.trace);
        prepared.items.push_back(std::move(item));
    }
    return prepared;
}

} // namespace warpline
