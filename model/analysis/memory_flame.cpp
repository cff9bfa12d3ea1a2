// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_flame.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace warpline {

namespace {

/// Files of Python are told by their names; all else is C++.
bool isPython(std::string_view file) {
    return file.ends_with(".py") || file.ends_with(".pyc") || file.starts_with('<');
}

FrameId convert(const MemoryHistory& history, const MemoryFrame& frame, FrameTable& frames) {
    const std::string_view file = history.strings.view(frame.file);
    const std::string_view name = history.strings.view(frame.name);
    const std::int64_t line =
        std::clamp<std::int64_t>(frame.line, 0, std::numeric_limits<std::uint32_t>::max());
    if (isPython(file))
        return frames.intern(FrameKind::Python, fmt::format("{}({}): {}", file, line, name));
    if (history.fromTrace)
        return frames.intern(FrameKind::Op, name);
    return frames.intern(FrameKind::Function, name, file, static_cast<std::uint32_t>(line));
}

template <class Wanted>
std::vector<StackWeight> weigh(const MemoryStacks& stacks, const MemoryDevice& device, Wanted&& wanted) {
    std::vector<StackWeight> sums(stacks.of.size());
    for (std::size_t row = 0; row < device.blocks.count(); ++row) {
        if (!wanted(row))
            continue;
        StackWeight& sum = sums[device.blocks.stack[row].value];
        sum.weight += device.blocks.size[row];
        ++sum.count;
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i].stack = stacks.of[i];
    std::erase_if(sums, [](const StackWeight& w) { return w.weight == 0 && w.count == 0; });
    return sums;
}

} // namespace

MemoryStacks memoryStacks(const MemoryHistory& history) {
    auto frames = std::make_shared<FrameTable>();
    auto stacks = std::make_shared<StackTable>();
    std::vector<FrameId> frameOf(history.stacks.frameCount() + 1);
    MemoryStacks out;
    out.of.resize(history.stacks.stackCount() + 1);
    // A caller is there before what it calls.
    for (std::size_t i = 0; i < history.stacks.stackCount(); ++i) {
        const StackId id = StackId::fromIndex(i);
        const StackTree::Node& node = history.stacks.node(id);
        FrameId& frame = frameOf[node.frame.value];
        if (!frame && node.frame)
            frame = convert(history, history.stacks.frame(node.frame), *frames);
        out.of[id.value] = stacks->push(out.of[node.caller.value], frame ? frame : FrameTable::kNoStack);
    }
    out.frames = std::move(frames);
    out.stacks = std::move(stacks);
    return out;
}

std::vector<StackWeight> liveWeights(const MemoryStacks& stacks, const MemoryDevice& device, Moment moment) {
    return weigh(stacks, device, [&](std::size_t row) { return device.blocks.aliveAt(row, moment); });
}

std::vector<StackWeight> allocatedWeights(const MemoryStacks& stacks, const MemoryDevice& device,
                                          Moment after, Moment upTo) {
    return weigh(stacks, device, [&](std::size_t row) {
        return device.blocks.birth[row] > after && device.blocks.birth[row] <= upTo;
    });
}

} // namespace warpline
