// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// The rules are those of torch/autograd/profiler_util.py and profiler.py as of torch 2.11:
//  - Members are CPU ops, user annotations, runtime and driver calls. Dropped by name: [memory],
//  [OutOfMemory],
//    profiler::_record_function_enter, ..._enter_new, ..._exit, aten::is_leaf, aten::output_nr,
//    aten::_version.
//  - A runtime call stands on the thread of the op that it is linked with.
//  - Per thread, by (start, -end): a node's parent is the innermost one before it that holds it whole; one
//  that
//    overlaps in part has none.
//  - While a node has the name of its parent and is its only child, the two are one call (_remove_dup_nodes).
//  - Device work counts for the op with its External id; totals are summed up the tree.
#include "model/analysis/ops.h"

#include "model/base/parallel.h"

#include <algorithm>
#include <array>
#include <thread>
#include <unordered_set>

namespace warpline {

namespace {

constexpr std::array<std::string_view, 8> kDropped = {"[memory]",
                                                      "[OutOfMemory]",
                                                      "profiler::_record_function_enter",
                                                      "profiler::_record_function_enter_new",
                                                      "profiler::_record_function_exit",
                                                      "aten::is_leaf",
                                                      "aten::output_nr",
                                                      "aten::_version"};

constexpr std::uint32_t kNoNode = 0; ///< node numbers are index + 1 here, as in OpTree::Nodes::parent

} // namespace

class OpTreeBuilder {
  public:
    explicit OpTreeBuilder(TracePtr trace) : m_trace(*trace), m_tree(std::make_shared<OpTree>()) {
        m_tree->m_trace = std::move(trace);
    }

    std::shared_ptr<const OpTree> run() {
        gather();
        attributeDeviceWork();
        mergeDuplicates();
        finish();
        findMemoryRows();
        return m_tree;
    }

  private:
    struct Member {
        TimeNs start;
        TimeNs end;
        std::uint32_t row;
    };
    static bool before(const Member& a, const Member& b) {
        if (a.start != b.start)
            return a.start < b.start;
        if (a.end != b.end)
            return a.end > b.end;
        return a.row < b.row; // the outer lane first
    }

    /// The members of each thread in order of (start, -end), nested, and the device work.
    void gather() {
        std::vector<bool> dropped(m_trace.strings.size() + 1, false);
        for (const std::string_view name : kDropped)
            if (const StringId id = m_trace.strings.find(name))
                dropped[id.value] = true;
        std::vector<bool> member(m_trace.categories.size());
        std::vector<bool> call(m_trace.categories.size());
        for (std::size_t c = 0; c < member.size(); ++c) {
            const SliceKind k = m_trace.categories[c].kind;
            call[c] = isApiCall(k);
            member[c] = k == SliceKind::CpuOp || k == SliceKind::Annotation || call[c];
        }

        // Calls that stand on another thread than their op.
        std::vector<std::vector<std::uint32_t>> visitors(m_trace.tracks.size());
        std::unordered_set<std::uint32_t> away;
        const LinkTable& calls = m_trace.links.call;
        auto trackOf = [&, cached = std::size_t{0}](SliceId s) mutable {
            const auto row = static_cast<std::uint32_t>(s.index());
            if (cached < m_trace.tracks.size() && row >= m_trace.tracks[cached].firstSlice &&
                row < m_trace.tracks[cached].endSlice)
                return cached;
            cached = m_trace.trackOf(s).index();
            return cached;
        };
        auto trackOfCall = trackOf;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const std::size_t home = trackOf(calls.from[i]);
            if (home == trackOfCall(calls.to[i]))
                continue;
            const auto row = static_cast<std::uint32_t>(calls.to[i].index());
            if (away.insert(row).second)
                visitors[home].push_back(row);
        }

        // One list a track, and one of all device work.
        const std::size_t tracks = m_trace.tracks.size();
        const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
        std::vector<std::vector<std::uint32_t>> rows(tracks);
        parallelFor(tracks + 1, threads, [&](std::size_t t) {
            if (t == tracks) {
                gatherWork();
                return;
            }
            const Track& track = m_trace.tracks[t];
            if (track.kind != TrackKind::Thread)
                return;
            std::vector<Member> members;
            std::vector<std::size_t> runs;
            const auto add = [&](std::uint32_t row) {
                const std::uint16_t c = m_trace.slices.category[row];
                if (!member[c] || dropped[m_trace.slices.name[row].value])
                    return;
                if (m_trace.slices.flags[row] & SliceFlag::Instant)
                    return;
                members.push_back({m_trace.slices.start[row], m_trace.slices.end(row), row});
            };
            // Each lane is sorted already: merge the lanes.
            for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
                runs.push_back(members.size());
                for (std::uint32_t row = m_trace.lanes[l].begin; row < m_trace.lanes[l].end; ++row)
                    if (away.empty() || !away.contains(row))
                        add(row);
            }
            runs.push_back(members.size());
            for (const std::uint32_t row : visitors[t])
                add(row);
            std::sort(members.begin() + static_cast<std::ptrdiff_t>(runs.back()), members.end(), before);
            runs.push_back(members.size());
            mergeRuns(members, runs, before);
            rows[t].reserve(members.size());
            for (const Member& m : members)
                rows[t].push_back(m.row);
        });
        std::vector<std::size_t> begin{0};
        for (const auto& ofTrack : rows)
            begin.push_back(begin.back() + ofTrack.size());
        m_rows.resize(begin.back());
        m_parent.assign(begin.back(), kNoNode);
        m_children.assign(begin.back(), 0);
        m_deviceTime.assign(begin.back(), 0);
        parallelFor(tracks, threads, [&](std::size_t t) {
            std::copy(rows[t].begin(), rows[t].end(), m_rows.begin() + static_cast<std::ptrdiff_t>(begin[t]));
            nest(begin[t], begin[t + 1]);
        });
    }

    template <class Less>
    static void mergeRuns(std::vector<Member>& members, std::vector<std::size_t> runs, Less before) {
        std::vector<Member> other(members.size());
        while (runs.size() > 2) {
            std::vector<std::size_t> merged;
            std::size_t i = 0;
            for (; i + 2 < runs.size(); i += 2) {
                merged.push_back(runs[i]);
                std::merge(members.begin() + static_cast<std::ptrdiff_t>(runs[i]),
                           members.begin() + static_cast<std::ptrdiff_t>(runs[i + 1]),
                           members.begin() + static_cast<std::ptrdiff_t>(runs[i + 1]),
                           members.begin() + static_cast<std::ptrdiff_t>(runs[i + 2]),
                           other.begin() + static_cast<std::ptrdiff_t>(runs[i]), before);
            }
            if (i + 1 < runs.size()) {
                merged.push_back(runs[i]);
                std::copy(members.begin() + static_cast<std::ptrdiff_t>(runs[i]), members.end(),
                          other.begin() + static_cast<std::ptrdiff_t>(runs[i]));
            }
            merged.push_back(members.size());
            members.swap(other);
            runs = std::move(merged);
        }
    }

    void nest(std::size_t from, std::size_t to) {
        std::vector<std::uint32_t> stack;
        for (std::size_t i = from; i < to; ++i) {
            const TimeNs start = m_trace.slices.start[m_rows[i]];
            const TimeNs end = m_trace.slices.end(m_rows[i]);
            while (!stack.empty()) {
                const TimeNs topEnd = m_trace.slices.end(m_rows[stack.back()]);
                if (start < topEnd && end <= topEnd)
                    break;
                stack.pop_back();
            }
            if (!stack.empty()) {
                m_parent[i] = stack.back() + 1;
                ++m_children[stack.back()];
            }
            stack.push_back(static_cast<std::uint32_t>(i));
        }
    }

    /// All device work in order of start: the lanes of the streams, merged.
    void gatherWork() {
        std::vector<Member> work;
        std::vector<std::size_t> runs;
        for (const Lane& lane : m_trace.lanes) {
            if (m_trace.tracks[lane.track.index()].kind != TrackKind::Stream)
                continue;
            runs.push_back(work.size());
            for (std::uint32_t row = lane.begin; row < lane.end; ++row)
                if (isDeviceWork(m_trace.kind(row)))
                    work.push_back({m_trace.slices.start[row], m_trace.slices.end(row), row});
        }
        runs.push_back(work.size());
        mergeRuns(work, runs, before);
        m_work.reserve(work.size());
        for (const Member& m : work)
            m_work.push_back(m.row);
    }

    void attributeDeviceWork() {
        m_workNode.assign(m_work.size(), kNoNode);
        const LinkTable& links = m_trace.links.op;
        if (links.size() == 0)
            return;
        std::vector<std::uint32_t> nodeOfRow(m_trace.slices.size(), kNoNode);
        for (std::size_t i = 0; i < m_rows.size(); ++i)
            nodeOfRow[m_rows[i]] = static_cast<std::uint32_t>(i + 1);
        std::vector<std::uint32_t> ownerOfRow(m_trace.slices.size(), kNoNode);
        for (std::size_t i = 0; i < links.size(); ++i)
            ownerOfRow[links.to[i].index()] = nodeOfRow[links.from[i].index()];
        for (std::size_t i = 0; i < m_work.size(); ++i) {
            m_workNode[i] = ownerOfRow[m_work[i]];
            if (m_workNode[i] != kNoNode)
                m_deviceTime[m_workNode[i] - 1] += m_trace.slices.duration[m_work[i]];
        }
    }

    /// torch repeats passes over all nodes until nothing changes; each pass looks at the tree as the passes
    /// and the nodes before left it.
    void mergeDuplicates() {
        std::vector<bool> gone(m_rows.size(), false);
        bool changed = true;
        while (changed) {
            changed = false;
            for (std::size_t i = 0; i < m_rows.size(); ++i) {
                if (gone[i] || m_parent[i] == kNoNode)
                    continue;
                const std::uint32_t p = root(m_parent[i] - 1, gone);
                if (m_children[p] != 1 || m_trace.slices.name[m_rows[p]] != m_trace.slices.name[m_rows[i]])
                    continue;
                // The parent takes the child's children and work; the child is no more.
                m_children[p] = m_children[i];
                m_deviceTime[p] += m_deviceTime[i];
                gone[i] = true;
                m_parent[i] = p + 1; // now: where it went
                changed = true;
            }
        }
        // Close the gaps.
        std::vector<std::uint32_t> moved(m_rows.size(), 0);
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < m_rows.size(); ++i)
            if (!gone[i])
                moved[i] = at++;
        std::vector<std::uint32_t> parents(at); // where gone nodes went is needed until the end
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            if (gone[i])
                continue;
            const std::uint32_t parent =
                m_parent[i] == kNoNode ? kNoNode : moved[root(m_parent[i] - 1, gone)] + 1;
            const std::uint32_t to = moved[i];
            m_rows[to] = m_rows[i];
            parents[to] = parent;
            m_deviceTime[to] = m_deviceTime[i];
        }
        for (std::uint32_t& node : m_workNode)
            if (node != kNoNode)
                node = moved[root(node - 1, gone)] + 1;
        m_rows.resize(at);
        m_parent = std::move(parents);
        m_deviceTime.resize(at);
    }
    std::uint32_t root(std::uint32_t node, const std::vector<bool>& gone) {
        while (gone[node])
            node = m_parent[node] - 1;
        return node;
    }

    void finish() {
        OpTree::Nodes& nodes = m_tree->m_nodes;
        const std::size_t n = m_rows.size();
        nodes.slice.reset(n);
        nodes.parent.reset(n);
        nodes.selfCpu.reset(n);
        nodes.selfDevice.reset(n);
        nodes.totalDevice.reset(n);
        for (std::size_t i = 0; i < n; ++i) {
            nodes.slice[i] = SliceId::fromIndex(m_rows[i]);
            nodes.parent[i] = m_parent[i];
            nodes.selfCpu[i] = m_trace.slices.duration[m_rows[i]];
            nodes.selfDevice[i] = nodes.totalDevice[i] = m_deviceTime[i];
        }
        // A parent comes before its children.
        for (std::size_t i = n; i-- > 0;) {
            if (nodes.parent[i] == kNoNode)
                continue;
            const std::size_t p = nodes.parent[i] - 1;
            nodes.selfCpu[p] -= m_trace.slices.duration[m_rows[i]];
            nodes.totalDevice[p] += nodes.totalDevice[i];
        }
        OpTree::Work& work = m_tree->m_work;
        work.slice.reset(m_work.size());
        work.node.reset(m_work.size());
        for (std::size_t i = 0; i < m_work.size(); ++i) {
            work.slice[i] = SliceId::fromIndex(m_work[i]);
            work.node[i] = m_workNode[i];
        }
    }

    /// Nodes come in order of start, thread by thread, so that one walk over the records serves a thread.
    void findMemoryRows() {
        const auto& time = m_trace.memory.time;
        if (time.empty())
            return;
        OpTree::MemoryRows& rows = m_tree->m_memoryRows;
        rows.first.reset(m_rows.size());
        rows.last.reset(m_rows.size());
        const TimeNs* at = time.begin();
        TimeNs lastStart = INT64_MIN;
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            const TimeNs start = m_trace.slices.start[m_rows[i]];
            const TimeNs end = m_trace.slices.end(m_rows[i]);
            if (start < lastStart)
                at = time.begin();
            lastStart = start;
            while (at != time.end() && *at < start)
                ++at;
            // Most ops are short: look near by before searching.
            const TimeNs* to = at;
            std::ptrdiff_t step = 1;
            while (to != time.end() && *to <= end) {
                const std::ptrdiff_t left = time.end() - to;
                if (step >= left || to[step] > end) {
                    to = std::upper_bound(to, step >= left ? time.end() : to + step, end);
                    break;
                }
                to += step;
                step *= 2;
            }
            rows.first[i] = static_cast<std::uint32_t>(at - time.begin());
            rows.last[i] = static_cast<std::uint32_t>(to - time.begin());
        }
    }

    const Trace& m_trace;
    std::shared_ptr<OpTree> m_tree;
    std::vector<std::uint32_t> m_rows; ///< nodes, by thread, then start: rows of the slice table
    std::vector<std::uint32_t> m_parent;
    std::vector<std::uint32_t> m_children;
    std::vector<TimeNs> m_deviceTime;
    std::vector<std::uint32_t> m_work; ///< device work in order of start: rows
    std::vector<std::uint32_t> m_workNode;
};

std::shared_ptr<const OpTree> OpTree::build(TracePtr trace) {
    return OpTreeBuilder(std::move(trace)).run();
}

std::vector<SliceId> OpTree::chain(std::uint32_t node) const {
    std::vector<SliceId> out;
    for (std::uint32_t at = node + 1; at != 0; at = m_nodes.parent[at - 1])
        out.push_back(m_nodes.slice[at - 1]);
    std::reverse(out.begin(), out.end());
    return out;
}

std::size_t OpTree::bytes() const {
    return m_nodes.size() * (4 + 4 + 8 * 3) + m_work.size() * 8 + m_memoryRows.first.bytes() +
           m_memoryRows.last.bytes();
}

} // namespace warpline
