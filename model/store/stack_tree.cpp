// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/memory_history.h"

#include <bit>

namespace warpline {

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t h = (a ^ (b * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    h ^= h >> 32;
    return h * 0xD6E8FEB86659FD93ULL;
}

std::uint64_t hashOf(const MemoryFrame& f) {
    return mix(mix(f.file.value, f.name.value), mix(f.fx.value, static_cast<std::uint64_t>(f.line)));
}

std::uint64_t hashOf(const StackTree::Node& n) {
    return mix(n.frame.value, n.caller.value);
}

/// Room for `count` entries at half full or less.
template <class Entries>
void rebuild(std::vector<std::uint32_t>& slots, const Entries& entries) {
    slots.assign(std::max<std::size_t>(256, std::bit_ceil(entries.size() * 4 + 1)), 0);
    const std::size_t mask = slots.size() - 1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t at = (hashOf(entries[i]) >> 20) & mask;
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = static_cast<std::uint32_t>(i + 1);
    }
}

/// The entry equal to `entry`, which is added where there is none: its number + 1.
template <class Entries, class Entry, class Equal>
std::uint32_t intern(std::vector<std::uint32_t>& slots, Entries& entries, const Entry& entry, Equal equal) {
    if (slots.size() < entries.size() * 2 + 2)
        rebuild(slots, entries);
    const std::size_t mask = slots.size() - 1;
    std::size_t at = (hashOf(entry) >> 20) & mask;
    for (; slots[at] != 0; at = (at + 1) & mask)
        if (equal(entries[slots[at] - 1], entry))
            return slots[at];
    entries.push_back(entry);
    return slots[at] = static_cast<std::uint32_t>(entries.size());
}

} // namespace

std::vector<FrameId> StackTree::frames(StackId id) const {
    std::vector<FrameId> out;
    if (id)
        out.reserve(node(id).depth);
    for (; id; id = node(id).caller)
        out.push_back(node(id).frame);
    return out;
}

FrameId StackTree::addFrame(const MemoryFrame& frame) {
    return FrameId{intern(m_frameSlots, m_frames, frame,
                          [](const MemoryFrame& a, const MemoryFrame& b) { return a == b; })};
}

StackId StackTree::addStack(StackId caller, FrameId frame) {
    const Node node{frame, caller, caller ? this->node(caller).depth + 1 : 1};
    return StackId{intern(m_nodeSlots, m_nodes, node, [](const Node& a, const Node& b) {
        return a.frame == b.frame && a.caller == b.caller;
    })};
}

void StackTree::finish() {
    m_frameSlots = {};
    m_nodeSlots = {};
    m_frames.shrink_to_fit();
    m_nodes.shrink_to_fit();
}

std::size_t StackTree::bytes() const {
    return m_frames.capacity() * sizeof(MemoryFrame) + m_nodes.capacity() * sizeof(Node) +
           (m_frameSlots.capacity() + m_nodeSlots.capacity()) * sizeof(std::uint32_t);
}

} // namespace warpline
