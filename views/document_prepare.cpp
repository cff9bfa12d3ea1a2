// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_from_trace.h"
#include "views/document.h"
#include "views/flame/lazy_stacks.h"
#include "views/memory/memory_item.h"
#include "views/timeline/row_series.h"

#include <utility>

namespace warpline {

namespace {

/// Joins a history with the first trace that is of the same run; says why where none is.
void join(MemoryItem& memory, const std::vector<Document::Item>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        Result<MemoryJoinPtr> joined = MemoryJoin::build(memory.history, items[i].trace);
        if (!joined.ok()) {
            memory.joinError = joined.error().message;
            continue;
        }
        memory.join = std::move(joined).value();
        memory.joined = static_cast<int>(i);
        memory.shift = items[i].shift;
        memory.joinError.clear();
        return;
    }
}

} // namespace

Document::Prepared Document::prepare(Opened opened) {
    Prepared prepared;
    for (const ProfilePtr& profile : opened.profiles) {
        // One with times is a trace as well; its flame graph is that of the trace.
        if (profile->timeline)
            opened.traces.push_back(profile->timeline);
        else
            prepared.profiles.push_back(profile);
    }
    prepared.session = Session::of(opened.traces, opened.memory);
    for (const Source& source : prepared.session->sources) {
        if (source.trace) {
            Item item;
            item.trace = source.trace;
            item.shift = source.shift;
            item.spans = std::make_shared<const SpanIndex>(source.trace);
            item.ops = OpTree::build(source.trace);
            item.families = std::make_shared<const FamilyIndex>(*source.trace);
            item.series = SourceSeries::of(source.trace);
            item.stacks = std::make_shared<LazyStacks>(source.trace);
            prepared.items.push_back(std::move(item));
        }
    }
    for (const Source& source : prepared.session->sources) {
        if (source.memory) {
            prepared.memories.push_back(MemoryItem::prepare(source.memory, source.shift));
            join(prepared.memories.back(), prepared.items);
        }
    }
    for (std::size_t i = 0; i < prepared.items.size(); ++i) {
        const Item& item = prepared.items[i];
        if (MemoryHistoryPtr history = memoryOfTrace(item.trace)) {
            MemoryItem memory = MemoryItem::prepare(std::move(history), item.shift);
            if (Result<MemoryJoinPtr> joined = MemoryJoin::build(memory.history, item.trace); joined.ok()) {
                memory.join = std::move(joined).value();
                memory.joined = static_cast<int>(i);
            }
            prepared.memories.push_back(std::move(memory));
        }
    }
    return prepared;
}

} // namespace warpline
