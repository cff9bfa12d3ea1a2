// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/json_reader.h"

#include "model/base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace warpline::snapshot {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr std::size_t kMostDepth = 64;
/// Items are given to their list in batches, so that the stack stays small.
constexpr std::size_t kBatch = 1000;

/// Reads JSON character by character and drives the machine with it; without recursion.
class JsonReader {
  public:
    JsonReader(ByteSource* source, std::string_view text, Machine& machine, const ImportOptions& options)
        : m_source(source), m_machine(machine), m_options(options), m_data(text.data()), m_end(text.size()) {
        if (source != nullptr)
            m_buffer = std::make_unique<char[]>(kBuffer);
    }

    /// One value; false at an error or the end, wrong() says which.
    bool value() {
        m_levels.clear();
        for (;;) {
            if (!scalarOrOpen())
                return false;
            // After a value: close what ends here.
            for (;;) {
                if (m_levels.empty())
                    return true;
                Level& level = m_levels.back();
                const int c = next();
                if (c == ',') {
                    if (++level.items % kBatch == 0) {
                        flush(level);
                        m_machine.mark();
                    }
                    if (level.object && !key())
                        return false;
                    break;
                }
                if (c != (level.object ? '}' : ']'))
                    return c < 0 ? false : bad("a comma or a bracket is missing");
                flush(level);
                m_levels.pop_back();
            }
        }
    }
    bool end() { return next() < 0 && m_wrong == nullptr; }
    [[nodiscard]] const char* wrong() const { return m_wrong; }
    [[nodiscard]] bool overBudget() const { return m_overBudget; }
    [[nodiscard]] bool cancelled() const { return m_cancelled; }
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    [[nodiscard]] std::uint64_t offset() const { return m_base + m_at; }

  private:
    struct Level {
        bool object;
        std::size_t items = 0;
    };

    bool bad(const char* what) {
        m_wrong = what;
        return false;
    }
    void flush(const Level& level) {
        if (level.object)
            m_machine.setItems();
        else
            m_machine.appends();
    }
    /// The next character, or -1.
    int get() {
        if (m_at == m_end && !fill())
            return -1;
        return static_cast<unsigned char>(m_data[m_at++]);
    }
    int next() {
        int c = get();
        while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            c = get();
        return c;
    }
    bool fill() {
        if (m_source == nullptr)
            return false;
        if (m_options.stop.stop_requested()) {
            m_cancelled = true;
            return false;
        }
        m_base += m_end;
        m_at = m_end = 0;
        auto r = m_source->read(m_buffer.get(), kBuffer);
        if (!r.ok()) {
            m_error = r.error();
            return false;
        }
        m_data = m_buffer.get();
        m_end = r.value();
        if (m_options.progress != nullptr) {
            m_options.progress->bytesDone = m_source->bytesDone();
            m_options.progress->events = m_machine.rows();
        }
        return m_end > 0;
    }

    bool scalarOrOpen() {
        for (;;) {
            if ((++m_values & 255) == 0) {
                m_machine.setOffset(offset());
                if (m_machine.overBudget()) {
                    m_overBudget = true;
                    return bad("it builds far more than its own size");
                }
            }
            const int c = next();
            if (c < 0)
                return false;
            if (c == '{' || c == '[') {
                if (m_levels.size() >= kMostDepth)
                    return bad("it is nested too deep");
                if (c == '{')
                    m_machine.pushDict();
                else
                    m_machine.pushList();
                m_machine.mark();
                m_levels.push_back({c == '{'});
                const int first = next();
                if (first == (c == '{' ? '}' : ']')) {
                    flush(m_levels.back());
                    m_levels.pop_back();
                    return true;
                }
                if (first < 0)
                    return false;
                --m_at; // there is one: it was just read from this buffer
                if (c == '{' && !key())
                    return false;
                continue;
            }
            if (c == '"') {
                if (!text())
                    return false;
                m_machine.pushText(m_text);
                return true;
            }
            return word(static_cast<char>(c));
        }
    }
    bool key() {
        const int c = next();
        if (c != '"')
            return c < 0 ? false : bad("a key is missing");
        if (!text())
            return false;
        m_machine.pushText(m_text);
        const int colon = next();
        if (colon != ':')
            return colon < 0 ? false : bad("a colon is missing");
        return true;
    }
    bool text() {
        m_text.clear();
        bool escaped = false;
        for (;;) {
            // A run without quotes and escapes at once.
            const std::size_t from = m_at;
            while (m_at < m_end && m_data[m_at] != '"' && m_data[m_at] != '\\')
                ++m_at;
            if (m_text.size() < kMostText)
                m_text.append(m_data + from, m_at - from);
            const int c = get();
            if (c < 0)
                return false;
            if (c == '"')
                break;
            m_text.push_back(static_cast<char>(c));
            if (c == '\\') {
                escaped = true;
                const int after = get();
                if (after < 0)
                    return false;
                m_text.push_back(static_cast<char>(after));
            }
        }
        if (escaped) {
            std::string plain;
            if (!appendUnescaped(plain, m_text))
                return bad("a text has a bad escape");
            m_text.swap(plain);
        }
        return true;
    }
    bool word(char first) {
        char word[64];
        std::size_t n = 0;
        word[n++] = first;
        for (;;) {
            if (m_at == m_end && !fill())
                break;
            const char c = m_data[m_at];
            if (c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t' ||
                c == ':')
                break;
            if (n == sizeof word)
                return bad("there is no such value");
            word[n++] = c;
            ++m_at;
        }
        const std::string_view view(word, n);
        if (view == "true" || view == "false") {
            m_machine.pushBool(view == "true");
            return true;
        }
        if (view == "null" || view == "NaN") {
            m_machine.pushNone();
            return true;
        }
        std::int64_t integer = 0;
        if (const auto r = std::from_chars(word, word + n, integer);
            r.ec == std::errc() && r.ptr == word + n) {
            m_machine.pushInt(integer);
            return true;
        }
        std::uint64_t unsignedInteger = 0;
        if (const auto r = std::from_chars(word, word + n, unsignedInteger);
            r.ec == std::errc() && r.ptr == word + n) {
            m_machine.pushUnsigned(unsignedInteger);
            return true;
        }
        double real = 0;
        if (const auto r = std::from_chars(word, word + n, real); r.ec == std::errc() && r.ptr == word + n) {
            m_machine.pushFloat(real);
            return true;
        }
        return bad("there is no such value");
    }

    ByteSource* m_source;
    Machine& m_machine;
    const ImportOptions& m_options;
    std::unique_ptr<char[]> m_buffer;
    const char* m_data;
    std::size_t m_at = 0;
    std::size_t m_end;
    std::uint64_t m_base = 0;
    std::vector<Level> m_levels;
    std::string m_text;
    std::uint64_t m_values = 0;
    const char* m_wrong = nullptr;
    bool m_overBudget = false;
    bool m_cancelled = false;
    std::optional<Error> m_error;
};

} // namespace

Result<Done> readJson(ByteSource& source, Sink& sink, const ImportOptions& options) {
    Machine machine(sink);
    JsonReader reader(&source, {}, machine, options);
    const bool whole = reader.value();
    if (reader.cancelled())
        return Error::cancelled();
    if (reader.error())
        return *reader.error();
    if (reader.overBudget())
        return Error::failed(
            fmt::format("{}: Up to byte {} this snapshot builds far more than its own size, so reading "
                        "it was given up.",
                        source.name, reader.offset()));
    if (whole) {
        if (machine.finish())
            return Done{};
        return Error::wrongKind(fmt::format("{}: This is JSON, but not a PyTorch memory snapshot: {}.",
                                            source.name, machine.error()));
    }
    const auto damage = source.damage();
    sink.cut = {reader.wrong() != nullptr ? reader.wrong()
                : damage                  ? damage->message
                                          : "the JSON is not finished",
                reader.offset()};
    if (!machine.finishCut())
        return Error::failed(
            fmt::format("{}: This memory snapshot (JSON) breaks off at byte {} ({}) before any segment "
                        "or event is complete. Write or copy it again.",
                        source.name, reader.offset(), sink.cut->first));
    return Done{};
}

bool pushJson(std::string_view text, Machine& machine) {
    const ImportOptions options;
    JsonReader reader(nullptr, text, machine, options);
    return reader.value() && reader.end();
}

} // namespace warpline::snapshot
