// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/search.h"

#include "model/query/search_terms.h"
#include "model/query/spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_set>

namespace warpline {

namespace {

/// Answers for texts, worked out when first asked for and kept: a trace has far fewer texts than events.
/// Threads may work the same one out twice, to the same end.
class TextAnswers {
  public:
    explicit TextAnswers(std::size_t texts)
        : m_state(std::make_unique<std::atomic<std::uint8_t>[]>(texts + 1)) {}

    template <class F>
    bool ask(StringId id, F&& work) {
        std::atomic<std::uint8_t>& state = m_state[id.value];
        std::uint8_t known = state.load(std::memory_order_relaxed);
        if (known == 0) {
            known = work() ? 2 : 1;
            state.store(known, std::memory_order_relaxed);
        }
        return known == 2;
    }

  private:
    std::unique_ptr<std::atomic<std::uint8_t>[]> m_state;
};

/// An argument or address term made ready for one trace.
struct ArgumentTest {
    const SearchTerm* term = nullptr;
    std::vector<bool> shapes;   ///< which shapes can hold it
    std::vector<StringId> keys; ///< Argument: the keys that are spelt like the term's
    std::unique_ptr<TextAnswers> texts;
    std::unordered_set<std::uint32_t> rows; ///< Address: slices with such a [memory] record
};

bool compares(const ExactNumber& a, Comparison comparison, const ExactNumber& b) {
    switch (comparison) {
    case Comparison::Equal:
        return a == b;
    case Comparison::Less:
        return a.value() < b.value();
    case Comparison::LessOrEqual:
        return a.value() < b.value() || a == b;
    case Comparison::Greater:
        return a.value() > b.value();
    case Comparison::GreaterOrEqual:
        return a.value() > b.value() || a == b;
    }
    return false;
}

/// Without spaces and case, for JSON as it stood in the file: [1, 2] is [1,2].
std::string compact(std::string_view json) {
    std::string out;
    for (const char c : json) {
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            out += c;
    }
    return foldCase(out);
}

/// Merges neighbouring sorted runs until one is left. Rows come in runs, a lane each, that are sorted
/// already, so this is far cheaper than sorting. Equal starts keep the order of rows.
void mergeRuns(const Column<TimeNs>& start, std::vector<SliceId>& ids, std::vector<std::size_t> bounds) {
    std::vector<SliceId> other(bounds.size() > 2 ? ids.size() : 0);
    while (bounds.size() > 2) {
        std::vector<std::size_t> next{0};
        for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
            const SliceId* a = ids.data() + bounds[i];
            const SliceId* const aEnd = ids.data() + bounds[i + 1];
            const SliceId* b = aEnd;
            const SliceId* const bEnd = i + 2 < bounds.size() ? ids.data() + bounds[i + 2] : aEnd;
            SliceId* to = other.data() + bounds[i];
            if (a != aEnd && b != bEnd) {
                TimeNs ta = start[a->index()];
                TimeNs tb = start[b->index()];
                while (true) {
                    if (tb < ta) {
                        *to++ = *b++;
                        if (b == bEnd)
                            break;
                        tb = start[b->index()];
                    } else {
                        *to++ = *a++;
                        if (a == aEnd)
                            break;
                        ta = start[a->index()];
                    }
                }
            }
            to = std::copy(a, aEnd, to);
            std::copy(b, bEnd, to);
            next.push_back(i + 2 < bounds.size() ? bounds[i + 2] : bounds[i + 1]);
        }
        ids.swap(other);
        bounds = std::move(next);
    }
}

class Search {
  public:
    Search(const Trace& trace, std::vector<SearchTerm> terms, std::stop_token stop)
        : m_trace(trace), m_terms(std::move(terms)), m_stop(std::move(stop)),
          m_categories(trace.categories.size(), true) {
        for (const SearchTerm& term : m_terms)
            prepare(term);
    }

    Result<std::vector<SliceId>> run() {
        // A thread is not worth its start for less.
        constexpr std::size_t kRowsPerThread = 100'000;
        const std::size_t rows = m_trace.slices.size();
        const std::size_t threads = std::clamp<std::size_t>(
            rows / kRowsPerThread, 1, std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
        std::vector<std::vector<SliceId>> parts(threads);
        {
            std::vector<std::jthread> pool;
            for (std::size_t i = 1; i < threads; ++i)
                pool.emplace_back(
                    [&, i] { runPart(rows * i / threads, rows * (i + 1) / threads, parts[i]); });
            runPart(0, rows / threads, parts[0]);
        }
        if (m_stop.stop_requested())
            return Error::cancelled();
        if (!m_failure.empty())
            return Error::failed(m_failure);
        std::vector<std::size_t> bounds{0};
        std::vector<SliceId> out = std::move(parts[0]);
        bounds.push_back(out.size());
        for (std::size_t i = 1; i < threads; ++i) {
            out.insert(out.end(), parts[i].begin(), parts[i].end());
            bounds.push_back(out.size());
        }
        mergeRuns(m_trace.slices.start, out, std::move(bounds));
        return out;
    }

  private:
    void prepare(const SearchTerm& term) {
        switch (term.kind) {
        case SearchTerm::Kind::Name:
            m_names.push_back(&*term.pattern);
            if (!m_nameAnswers)
                m_nameAnswers = std::make_unique<TextAnswers>(m_trace.strings.size());
            break;
        case SearchTerm::Kind::Duration:
            m_durations.push_back(&term);
            break;
        case SearchTerm::Kind::Category:
            for (std::size_t i = 0; i < m_trace.categories.size(); ++i) {
                const Category& c = m_trace.categories[i];
                std::string scratch;
                const bool is = term.pattern->matches(m_trace.strings.view(c.name), scratch) ||
                                foldCase(sliceKindName(c.kind)) == term.text;
                m_categories[i] = m_categories[i] && is;
            }
            m_anyCategory = true;
            break;
        case SearchTerm::Kind::Argument:
        case SearchTerm::Kind::Address:
            prepareArgument(term);
            break;
        }
    }

    void prepareArgument(const SearchTerm& term) {
        ArgumentTest test;
        test.term = &term;
        test.texts = std::make_unique<TextAnswers>(m_trace.strings.size());
        const bool address = term.kind == SearchTerm::Kind::Address;
        test.shapes.assign(m_trace.args.shapeCount(), false);
        for (std::size_t i = 0; i < test.shapes.size(); ++i) {
            for (const ArgShape::Field& field : m_trace.args.shapeAt(static_cast<std::uint32_t>(i)).fields) {
                const bool use = address ? field.kind != ArgKind::True && field.kind != ArgKind::False &&
                                               field.kind != ArgKind::Null
                                         : foldKey(m_trace.strings.view(field.key)) == term.key;
                if (!use)
                    continue;
                test.shapes[i] = true;
                if (!address && std::find(test.keys.begin(), test.keys.end(), field.key) == test.keys.end())
                    test.keys.push_back(field.key);
            }
        }
        if (address)
            findMemory(test);
        m_arguments.push_back(std::move(test));
    }

    /// The slices that were innermost when a [memory] record told of the address.
    void findMemory(ArgumentTest& test) const {
        const MemoryTable& memory = m_trace.memory;
        const std::uint64_t address = test.term->number->mantissa;
        for (std::size_t i = 0; i < memory.size(); ++i) {
            if (memory.address[i] != address)
                continue;
            const TrackId thread = m_trace.rawTracks[memory.rawTrack[i]].thread;
            if (!thread)
                continue;
            const Track& track = m_trace.tracks[thread.index()];
            const TimeNs t = memory.time[i];
            for (std::uint32_t l = track.firstLane + track.laneCount; l-- > track.firstLane;) {
                const auto [first, last] = rowsIn(m_trace, m_trace.lanes[l], {t, t + 1});
                if (first < last) {
                    test.rows.insert(first);
                    break;
                }
            }
        }
    }

    void runPart(std::size_t begin, std::size_t end, std::vector<SliceId>& out) {
        try {
            std::vector<std::size_t> bounds{0};
            std::string scratch;
            const std::vector<Lane>& lanes = m_trace.lanes;
            auto lane = std::upper_bound(lanes.begin(), lanes.end(), begin,
                                         [](std::size_t row, const Lane& l) { return row < l.end; });
            for (; lane != lanes.end() && lane->begin < end; ++lane) {
                if (!runRows(std::max<std::size_t>(begin, lane->begin), std::min<std::size_t>(end, lane->end),
                             out, scratch))
                    return;
                if (out.size() != bounds.back())
                    bounds.push_back(out.size());
            }
            mergeRuns(m_trace.slices.start, out, std::move(bounds));
        } catch (const std::runtime_error&) {
            const std::lock_guard lock(m_mutex);
            m_failure =
                "The regular expression takes too long to match: write it without nested repetitions such as "
                "(a+)+.";
            m_failed.store(true, std::memory_order_relaxed);
        }
    }

    bool runRows(std::size_t begin, std::size_t end, std::vector<SliceId>& out, std::string& scratch) {
        constexpr std::size_t kRowsBetweenChecks = 16'384;
        const SliceTable& slices = m_trace.slices;
        for (std::size_t at = begin; at < end; at += kRowsBetweenChecks) {
            if (m_stop.stop_requested() || m_failed.load(std::memory_order_relaxed))
                return false;
            const std::size_t to = std::min(end, at + kRowsBetweenChecks);
            for (std::size_t row = at; row < to; ++row) {
                if (m_anyCategory && !m_categories[slices.category[row]])
                    continue;
                if (!m_durations.empty() && !durationHolds(slices.duration[row]))
                    continue;
                if (m_nameAnswers && !nameHolds(slices.name[row], scratch))
                    continue;
                if (!m_arguments.empty() && !argumentsHold(row, scratch))
                    continue;
                out.push_back(SliceId::fromIndex(row));
            }
        }
        return true;
    }

    [[nodiscard]] bool durationHolds(TimeNs duration) const {
        for (const SearchTerm* term : m_durations) {
            bool holds = false;
            switch (term->comparison) {
            case Comparison::Equal:
                holds = duration == term->duration;
                break;
            case Comparison::Less:
                holds = duration < term->duration;
                break;
            case Comparison::LessOrEqual:
                holds = duration <= term->duration;
                break;
            case Comparison::Greater:
                holds = duration > term->duration;
                break;
            case Comparison::GreaterOrEqual:
                holds = duration >= term->duration;
                break;
            }
            if (!holds)
                return false;
        }
        return true;
    }

    bool nameHolds(StringId name, std::string& scratch) {
        return m_nameAnswers->ask(name, [&] {
            for (const TextPattern* pattern : m_names) {
                // Names come by the million in some traces: a slow expression can be cancelled between two.
                if (m_stop.stop_requested() || !pattern->matches(m_trace.strings.view(name), scratch))
                    return false;
            }
            return true;
        });
    }

    bool argumentsHold(std::size_t row, std::string& scratch) {
        for (ArgumentTest& test : m_arguments) {
            const bool holds = test.term->kind == SearchTerm::Kind::Address
                                   ? addressHolds(test, row, scratch)
                                   : argumentHolds(test, row, scratch);
            if (!holds)
                return false;
        }
        return true;
    }

    [[nodiscard]] bool hasShape(const ArgumentTest& test, ArgStore::Ref ref) const {
        return ref != 0 && test.shapes[m_trace.args.shapeOf(ref)];
    }

    bool argumentHolds(ArgumentTest& test, std::size_t row, std::string& scratch) {
        const ArgStore::Ref ref = m_trace.slices.args[row];
        if (!hasShape(test, ref))
            return false;
        bool holds = false;
        m_trace.args.forEach(ref, [&](const Arg& arg) {
            if (std::find(test.keys.begin(), test.keys.end(), arg.key) == test.keys.end())
                return true;
            holds = valueHolds(test, arg, scratch);
            return !holds;
        });
        return holds;
    }

    bool valueHolds(ArgumentTest& test, const Arg& arg, std::string& scratch) const {
        const SearchTerm& term = *test.term;
        switch (arg.kind) {
        case ArgKind::Int:
        case ArgKind::UInt:
        case ArgKind::Decimal:
            if (term.number && compares(ExactNumber::of(arg), term.comparison, *term.number))
                return true;
            return term.contains && term.pattern->matches(argText(m_trace.strings, arg), scratch);
        case ArgKind::Text:
        case ArgKind::Raw:
            if (term.comparison != Comparison::Equal)
                return false;
            return test.texts->ask(arg.text, [&] {
                const std::string_view text = m_trace.strings.view(arg.text);
                if (term.contains)
                    return term.pattern->matches(text, scratch);
                return arg.kind == ArgKind::Raw ? compact(text) == compact(term.text)
                                                : foldCase(text) == term.text;
            });
        case ArgKind::True:
            return term.text == "true";
        case ArgKind::False:
            return term.text == "false";
        case ArgKind::Null:
            return term.text == "null";
        }
        return false;
    }

    bool addressHolds(ArgumentTest& test, std::size_t row, std::string& scratch) const {
        const SearchTerm& term = *test.term;
        const auto textHolds = [&](StringId id) {
            return test.texts->ask(id,
                                   [&] { return term.pattern->matches(m_trace.strings.view(id), scratch); });
        };
        if (textHolds(m_trace.slices.name[row]) || test.rows.contains(static_cast<std::uint32_t>(row)))
            return true;
        const ArgStore::Ref ref = m_trace.slices.args[row];
        if (!hasShape(test, ref))
            return false;
        bool holds = false;
        m_trace.args.forEach(ref, [&](const Arg& arg) {
            if (arg.kind == ArgKind::Int || arg.kind == ArgKind::UInt)
                holds = static_cast<std::uint64_t>(arg.integer) == term.number->mantissa;
            else if (arg.kind == ArgKind::Text || arg.kind == ArgKind::Raw)
                holds = textHolds(arg.text);
            return !holds;
        });
        return holds;
    }

    const Trace& m_trace;
    std::vector<SearchTerm> m_terms;
    std::stop_token m_stop;
    std::vector<bool> m_categories;
    bool m_anyCategory = false;
    std::vector<const SearchTerm*> m_durations;
    std::vector<const TextPattern*> m_names;
    std::unique_ptr<TextAnswers> m_nameAnswers;
    std::vector<ArgumentTest> m_arguments;
    std::atomic<bool> m_failed{false};
    std::mutex m_mutex;
    std::string m_failure;
};

} // namespace

Result<std::vector<SliceId>> search(const Trace& trace, const SearchQuery& query, std::stop_token stop) {
    std::unordered_set<std::string> keys;
    for (std::size_t i = 0; i < trace.args.shapeCount(); ++i) {
        for (const ArgShape::Field& field : trace.args.shapeAt(static_cast<std::uint32_t>(i)).fields)
            keys.insert(foldKey(trace.strings.view(field.key)));
    }
    Result<std::vector<SearchTerm>> terms =
        parseSearch(query.text, [&](const std::string& key) { return keys.contains(key); });
    if (!terms.ok())
        return terms.error();
    if (terms.value().empty())
        return std::vector<SliceId>{};
    return Search(trace, std::move(terms).value(), std::move(stop)).run();
}

} // namespace warpline
