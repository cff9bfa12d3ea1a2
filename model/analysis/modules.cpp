// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/modules.h"

#include "model/analysis/flame_builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline {

namespace {

class ModuleBuilder {
  public:
    ModuleBuilder(const TraceStacks& stacks, const ModuleQuery& query, std::stop_token stop)
        : m_stacks(stacks), m_query(query), m_stop(std::move(stop)) {}

    Result<ModuleTree> run() {
        placeStacks();
        m_rows.resize(m_tree.size());
        const auto cpu = weights(FlameWeight::CpuTime);
        const auto gpu = weights(FlameWeight::GpuTime);
        const auto bytes = weights(FlameWeight::Allocated);
        for (const auto* each : {&cpu, &gpu, &bytes})
            if (!each->ok())
                return each->error();
        for (const StackWeight& w : cpu.value()) {
            ModuleRow& row = m_rows[nodeOf(w.stack)];
            row.cpuSelf += w.weight;
            if (w.stack && kindOf(w.stack) == FrameKind::Module)
                row.calls += w.count;
        }
        for (const StackWeight& w : gpu.value()) {
            ModuleRow& row = m_rows[nodeOf(w.stack)];
            row.gpuSelf += w.weight;
            row.kernels += w.count;
            if (w.stack && m_backward[w.stack.value])
                row.gpuBackward += w.weight;
        }
        for (const StackWeight& w : bytes.value())
            m_rows[nodeOf(w.stack)].selfAllocated += w.weight;
        return finish();
    }

  private:
    [[nodiscard]] Result<std::vector<StackWeight>> weights(FlameWeight weight) const {
        return stackWeights(m_stacks, weight, m_query.range, false, m_stop);
    }
    [[nodiscard]] FrameKind kindOf(StackId stack) const {
        return m_stacks.frames().at(m_stacks.stacks().frame(stack)).kind;
    }
    [[nodiscard]] std::uint32_t nodeOf(StackId stack) const { return m_node[stack.value]; }

    /// The module of each stack: its innermost one. Callers have lower ids.
    void placeStacks() {
        const StackTable& stacks = m_stacks.stacks();
        m_node.assign(stacks.size() + 1, FlameTree::kRoot);
        m_backward.assign(stacks.size() + 1, false);
        for (std::uint32_t i = 1; i <= stacks.size(); ++i) {
            const StackId id{i};
            const StackId caller = m_query.backwardWithForward ? stacks.parent(id) : stacks.own(id);
            const FrameId frame = stacks.frame(id);
            const Frame& f = m_stacks.frames().at(frame);
            m_backward[i] = f.kind == FrameKind::Backward || m_backward[caller.value];
            m_node[i] = m_node[caller.value];
            if (f.kind == FrameKind::Module)
                m_node[i] = m_tree.child(m_node[i], m_query.merge && f.family ? f.family : frame, frame);
        }
    }

    ModuleTree finish() {
        ModuleTree out;
        out.frames = m_stacks.framesPtr();
        out.hasMemory = m_stacks.trace().memory.size() > 0;
        std::vector<std::vector<std::uint32_t>> children(m_rows.size());
        for (ModuleRow& row : m_rows) {
            row.cpuTotal = row.cpuSelf;
            row.gpuTotal = row.gpuSelf;
            row.allocated = row.selfAllocated;
        }
        for (std::uint32_t i = static_cast<std::uint32_t>(m_rows.size()); i-- > 1;) {
            ModuleRow& row = m_rows[i];
            ModuleRow& parent = m_rows[m_tree.at(i).parent];
            row.module = m_tree.shownFrame(i);
            row.merged = m_tree.at(i).merged;
            parent.cpuTotal += row.cpuTotal;
            parent.gpuTotal += row.gpuTotal;
            parent.gpuBackward += row.gpuBackward;
            parent.allocated += row.allocated;
            parent.kernels += row.kernels;
            if (row.calls != 0 || row.cpuTotal != 0 || row.gpuTotal != 0 || row.allocated != 0)
                children[m_tree.at(i).parent].push_back(i);
        }
        const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
            const ModuleRow& x = m_rows[a];
            const ModuleRow& y = m_rows[b];
            if (x.gpuTotal != y.gpuTotal)
                return x.gpuTotal > y.gpuTotal;
            if (x.cpuTotal != y.cpuTotal)
                return x.cpuTotal > y.cpuTotal;
            return m_stacks.frames().name(x.module) < m_stacks.frames().name(y.module);
        };
        // Depth first, without recursion: what comes next is at the end.
        struct Next {
            std::uint32_t node, parentRow, depth;
        };
        std::vector<Next> next = {{0, 0, 0}};
        while (!next.empty()) {
            const Next at = next.back();
            next.pop_back();
            const auto row = static_cast<std::uint32_t>(out.rows.size());
            out.rows.push_back(m_rows[at.node]);
            out.rows.back().parent = at.parentRow;
            out.rows.back().depth = at.depth;
            auto& below = children[at.node];
            std::sort(below.begin(), below.end(), heavier);
            for (auto it = below.rbegin(); it != below.rend(); ++it)
                next.push_back({*it, row, at.depth + 1});
        }
        out.hasModules = out.rows.size() > 1;
        return out;
    }

    const TraceStacks& m_stacks;
    const ModuleQuery& m_query;
    std::stop_token m_stop;
    FlameBuilder m_tree;
    std::vector<std::uint32_t> m_node; ///< by stack
    std::vector<bool> m_backward;
    std::vector<ModuleRow> m_rows; ///< by node
};

} // namespace

std::string ModuleTree::label(std::size_t row) const {
    const ModuleRow& r = rows[row];
    if (!r.module)
        return "all";
    if (r.merged > 1)
        return fmt::format("{} \u00D7{}", frames->name(r.module), r.merged);
    return std::string(frames->name(r.module));
}

Result<ModuleTree> moduleTree(const TraceStacks& stacks, const ModuleQuery& query, std::stop_token stop) {
    return ModuleBuilder(stacks, query, std::move(stop)).run();
}

} // namespace warpline
