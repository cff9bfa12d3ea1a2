// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/wpl/wpl_reader.h"

#include "model/base/format.h"
#include "model/import/wpl/build_recording.h"
#include "model/import/wpl/tables.h"
#include "model/store/wpl/block.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace warpline::wpl {

namespace {

/// What the four letters of a type read like, for messages.
std::string nameOf(ChunkType type) {
    std::string name;
    for (int i = 0; i < 4; ++i) {
        const auto c = static_cast<char>(static_cast<std::uint32_t>(type) >> (8 * i));
        name.push_back(c > ' ' && c < 0x7F ? c : '?');
    }
    return name;
}

bool isKnown(ChunkType type) {
    switch (type) {
    case ChunkType::Head:
    case ChunkType::Slices:
    case ChunkType::Links:
    case ChunkType::Counters:
    case ChunkType::Memory:
    case ChunkType::Flows:
    case ChunkType::Processes:
    case ChunkType::Tracks:
    case ChunkType::Lanes:
    case ChunkType::Devices:
    case ChunkType::Steps:
    case ChunkType::Events:
    case ChunkType::EventMemory:
    case ChunkType::EventCounters:
    case ChunkType::Index:
        return true;
    default:
        return isDictionaryChunk(type);
    }
}

class Reader {
  public:
    Reader(ByteSource& source, const ImportOptions& options)
        : m_source(source), m_options(options),
          m_chunks([&source](char* to, std::size_t size) { return source.read(to, size); }) {}

    Result<std::shared_ptr<Trace>> run() {
        if (auto begun = m_chunks.begin(m_source.name); !begun.ok())
            return begun.error();
        auto head = nextChunk();
        if (!head.ok())
            return head.error();
        if (!head.value())
            return Error::failed(
                fmt::format("{}: the recording was cut off before anything was in it.", m_source.name));
        const auto raw = head.value()->unpack();
        BlockReader r(raw ? std::string_view(*raw) : std::string_view());
        const std::uint64_t layout = r.number();
        if (head.value()->header.type != ChunkType::Head || !r.ok())
            return Error::failed(fmt::format("{}: its head is damaged.", m_source.name));
        Result<std::shared_ptr<Trace>> trace = layout == static_cast<std::uint64_t>(Layout::Recording)
                                                   ? recording()
                                                   : tables(std::move(*head.value()));
        if (!trace.ok())
            return trace;
        Trace& t = *trace.value();
        t.path = m_source.name;
        t.compression = m_source.compression;
        t.fileBytes = m_source.fileBytes;
        return trace;
    }

  private:
    Result<std::optional<StoredChunk>> nextChunk() {
        if (m_options.stop.stop_requested())
            return Error::cancelled();
        auto chunk = m_chunks.next();
        if (m_options.progress != nullptr)
            m_options.progress->bytesDone = m_source.bytesDone();
        if (chunk.ok() && chunk.value()) {
            const ChunkHeader& h = chunk.value()->header;
            if ((h.flags & ~ChunkFlag::Known) != 0 ||
                ((h.flags & ChunkFlag::Needed) != 0 && !isKnown(h.type)))
                return Error::failed(
                    fmt::format("{}: a newer Warpline wrote it (it has {} chunks); open it with that "
                                "one.",
                                m_source.name, nameOf(h.type)));
        }
        return chunk;
    }
    [[nodiscard]] unsigned threads() const {
        return m_options.threads != 0 ? m_options.threads : std::max(1u, std::thread::hardware_concurrency());
    }

    Result<std::shared_ptr<Trace>> tables(StoredChunk head) {
        std::vector<StoredChunk> chunks;
        chunks.push_back(std::move(head));
        for (;;) {
            auto chunk = nextChunk();
            if (!chunk.ok())
                return chunk.error();
            if (!chunk.value())
                break;
            chunks.push_back(std::move(*chunk.value()));
        }
        if (m_options.progress != nullptr)
            m_options.progress->stage = Progress::Stage::Arranging;
        std::optional<BadChunk> bad;
        const bool whole = m_chunks.end() == ChunkReader::End::Whole;
        auto trace = readTables(chunks, whole, threads(), bad);
        if (!trace && !whole)
            return Error::failed(
                fmt::format("{}: the saved trace is {} at byte {}, too early for anything to be "
                            "shown. Convert it again from its source.",
                            m_source.name, m_chunks.end() == ChunkReader::End::Cut ? "cut off" : "damaged",
                            m_chunks.offset()));
        if (!trace)
            return Error::failed(
                fmt::format("{}: the {} chunk at byte {} does not fit the others; the file is "
                            "damaged. Convert it again from its source.",
                            m_source.name, nameOf(bad->type), bad->offset));
        if (!whole) {
            Diagnostic d;
            d.id = "saved_trace_cut";
            d.severity = Diagnostic::Severity::DataLoss;
            d.count = 1;
            d.firstOffset = m_chunks.offset();
            d.message = fmt::format(
                "The saved trace breaks off at byte {}: later rows, links and counters are missing. "
                "Convert it again from its source.",
                m_chunks.offset());
            trace->diagnostics.set(std::move(d));
        }
        return trace;
    }

    Result<std::shared_ptr<Trace>> recording() {
        Dictionary dictionary;
        std::vector<EventBlockPtr> blocks;
        std::optional<BadChunk> bad;
        for (;;) {
            auto next = nextChunk();
            if (!next.ok())
                return next.error();
            if (!next.value())
                break;
            const StoredChunk& chunk = *next.value();
            const ChunkType type = chunk.header.type;
            const bool events = type == ChunkType::Events || type == ChunkType::EventMemory ||
                                type == ChunkType::EventCounters;
            if (!events && !isDictionaryChunk(type))
                continue;
            const auto raw = chunk.unpack();
            bool ok = raw.has_value();
            if (ok && events) {
                auto block = std::make_shared<EventBlock>();
                ok = readEventChunk(chunk.header, *raw, dictionary, *block);
                if (ok) {
                    blocks.push_back(std::move(block));
                    givePartial(dictionary, blocks);
                }
            } else if (ok) {
                ok = readDictionaryChunk(chunk.header, *raw, dictionary);
            }
            if (!ok) {
                bad = BadChunk{chunk.offset, type};
                break;
            }
        }
        auto trace = buildRecording(dictionary, blocks, m_options);
        if (trace.ok())
            tellEnd(*trace.value(), bad);
        return trace;
    }

    void givePartial(const Dictionary& dictionary, const std::vector<EventBlockPtr>& blocks) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begin = Clock::now();
        if (!m_options.partial || begin < m_nextPartial)
            return;
        constexpr std::size_t kMostEvents = 200'000;
        std::size_t first = blocks.size();
        for (std::size_t events = 0; first > 0 && events < kMostEvents; --first)
            events += blocks[first - 1]->events.size();
        ImportOptions options;
        options.threads = m_options.threads;
        options.stop = m_options.stop;
        const auto trace = buildRecording(
            dictionary, {blocks.begin() + static_cast<std::ptrdiff_t>(first), blocks.end()}, options);
        if (trace.ok() && trace.value()->slices.size() > 0) {
            trace.value()->path = m_source.name;
            m_options.partial(trace.value());
        }
        // Who writes into the pipe waits meanwhile: two thirds of the time are for reading.
        constexpr std::chrono::milliseconds kLeast(250);
        const Clock::time_point end = Clock::now();
        m_nextPartial = end + std::max<Clock::duration>(kLeast, 2 * (end - begin));
    }

    void tellEnd(Trace& trace, const std::optional<BadChunk>& bad) const {
        Diagnostic d;
        d.count = 1;
        if (bad) {
            d.id = "recording_damaged";
            d.severity = Diagnostic::Severity::DataLoss;
            d.firstOffset = bad->offset;
            d.message =
                fmt::format("The recording is damaged at byte {} ({}); what comes after that was not read.",
                            bad->offset, nameOf(bad->type));
        } else if (m_chunks.end() == ChunkReader::End::Damaged) {
            d.id = "recording_damaged";
            d.severity = Diagnostic::Severity::DataLoss;
            d.firstOffset = m_chunks.offset();
            d.message =
                fmt::format("The recording is damaged at byte {}; what comes after that was not read.",
                            m_chunks.offset());
        } else if (m_chunks.end() == ChunkReader::End::Cut) {
            d.id = "recording_cut";
            d.severity = Diagnostic::Severity::Warning;
            d.firstOffset = m_chunks.offset();
            d.message = "The recording has no end: the recorder was stopped while it wrote. All that it "
                        "wrote is here, "
                        "the last second may be missing.";
        } else {
            return;
        }
        trace.diagnostics.set(std::move(d));
    }

    ByteSource& m_source;
    const ImportOptions& m_options;
    ChunkReader m_chunks;
    std::chrono::steady_clock::time_point m_nextPartial;
};

} // namespace

bool isWpl(std::string_view head) {
    return head.starts_with(kMagic);
}

Result<std::shared_ptr<Trace>> readWpl(ByteSource& source, const ImportOptions& options) {
    return Reader(source, options).run();
}

} // namespace warpline::wpl
