// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <fmt/format.h>

#include <string>

namespace warpline::test {

/// What every memory history promises, whatever file it came from: empty, or the first promise that is
/// broken.
inline std::string brokenPromise(const MemoryHistory& h) {
    for (std::size_t i = 0; i < h.stacks.stackCount(); ++i) {
        const StackTree::Node& node = h.stacks.node(StackId::fromIndex(i));
        if (!node.frame || node.frame.index() >= h.stacks.frameCount())
            return fmt::format("stack {} has no frame", i);
        if (node.caller && node.caller.index() >= i)
            return fmt::format("stack {} is called by a later one", i);
    }
    for (const MemoryDevice& d : h.devices) {
        const MemoryEventTable& e = d.events;
        const MemoryBlockTable& b = d.blocks;
        const std::size_t n = e.count();
        if (d.curves.requested.size() != n + 1 || d.curves.allocated.size() != n + 1 ||
            d.curves.reserved.size() != n + 1)
            return "a curve is not one longer than the events";
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && e.time[i] < e.time[i - 1])
                return fmt::format("event {} is older than the one before", i);
            if (e.block[i] && e.block[i].index() >= b.count())
                return fmt::format("event {} has no such block", i);
            if (e.stack[i] && e.stack[i].index() >= h.stacks.stackCount())
                return fmt::format("event {} has no such stack", i);
            if (e.stream[i] >= d.streams.size())
                return fmt::format("event {} has no such stream", i);
            const bool opens = e.action[i] == MemoryAction::Alloc;
            const bool closes = e.action[i] == MemoryAction::FreeCompleted;
            if ((opens || closes) && !e.block[i])
                return fmt::format("event {} has no block", i);
            if (opens && b.birth[e.block[i].index()] != i + 1)
                return fmt::format("event {} is not its block's birth", i);
            if (closes && b.death[e.block[i].index()] != i + 1)
                return fmt::format("event {} is not its block's death", i);
        }
        for (std::size_t i = 0; i < b.count(); ++i) {
            if (i > 0 && b.birth[i] < b.birth[i - 1])
                return fmt::format("block {} is born before the one below it", i);
            if ((i < d.preexistingBlocks) != (b.birth[i] == kBeforeHistory))
                return fmt::format("block {} is on the wrong side of the history's start", i);
            if (b.death[i] != kAliveAtEnd && (b.death[i] > n || b.death[i] <= b.birth[i]))
                return fmt::format("block {} dies before its birth or after the end", i);
            if (b.size[i] < 0 || b.allocated[i] < 0)
                return fmt::format("block {} has a negative size", i);
        }
        for (std::size_t i = 0; i < d.segments.count(); ++i)
            if (d.segments.birth[i] > n || d.segments.death[i] <= d.segments.birth[i] ||
                d.segments.size[i] <= 0)
                return fmt::format("segment piece {} has no sensible life or size", i);
        if (d.pools.empty() && b.count() > 0)
            for (std::size_t i = 0; i < b.count(); ++i)
                if (b.pool[i] != 0)
                    return fmt::format("block {} has no such pool", i);
    }
    return {};
}

} // namespace warpline::test
