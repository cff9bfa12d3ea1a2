// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/build_links.h"

#include "model/base/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

namespace warpline::chrome {

namespace {

/// From an id of the file to the span that has it; of several the first in the file. A plain table where the
/// ids lie close together, as they mostly do.
class IdMap {
  public:
    IdMap(const SortedSpans& sorted, const std::vector<std::uint32_t>& members,
          std::int64_t ParsedSpan::*id) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (const std::uint32_t at : members) {
            least = std::min(least, sorted.spans[at].*id);
            most = std::max(most, sorted.spans[at].*id);
        }
        if (members.empty())
            return;
        const auto range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
        if (range < members.size() * 8 + 1024) {
            m_least = least;
            m_dense.assign(range + 1, 0);
        }
        for (const std::uint32_t at : members) {
            const std::int64_t key = sorted.spans[at].*id;
            std::uint32_t& slot =
                m_dense.empty() ? m_sparse[key] : m_dense[static_cast<std::size_t>(key - m_least)];
            if (slot == 0 || sorted.spans[at].track < sorted.spans[slot - 1].track)
                slot = at + 1;
        }
    }
    /// The place of the span plus 1, or 0.
    [[nodiscard]] std::uint32_t find(std::int64_t key) const {
        if (key == kNoId)
            return 0;
        if (!m_dense.empty()) {
            if (key < m_least)
                return 0;
            const auto i = static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(m_least);
            return i < m_dense.size() ? m_dense[i] : 0;
        }
        const auto it = m_sparse.find(key);
        return it == m_sparse.end() ? 0 : it->second;
    }

  private:
    std::int64_t m_least = 0;
    std::vector<std::uint32_t> m_dense;
    boost::unordered_flat_map<std::int64_t, std::uint32_t> m_sparse;
};

bool isLaunchName(std::string_view name) {
    return name.find("Launch") != std::string_view::npos || name.find("Memcpy") != std::string_view::npos ||
           name.find("Memset") != std::string_view::npos;
}

/// The innermost slice at a moment on a track, or none. A slice that begins there wins over one that ends
/// there.
SliceId sliceAt(const Trace& trace, TrackId id, TimeNs t) {
    if (!id)
        return {};
    const Track& track = trace.tracks[id.index()];
    SliceId best;
    for (std::uint32_t l = track.firstLane; l < track.firstLane + track.laneCount; ++l) {
        const Lane& lane = trace.lanes[l];
        const TimeNs* from = trace.slices.start.data() + lane.begin;
        const TimeNs* to = trace.slices.start.data() + lane.end;
        const TimeNs* it = std::upper_bound(from, to, t);
        if (it == from)
            continue;
        const auto row = static_cast<std::size_t>(it - 1 - trace.slices.start.data());
        if (trace.slices.end(row) < t)
            continue;
        if (best && trace.slices.start[row] < trace.slices.start[best.index()] && trace.slices.end(row) == t)
            continue;
        best = SliceId::fromIndex(row);
    }
    return best;
}

using Pairs = std::vector<std::pair<SliceId, SliceId>>;

/// Counts the arrows of which one end is missing, where the ids lie close together; false where they do not.
bool countDangling(const FlowTable& flows, const std::vector<std::uint32_t>& rows, LinkReport& report) {
    if (rows.empty())
        return true;
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (const std::uint32_t i : rows) {
        least = std::min(least, flows.id[i]);
        most = std::max(most, flows.id[i]);
    }
    if (most - least > rows.size() * 16 + 1024)
        return false;
    std::vector<std::uint8_t> seen(most - least + 1, 0);
    for (const std::uint32_t i : rows)
        seen[flows.id[i] - least] |= flows.phase[i] == 's' ? 1 : 2;
    for (const std::uint32_t i : rows)
        if (seen[flows.id[i] - least] != 3)
            report.danglingFlow.add(Diagnostic::kNoOffset, flows.time[i]);
    return true;
}

/// Joins the two ends of the file's arrows. Kineto's launch arrows (ac2g) only repeat what the correlation
/// ids say; they are counted where they dangle, and joined only where a trace has no correlation ids.
class FlowJoiner {
  public:
    explicit FlowJoiner(const Trace& trace) : m_trace(trace), m_flows(trace.flows) {}

    /// Brings together the ends of each arrow.
    void arrange(bool haveLaunches, LinkReport& report) {
        m_haveLaunches = haveLaunches;
        m_sorts.assign(m_trace.categories.size(), Sort::Other);
        for (std::size_t i = 0; i < m_sorts.size(); ++i) {
            const std::string_view name = m_trace.strings.view(m_trace.categories[i].name);
            if (name == "fwdbwd" || name == "forward_backward")
                m_sorts[i] = Sort::Forward;
            if (name == "ac2g" || name == "async_cpu_to_gpu" || name == "async")
                m_sorts[i] = Sort::Launch;
        }
        std::vector<std::uint32_t> launches;
        for (std::uint32_t i = 0; i < m_flows.size(); ++i)
            (haveLaunches && sortOf(i) == Sort::Launch ? launches : m_order).push_back(i);
        if (!countDangling(m_flows, launches, report))
            m_order.insert(m_order.end(), launches.begin(), launches.end());
        std::sort(m_order.begin(), m_order.end(), [this](std::uint32_t a, std::uint32_t b) {
            const auto ka = key(a);
            const auto kb = key(b);
            if (ka != kb)
                return ka < kb;
            if (m_flows.time[a] != m_flows.time[b])
                return m_flows.time[a] < m_flows.time[b];
            return start(a) != start(b) ? start(a) : a < b;
        });
    }

    /// Finds the slices that the arrows begin and end at.
    void locate(unsigned threads) {
        m_slices.assign(m_order.size(), {});
        constexpr std::size_t kStep = 4096;
        parallelFor((m_order.size() + kStep - 1) / kStep, threads, [this](std::size_t part) {
            const std::size_t end = std::min(m_order.size(), (part + 1) * kStep);
            for (std::size_t k = part * kStep; k < end; ++k) {
                const std::uint32_t i = m_order[k];
                if (sortOf(i) != Sort::Launch || !m_haveLaunches)
                    m_slices[k] =
                        sliceAt(m_trace, m_trace.rawTracks[m_flows.track[i]].thread, m_flows.time[i]);
            }
        });
    }

    void join(Pairs& forward, Pairs& flow, LinkReport& report) const {
        for (std::size_t from = 0; from < m_order.size();) {
            std::size_t to = from + 1;
            while (to < m_order.size() && key(m_order[to]) == key(m_order[from]))
                ++to;
            joinOne(from, to, sortOf(m_order[from]) == Sort::Forward ? forward : flow, report);
            from = to;
        }
    }

  private:
    enum class Sort : std::uint8_t { Launch, Forward, Other };
    [[nodiscard]] Sort sortOf(std::uint32_t i) const { return m_sorts[m_flows.category[i]]; }
    [[nodiscard]] bool start(std::uint32_t i) const { return m_flows.phase[i] == 's'; }
    [[nodiscard]] std::tuple<std::uint16_t, std::uint64_t, std::uint32_t> key(std::uint32_t i) const {
        const Sort sort = sortOf(i);
        return {sort == Sort::Other ? m_flows.category[i] : static_cast<std::uint16_t>(sort), m_flows.id[i],
                sort == Sort::Other ? m_flows.name[i].value : 0u};
    }

    void joinOne(std::size_t from, std::size_t to, Pairs& out, LinkReport& report) const {
        bool anyStart = false;
        bool anyEnd = false;
        for (std::size_t k = from; k < to; ++k)
            (start(m_order[k]) ? anyStart : anyEnd) = true;
        if (!anyStart || !anyEnd) {
            for (std::size_t k = from; k < to; ++k)
                report.danglingFlow.add(Diagnostic::kNoOffset, m_flows.time[m_order[k]]);
            return;
        }
        if (sortOf(m_order[from]) == Sort::Launch && m_haveLaunches)
            return;
        // The clocks of host and device differ a little, so that an end may come before its start.
        SliceId last;
        for (std::size_t k = from; k < to && !last; ++k)
            if (start(m_order[k]))
                last = m_slices[k];
        for (std::size_t k = from; k < to; ++k) {
            const SliceId here = m_slices[k];
            if (!here) {
                report.flowWithoutSlice.add(Diagnostic::kNoOffset, m_flows.time[m_order[k]]);
                continue;
            }
            if (!start(m_order[k]) && last && last != here)
                out.emplace_back(last, here);
            // A graph's launch has many ends: they all start at it.
            if (start(m_order[k]) || m_flows.phase[m_order[k]] == 't')
                last = here;
        }
    }

    const Trace& m_trace;
    const FlowTable& m_flows;
    bool m_haveLaunches = false;
    std::vector<Sort> m_sorts;          ///< by category
    std::vector<std::uint32_t> m_order; ///< rows of the flow table, those of one arrow together
    std::vector<SliceId> m_slices;      ///< beside m_order
};

/// Places in SortedSpans of the spans that links are made of.
struct Ends {
    std::vector<std::uint32_t> ops, calls, work;
    void append(const Ends& later) {
        ops.insert(ops.end(), later.ops.begin(), later.ops.end());
        calls.insert(calls.end(), later.calls.begin(), later.calls.end());
        work.insert(work.end(), later.work.begin(), later.work.end());
    }
};

/// Calls f(part, from, to) for runs of `count` things on several threads.
constexpr std::size_t kParts = 16;
template <class F>
void inParts(std::size_t count, unsigned threads, F&& f) {
    parallelFor(kParts, threads,
                [&](std::size_t part) { f(part, count * part / kParts, count * (part + 1) / kParts); });
}

Ends findEnds(const Trace& trace, const SortedSpans& sorted, unsigned threads) {
    std::array<Ends, kParts> parts;
    inParts(sorted.spans.size(), threads, [&](std::size_t part, std::size_t from, std::size_t to) {
        Ends& out = parts[part];
        for (std::size_t i = from; i < to; ++i) {
            const ParsedSpan& s = sorted.spans[i];
            const auto at = static_cast<std::uint32_t>(i);
            const SliceKind kind = trace.categories[s.category].kind;
            if ((kind == SliceKind::CpuOp || kind == SliceKind::Annotation) && s.external != kNoId)
                out.ops.push_back(at);
            if (isApiCall(kind))
                out.calls.push_back(at);
            if (isDeviceWork(kind))
                out.work.push_back(at);
        }
    });
    for (std::size_t i = 1; i < kParts; ++i)
        parts[0].append(parts[i]);
    return std::move(parts[0]);
}

/// Links launches, ops and device work by the ids in the file.
class IdLinker {
  public:
    IdLinker(const Trace& trace, const SortedSpans& sorted, unsigned threads)
        : m_trace(trace), m_sorted(sorted), m_threads(threads), m_ends(findEnds(trace, sorted, threads)),
          m_launched(trace.slices.size(), 0) {
        std::vector<std::uint32_t> correlated;
        correlated.reserve(m_ends.calls.size());
        for (const std::uint32_t at : m_ends.calls)
            if (sorted.spans[at].correlation != kNoId && sorted.spans[at].correlation != 0)
                correlated.push_back(at);
        parallelFor(2, threads, [&](std::size_t part) {
            if (part == 0)
                m_byExternal.emplace(sorted, m_ends.ops, &ParsedSpan::external);
            else
                m_byCorrelation.emplace(sorted, correlated, &ParsedSpan::correlation);
        });
    }

    void link(LinkReport& report) {
        std::array<Found, kParts> parts;
        inParts(m_ends.work.size(), m_threads, [&](std::size_t part, std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i)
                linkWork(m_ends.work[i], parts[part]);
        });
        inParts(m_ends.calls.size(), m_threads, [&](std::size_t part, std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i)
                linkCall(m_ends.calls[i], parts[part]);
        });
        for (const Found& found : parts) {
            launch.insert(launch.end(), found.launch.begin(), found.launch.end());
            op.insert(op.end(), found.op.begin(), found.op.end());
            call.insert(call.end(), found.call.begin(), found.call.end());
            report.launchWithoutKernel.merge(found.report.launchWithoutKernel);
            report.kernelWithoutLaunch.merge(found.report.kernelWithoutLaunch);
            report.clockInversion.merge(found.report.clockInversion);
        }
    }

    Pairs launch, op, call;

  private:
    struct Found {
        Pairs launch, op, call;
        LinkReport report;
    };
    [[nodiscard]] SliceId slice(std::uint32_t at) const { return SliceId::fromIndex(m_sorted.row[at]); }
    [[nodiscard]] TimeNs startOf(std::uint32_t at) const { return m_trace.slices.start[m_sorted.row[at]]; }

    void linkWork(std::uint32_t at, Found& out) {
        const ParsedSpan& s = m_sorted.spans[at];
        const std::uint32_t launcher = s.correlation == 0 ? 0 : m_byCorrelation->find(s.correlation);
        if (launcher != 0) {
            out.launch.emplace_back(slice(launcher - 1), slice(at));
            std::atomic_ref(m_launched[m_sorted.row[launcher - 1]]).store(1, std::memory_order_relaxed);
            if (s.start < m_sorted.spans[launcher - 1].start)
                out.report.clockInversion.add(Diagnostic::kNoOffset, startOf(at));
        } else {
            out.report.kernelWithoutLaunch.add(Diagnostic::kNoOffset, startOf(at));
        }
        if (s.external != kNoId) {
            if (const std::uint32_t owner = m_byExternal->find(s.external))
                out.op.emplace_back(slice(owner - 1), slice(at));
        } else if (launcher != 0) {
            // Before External ids: the innermost op around the launch.
            SliceId up = m_trace.slices.parent[m_sorted.row[launcher - 1]];
            while (up && m_trace.kind(up) != SliceKind::CpuOp && m_trace.kind(up) != SliceKind::Annotation)
                up = m_trace.slices.parent[up.index()];
            if (up)
                out.op.emplace_back(up, slice(at));
        }
    }
    /// After all device work: that says which calls launched something.
    void linkCall(std::uint32_t at, Found& out) const {
        const ParsedSpan& s = m_sorted.spans[at];
        if (const std::uint32_t owner = m_byExternal->find(s.external))
            out.call.emplace_back(slice(owner - 1), slice(at));
        if (m_launched[m_sorted.row[at]] == 0 && isLaunchName(m_trace.strings.view(s.name)) &&
            !m_ends.work.empty())
            out.report.launchWithoutKernel.add(Diagnostic::kNoOffset, startOf(at));
    }

    const Trace& m_trace;
    const SortedSpans& m_sorted;
    unsigned m_threads;
    Ends m_ends;
    std::optional<IdMap> m_byExternal, m_byCorrelation;
    std::vector<std::uint8_t> m_launched; ///< by row
};

} // namespace

void buildLinks(Trace& trace, const SortedSpans& sorted, unsigned threads, LinkReport& report) {
    IdLinker ids(trace, sorted, threads);
    ids.link(report);
    FlowJoiner flows(trace);
    parallelFor(4, threads, [&](std::size_t part) {
        switch (part) {
        case 0:
            flows.arrange(!ids.launch.empty(), report);
            break;
        case 1:
            trace.links.op.build(ids.op);
            break;
        case 2:
            trace.links.call.build(ids.call);
            break;
        default:
            trace.links.launch.build(ids.launch);
        }
    });
    flows.locate(threads);
    Pairs forward;
    Pairs flow;
    flows.join(forward, flow, report);
    trace.links.forward.build(forward);
    trace.links.flow.build(flow);
}

} // namespace warpline::chrome
