// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/chrome_reader.h"

#include "model/base/json.h"
#include "model/import/chrome/builder.h"
#include "model/import/chrome/event_list.h"
#include "model/import/chrome/scan.h"
#include "model/import/sniff.h"

#include <fmt/format.h>

#include <thread>

namespace warpline::chrome {

namespace {

constexpr std::size_t kFirstRead = std::size_t{256} << 10;
/// Values beside the events longer than this, each or together, are dropped, with a diagnostic: nobody's
/// header is that long.
constexpr std::size_t kMostProperty = std::size_t{64} << 20;

/// Walks the frame around the event lists. Everything here is small; the lists themselves go to
/// EventListReader.
class FrameReader {
  public:
    FrameReader(ByteSource& source, const ImportOptions& options)
        : m_source(source), m_options(options), m_trace(std::make_shared<Trace>()), m_registry(*m_trace) {}

    Result<std::shared_ptr<Trace>> run() {
        if (auto r = readMore(kFirstRead); !r.ok())
            return r.error();
        const Sniffed what = sniff(m_pending.text, m_pending.atEnd);
        if (what.format == Sniffed::Format::Other)
            return Error::wrongKind(fmt::format("{}: {}", m_source.name, what.sentence));

        for (;;) {
            if (auto r = skipSpace(); !r.ok())
                return r.error();
            if (atEnd())
                break;
            const char c = peek();
            if (c == '[') {
                if (m_lists > 0)
                    ++m_restarts;
                m_at++;
                if (auto r = events(); !r.ok())
                    return r.error();
            } else if (c == '{') {
                if (auto r = object(); !r.ok())
                    return r.error();
            } else if (c == ',' || c == ']' || c == '}') {
                ++m_at; // closes something that an earlier list or object left open
            } else {
                if (!recover())
                    break;
            }
        }
        if (what.format == Sniffed::Format::Undecided && m_lists == 0)
            return Error::wrongKind(fmt::format("{}: {}", m_source.name, what.sentence));
        m_trace->path = m_source.name;
        m_trace->compression = m_source.compression;
        m_trace->fileBytes = m_source.fileBytes;
        m_reader.reset(); // its buffers
        BuildInput input{std::move(m_batches), m_registry, {}, m_options};
        input.frame = {m_source.damage(), m_unclosed, m_brokenFrame,
                       m_brokenFrameAt,   m_restarts, m_droppedProperties};
        if (auto r = build(*m_trace, std::move(input)); !r.ok())
            return r.error();
        return std::move(m_trace);
    }

  private:
    Result<Done> readMore(std::size_t bytes) {
        if (m_pending.atEnd)
            return Done{};
        if (m_options.stop.stop_requested())
            return Error::cancelled();
        // What was walked over is let go first.
        if (m_at > 0) {
            m_pending.text.erase(0, m_at);
            m_pending.offset += m_at;
            m_at = 0;
        }
        std::string& text = m_pending.text;
        const std::size_t had = text.size();
        text.resize(had + bytes);
        std::size_t got = 0;
        while (got < bytes) {
            auto r = m_source.read(text.data() + had + got, bytes - got);
            if (!r.ok())
                return r.error();
            if (r.value() == 0) {
                m_pending.atEnd = true;
                break;
            }
            got += r.value();
        }
        text.resize(had + got);
        if (m_options.progress != nullptr)
            m_options.progress->bytesDone = m_source.bytesDone();
        return Done{};
    }
    [[nodiscard]] bool atEnd() const { return m_at >= m_pending.text.size() && m_pending.atEnd; }
    [[nodiscard]] char peek() const { return m_at < m_pending.text.size() ? m_pending.text[m_at] : '\0'; }
    Result<Done> skipSpace() {
        for (;;) {
            while (m_at < m_pending.text.size() && scan::isSpace(m_pending.text[m_at]))
                ++m_at;
            if (m_at < m_pending.text.size() || m_pending.atEnd)
                return Done{};
            if (auto r = readMore(kFirstRead); !r.ok())
                return r.error();
        }
    }

    /// The whole value (or string) at m_at, or nothing where it never ends. Reads on as far as it takes.
    Result<std::optional<std::string>> wholeValue() {
        std::size_t step = kFirstRead;
        for (;;) {
            std::string& text = m_pending.text;
            const std::size_t size = text.size();
            text.append(scan::kPadding, '\0');
            const char* from = text.data() + m_at;
            const char* end = nullptr;
            const char* stop = nullptr;
            if (*from == '"') {
                bool escaped = false;
                end = scan::stringEnd(from + 1, escaped, stop);
                if (end != nullptr)
                    ++end;
            } else if (*from == '{' || *from == '[') {
                end = scan::nestedEnd(from, stop);
            } else {
                end = scan::scalarEnd(from);
                if (end == from || (end == text.data() + size && !m_pending.atEnd))
                    end = nullptr;
            }
            if (end != nullptr && end > text.data() + size)
                end = nullptr;
            std::optional<std::string> value;
            if (end != nullptr)
                value.emplace(from, end);
            text.resize(size);
            if (value) {
                m_at += value->size();
                return value;
            }
            if (m_pending.atEnd || size - m_at > kMostProperty)
                return value;
            if (auto r = readMore(step); !r.ok())
                return r.error();
            step *= 2;
        }
    }

    /// Reads an event list from m_at on. A bare one has no brackets.
    Result<Done> events(bool bare = false) {
        ++m_lists;
        m_pending.text.erase(0, m_at);
        m_pending.offset += m_at;
        m_at = 0;
        if (!m_reader) {
            unsigned threads = m_options.threads != 0 ? m_options.threads
                                                      : std::max(1u, std::thread::hardware_concurrency());
            m_reader = std::make_unique<EventListReader>(m_source, *m_trace, m_registry, threads,
                                                         m_options.stop, m_options.progress);
        }
        bool closed = false;
        if (auto r = m_reader->read(m_pending, m_batches, closed); !r.ok())
            return r.error();
        if (!closed && !bare)
            m_unclosed = true;
        return Done{};
    }

    /// An object of the frame: its members become properties, its "traceEvents" are read. Leaves m_at behind
    /// it, or where it went wrong.
    Result<Done> object() {
        const std::uint64_t brace = m_pending.offset + m_at++;
        const std::size_t known = m_trace->properties.size();
        for (;;) {
            if (auto r = skipSpace(); !r.ok())
                return r.error();
            if (peek() == ',') {
                ++m_at;
                continue;
            }
            if (peek() == '}') {
                ++m_at;
                return Done{};
            }
            if (atEnd()) {
                m_unclosed = true;
                return Done{};
            }
            if (peek() != '"')
                return broken();
            auto key = wholeValue();
            if (!key.ok())
                return key.error();
            if (!key.value())
                return broken();
            const std::string name = key.value()->substr(1, key.value()->size() - 2);
            // Events one after the other, without a list around them.
            if (name == "ph" && brace >= m_pending.offset) {
                m_at = static_cast<std::size_t>(brace - m_pending.offset);
                m_trace->properties.resize(known);
                return events(true);
            }
            if (auto r = skipSpace(); !r.ok())
                return r.error();
            if (peek() != ':')
                return broken();
            ++m_at;
            if (auto r = skipSpace(); !r.ok())
                return r.error();
            if (name == "traceEvents" && peek() == '[') {
                if (m_lists > 0)
                    ++m_restarts;
                ++m_at;
                if (auto r = events(); !r.ok())
                    return r.error();
                continue;
            }
            auto value = wholeValue();
            if (!value.ok())
                return value.error();
            if (!value.value())
                return broken();
            std::string plain;
            if (!appendUnescaped(plain, name))
                plain = name;
            keepProperty(std::move(plain), toUtf8(*value.value()));
        }
    }
    /// Properties are JSON. A value that only has the outline of one is kept as the text it is.
    void keepProperty(std::string key, std::string value) {
        m_propertyBytes += key.size() + value.size();
        if (m_propertyBytes > kMostProperty) {
            ++m_droppedProperties;
            return;
        }
        if (!isStrictJson(value)) {
            noteBroken();
            std::string text;
            appendJsonString(text, value);
            value = std::move(text);
        }
        m_trace->properties.emplace_back(std::move(key), std::move(value));
    }
    void noteBroken() {
        if (m_brokenFrame)
            return;
        m_brokenFrame = true;
        m_brokenFrameAt = m_pending.offset + m_at;
    }
    /// The frame is not JSON here: note it and look for the event list.
    Result<Done> broken() {
        noteBroken();
        static constexpr std::string_view kList = "\"traceEvents\"";
        while (m_lists == 0) {
            std::size_t at = m_pending.text.find(kList, m_at);
            if (at != std::string::npos) {
                at = m_pending.text.find('[', at);
                if (at != std::string::npos) {
                    m_at = at + 1;
                    return events();
                }
            }
            if (m_pending.atEnd)
                break;
            // The name may be cut by the end of what was read.
            m_at = std::max(m_at, m_pending.text.size() - std::min(m_pending.text.size(), kList.size() + 64));
            if (auto r = readMore(kFirstRead * 4); !r.ok())
                return r.error();
        }
        // After the events: what cannot be read there is a property or two.
        m_at = m_pending.text.size();
        while (!m_pending.atEnd) {
            if (auto r = readMore(kFirstRead * 4); !r.ok())
                return r.error();
            m_at = m_pending.text.size();
        }
        return Done{};
    }
    bool recover() {
        (void)broken();
        return !atEnd();
    }

    ByteSource& m_source;
    const ImportOptions& m_options;
    std::shared_ptr<Trace> m_trace;
    Registry m_registry;
    std::unique_ptr<EventListReader> m_reader;
    Pending m_pending;
    std::size_t m_at = 0; ///< how far m_pending.text was walked
    std::vector<Batch> m_batches;
    std::uint64_t m_lists = 0;
    std::uint64_t m_restarts = 0;
    std::size_t m_propertyBytes = 0;
    std::uint64_t m_droppedProperties = 0;
    bool m_unclosed = false;
    bool m_brokenFrame = false;
    std::uint64_t m_brokenFrameAt = 0;
};

} // namespace

Result<std::shared_ptr<Trace>> readChromeTrace(ByteSource& source, const ImportOptions& options) {
    return FrameReader(source, options).run();
}

} // namespace warpline::chrome
