// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/jumps.h"

#include "model/analysis/ops.h"
#include "views/flame/lazy_stacks.h"
#include "views/memory/block_filter.h"
#include "views/memory/holders_panel.h"
#include "views/memory/memory_focus.h"
#include "views/slice_masks.h"
#include "views/text.h"

#include <algorithm>

namespace warpline {

namespace {

/// What is asked, taken from the document for a job.
struct Question {
    std::vector<Document::Item> items;
    Selection selection;
    SliceRef subject;

    [[nodiscard]] bool inRange(const Document::Item& item, std::size_t row) const {
        return !selection.range || selection.range->contains(item.trace->slices.start[row] + item.shift);
    }
};

bool liesUnder(const TraceStacks& stacks, SliceId slice, SliceId around) {
    while (slice && slice != around)
        slice = stacks.hostParent(slice);
    return static_cast<bool>(slice);
}

/// The longest kernel, copy or set that the event launched, or that is left where the views are narrowed.
Result<SliceRef> longestKernel(const Question& q, const std::stop_token& stop) {
    SliceRef best;
    TimeNs longest = -1;
    for (std::size_t i = 0; i < q.items.size(); ++i) {
        const int source = static_cast<int>(i);
        if (q.subject && q.subject.source != source)
            continue;
        const Document::Item& item = q.items[i];
        Result<TraceStacksPtr> stacks = item.stacks->get(stop);
        if (!stacks.ok())
            return stacks.error();
        const SliceFilter filter = q.subject ? SliceFilter() : filterOf(q.selection, source);
        Result<SliceMask> mask = maskOf(item, filter, stop);
        if (!mask.ok())
            return mask.error();
        const Trace& trace = *item.trace;
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            if ((row & 0xFFFF) == 0 && stop.stop_requested())
                return Error::cancelled();
            if (trace.slices.duration[row] <= longest || !isDeviceWork(trace.kind(row)))
                continue;
            const SliceId slice = SliceId::fromIndex(row);
            const bool meant = q.subject
                                   ? liesUnder(*stacks.value(), slice, q.subject.slice)
                                   : (mask.value().empty() || mask.value()[row] != 0) && q.inRange(item, row);
            if (!meant)
                continue;
            best = {source, slice};
            longest = trace.slices.duration[row];
        }
    }
    return best;
}

/// The frames down to the innermost Python line of the program, or where there is none to what launched it.
Result<FrameRef> lineOf(const Question& q, const std::stop_token& stop) {
    Question of = q;
    if (!of.subject) {
        Result<SliceRef> kernel = longestKernel(q, stop);
        if (!kernel.ok())
            return kernel.error();
        of.subject = kernel.value();
    }
    if (!of.subject)
        return FrameRef();
    Result<TraceStacksPtr> built = q.items[static_cast<std::size_t>(of.subject.source)].stacks->get(stop);
    if (!built.ok())
        return built.error();
    const TraceStacks& stacks = *built.value();
    const StackId stack = stacks.stackOf(of.subject.slice);
    const FrameId line = sourceOf(stacks, stack);
    FrameRef ref;
    QStringList whole;
    for (const FrameId frame : stack ? stacks.stacks().path(stack) : std::vector<FrameId>()) {
        const FrameKind kind = stacks.frames().at(frame).kind;
        if (kind == FrameKind::Missing || kind == FrameKind::Thread)
            continue;
        whole.append(toQString(stacks.frames().name(frame)));
        if (frame == line)
            ref.path = whole; // the innermost of them, where a function calls itself
    }
    return ref;
}

/// The largest block allocated while the event was open, or that the selection leaves, in its range.
Result<BlockId> largestBlock(const BlockNarrowing& by, SliceRef subject, const std::stop_token& stop) {
    const MemoryDevice& device = by.item.history->devices[by.device];
    const MemoryBlockTable& blocks = device.blocks;
    BlockId best;
    const auto offer = [&](BlockId block) {
        if (block && (!best || blocks.size[block.index()] > blocks.size[best.index()]))
            best = block;
    };
    if (subject) {
        for (const auto& [at, event] : by.item.join->allocationsOf(subject.slice)) {
            if (at == by.device)
                offer(device.events.block[event]);
        }
        return best;
    }
    const Result<std::vector<char>> mask = blockMask(by, stop);
    if (!mask.ok())
        return mask.error();
    for (std::size_t row = 0; row < blocks.count(); ++row) {
        if (mask.value()[row] == 0 || blocks.birth[row] == kBeforeHistory)
            continue;
        const TimeNs born = device.events.time[blocks.birth[row] - 1] + by.item.shift;
        if (!by.selection.range || !device.hasTimes || by.selection.range->contains(born))
            offer(BlockId::fromIndex(row));
    }
    return best;
}

/// The block to go to, and whether it is of the frame alone.
struct Found {
    BlockId block;
    bool frameOnly = false;
};

Result<Found> largestOf(const BlockNarrowing& by, SliceRef subject, const std::stop_token& stop) {
    const Result<BlockId> all = largestBlock(by, subject, stop);
    if (!all.ok())
        return all.error();
    const Selection& s = by.selection;
    if (all.value() || subject || !s.frame || (s.op.isEmpty() && s.kernel.isEmpty()))
        return Found{all.value(), false};
    // An op or a kernel that is looked at may allocate nothing; the line that called it does.
    BlockNarrowing frame = by;
    frame.selection.op.clear();
    frame.selection.kernel.clear();
    const Result<BlockId> block = largestBlock(frame, {}, stop);
    if (!block.ok())
        return block.error();
    return Found{block.value(), true};
}

} // namespace

Jumps::Jumps(Document* document, MemoryFocus* memory, QObject* parent)
    : QObject(parent), m_document(document), m_memory(memory) {
    connect(document, &Document::sessionChanged, this, [this] { m_job.cancel(); });
}

SliceRef Jumps::subject() const {
    const Selection& s = m_document->selection();
    return s.view == ViewKind::Timeline || !s.filters() ? s.slice : SliceRef{};
}

void Jumps::toKernel() {
    if (!subject() && !m_document->selection().filters() && !m_document->range()) {
        emit failed(tr("Select an op, a frame or a range first: its longest kernel is gone to."));
        return;
    }
    m_job.start([q = Question{m_document->items(), m_document->selection(), subject()}](
                    const std::stop_token& stop) { return longestKernel(q, stop); },
                [this](const Result<SliceRef>& result) {
                    if (result.ok() && result.value()) {
                        m_document->reveal(result.value());
                        emit arrived(ViewKind::Timeline);
                    } else {
                        emit failed(tr("No kernel was launched in what is selected."));
                    }
                });
}

void Jumps::toLine() {
    if (!subject() && !m_document->selection().filters()) {
        emit failed(tr("Select an event or an op first: the line that it comes from is gone to."));
        return;
    }
    m_job.start([q = Question{m_document->items(), m_document->selection(), subject()}](
                    const std::stop_token& stop) { return lineOf(q, stop); },
                [this](const Result<FrameRef>& result) {
                    if (result.ok() && result.value()) {
                        m_document->selectFrame(result.value());
                        emit arrived(ViewKind::Flame);
                    } else {
                        emit failed(tr("No Python line is known for what is selected: record with "
                                       "with_stack=True."));
                    }
                });
}

void Jumps::showBlock(BlockId block, bool frameOnly) {
    Selection next = m_document->selection();
    next.block = m_memory->refOf(block);
    if (frameOnly) {
        next.op.clear();
        next.kernel.clear();
    }
    next.view = ViewKind::Memory;
    m_document->setSelection(std::move(next));
    // A block that is selected from elsewhere is looked at as it is allocated.
    m_memory->showMoment(m_memory->device().blocks.birth[block.index()]);
    emit arrived(ViewKind::Memory);
}

void Jumps::toBlock() {
    if (!m_memory->hasMemory()) {
        emit failed(noMemoryReason(*m_document));
        return;
    }
    const SliceRef event = subject();
    std::optional<BlockNarrowing> by = BlockNarrowing::of(*m_memory);
    if (event && m_memory->item().join && m_memory->item().joined == event.source) {
        by = BlockNarrowing();
        by->item = m_memory->item();
        by->device = m_memory->deviceItem().device;
    } else if (event || !by) {
        emit failed(event ? tr("No allocator's history shares a clock with this trace: open the snapshot of "
                               "the same run beside it.")
                          : tr("Select an event, an op or a frame first: its largest block is gone to."));
        return;
    }
    // A kernel allocates nothing; the op that launched it does.
    m_job.start(
        [by = *by, event,
         item = event ? m_document->items()[static_cast<std::size_t>(event.source)]
                      : Document::Item()](const std::stop_token& stop) -> Result<Found> {
            SliceRef of = event;
            if (of && isDeviceWork(item.trace->kind(of.slice))) {
                Result<TraceStacksPtr> stacks = item.stacks->get(stop);
                if (!stacks.ok())
                    return stacks.error();
                while (of.slice && item.trace->kind(of.slice) != SliceKind::CpuOp)
                    of.slice = stacks.value()->hostParent(of.slice);
                if (!of.slice)
                    return Found();
            }
            return largestOf(by, of, stop);
        },
        [this](const Result<Found>& result) {
            if (result.ok() && result.value().block)
                showBlock(result.value().block, result.value().frameOnly);
            else
                emit failed(tr("Nothing was allocated in what is selected, as far as the history goes."));
        });
}

} // namespace warpline
