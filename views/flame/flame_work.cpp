// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_work.h"

#include "model/analysis/slice_filter.h"
#include "views/memory/memory_focus.h"
#include "views/text.h"

#include <QCoreApplication>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("FlamePanel", text);
}

FlameWeight weightOf(FlameMeasure measure) {
    switch (measure) {
    case FlameMeasure::CpuTime:
        return FlameWeight::CpuTime;
    case FlameMeasure::Calls:
        return FlameWeight::Calls;
    case FlameMeasure::Allocated:
        return FlameWeight::Allocated;
    default:
        return FlameWeight::GpuTime;
    }
}

struct Weighed {
    TraceStacksPtr stacks;
    std::vector<StackWeight> weights;
};

Result<Weighed> weigh(const Document::Item& item, const FlameRequest& request, const std::stop_token& stop) {
    Result<TraceStacksPtr> stacks = item.stacks->get(stop);
    if (!stacks.ok())
        return stacks.error();
    std::optional<TimeRange> own;
    if (request.range)
        own = TimeRange{request.range->begin - item.shift, request.range->end - item.shift};
    Result<std::vector<StackWeight>> weights =
        stackWeights(*stacks.value(), weightOf(request.measure), own, request.shape.byThread, stop);
    if (!weights.ok())
        return weights.error();
    if (!request.op.isEmpty()) {
        SliceFilter filter;
        filter.op = request.op.toStdString();
        const std::vector<char> mask = stackMask(stacks.value()->frames(), stacks.value()->stacks(), filter);
        std::erase_if(weights.value(), [&](const StackWeight& w) { return mask[w.stack.value] == 0; });
    }
    return Weighed{std::move(stacks).value(), std::move(weights).value()};
}

Result<FlameTree> treeOf(const Weighed& weighed, const FlameRequest& request, const std::stop_token& stop) {
    return flameTree(weighed.stacks->framesPtr(), weighed.stacks->stacks(), weighed.weights,
                     unitOf(weightOf(request.measure)), request.shape, stop);
}

bool isCalled(const FlameTree& tree, std::uint32_t node, const std::string& name) {
    const FrameId frame = tree.nodes[node].frame;
    if (!frame)
        return false;
    const FrameId family = tree.frames->at(frame).family;
    return tree.frames->name(frame) == name || (family && tree.frames->name(family) == name);
}

} // namespace

QString measureName(FlameMeasure measure) {
    switch (measure) {
    case FlameMeasure::GpuTime:
        return tr("GPU time");
    case FlameMeasure::CpuTime:
        return tr("CPU time");
    case FlameMeasure::Calls:
        return tr("Calls");
    case FlameMeasure::Allocated:
        return tr("Bytes allocated");
    case FlameMeasure::Live:
        return tr("Bytes live");
    case FlameMeasure::Between:
        return tr("Bytes allocated between marks");
    }
    return {};
}

std::optional<MemoryWanted> memoryWanted(const MemoryFocus& focus, FlameMeasure measure) {
    if (!focus.hasMemory())
        return std::nullopt;
    MemoryWanted out;
    out.history = focus.item().history;
    out.stacks = focus.item().stacks;
    out.device = focus.deviceItem().device;
    if (measure == FlameMeasure::Live) {
        out.upTo = focus.moment();
        out.name = tr("Bytes live at %1").arg(focus.momentName());
    } else if (focus.marks().both()) {
        out.after = *focus.marks().first;
        out.upTo = *focus.marks().second;
        out.name = tr("Bytes allocated between the marks");
    } else {
        out.upTo = focus.device().lastMoment();
        out.name = tr("Bytes allocated in all of the history");
    }
    return out;
}

Result<FlameData> flameOfTrace(const Document::Item& item, const std::optional<Document::Item>& base,
                               const FlameRequest& request, const std::stop_token& stop) {
    Result<Weighed> weighed = weigh(item, request, stop);
    if (!weighed.ok())
        return weighed.error();
    Result<FlameTree> tree = treeOf(weighed.value(), request, stop);
    if (!tree.ok())
        return tree.error();
    FlameData out;
    out.measure = request.measure;
    out.name = measureName(request.measure);
    out.coverage = flameCoverage(weighed.value().stacks->frames(), weighed.value().stacks->stacks(),
                                 weighed.value().weights);
    if (base) {
        Result<Weighed> before = weigh(*base, request, stop);
        if (!before.ok())
            return before.error();
        Result<FlameTree> other = treeOf(before.value(), request, stop);
        if (!other.ok())
            return other.error();
        tree = flameDifference(other.value(), tree.value(), stop);
        if (!tree.ok())
            return tree.error();
    }
    out.tree = std::make_shared<const FlameTree>(std::move(tree).value());
    return out;
}

Result<FlameData> flameOfProfile(const ProfilePtr& profile, const FlameShape& shape,
                                 const std::stop_token& stop) {
    Result<FlameTree> tree = flameTree(*profile, shape, stop);
    if (!tree.ok())
        return tree.error();
    FlameData out;
    out.name = profile->weightName.empty() ? tr("Weight") : toQString(profile->weightName);
    out.coverageSays = false;
    out.coverage = flameCoverage(*profile->frames, *profile->stacks, profile->weights);
    out.tree = std::make_shared<const FlameTree>(std::move(tree).value());
    return out;
}

Result<FlameData> flameOfMemory(const MemoryWanted& wanted, FlameMeasure measure, const FlameShape& shape,
                                const std::stop_token& stop) {
    const std::shared_ptr<const MemoryStacks> stacks = wanted.stacks->get();
    const MemoryDevice& device = wanted.history->devices[wanted.device];
    const std::vector<StackWeight> weights =
        measure == FlameMeasure::Live ? liveWeights(*stacks, device, wanted.upTo)
                                      : allocatedWeights(*stacks, device, wanted.after, wanted.upTo);
    Result<FlameTree> tree =
        flameTree(stacks->frames, *stacks->stacks, weights, WeightUnit::Bytes, shape, stop);
    if (!tree.ok())
        return tree.error();
    FlameData out;
    out.measure = measure;
    out.name = wanted.name;
    out.coverage = flameCoverage(*stacks->frames, *stacks->stacks, weights);
    out.tree = std::make_shared<const FlameTree>(std::move(tree).value());
    return out;
}

Result<SliceId> longestOf(const Document::Item& item, FrameId frame, std::optional<TimeRange> range,
                          const std::stop_token& stop) {
    Result<TraceStacksPtr> stacks = item.stacks->get(stop);
    if (!stacks.ok())
        return stacks.error();
    const TraceStacks& s = *stacks.value();
    const Trace& trace = *item.trace;
    SliceId best;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
        if ((row & 0xffff) == 0 && stop.stop_requested())
            return Error::cancelled();
        const SliceId id = SliceId::fromIndex(row);
        const StackId stack = s.stackOf(id);
        if (!stack)
            continue;
        const FrameId own = s.stacks().frame(stack);
        if (own != frame && s.frames().at(own).family != frame)
            continue;
        if (range && !range->contains(trace.slices.start[row] + item.shift))
            continue;
        if (!best || trace.slices.duration[row] > trace.slices.duration[best.index()])
            best = id;
    }
    return best;
}

QStringList pathOfNode(const FlameTree& tree, std::uint32_t node) {
    QStringList names;
    if (node == FlameTree::kRoot || tree.frames->at(tree.nodes[node].frame).kind == FrameKind::Missing)
        return names;
    std::vector<std::uint32_t> path = tree.path(node);
    if (tree.bottomUp)
        path = {node};
    for (const std::uint32_t at : path) {
        const FrameKind kind = tree.frames->at(tree.nodes[at].frame).kind;
        if (kind != FrameKind::Missing && kind != FrameKind::Thread)
            names.append(toQString(tree.frames->name(tree.nodes[at].frame)));
    }
    return names;
}

std::uint32_t nodeOfPath(const FlameTree& tree, const QStringList& path) {
    if (path.isEmpty() || tree.nodes.empty())
        return FlameTree::kRoot;
    std::uint32_t node = FlameTree::kRoot;
    for (const QString& step : path) {
        const std::string name = step.toStdString();
        const FlameTree::Node& at = tree.nodes[node];
        for (std::uint32_t child = at.firstChild; child < at.firstChild + at.childCount; ++child) {
            if (isCalled(tree, child, name)) {
                node = child;
                break;
            }
        }
    }
    const std::string last = path.last().toStdString();
    if (node != FlameTree::kRoot && isCalled(tree, node, last))
        return node;
    std::uint32_t best = FlameTree::kRoot;
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        if (isCalled(tree, i, last) &&
            (best == FlameTree::kRoot || tree.nodes[i].total > tree.nodes[best].total))
            best = i;
    }
    return best;
}

} // namespace warpline
