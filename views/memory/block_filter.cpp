// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/block_filter.h"

#include "views/flame/lazy_stacks.h"
#include "views/memory/memory_focus.h"
#include "views/slice_masks.h"

namespace warpline {

namespace {

std::vector<char> byOwnStack(const BlockNarrowing& by) {
    const std::shared_ptr<const MemoryStacks> stacks = by.item.stacks->get();
    SliceFilter filter;
    for (const QString& name : by.selection.frame.path)
        filter.frames.push_back(name.toStdString());
    const std::vector<char> wanted = stackMask(*stacks->frames, *stacks->stacks, filter);
    const MemoryBlockTable& blocks = by.item.history->devices[by.device].blocks;
    std::vector<char> mask(blocks.count(), 0);
    for (std::size_t row = 0; row < mask.size(); ++row)
        mask[row] = wanted[stacks->of[blocks.stack[row].value].value];
    return mask;
}

} // namespace

std::optional<BlockNarrowing> BlockNarrowing::of(const MemoryFocus& focus) {
    const Document& document = focus.document();
    const Selection& selection = document.selection();
    if (!focus.hasMemory() || !selection.filters())
        return std::nullopt;
    BlockNarrowing by;
    by.item = focus.item();
    by.device = focus.deviceItem().device;
    by.memory = static_cast<int>(focus.places()[static_cast<std::size_t>(focus.place())].item);
    by.source = by.item.join ? by.item.joined : -1;
    by.selection = selection;
    if (by.source >= 0)
        by.joined = document.items()[static_cast<std::size_t>(by.source)];
    const bool byTrace = by.joined && !filterOf(selection, by.source).empty();
    const bool byStack = selection.frame && selection.frame.memory == by.memory;
    if (!byTrace && !byStack)
        return std::nullopt;
    return by;
}

Result<std::vector<char>> blockMask(const BlockNarrowing& by, const std::stop_token& stop) {
    const MemoryBlockTable& blocks = by.item.history->devices[by.device].blocks;
    std::vector<char> mask(blocks.count(), 1);
    if (by.selection.frame && by.selection.frame.memory == by.memory)
        mask = byOwnStack(by);
    const SliceFilter filter = filterOf(by.selection, by.source);
    if (!by.joined || filter.empty())
        return mask;
    Result<SliceMask> slices = maskOf(*by.joined, filter, stop);
    if (!slices.ok())
        return slices.error();
    const SliceMask& wanted = slices.value();
    const auto counts = [&](SliceId slice) { return slice && !wanted.empty() && wanted[slice.index()] != 0; };
    for (std::size_t row = 0; row < mask.size(); ++row) {
        if ((row & 0xFFF) == 0 && stop.stop_requested())
            return Error::cancelled();
        if (mask[row] == 0)
            continue;
        const EventPlace place = by.item.join->allocationOf(by.device, BlockId::fromIndex(row));
        mask[row] = counts(place.op) || counts(place.python) ? 1 : 0;
    }
    return mask;
}

} // namespace warpline
