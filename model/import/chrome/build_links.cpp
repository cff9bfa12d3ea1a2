// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/build_links.h"

#include "model/base/parallel.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <string_view>

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

} // namespace

namespace {

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
void joinFlows(Trace& trace, bool haveLaunches, Pairs& forward, Pairs& flow, LinkReport& report) {
    const FlowTable& flows = trace.flows;
    enum class Sort : std::uint8_t { Launch, Forward, Other };
    std::vector<Sort> sorts(trace.categories.size(), Sort::Other);
    for (std::size_t i = 0; i < sorts.size(); ++i) {
        const std::string_view name = trace.strings.view(trace.categories[i].name);
        if (name == "fwdbwd" || name == "forward_backward")
            sorts[i] = Sort::Forward;
        if (name == "ac2g" || name == "async_cpu_to_gpu" || name == "async")
            sorts[i] = Sort::Launch;
    }
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> launches;
    for (std::uint32_t i = 0; i < flows.size(); ++i)
        (haveLaunches && sorts[flows.category[i]] == Sort::Launch ? launches : order).push_back(i);
    if (!countDangling(flows, launches, report))
        order.insert(order.end(), launches.begin(), launches.end());
    const auto key = [&](std::uint32_t i) {
        const Sort sort = sorts[flows.category[i]];
        return std::tuple(sort == Sort::Other ? flows.category[i] : static_cast<std::uint16_t>(sort),
                          flows.id[i], sort == Sort::Other ? flows.name[i].value : 0u);
    };
    const auto start = [&](std::uint32_t i) { return flows.phase[i] == 's'; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto ka = key(a);
        const auto kb = key(b);
        if (ka != kb)
            return ka < kb;
        if (flows.time[a] != flows.time[b])
            return flows.time[a] < flows.time[b];
        return start(a) != start(b) ? start(a) : a < b;
    });
    const auto sliceOf = [&](std::uint32_t i) {
        return sliceAt(trace, trace.rawTracks[flows.track[i]].thread, flows.time[i]);
    };
    for (std::size_t from = 0; from < order.size();) {
        std::size_t to = from + 1;
        while (to < order.size() && key(order[to]) == key(order[from]))
            ++to;
        const Sort sort = sorts[flows.category[order[from]]];
        bool anyStart = false;
        bool anyEnd = false;
        for (std::size_t k = from; k < to; ++k)
            (flows.phase[order[k]] == 's' ? anyStart : anyEnd) = true;
        if (!anyStart || !anyEnd) {
            for (std::size_t k = from; k < to; ++k)
                report.danglingFlow.add(Diagnostic::kNoOffset, flows.time[order[k]]);
        } else if (sort != Sort::Launch || !haveLaunches) {
            // The clocks of host and device differ a little, so that an end may come before its start.
            SliceId last;
            for (std::size_t k = from; k < to && !last; ++k)
                if (start(order[k]))
                    last = sliceOf(order[k]);
            for (std::size_t k = from; k < to; ++k) {
                const SliceId here = sliceOf(order[k]);
                if (!here) {
                    report.flowWithoutSlice.add(Diagnostic::kNoOffset, flows.time[order[k]]);
                    continue;
                }
                if (!start(order[k]) && last && last != here)
                    (sort == Sort::Forward ? forward : flow).emplace_back(last, here);
                // A graph's launch has many ends: they all start at it.
                if (start(order[k]) || flows.phase[order[k]] == 't')
                    last = here;
            }
        }
        from = to;
    }
}

} // namespace

void buildLinks(Trace& trace, const SortedSpans& sorted, unsigned threads, LinkReport& report) {
    std::vector<std::uint32_t> ops;
    std::vector<std::uint32_t> calls;
    std::vector<std::uint32_t> work;
    for (std::uint32_t at = 0; at < sorted.spans.size(); ++at) {
        const ParsedSpan& s = sorted.spans[at];
        const SliceKind kind = trace.categories[s.category].kind;
        if ((kind == SliceKind::CpuOp || kind == SliceKind::Annotation) && s.external != kNoId)
            ops.push_back(at);
        if (isApiCall(kind))
            calls.push_back(at);
        if (isDeviceWork(kind))
            work.push_back(at);
    }
    std::vector<std::uint32_t> correlated;
    correlated.reserve(calls.size());
    for (const std::uint32_t at : calls)
        if (sorted.spans[at].correlation != kNoId && sorted.spans[at].correlation != 0)
            correlated.push_back(at);
    const IdMap byExternal(sorted, ops, &ParsedSpan::external);
    const IdMap byCorrelation(sorted, correlated, &ParsedSpan::correlation);
    const auto slice = [&](std::uint32_t at) { return SliceId::fromIndex(sorted.row[at]); };

    Pairs launch;
    Pairs op;
    Pairs call;
    std::vector<bool> launched(trace.slices.size(), false);
    for (const std::uint32_t at : work) {
        const ParsedSpan& s = sorted.spans[at];
        const std::uint32_t launcher = s.correlation == 0 ? 0 : byCorrelation.find(s.correlation);
        if (launcher != 0) {
            launch.emplace_back(slice(launcher - 1), slice(at));
            launched[sorted.row[launcher - 1]] = true;
            if (s.start < sorted.spans[launcher - 1].start)
                report.clockInversion.add(Diagnostic::kNoOffset, trace.slices.start[sorted.row[at]]);
        } else {
            report.kernelWithoutLaunch.add(Diagnostic::kNoOffset, trace.slices.start[sorted.row[at]]);
        }
        if (s.external != kNoId) {
            if (const std::uint32_t owner = byExternal.find(s.external))
                op.emplace_back(slice(owner - 1), slice(at));
        } else if (launcher != 0) {
            // Before External ids: the innermost op around the launch.
            SliceId up = trace.slices.parent[sorted.row[launcher - 1]];
            while (up && trace.kind(up) != SliceKind::CpuOp && trace.kind(up) != SliceKind::Annotation)
                up = trace.slices.parent[up.index()];
            if (up)
                op.emplace_back(up, slice(at));
        }
    }
    for (const std::uint32_t at : calls) {
        const ParsedSpan& s = sorted.spans[at];
        if (const std::uint32_t owner = byExternal.find(s.external))
            call.emplace_back(slice(owner - 1), slice(at));
        if (!launched[sorted.row[at]] && isLaunchName(trace.strings.view(s.name)) && !work.empty())
            report.launchWithoutKernel.add(Diagnostic::kNoOffset, trace.slices.start[sorted.row[at]]);
    }
    Pairs forward;
    Pairs flow;
    const bool haveLaunches = !launch.empty();
    parallelFor(4, threads, [&](std::size_t part) {
        switch (part) {
        case 0:
            joinFlows(trace, haveLaunches, forward, flow, report);
            trace.links.forward.build(std::move(forward));
            trace.links.flow.build(std::move(flow));
            break;
        case 1:
            trace.links.op.build(std::move(op));
            break;
        case 2:
            trace.links.call.build(std::move(call));
            break;
        default:
            trace.links.launch.build(std::move(launch));
        }
    });
}

} // namespace warpline::chrome
