// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_holders.h"

#include "model/analysis/memory_join.h"
#include "model/base/format.h"
#include "model/query/memory_blocks.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace warpline {

namespace {

constexpr const char* kNames[kHolderGroupCount] = {"stack",    "frame",  "file", "op",  "module",
                                                   "category", "stream", "pool", "size"};

/// Turns a block into the key of its group and a key into its label. Stacks are looked into once each.
class Grouper {
  public:
    Grouper(const MemoryHistory& history, const MemoryDevice& device, const HolderQuery& query)
        : m_history(history), m_device(device), m_query(query) {
        for (std::size_t i = 0; query.join != nullptr && i < history.devices.size(); ++i)
            if (&history.devices[i] == &device)
                m_deviceIndex = i;
    }

    std::uint64_t key(std::uint32_t row) {
        const MemoryBlockTable& b = m_device.blocks;
        // Of what was there before, a stack is known only where its segment has one; that of its free is not
        // who asked for it.
        const bool before = b.birth[row] == kBeforeHistory &&
                            (!b.stack[row] || (b.flags[row] & BlockFlag::UnmatchedFree) != 0);
        if (before && m_query.group <= HolderGroup::Module)
            return m_query.group == HolderGroup::Stack ? kBefore : text("before the history began");
        switch (m_query.group) {
        case HolderGroup::Stack:
            return b.stack[row].value;
        case HolderGroup::Category:
            return static_cast<std::uint64_t>(b.category[row]);
        case HolderGroup::Stream:
            return b.stream[row];
        case HolderGroup::Pool:
            return b.pool[row];
        case HolderGroup::Size:
            return b.size[row] <= 0
                       ? 0
                       : static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(b.size[row])));
        case HolderGroup::Op:
        case HolderGroup::Module:
            if (m_query.join != nullptr) {
                const EventPlace place = m_query.join->allocationOf(m_deviceIndex, BlockId::fromIndex(row));
                const std::string_view name = m_query.group == HolderGroup::Op
                                                  ? m_query.join->opName(place)
                                                  : m_query.join->moduleName(place);
                if (!name.empty())
                    return text(std::string(name));
            }
            break;
        case HolderGroup::Frame:
        case HolderGroup::File:
            break;
        }
        return byStack(b.stack[row]);
    }

    [[nodiscard]] std::string label(std::uint64_t key) const {
        switch (m_query.group) {
        case HolderGroup::Stack: {
            if (key == kBefore)
                return "before the history began";
            const StackId stack{static_cast<std::uint32_t>(key)};
            if (!stack)
                return "no stack";
            return m_history.frameText(programFrame(m_history, stack));
        }
        case HolderGroup::Category:
            return memoryCategoryName(static_cast<MemoryCategory>(key));
        case HolderGroup::Stream:
            return m_device.streamName(static_cast<std::uint32_t>(key));
        case HolderGroup::Pool:
            return m_device.poolName(static_cast<std::uint16_t>(key));
        case HolderGroup::Size: {
            if (key == 0)
                return "0 B";
            const std::int64_t from = std::int64_t{1} << (key - 1);
            return fmt::format("{} to {}", formatBytes(from), formatBytes(from * 2));
        }
        case HolderGroup::Op:
        case HolderGroup::Module:
        case HolderGroup::Frame:
        case HolderGroup::File:
            break;
        }
        if (key < m_texts.size())
            return m_texts[key];
        return {};
    }

  private:
    static constexpr std::uint64_t kBefore = ~std::uint64_t{0}; ///< HolderGroup::Stack: no stack's number

    std::uint64_t text(std::string label) {
        const auto [at, fresh] = m_textIds.try_emplace(std::move(label), m_texts.size());
        if (fresh)
            m_texts.push_back(at->first);
        return at->second;
    }

    std::uint64_t byStack(StackId stack) {
        const auto known = m_byStack.find(stack.value);
        if (known != m_byStack.end())
            return known->second;
        const std::uint64_t key = text(textOf(stack));
        m_byStack.emplace(stack.value, key);
        return key;
    }

    [[nodiscard]] std::string textOf(StackId stack) const {
        const StackTree& stacks = m_history.stacks;
        if (m_query.group == HolderGroup::Op) {
            const std::string op = opOfStack(m_history, stack);
            return op.empty() ? "no op known" : op;
        }
        if (m_query.group == HolderGroup::Module) {
            for (StackId s = stack; s; s = stacks.node(s).caller) {
                const MemoryFrame& f = stacks.frame(stacks.node(s).frame);
                const std::string_view name = m_history.strings.view(f.name);
                if (name.starts_with("nn.Module: "))
                    return std::string(name.substr(11));
                if (name == "forward")
                    return m_history.frameText(stacks.node(s).frame);
            }
            return "no module known";
        }
        const FrameId frame = programFrame(m_history, stack);
        if (!frame)
            return "no stack";
        if (m_query.group == HolderGroup::File) {
            const std::string_view file = m_history.strings.view(stacks.frame(frame).file);
            return file.empty() ? "no file known" : std::string(file);
        }
        return m_history.frameText(frame);
    }

    const MemoryHistory& m_history;
    const MemoryDevice& m_device;
    const HolderQuery& m_query;
    std::size_t m_deviceIndex = 0;
    std::vector<std::string> m_texts;
    boost::unordered_flat_map<std::string, std::uint64_t> m_textIds;
    boost::unordered_flat_map<std::uint32_t, std::uint64_t> m_byStack;
};

void addTo(Holder& holder, const MemoryDevice& device, std::uint32_t row, Moment moment, bool keepRow) {
    const MemoryBlockTable& b = device.blocks;
    holder.bytes += b.size[row];
    holder.allocated += b.allocated[row];
    if (holder.blocks == 0 || b.size[row] > holder.largest) {
        holder.largest = b.size[row];
        holder.largestBlock = BlockId::fromIndex(row);
        holder.stack = b.stack[row];
    }
    // Rows come in order of birth, so that the first is the oldest.
    if (holder.blocks == 0) {
        holder.oldestBlock = BlockId::fromIndex(row);
        holder.longestLife = blockAge(device, row, moment);
    }
    ++holder.blocks;
    if (keepRow)
        holder.rows.push_back(row);
}

} // namespace

const char* holderGroupName(HolderGroup group) {
    return kNames[static_cast<std::size_t>(group)];
}

std::optional<HolderGroup> holderGroupOf(std::string_view name) {
    const auto at = std::find(std::begin(kNames), std::end(kNames), name);
    if (at == std::end(kNames))
        return std::nullopt;
    return static_cast<HolderGroup>(at - std::begin(kNames));
}

Holders holdersOf(const MemoryHistory& history, const MemoryDevice& device,
                  std::span<const std::uint32_t> rows, Moment moment, const HolderQuery& query) {
    Holders out;
    out.moment = moment;
    Grouper grouper(history, device, query);
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> groups;
    std::vector<std::uint64_t> keys;
    for (const std::uint32_t row : rows) {
        const std::uint64_t key = grouper.key(row);
        const auto [at, fresh] = groups.try_emplace(key, static_cast<std::uint32_t>(out.rows.size()));
        if (fresh) {
            out.rows.emplace_back();
            keys.push_back(key);
        }
        addTo(out.rows[at->second], device, row, moment, query.rows);
        out.bytes += device.blocks.size[row];
        ++out.blocks;
    }
    std::vector<std::uint32_t> order(out.rows.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return out.rows[a].bytes > out.rows[b].bytes; });
    if (query.limit > 0 && order.size() > query.limit)
        order.resize(query.limit);
    std::vector<Holder> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) {
        Holder& h = out.rows[i];
        h.label = grouper.label(keys[i]);
        h.share = out.bytes > 0 ? static_cast<double>(h.bytes) / static_cast<double>(out.bytes) : 0;
        sorted.push_back(std::move(h));
    }
    out.rows = std::move(sorted);
    return out;
}

Holders holdersAt(const MemoryHistory& history, const MemoryDevice& device, const LiveIndex& index,
                  Moment moment, const HolderQuery& query, std::stop_token stop) {
    std::vector<std::uint32_t> rows;
    index.live(std::min(moment, device.lastMoment()), rows);
    if (stop.stop_requested())
        return {};
    return holdersOf(history, device, rows, moment, query);
}

std::vector<Growth> growthBetween(const MemoryHistory& history, const MemoryDevice& device,
                                  const LiveIndex& index, Moment first, Moment second,
                                  const HolderQuery& query, std::stop_token stop) {
    const MemoryBlockTable& b = device.blocks;
    second = std::min(second, device.lastMoment());
    first = std::min(first, second);
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> after;
    index.live(first, before);
    index.live(second, after);
    if (stop.stop_requested())
        return {};
    Grouper grouper(history, device, query);
    boost::unordered_flat_map<std::uint64_t, Growth> groups;

    // Steps between the marks: the moments at which one begins.
    std::vector<Moment> steps;
    if (device.hasTimes)
        for (const bool optimizer : {false, true}) {
            if (!steps.empty())
                break;
            for (const MemoryAnnotation& a : history.annotations) {
                const std::string_view name = history.strings.view(a.name);
                if (!name.starts_with(optimizer ? "Optimizer.step#" : "ProfilerStep#") || a.open)
                    continue;
                const Moment at = device.momentAt(a.range.begin);
                if (at >= first && at <= second && (steps.empty() || steps.back() < at))
                    steps.push_back(at);
            }
        }
    boost::unordered_flat_map<std::uint64_t, std::pair<std::size_t, std::uint32_t>> kept; // last step, count
    for (const std::uint32_t row : after) {
        const std::uint64_t key = grouper.key(row);
        Growth& g = groups[key];
        g.after += b.size[row];
        if (b.birth[row] <= first)
            continue;
        addTo(g.holder, device, row, second, query.rows);
        const auto step = static_cast<std::size_t>(
            std::upper_bound(steps.begin(), steps.end(), b.birth[row]) - steps.begin());
        auto& [last, count] = kept[key];
        if (count == 0 || last != step) {
            last = step;
            ++count;
        }
    }
    for (const std::uint32_t row : before) {
        // Groups that hold nothing new are of no interest here, but for what they hold of the old.
        if (const auto g = groups.find(grouper.key(row)); g != groups.end())
            g->second.before += b.size[row];
    }
    const auto from =
        static_cast<std::size_t>(std::upper_bound(b.birth.begin(), b.birth.end(), first) - b.birth.begin());
    for (std::size_t row = from; row < b.count() && b.birth[row] <= second; ++row) {
        if ((row & 0xFFFF) == 0 && stop.stop_requested())
            return {};
        const auto g = groups.find(grouper.key(static_cast<std::uint32_t>(row)));
        if (g == groups.end())
            continue;
        ++g->second.born;
        g->second.returned += b.death[row] <= second ? 1 : 0;
    }
    std::int64_t total = 0;
    std::vector<Growth> out;
    for (auto& [key, g] : groups) {
        if (g.holder.blocks == 0)
            continue;
        g.holder.label = grouper.label(key);
        g.everyStep = kept[key].second >= 3;
        total += g.holder.bytes;
        out.push_back(std::move(g));
    }
    for (Growth& g : out)
        g.holder.share = total > 0 ? static_cast<double>(g.holder.bytes) / static_cast<double>(total) : 0;
    std::sort(out.begin(), out.end(), [](const Growth& x, const Growth& y) {
        return x.holder.bytes != y.holder.bytes ? x.holder.bytes > y.holder.bytes
                                                : x.holder.largestBlock < y.holder.largestBlock;
    });
    if (query.limit > 0 && out.size() > query.limit)
        out.resize(query.limit);
    return out;
}

FrameId programFrame(const MemoryHistory& history, StackId stack) {
    const StackTree& stacks = history.stacks;
    FrameId innermost;
    FrameId python;
    for (StackId s = stack; s; s = stacks.node(s).caller) {
        const FrameId id = stacks.node(s).frame;
        const std::string_view file = history.strings.view(stacks.frame(id).file);
        if (!innermost)
            innermost = id;
        if (!file.ends_with(".py"))
            continue;
        if (!python)
            python = id;
        const bool library = file.find("site-packages/") != std::string_view::npos ||
                             file.find("dist-packages/") != std::string_view::npos ||
                             file.find("torch/") != std::string_view::npos ||
                             file.find("lib/python") != std::string_view::npos;
        if (!library)
            return id;
    }
    return python ? python : innermost;
}

std::string opOfStack(const MemoryHistory& history, StackId stack) {
    const StackTree& stacks = history.stacks;
    for (StackId s = stack; s; s = stacks.node(s).caller) {
        const std::string_view name = history.strings.view(stacks.frame(stacks.node(s).frame).name);
        constexpr std::string_view kOps = "at::_ops::";
        if (const std::size_t at = name.find(kOps); at != std::string_view::npos) {
            std::string_view op = name.substr(at + kOps.size());
            op = op.substr(0, op.find("::"));
            // Overloads follow an underscore that C++ cannot tell from one of the name.
            return "aten::" + std::string(op);
        }
        if (history.fromTrace && name.find("::") != std::string_view::npos)
            return std::string(name);
    }
    return {};
}

std::vector<std::string> stackTexts(const MemoryHistory& history, StackId stack) {
    std::vector<std::string> out;
    for (const FrameId id : history.stacks.frames(stack))
        out.push_back(stackLine(history, id));
    return out;
}

std::string stackLine(const MemoryHistory& history, FrameId frame) {
    const MemoryFrame& f = history.stacks.frame(frame);
    const std::string_view file = history.strings.view(f.file);
    const std::string_view name = history.strings.view(f.name);
    if (file.empty() || file == "??")
        return std::string(name);
    return fmt::format("{} ({}:{})", name, file, f.line);
}

} // namespace warpline
