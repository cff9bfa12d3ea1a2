// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/event_list.h"

#include "model/import/chrome/event_parser.h"
#include "model/import/chrome/repair.h"
#include "model/import/chrome/scan.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace warpline::chrome {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
/// An event that is strict JSON so far is read on up to this length.
constexpr std::size_t kMostEvent = std::size_t{64} << 20;

struct Piece {
    enum class End {
        Whole,    ///< read to the last byte
        Leftover, ///< an event goes on beyond it
        Closed,   ///< the list ends in it
    };
    std::unique_ptr<char[]> data;
    std::size_t capacity = 0;
    std::size_t size = 0;
    std::uint64_t offset = 0;
    bool last = false; ///< nothing of the source follows

    Batch batch;
    std::size_t consumed = 0;
    End end = End::Whole;
    bool done = false;
    std::exception_ptr failure; ///< what reading it threw: there is not enough memory

    void reserve(std::size_t bytes) {
        if (bytes <= capacity)
            return;
        auto bigger = std::make_unique_for_overwrite<char[]>(bytes + scan::kPadding);
        if (size > 0)
            std::memcpy(bigger.get(), data.get(), size);
        data = std::move(bigger);
        capacity = bytes;
    }
    void append(std::string_view text) {
        reserve(std::max(size + text.size(), kPieceBytes * 2));
        if (!text.empty())
            std::memcpy(data.get() + size, text.data(), text.size());
        size += text.size();
    }
    void pad() { std::memset(data.get() + size, 0, scan::kPadding); }
    [[nodiscard]] std::string_view text() const { return {data.get(), size}; }
};

void tallyRepairs(std::uint32_t repairs, std::uint64_t offset, Tallies& tallies) {
    for (int bit = 0; bit < Repair::kCount; ++bit)
        if ((repairs >> bit) & 1)
            tallies[static_cast<std::size_t>(Oddity::ControlCharacter) + static_cast<std::size_t>(bit)].add(
                offset);
}

/// Reads the events of one piece. Where it begins wrongly, because the cut was guessed wrong, the result is
/// nonsense that nobody looks at.
void readPiece(EventParser& parser, Piece& piece, OpenBatch& batch, const std::stop_token& stop) {
    batch.clear();
    const char* const begin = piece.data.get();
    const char* const end = begin + piece.size;
    const char* p = begin;
    const auto offsetOf = [&](const char* at) {
        return piece.offset + static_cast<std::uint64_t>(at - begin);
    };
    const auto finish = [&](Piece::End how, const char* at) {
        piece.end = how;
        piece.consumed = static_cast<std::size_t>(at - begin);
    };
    enum { Opening, Event, Comma } before = Opening; // of a list, or of the piece
    std::string repaired;
    std::uint32_t sinceCheck = 0;
    for (;;) {
        if (++sinceCheck % 4096 == 0 && stop.stop_requested())
            return finish(Piece::End::Whole, end);
        p = scan::skipSpace(p);
        if (p >= end)
            return finish(Piece::End::Whole, end);
        if (*p == ',') {
            if (before == Comma)
                tallyRepairs(Repair::ExtraComma, offsetOf(p), batch.tallies);
            before = Comma;
            ++p;
            continue;
        }
        if (*p == ']') {
            if (before == Comma)
                tallyRepairs(Repair::ExtraComma, offsetOf(p), batch.tallies);
            // Another list right behind it is read on from here: to close this one costs a round through all
            // that was read ahead, and files are found that have thousands.
            const char* next = scan::skipSpace(p + 1);
            if (*next == ',')
                next = scan::skipSpace(next + 1);
            if (next >= end || *next != '[')
                return finish(Piece::End::Closed, p + 1);
            tallyRepairs(Repair::Restart, offsetOf(p), batch.tallies);
            before = Opening;
            p = next + 1;
            continue;
        }
        const char* const from = p;
        if (*p == '{') {
            const auto outcome = parser.parse(p, end, offsetOf(from), batch);
            if (outcome == EventParser::Outcome::Event) {
                if (before == Event)
                    tallyRepairs(Repair::MissingComma, offsetOf(from), batch.tallies);
                before = Event;
                continue;
            }
            if (outcome == EventParser::Outcome::Cut && !piece.last &&
                static_cast<std::size_t>(end - from) < kMostEvent)
                return finish(Piece::End::Leftover, from);
        }
        RepairedEvent r = repairEvent({p, static_cast<std::size_t>(end - p)}, piece.last);
        switch (r.status) {
        case RepairedEvent::Status::NeedMore:
            return finish(Piece::End::Leftover, from);
        case RepairedEvent::Status::End:
            tallyRepairs(r.repairs, offsetOf(from), batch.tallies);
            return finish(p + r.consumed < end ? Piece::End::Closed : Piece::End::Whole, p + r.consumed);
        case RepairedEvent::Status::Skipped:
            tallyRepairs(r.repairs != 0 ? r.repairs : Repair::Garbage, offsetOf(from), batch.tallies);
            break;
        case RepairedEvent::Status::Event: {
            repaired = std::move(r.json);
            const std::size_t size = repaired.size();
            repaired.resize(size + scan::kPadding, '\0');
            const char* q = repaired.data();
            if (parser.parse(q, q + size, offsetOf(from), batch) != EventParser::Outcome::Event)
                r.repairs = Repair::Unreadable;
            tallyRepairs(r.repairs, offsetOf(from), batch.tallies);
            before = Event;
            break;
        }
        }
        p += std::max<std::size_t>(r.consumed, 1);
    }
}

/// Where the last event that begins in the text seems to begin, or 0.
std::size_t lastEventStart(std::string_view text) {
    for (std::size_t i = text.size(); i-- > 1;) {
        if (text[i] != '{')
            continue;
        std::size_t next = i + 1;
        while (next < text.size() && scan::isSpace(text[next]))
            ++next;
        if (next == text.size() || text[next] != '"')
            continue;
        std::size_t before = i;
        while (before > 0 && scan::isSpace(text[before - 1]))
            --before;
        if (before > 0 && text[before - 1] == ',') {
            --before;
            while (before > 0 && scan::isSpace(text[before - 1]))
                --before;
        }
        if (before > 0 && text[before - 1] == '}')
            return i;
    }
    return 0;
}

} // namespace

struct EventListReader::Impl {
    ByteSource& source;
    Trace& trace;
    Registry& registry;
    std::stop_token stop;
    Progress* progress;
    /// What reading takes beside a piece.
    struct Reader {
        EventParser parser;
        OpenBatch batch;
        BatchPacker packer;

        Reader(Trace& trace, Registry& registry) : parser(trace, registry) {}
        void read(Piece& piece, const std::stop_token& stop) {
            readPiece(parser, piece, batch, stop);
            piece.batch = packer.pack(batch);
        }
    };
    Reader own; ///< for what must be read again

    std::mutex mutex;
    std::condition_variable work, done;
    std::deque<Piece*> queue;
    bool quit = false;
    std::vector<std::unique_ptr<Piece>> pieces;
    std::vector<Piece*> unused;
    std::deque<Piece*> inFlight; ///< in the order of the file; the reading thread's own
    std::vector<std::jthread> threads;

    Impl(ByteSource& s, Trace& t, Registry& r, unsigned count, std::stop_token st, Progress* p)
        : source(s), trace(t), registry(r), stop(std::move(st)), progress(p), own(t, r) {
        for (unsigned i = 0; i < count * 2 + 2; ++i) {
            pieces.push_back(std::make_unique<Piece>());
            unused.push_back(pieces.back().get());
        }
        for (unsigned i = 0; i < count; ++i)
            threads.emplace_back([this] { run(); });
    }
    ~Impl() {
        {
            const std::lock_guard lock(mutex);
            quit = true;
            queue.clear();
        }
        work.notify_all();
    }

    void run() {
        Reader reader(trace, registry);
        for (;;) {
            Piece* piece = nullptr;
            {
                std::unique_lock lock(mutex);
                work.wait(lock, [this] { return quit || !queue.empty(); });
                if (quit)
                    return;
                piece = queue.front();
                queue.pop_front();
            }
            // No exception may leave a thread: the one that waits for the piece gets it.
            try {
                reader.read(*piece, stop);
            } catch (...) {
                piece->failure = std::current_exception();
            }
            {
                const std::lock_guard lock(mutex);
                piece->done = true;
            }
            done.notify_one();
        }
    }

    /// The next piece of the file, which begins with `pending`; null at the end. Leaves in `pending` what
    /// belongs to the piece after it.
    Result<Piece*> fill(Pending& pending) {
        Piece* piece = unused.back();
        piece->size = 0;
        piece->offset = pending.offset;
        piece->append(pending.text);
        pending.text.clear();
        std::size_t goal = kPieceBytes;
        for (;;) {
            piece->reserve(goal);
            while (!pending.atEnd && piece->size < goal) {
                auto got = source.read(piece->data.get() + piece->size, goal - piece->size);
                if (!got.ok())
                    return got.error();
                if (got.value() == 0)
                    pending.atEnd = true;
                piece->size += got.value();
            }
            if (progress != nullptr)
                progress->bytesDone = source.bytesDone();
            std::size_t cut = piece->size;
            if (!pending.atEnd) {
                cut = lastEventStart(piece->text());
                if (cut == 0) { // one event longer than a piece
                    if (stop.stop_requested())
                        return Error::cancelled();
                    if (piece->size < kMostEvent) {
                        goal = std::max(goal, piece->size) * 2;
                        continue;
                    }
                    cut = piece->size; // no event at all: let the forgiving reader get over it
                }
            }
            pending.text.assign(piece->data.get() + cut, piece->size - cut);
            pending.offset = piece->offset + cut;
            piece->size = cut;
            piece->last = pending.atEnd;
            piece->pad();
            if (piece->size == 0 && pending.atEnd)
                return static_cast<Piece*>(nullptr);
            unused.pop_back();
            return piece;
        }
    }

    void submit(Piece* piece) {
        piece->done = false;
        inFlight.push_back(piece);
        {
            const std::lock_guard lock(mutex);
            queue.push_back(piece);
        }
        work.notify_one();
    }

    Piece* oldest() {
        Piece* piece = inFlight.front();
        inFlight.pop_front();
        std::unique_lock lock(mutex);
        done.wait(lock, [&] { return piece->done; });
        return piece;
    }

    void accept(Piece& piece, std::vector<Batch>& out) const {
        if (progress != nullptr)
            progress->events += piece.batch.events;
        out.push_back(std::move(piece.batch));
    }

    Result<Done> read(Pending& pending, std::vector<Batch>& out, bool& closed) {
        closed = false;
        Piece leftover; // what a piece did not use, to be read again with the one after it
        bool more = true;
        for (;;) {
            while (more && !unused.empty()) {
                if (stop.stop_requested())
                    return abandon();
                auto next = fill(pending);
                if (!next.ok()) {
                    (void)abandon();
                    return next.error();
                }
                if (next.value() == nullptr) {
                    more = false;
                } else {
                    more = !next.value()->last;
                    submit(next.value());
                }
            }
            if (inFlight.empty()) {
                if (leftover.size == 0)
                    return Done{};
                leftover.last = true;
                leftover.pad();
                own.read(leftover, stop);
                closed = leftover.end == Piece::End::Closed;
                pending.text.insert(0, leftover.text().substr(leftover.consumed));
                pending.offset = leftover.offset + leftover.consumed;
                accept(leftover, out);
                return Done{};
            }
            Piece* piece = oldest();
            if (piece->failure)
                std::rethrow_exception(piece->failure);
            if (stop.stop_requested())
                return abandon();

            Piece* result = piece;
            if (leftover.size > 0) {
                leftover.append(piece->text());
                leftover.last = piece->last;
                leftover.pad();
                own.read(leftover, stop);
                result = &leftover;
            }
            accept(*result, out);
            const std::size_t used = result->consumed;
            const std::string_view rest = result->text().substr(used);
            const std::uint64_t restOffset = result->offset + used;
            if (result->end == Piece::End::Closed) {
                closed = true;
                std::string after(rest);
                unused.push_back(piece);
                while (!inFlight.empty()) {
                    Piece* later = oldest();
                    after += later->text();
                    unused.push_back(later);
                }
                pending.text.insert(0, after);
                pending.offset = restOffset;
                return Done{};
            }
            if (result->end == Piece::End::Leftover) {
                const std::string keep(rest);
                leftover.size = 0;
                leftover.append(keep);
                leftover.offset = restOffset;
            } else {
                leftover.size = 0;
            }
            unused.push_back(piece);
        }
    }

    Result<Done> abandon() {
        {
            const std::lock_guard lock(mutex);
            for (Piece* p : queue)
                p->done = true;
            queue.clear();
        }
        while (!inFlight.empty())
            unused.push_back(oldest());
        return Error::cancelled();
    }
};

EventListReader::EventListReader(ByteSource& source, Trace& trace, Registry& registry, unsigned threads,
                                 std::stop_token stop, Progress* progress)
    : m_impl(std::make_unique<Impl>(source, trace, registry, threads, std::move(stop), progress)) {}

EventListReader::~EventListReader() = default;

Result<Done> EventListReader::read(Pending& pending, std::vector<Batch>& out, bool& closed) {
    return m_impl->read(pending, out, closed);
}

} // namespace warpline::chrome
