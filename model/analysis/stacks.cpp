// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Three passes: what the arguments say of slices (sequence numbers, Python ids), the nesting of each thread,
// and then the stacks, which follow from parents alone.
#include "model/analysis/stacks.h"

#include "model/analysis/host_threads.h"
#include "model/analysis/stack_args.h"
#include "model/base/parallel.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <thread>

namespace warpline {

namespace {

constexpr std::size_t kNoThread = ~std::size_t{0};

/// What stands for a slice's parent where that is not the slice around it.
struct Detour {
    enum class Kind : std::uint8_t {
        Forward, ///< a backward op: its forward op
        Parent,  ///< another Python frame, or the op of a call on another thread
        Texts,   ///< the "Call stack" and "Module Hierarchy" of an op
    };
    Kind kind = Kind::Parent;
    std::uint32_t row = 0; ///< Forward, Parent
    StringId callStack;    ///< Texts
    StringId modules;
};

/// What nesting finds out about one thread.
struct Nesting {
    std::vector<HostSpan> spans;
    std::vector<TraceStacks::Cut> cuts;
    std::vector<std::pair<std::uint32_t, Detour>> detours; ///< by row of the slice
};

FrameKind frameKindOf(SliceKind kind) {
    switch (kind) {
    case SliceKind::CpuOp:
        return FrameKind::Op;
    case SliceKind::Annotation:
        return FrameKind::Annotation;
    case SliceKind::Python:
        return FrameKind::Python;
    case SliceKind::Runtime:
    case SliceKind::Driver:
        return FrameKind::Runtime;
    case SliceKind::Kernel:
        return FrameKind::Kernel;
    case SliceKind::Copy:
        return FrameKind::Copy;
    case SliceKind::Set:
        return FrameKind::Set;
    default:
        return FrameKind::Host;
    }
}

/// Frames of names, looked up once a (kind, name).
class FrameCache {
  public:
    FrameCache(const Trace& trace, FrameTable& frames) : m_trace(trace), m_frames(frames) {
        if (!trace.steps.empty()) {
            const FrameId all = frames.intern(FrameKind::Annotation, "ProfilerStep*");
            for (const Step& step : trace.steps)
                slot(FrameKind::Annotation, trace.slices.name[step.slice.index()]) = all;
        }
    }
    FrameId of(FrameKind kind, StringId name) {
        FrameId& frame = slot(kind, name);
        if (!frame)
            frame = m_frames.intern(kind, m_trace.strings.view(name));
        return frame;
    }

  private:
    FrameId& slot(FrameKind kind, StringId name) {
        std::vector<FrameId>& ids = m_ids[static_cast<std::size_t>(kind)];
        if (ids.empty())
            ids.resize(m_trace.strings.size() + 1);
        return ids[name.value];
    }
    const Trace& m_trace;
    FrameTable& m_frames;
    std::array<std::vector<FrameId>, kFrameKindCount> m_ids;
};

} // namespace

class StackBuilder {
  public:
    StackBuilder(TracePtr trace, std::stop_token stop)
        : m_trace(*trace), m_stop(std::move(stop)), m_out(std::make_shared<TraceStacks>()),
          m_frames(std::make_shared<FrameTable>()), m_stacks(std::make_shared<StackTable>()),
          m_cache(m_trace, *m_frames), m_workers(std::max(1u, std::thread::hardware_concurrency())) {
        m_out->m_trace = std::move(trace);
    }

    Result<TraceStacksPtr> run() {
        const std::size_t n = m_trace.slices.size();
        m_out->m_stackOf.reset(n);
        m_out->m_stackOf.fill({});
        m_out->m_hostParent.reset(n);
        m_out->m_hostParent.fill({});
        m_out->m_memoryStack.reset(m_trace.memory.size());
        m_out->m_memoryStack.fill({});
        m_out->m_threadFrame.resize(m_trace.tracks.size());
        m_kinds.resize(m_trace.categories.size());
        for (std::size_t c = 0; c < m_kinds.size(); ++c)
            m_kinds[c] = m_trace.categories[c].kind;

        gatherThreads();
        m_args = readStackArgs(m_trace, m_workers);
        if (m_stop.stop_requested())
            return Error::cancelled();
        m_marks.assign(n, 0);
        arrangeForward();
        arrangeCalls();
        parallelFor(m_threads.size(), m_workers, [&](std::size_t t) { nest(t); });
        for (Nesting& nesting : m_nesting) {
            m_out->m_cuts.insert(m_out->m_cuts.end(), nesting.cuts.begin(), nesting.cuts.end());
            for (const auto& [row, detour] : nesting.detours) {
                m_detours.emplace(row, detour);
                m_marks[row] |= kDetour;
            }
        }
        std::sort(m_out->m_cuts.begin(), m_out->m_cuts.end(),
                  [](const TraceStacks::Cut& a, const TraceStacks::Cut& b) { return a.row < b.row; });
        for (const Nesting& nesting : m_nesting) {
            if (m_stop.stop_requested())
                return Error::cancelled();
            for (const HostSpan& span : nesting.spans)
                place(span.row);
        }
        deviceWork();
        memory();
        m_out->m_frames = std::move(m_frames);
        m_out->m_stacks = std::move(m_stacks);
        return TraceStacksPtr(std::move(m_out));
    }

  private:
    void gatherThreads() {
        m_threads = hostThreads(m_trace);
        m_nesting.resize(m_threads.size());
        m_threadOfTrack.assign(m_trace.tracks.size(), kNoThread);
        for (std::size_t t = 0; t < m_threads.size(); ++t) {
            // Threads of different processes may be called the same.
            std::string name;
            for (const TrackId id : m_threads[t].tracks) {
                m_threadOfTrack[id.index()] = t;
                if (name.empty() || m_trace.tracks[id.index()].kind == TrackKind::Thread)
                    name = m_trace.trackName(id);
            }
            if (m_trace.processes.size() > 1)
                name += fmt::format(" of {}", m_trace.processName(m_threads[t].process));
            const FrameId frame = m_frames->intern(FrameKind::Thread, name);
            for (const TrackId id : m_threads[t].tracks)
                m_out->m_threadFrame[id.index()] = frame;
        }
        // The records of the allocator, by thread.
        m_memoryRows.resize(m_threads.size());
        for (std::uint32_t i = 0; i < m_trace.memory.size(); ++i) {
            const TrackId track = m_trace.rawTracks[m_trace.memory.rawTrack[i]].thread;
            if (track && m_threadOfTrack[track.index()] != kNoThread)
                m_memoryRows[m_threadOfTrack[track.index()]].push_back(i);
        }
        m_memoryParent.assign(m_trace.memory.size(), 0);
    }
    [[nodiscard]] std::size_t threadOf(std::uint32_t row) const {
        return m_threadOfTrack[m_trace.trackOf(SliceId::fromIndex(row)).index()];
    }

    /// Forward ops by thread, sequence number and start; and which thread a "Fwd thread id" means.
    void arrangeForward() {
        std::size_t lastTrack = m_trace.tracks.size();
        const auto threadNear = [&](std::uint32_t row) {
            if (lastTrack >= m_trace.tracks.size() || row < m_trace.tracks[lastTrack].firstSlice ||
                row >= m_trace.tracks[lastTrack].endSlice)
                lastTrack = m_trace.trackOf(SliceId::fromIndex(row)).index();
            return m_threadOfTrack[lastTrack];
        };
        for (const SequencedOp& op : m_args.sequences) {
            if (op.forwardThread > 0) {
                m_backward.emplace(op.row, op);
                m_marks[op.row] |= kBackward;
                continue;
            }
            const std::size_t thread = threadNear(op.row);
            if (thread != kNoThread)
                m_forward.push_back(
                    {op.sequence, static_cast<std::uint32_t>(thread), op.row, m_trace.slices.start[op.row]});
        }
        std::sort(m_forward.begin(), m_forward.end());
        const LinkTable& arrows = m_trace.links.forward;
        boost::unordered_flat_map<std::uint64_t, boost::unordered_flat_map<std::size_t, std::size_t>> votes;
        for (std::size_t i = 0; i < arrows.size(); ++i) {
            const auto to = static_cast<std::uint32_t>(arrows.to[i].index());
            const auto from = static_cast<std::uint32_t>(arrows.from[i].index());
            m_arrow.emplace(to, from);
            m_marks[to] |= kBackward;
            const auto it = m_backward.find(to);
            if (it == m_backward.end())
                continue;
            const std::size_t thread = threadOf(from);
            if (thread != kNoThread)
                ++votes[forwardKey(m_threads[thread].process, it->second.forwardThread)][thread];
        }
        for (const auto& [key, counts] : votes) {
            const auto most =
                std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                    return a.second != b.second ? a.second < b.second : a.first > b.first;
                });
            m_forwardThread[key] = most->first;
        }
    }
    static std::uint64_t forwardKey(std::uint32_t process, std::int64_t forwardThread) {
        return (std::uint64_t{process} << 40) ^ static_cast<std::uint64_t>(forwardThread);
    }

    struct ForwardOp {
        std::int64_t sequence;
        std::uint32_t thread;
        std::uint32_t row;
        TimeNs start;
        bool operator<(const ForwardOp& o) const {
            return std::tuple(sequence, thread, start, row) <
                   std::tuple(o.sequence, o.thread, o.start, o.row);
        }
    };
    static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

    /// The forward op whose node a backward op computes, or kNoRow.
    [[nodiscard]] std::uint32_t forwardOf(std::uint32_t row, std::uint32_t process) const {
        if ((m_marks[row] & kBackward) == 0)
            return kNoRow;
        const TimeNs start = m_trace.slices.start[row];
        if (const auto it = m_backward.find(row); it != m_backward.end()) {
            const SequencedOp& op = it->second;
            const auto known = m_forwardThread.find(forwardKey(process, op.forwardThread));
            const auto [from, to] = std::equal_range(
                m_forward.begin(), m_forward.end(), ForwardOp{op.sequence, 0, 0, 0},
                [](const ForwardOp& a, const ForwardOp& b) { return a.sequence < b.sequence; });
            const ForwardOp* best = nullptr;
            for (auto f = from; f != to; ++f) {
                if (f->start >= start || m_threads[f->thread].process != process ||
                    (known != m_forwardThread.end() && f->thread != known->second))
                    continue;
                if (best == nullptr || f->start > best->start)
                    best = &*f;
            }
            if (best != nullptr)
                return best->row;
        }
        if (const auto it = m_arrow.find(row);
            it != m_arrow.end() && m_trace.slices.start[it->second] < start)
            return it->second;
        return kNoRow;
    }

    /// The op of each call that has none around it on its own thread.
    void arrangeCalls() {
        const LinkTable& calls = m_trace.links.call;
        m_callOp.reserve(calls.size());
        for (std::size_t i = 0; i < calls.size(); ++i)
            m_callOp.emplace(static_cast<std::uint32_t>(calls.to[i].index()),
                             static_cast<std::uint32_t>(calls.from[i].index()));
    }

    struct Open {
        TimeNs end;
        std::uint32_t row;
        std::uint32_t forward; ///< of the innermost backward op here: its forward op
        std::uint32_t python;  ///< the innermost Python frame
        bool texts;            ///< an op that has its Python lines as text
        bool root;
    };

    void nest(std::size_t t) {
        Nesting& nesting = m_nesting[t];
        nesting.spans = spansOf(m_trace, m_threads[t]);
        if (m_stop.stop_requested())
            return;
        const auto& memoryRows = m_memoryRows[t];
        std::size_t memoryAt = 0;
        std::vector<Open> open;
        const auto recordsBefore = [&](TimeNs time, bool all) {
            for (; memoryAt < memoryRows.size(); ++memoryAt) {
                const TimeNs when = m_trace.memory.time[memoryRows[memoryAt]];
                if (!all && when >= time)
                    return;
                for (auto o = open.rbegin(); o != open.rend(); ++o) {
                    if (o->end >= when) {
                        m_memoryParent[memoryRows[memoryAt]] = o->row + 1;
                        break;
                    }
                }
            }
        };
        for (const HostSpan& span : nesting.spans) {
            recordsBefore(span.start, false);
            while (!open.empty() && (span.start >= open.back().end || span.end > open.back().end)) {
                // Still open and in nothing's way but this span's: what is left of it belongs to this one.
                if (span.start < open.back().end && !open.back().root)
                    nesting.cuts.push_back({open.back().row, span.start});
                open.pop_back();
            }
            Open here{span.end, span.row, kNoRow, kNoRow, false, open.empty()};
            if (!open.empty()) {
                here.forward = open.back().forward;
                here.python = open.back().python;
                here.texts = open.back().texts;
                m_out->m_hostParent[span.row] = SliceId::fromIndex(open.back().row);
            }
            detour(t, here, nesting);
            open.push_back(here);
        }
        recordsBefore(0, true);
    }

    /// Where a slice's stack does not follow from the slice around it.
    void detour(std::size_t thread, Open& here, Nesting& nesting) {
        const std::uint32_t row = here.row;
        switch (m_kinds[m_trace.slices.category[row]]) {
        case SliceKind::Python: {
            const std::uint32_t parent = m_args.pythonParent.empty() ? 0 : m_args.pythonParent[row];
            if (parent != 0 && parent - 1 != here.python && comesBefore(thread, parent - 1, row))
                nesting.detours.push_back({row, {Detour::Kind::Parent, parent - 1, {}, {}}});
            here.python = row;
            break;
        }
        case SliceKind::CpuOp: {
            const std::uint32_t forward = forwardOf(row, m_threads[thread].process);
            if (forward != kNoRow && forward != here.forward) {
                nesting.detours.push_back({row, {Detour::Kind::Forward, forward, {}, {}}});
                here.forward = forward;
            } else if (here.python == kNoRow && !here.texts && here.forward == kNoRow) {
                if (const auto it = m_args.texts.find(row); it != m_args.texts.end()) {
                    nesting.detours.push_back(
                        {row, {Detour::Kind::Texts, 0, it->second.callStack, it->second.modules}});
                    here.texts = true;
                }
            }
            break;
        }
        case SliceKind::Runtime:
        case SliceKind::Driver: {
            if (!here.root)
                break;
            const auto it = m_callOp.find(row);
            if (it != m_callOp.end() && m_trace.slices.start[it->second] < m_trace.slices.start[row])
                nesting.detours.push_back({row, {Detour::Kind::Parent, it->second, {}, {}}});
            break;
        }
        default:
            break;
        }
    }
    /// Whether a slice is on this thread and stands before another in the order of nesting. Together with
    /// forward ops beginning before their backward ops that keeps stacks free of circles.
    [[nodiscard]] bool comesBefore(std::size_t thread, std::uint32_t a, std::uint32_t b) const {
        const SliceTable& s = m_trace.slices;
        return (s.start[a] < s.start[b] || (s.start[a] == s.start[b] && s.end(a) > s.end(b))) &&
               threadOf(a) == thread;
    }

    /// Gives a slice its stack. Mostly the one around it has its own already.
    void place(std::uint32_t row) {
        StackId& stack = m_out->m_stackOf[row];
        if (stack)
            return;
        const SliceId around = m_out->m_hostParent[row];
        const StackId own = around ? m_out->m_stackOf[around.index()] : StackId{};
        if ((m_marks[row] & kDetour) != 0 || (around && !own)) {
            resolve(row);
            return;
        }
        const SliceKind kind = m_kinds[m_trace.slices.category[row]];
        stack = pushNear(own, m_cache.of(frameKindOf(kind), m_trace.slices.name[row]));
    }
    /// Calls repeat: the callee that was seen last is often the next.
    StackId pushNear(StackId caller, FrameId frame) {
        if (caller.value >= m_lastCallee.size())
            m_lastCallee.resize(
                std::max<std::size_t>(caller.value + std::size_t{1}, 2 * m_lastCallee.size()));
        StackId& last = m_lastCallee[caller.value];
        if (last && m_stacks->frame(last) == frame)
            return last;
        last = m_stacks->push(caller, frame);
        return last;
    }

    /// The stack of a host slice; those that it stands on first.
    StackId resolve(std::uint32_t row) {
        m_pending.push_back(row);
        while (!m_pending.empty()) {
            const std::uint32_t at = m_pending.back();
            StackId& stack = m_out->m_stackOf[at];
            if (stack) {
                m_pending.pop_back();
                continue;
            }
            const SliceId around = m_out->m_hostParent[at];
            const auto it = (m_marks[at] & kDetour) != 0 ? m_detours.find(at) : m_detours.end();
            const Detour* detour = it == m_detours.end() ? nullptr : &it->second;
            const bool elsewhere = detour != nullptr && detour->kind != Detour::Kind::Texts;
            if (around && !m_out->m_stackOf[around.index()]) {
                m_pending.push_back(static_cast<std::uint32_t>(around.index()));
                continue;
            }
            if (elsewhere && !m_out->m_stackOf[detour->row]) {
                // A slice that is on no thread has no stack and will get none.
                if (m_reached.empty())
                    markReachable();
                if (m_reached[detour->row]) {
                    m_pending.push_back(detour->row);
                    continue;
                }
            }
            const StackId own = around ? m_out->m_stackOf[around.index()] : StackId{};
            const SliceKind kind = m_kinds[m_trace.slices.category[at]];
            const StringId name = m_trace.slices.name[at];
            if (detour == nullptr)
                stack = m_stacks->push(own, m_cache.of(frameKindOf(kind), name));
            else if (detour->kind == Detour::Kind::Forward)
                stack =
                    m_stacks->push(m_out->m_stackOf[detour->row], m_cache.of(FrameKind::Backward, name), own);
            else if (detour->kind == Detour::Kind::Parent)
                stack = m_stacks->push(m_out->m_stackOf[detour->row], m_cache.of(frameKindOf(kind), name));
            else
                stack = m_stacks->push(textStack(own, *detour), m_cache.of(frameKindOf(kind), name));
            m_pending.pop_back();
        }
        return m_out->m_stackOf[row];
    }
    void markReachable() {
        m_reached.assign(m_trace.slices.size(), false);
        for (const Nesting& nesting : m_nesting)
            for (const HostSpan& span : nesting.spans)
                m_reached[span.row] = true;
    }
    StackId textStack(StackId parent, const Detour& detour) {
        for (const FrameId frame : framesOfCallStack(m_trace, detour.callStack, *m_frames))
            parent = m_stacks->push(parent, frame);
        for (const FrameId frame : framesOfHierarchy(m_trace, detour.modules, *m_frames))
            parent = m_stacks->push(parent, frame);
        return parent;
    }

    void deviceWork() {
        const auto remember = [&](const LinkTable& links) {
            for (std::size_t i = 0; i < links.size(); ++i) {
                SliceId& launch = m_out->m_hostParent[links.to[i].index()];
                if (!launch && m_out->m_stackOf[links.from[i].index()] &&
                    isDeviceWork(m_trace.kind(links.to[i])))
                    launch = links.from[i];
            }
        };
        remember(m_trace.links.launch);
        remember(m_trace.links.op);
        const StackId noLaunch = m_stacks->push({}, FrameTable::kNoLaunch);
        for (const Track& track : m_trace.tracks) {
            if (track.kind != TrackKind::Stream)
                continue;
            for (std::uint32_t row = track.firstSlice; row < track.endSlice; ++row) {
                const SliceKind kind = m_kinds[m_trace.slices.category[row]];
                if (!isDeviceWork(kind))
                    continue;
                const SliceId launch = m_out->m_hostParent[row];
                StackId stack = launch ? m_out->m_stackOf[launch.index()] : noLaunch;
                if (const std::int64_t graph = m_args.graphOf(m_trace, row); graph > 0)
                    stack = m_stacks->push(stack, graphFrame(graph));
                m_out->m_stackOf[row] =
                    pushNear(stack, m_cache.of(frameKindOf(kind), m_trace.slices.name[row]));
            }
        }
    }
    FrameId graphFrame(std::int64_t graph) {
        FrameId& frame = m_graphFrames[graph];
        if (!frame)
            frame = m_frames->intern(FrameKind::Graph, fmt::format("CUDA graph {}", graph));
        return frame;
    }

    void memory() {
        for (std::size_t i = 0; i < m_memoryParent.size(); ++i)
            if (m_memoryParent[i] != 0)
                m_out->m_memoryStack[i] = m_out->m_stackOf[m_memoryParent[i] - 1];
    }

    const Trace& m_trace;
    std::stop_token m_stop;
    std::shared_ptr<TraceStacks> m_out;
    std::shared_ptr<FrameTable> m_frames;
    std::shared_ptr<StackTable> m_stacks;
    FrameCache m_cache;
    unsigned m_workers;
    std::vector<SliceKind> m_kinds; ///< by category
    std::vector<HostThread> m_threads;
    std::vector<std::size_t> m_threadOfTrack;
    std::vector<Nesting> m_nesting; ///< by thread
    StackArgs m_args;
    std::vector<ForwardOp> m_forward;
    boost::unordered_flat_map<std::uint32_t, SequencedOp> m_backward; ///< by row
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_arrow;  ///< backward op to forward op
    boost::unordered_flat_map<std::uint64_t, std::size_t> m_forwardThread;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_callOp;
    boost::unordered_flat_map<std::uint32_t, Detour> m_detours; ///< by row
    boost::unordered_flat_map<std::int64_t, FrameId> m_graphFrames;
    std::vector<std::vector<std::uint32_t>> m_memoryRows; ///< by thread, ascending in time
    std::vector<std::uint32_t> m_memoryParent;            ///< by row of Trace::memory: row + 1
    static constexpr std::uint8_t kBackward = 1;          ///< may have a forward op
    static constexpr std::uint8_t kDetour = 2;
    std::vector<std::uint8_t> m_marks; ///< by row
    std::vector<StackId> m_lastCallee; ///< by stack
    std::vector<std::uint32_t> m_pending;
    std::vector<bool> m_reached;
};

Result<TraceStacksPtr> TraceStacks::build(TracePtr trace, std::stop_token stop) {
    return StackBuilder(std::move(trace), std::move(stop)).run();
}

bool TraceStacks::isBackward(StackId id) const {
    for (; id; id = m_stacks->parent(id))
        if (m_frames->at(m_stacks->frame(id)).kind == FrameKind::Backward)
            return true;
    return false;
}

std::size_t TraceStacks::bytes() const {
    return m_frames->bytes() + m_stacks->bytes() + m_stackOf.bytes() + m_hostParent.bytes() +
           m_memoryStack.bytes() + m_cuts.capacity() * sizeof(Cut);
}

} // namespace warpline
