// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/build_slices.h"

#include "model/base/parallel.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace warpline::chrome {

namespace {

constexpr char kConsumed = 0;

/// The arguments of a begin and of its end, together; the end's own win where both have a key.
ArgStore::Ref mergeArgs(Trace& trace, ArgStore::Writer& writer, ArgStore::Ref a, ArgStore::Ref b) {
    if (b == 0)
        return a;
    if (a == 0)
        return b;
    std::vector<ArgShape::Field> fields;
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> decimals;
    const auto add = [&](const Arg& arg) {
        const bool textual = arg.kind == ArgKind::Text || arg.kind == ArgKind::Raw;
        const std::int64_t value = textual ? arg.text.value : arg.integer;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].key != arg.key || fields[i].top != arg.top)
                continue;
            fields[i].kind = arg.kind;
            values[i] = value;
            decimals[i] = static_cast<std::uint8_t>(arg.decimals);
            return;
        }
        fields.push_back({arg.key, arg.kind, arg.top});
        values.push_back(value);
        decimals.push_back(static_cast<std::uint8_t>(arg.decimals));
    };
    trace.args.forEach(a, add);
    trace.args.forEach(b, add);
    return writer.add(trace.args.shape(fields), fields, values, decimals);
}

bool before(const ParsedSpan& a, const ParsedSpan& b) {
    if (a.start != b.start)
        return a.start < b.start;
    if (a.duration != b.duration)
        return a.duration > b.duration;
    return a.track < b.track; // the place in the file
}

/// Sorts what mostly is sorted: writers put out a few long runs. Merges the runs, or sorts where there are
/// many.
template <class Less>
void sortRuns(ParsedSpan* first, ParsedSpan* last, Less less) {
    constexpr std::size_t kMostRuns = 48;
    std::vector<ParsedSpan*> runs{first};
    for (ParsedSpan* p = first; p != last && p + 1 != last; ++p) {
        if (!less(p[1], p[0]))
            continue;
        if (runs.size() == kMostRuns)
            return std::sort(first, last, less);
        runs.push_back(p + 1);
    }
    runs.push_back(last);
    while (runs.size() > 2) {
        std::vector<ParsedSpan*> merged;
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            merged.push_back(runs[i]);
            if (i + 2 < runs.size())
                std::inplace_merge(runs[i], runs[i + 1], runs[i + 2], less);
        }
        merged.push_back(last);
        runs = std::move(merged);
    }
}

/// Pairs B and E of one track. Returns the new end of the track's spans: the ends are gone.
ParsedSpan* pairTrack(Trace& trace, ParsedSpan* first, ParsedSpan* last, TimeNs traceEnd,
                      PairReport& report) {
    const auto isPair = [](const ParsedSpan& s) { return s.phase == 'B' || s.phase == 'E'; };
    if (std::none_of(first, last, isPair))
        return last;
    std::vector<ParsedSpan*> events;
    for (ParsedSpan* p = first; p != last; ++p)
        if (isPair(*p))
            events.push_back(p);
    std::sort(events.begin(), events.end(), [](const ParsedSpan* a, const ParsedSpan* b) {
        return a->start != b->start ? a->start < b->start : a->track < b->track;
    });
    ArgStore::Writer writer(trace.args);
    const StringId unnamed = trace.strings.find("");
    std::vector<ParsedSpan*> open;
    for (ParsedSpan* e : events) {
        if (e->phase == 'B') {
            open.push_back(e);
            continue;
        }
        // An end that has a name closes the innermost begin of that name, any other the innermost one.
        auto it = open.end();
        if (e->name && e->name != unnamed)
            it = std::find_if(open.rbegin(), open.rend(), [&](const ParsedSpan* b) {
                     return b->name == e->name;
                 }).base();
        if (!e->name || e->name == unnamed || it == open.begin())
            it = open.end();
        if (open.empty()) {
            report.endWithoutBegin.add(Diagnostic::kNoOffset, e->start);
        } else {
            if (it != open.end())
                report.endOutOfOrder.add(Diagnostic::kNoOffset, e->start);
            ParsedSpan* b = *(it - 1);
            open.erase(it - 1);
            b->duration = e->start - b->start;
            b->flags |= SliceFlag::FromPair;
            b->args = mergeArgs(trace, writer, b->args, e->args);
            b->phase = 'X';
        }
        e->phase = kConsumed;
    }
    for (ParsedSpan* b : open) {
        report.beginWithoutEnd.add(Diagnostic::kNoOffset, b->start);
        b->duration = std::max<TimeNs>(0, traceEnd - b->start);
        b->flags |= SliceFlag::FromPair | SliceFlag::Unfinished;
        b->phase = 'X';
    }
    return std::remove_if(first, last, [](const ParsedSpan& s) { return s.phase == kConsumed; });
}

} // namespace

void pairAsync(Trace& trace, std::vector<Batch>& batches, TimeNs traceEnd, PairReport& report) {
    struct Event {
        ParsedSpan* span;
        std::uint64_t id;
        std::size_t sequence;
    };
    std::vector<Event> events;
    for (Batch& batch : batches)
        for (const ParsedAsync& a : batch.async)
            events.push_back({&batch.spans[a.span], a.id, events.size()});
    if (events.empty())
        return;
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return a.span->start != b.span->start ? a.span->start < b.span->start : a.sequence < b.sequence;
    });
    ArgStore::Writer writer(trace.args);
    std::unordered_map<std::uint64_t, std::vector<ParsedSpan*>> open;
    for (const Event& e : events) {
        if (e.span->phase == 'b') {
            open[e.id].push_back(e.span);
            continue;
        }
        if (e.span->phase != 'e')
            continue;
        auto& stack = open[e.id];
        if (stack.empty()) {
            report.endWithoutBegin.add(Diagnostic::kNoOffset, e.span->start);
        } else {
            ParsedSpan* b = stack.back();
            stack.pop_back();
            b->duration = e.span->start - b->start;
            b->args = mergeArgs(trace, writer, b->args, e.span->args);
            b->phase = 'X';
        }
        e.span->phase = kConsumed;
    }
    for (auto& [id, stack] : open) {
        for (ParsedSpan* b : stack) {
            report.beginWithoutEnd.add(Diagnostic::kNoOffset, b->start);
            b->duration = std::max<TimeNs>(0, traceEnd - b->start);
            b->flags |= SliceFlag::Unfinished;
            b->phase = 'X';
        }
    }
}

SortedSpans sortSpans(Trace& trace, std::vector<Batch>& batches, std::size_t trackCount, TimeNs traceEnd,
                      unsigned threads, PairReport& report) {
    SortedSpans out;
    // Each thread counts and moves a run of batches; within a track the runs stay in the order of the file.
    constexpr std::size_t kMostCounters = std::size_t{1} << 20;
    const std::size_t runs =
        std::clamp<std::size_t>(std::min<std::size_t>(threads, kMostCounters / (trackCount + 1)), 1,
                                std::max<std::size_t>(1, batches.size()));
    const auto runBegin = [&](std::size_t run) { return batches.size() * run / runs; };
    std::vector<std::vector<std::size_t>> place(runs, std::vector<std::size_t>(trackCount, 0));
    parallelFor(runs, threads, [&](std::size_t run) {
        for (std::size_t b = runBegin(run); b < runBegin(run + 1); ++b)
            for (const ParsedSpan& s : batches[b].spans)
                if (s.phase != kConsumed)
                    ++place[run][s.track];
    });
    std::size_t total = 0;
    for (std::size_t t = 0; t < trackCount; ++t) {
        out.begin.push_back(total);
        for (auto& ofRun : place)
            total += std::exchange(ofRun[t], total);
    }
    out.begin.push_back(total);
    out.spans.reset(total);
    std::vector<std::uint32_t> sequence{0}; // of each batch's first span
    for (const Batch& batch : batches)
        sequence.push_back(sequence.back() + static_cast<std::uint32_t>(batch.spans.size()));
    parallelFor(runs, threads, [&](std::size_t run) {
        for (std::size_t b = runBegin(run); b < runBegin(run + 1); ++b) {
            std::uint32_t at = sequence[b];
            for (const ParsedSpan& s : batches[b].spans) {
                ++at;
                if (s.phase == kConsumed)
                    continue;
                ParsedSpan& to = out.spans[place[run][s.track]++];
                to = s;
                to.track = at;
            }
            batches[b].release();
        }
    });

    // The begins and ends first, one track after the other: they share the report and the argument store.
    std::vector<std::size_t> end(trackCount);
    for (std::size_t t = 0; t < trackCount; ++t) {
        ParsedSpan* first = out.spans.data() + out.begin[t];
        end[t] = static_cast<std::size_t>(
            pairTrack(trace, first, out.spans.data() + out.begin[t + 1], traceEnd, report) -
            out.spans.data());
    }
    parallelFor(trackCount, threads, [&](std::size_t t) {
        sortRuns(out.spans.data() + out.begin[t], out.spans.data() + end[t], before);
    });
    // Close the gaps that paired ends left.
    std::size_t at = 0;
    for (std::size_t t = 0; t < trackCount; ++t) {
        const std::size_t from = out.begin[t];
        const std::size_t count = end[t] - from;
        if (at != from)
            std::move(out.spans.data() + from, out.spans.data() + end[t], out.spans.data() + at);
        out.begin[t] = at;
        at += count;
    }
    out.begin[trackCount] = at;
    out.spans.shrink(at);
    return out;
}

namespace {

/// What nesting finds out about one track: a depth for each span, and its parent as a place in the track
/// plus 1.
struct Nested {
    std::vector<std::uint32_t> laneSize;
};

/// The time until which a slice takes its line: a moment takes a nanosecond, so that two at the same time do
/// not hide each other.
TimeNs lineEnd(const ParsedSpan& s) {
    return s.duration > 0 ? s.start + s.duration
                          : (s.start < std::numeric_limits<TimeNs>::max() ? s.start + 1 : s.start);
}

Nested nest(const ParsedSpan* spans, std::size_t count, bool nesting, std::uint16_t* depths,
            std::uint32_t* parents) {
    Nested out;
    struct Open {
        TimeNs end, lineEnd;
        std::uint32_t at;
        std::uint16_t depth;
    };
    std::vector<Open> open;
    std::vector<TimeNs> taken; // by depth: until when the line is taken
    constexpr std::size_t kMostLines = 0xFFFF;
    for (std::size_t i = 0; i < count; ++i) {
        const ParsedSpan& s = spans[i];
        const TimeNs end = s.start + s.duration;
        std::size_t depth = 0;
        std::uint32_t parent = 0;
        if (nesting) {
            while (!open.empty() && open.back().lineEnd <= s.start)
                open.pop_back();
            // The innermost slice still open that holds this one whole.
            for (auto o = open.rbegin(); o != open.rend(); ++o) {
                if (o->lineEnd > s.start && o->end >= end) {
                    parent = o->at + 1;
                    depth = o->depth + std::size_t{1};
                    break;
                }
            }
        }
        while (depth < taken.size() && taken[depth] > s.start && depth + 1 < kMostLines)
            ++depth;
        depth = std::min(depth, kMostLines - 1);
        if (depth >= taken.size()) {
            taken.resize(depth + 1, std::numeric_limits<TimeNs>::min());
            out.laneSize.resize(depth + 1, 0);
        }
        taken[depth] = lineEnd(s);
        ++out.laneSize[depth];
        depths[i] = static_cast<std::uint16_t>(depth);
        parents[i] = parent;
        if (nesting)
            open.push_back({end, taken[depth], static_cast<std::uint32_t>(i), depths[i]});
    }
    return out;
}

} // namespace

void layOut(Trace& trace, SortedSpans& sorted, const std::vector<std::uint32_t>& order, TimeNs base,
            unsigned threads) {
    const std::size_t total = sorted.spans.size();
    Column<std::uint16_t> depths(total);
    Column<std::uint32_t> parents(total);
    std::vector<Nested> nested(order.size());
    parallelFor(order.size(), threads, [&](std::size_t i) {
        const std::size_t from = sorted.begin[order[i]];
        const bool nesting = trace.tracks[i].kind != TrackKind::Stream;
        nested[i] = nest(sorted.spans.data() + from, sorted.begin[order[i] + 1] - from, nesting,
                         depths.data() + from, parents.data() + from);
    });

    std::uint32_t row = 0;
    std::vector<std::vector<std::uint32_t>> laneBegin(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        Track& track = trace.tracks[i];
        track.firstLane = static_cast<std::uint32_t>(trace.lanes.size());
        track.laneCount = static_cast<std::uint32_t>(nested[i].laneSize.size());
        track.firstSlice = row;
        for (std::size_t d = 0; d < nested[i].laneSize.size(); ++d) {
            laneBegin[i].push_back(row);
            const std::uint32_t end = row + nested[i].laneSize[d];
            trace.lanes.push_back({TrackId::fromIndex(i), static_cast<std::uint16_t>(d), row, end});
            row = end;
        }
        track.endSlice = row;
    }

    SliceTable& slices = trace.slices;
    slices.start.reset(total);
    slices.duration.reset(total);
    slices.name.reset(total);
    slices.parent.reset(total);
    slices.args.reset(total);
    slices.category.reset(total);
    slices.flags.reset(total);
    sorted.row.reset(total);
    parallelFor(order.size(), threads, [&](std::size_t i) {
        const std::size_t from = sorted.begin[order[i]];
        const std::size_t to = sorted.begin[order[i] + 1];
        std::vector<std::uint32_t> next = laneBegin[i];
        TimeRange& extent = trace.tracks[i].extent;
        for (std::size_t k = from; k < to; ++k) {
            const ParsedSpan& s = sorted.spans[k];
            const std::uint32_t r = next[depths[k]]++;
            sorted.row[k] = r;
            slices.start[r] = s.start + base;
            slices.duration[r] = s.duration;
            slices.name[r] = s.name;
            slices.args[r] = s.args;
            slices.category[r] = s.category;
            slices.flags[r] = s.flags;
            // A parent comes before its children, so that its row is known.
            slices.parent[r] =
                parents[k] == 0 ? SliceId{} : SliceId::fromIndex(sorted.row[from + parents[k] - 1]);
            if ((s.flags & SliceFlag::Untimed) == 0) {
                const TimeRange mine{s.start + base, lineEnd(s) + base};
                extent = extent.united(mine);
            }
        }
    });
}

} // namespace warpline::chrome
