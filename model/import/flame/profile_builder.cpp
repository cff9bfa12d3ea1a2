// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/flame/profile_builder.h"

#include "model/base/format.h"
#include "model/base/json.h"
#include "model/base/json_writer.h"
#include "model/import/byte_source.h"
#include "model/import/chrome/chrome_reader.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>

namespace warpline::flame {

namespace {

/// What is told of a kind of thing, with the number of them in front.
std::string noteText(std::string_view id, std::uint64_t count) {
    const bool one = count == 1;
    const std::string n = formatCount(static_cast<std::int64_t>(count));
    if (id == "invalid_line")
        return fmt::format("{} {} no stack with a number behind it and {} left out.", n,
                           one ? "line has" : "lines have", one ? "was" : "were");
    if (id == "fraction_rounded")
        return fmt::format("{} {} finer than one unit and {} rounded.", n, one ? "weight is" : "weights are",
                           one ? "was" : "were");
    if (id == "weight_missing")
        return fmt::format("{} {} no weight and {} as 1.", n, one ? "sample has" : "samples have",
                           one ? "counts" : "count");
    if (id == "weight_negative")
        return fmt::format("{} {} less than 0 and {} left out.", n, one ? "weight is" : "weights are",
                           one ? "was" : "were");
    if (id == "close_without_open")
        return fmt::format("{} {} a frame that was not open and {} left out.", n,
                           one ? "event closes" : "events close", one ? "was" : "were");
    if (id == "close_out_of_order")
        return fmt::format("{} {} a frame below others that were open: those were closed too.", n,
                           one ? "event closes" : "events close");
    if (id == "open_at_end")
        return fmt::format("{} {} never closed and {} to the end.", n, one ? "frame was" : "frames were",
                           one ? "lasts" : "last");
    if (id == "time_backwards")
        return fmt::format("{} {} earlier than the one before and {} taken for as late.", n,
                           one ? "event is" : "events are", one ? "was" : "were");
    if (id == "unknown_frame")
        return fmt::format("{} {} a frame that the file does not list and {} left out.", n,
                           one ? "entry names" : "entries name", one ? "was" : "were");
    return fmt::format("{}: {}.", id, n);
}

bool isPythonOfTorch(std::string_view name, std::size_t& at) {
    // "train.py(46):_forward": export_stacks writes _ for spaces.
    at = name.find("):_");
    if (at == std::string_view::npos || at == 0)
        return false;
    std::size_t digit = at;
    while (digit > 0 && name[digit - 1] >= '0' && name[digit - 1] <= '9')
        --digit;
    return digit < at && digit > 0 && name[digit - 1] == '(';
}

} // namespace

FileUnit fileUnit(std::string_view name) {
    if (name == "nanoseconds" || name == "ns")
        return {WeightUnit::Nanoseconds, 0};
    if (name == "microseconds" || name == "us")
        return {WeightUnit::Nanoseconds, 3};
    if (name == "milliseconds" || name == "ms")
        return {WeightUnit::Nanoseconds, 6};
    if (name == "seconds" || name == "s")
        return {WeightUnit::Nanoseconds, 9};
    if (name == "bytes")
        return {WeightUnit::Bytes, 0};
    return {WeightUnit::Count, 0};
}

bool parseScaled(std::string_view text, int exponent, std::int64_t& out, bool& rounded) {
    bool negative = false;
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '-' || text[at] == '+'))
        negative = text[at++] == '-';
    std::string digits;
    bool point = false;
    bool any = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            any = true;
            if (point)
                --exponent;
            if (!digits.empty() || c != '0')
                digits.push_back(c);
            if (digits.size() > 400)
                return false;
        } else {
            break;
        }
    }
    if (!any)
        return false;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        bool less = false;
        if (at < text.size() && (text[at] == '-' || text[at] == '+'))
            less = text[at++] == '-';
        int e = 0;
        const std::size_t begin = at;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
            e = std::min(10'000, e * 10 + (text[at] - '0'));
        if (at == begin)
            return false;
        exponent += less ? -e : e;
    }
    if (at != text.size())
        return false;
    out = 0;
    if (digits.empty())
        return true;
    const auto whole = static_cast<std::int64_t>(digits.size()) + exponent; // digits before the point
    if (whole > 19)
        return false;
    std::uint64_t value = 0;
    for (std::int64_t i = 0; i < whole; ++i) {
        const std::uint64_t d = i < static_cast<std::int64_t>(digits.size())
                                    ? static_cast<std::uint64_t>(digits[static_cast<std::size_t>(i)] - '0')
                                    : 0;
        if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
            __builtin_add_overflow(value, d, &value))
            return false;
    }
    const std::size_t from = whole > 0 ? static_cast<std::size_t>(whole) : 0;
    if (from < digits.size() && digits.find_first_not_of('0', from) != std::string::npos) {
        rounded = true;
        if (whole >= 0 && digits[from] >= '5')
            ++value;
    }
    if (value > static_cast<std::uint64_t>(INT64_MAX))
        return false;
    out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return true;
}

ProfileBuilder::ProfileBuilder(std::shared_ptr<FrameTable> frames, const ByteSource& source,
                               std::string format)
    : m_profile(std::make_shared<Profile>()), m_frames(std::move(frames)),
      m_stacks(std::make_shared<StackTable>()) {
    m_profile->path = source.name;
    m_profile->compression = source.compression;
    m_profile->fileBytes = source.fileBytes;
    m_profile->format = std::move(format);
}

bool ProfileBuilder::add(StackId stack, std::int64_t weight, std::uint64_t count) {
    if (stack.value >= m_weight.size()) {
        m_weight.resize(std::max<std::size_t>(stack.value + std::size_t{1}, m_weight.size() * 2));
        m_count.resize(m_weight.size());
    }
    if (__builtin_add_overflow(m_profile->total, weight, &m_profile->total))
        return false;
    m_weight[stack.value] += weight;
    m_count[stack.value] += count;
    return true;
}

void ProfileBuilder::note(const char* id, Diagnostic::Severity severity, std::uint64_t offset) {
    for (Note& n : m_notes) {
        if (std::string_view(n.id) == id) {
            ++n.count;
            return;
        }
    }
    m_notes.push_back({id, severity, 1, offset});
}

std::uint64_t ProfileBuilder::noted(std::string_view id) const {
    for (const Note& n : m_notes)
        if (n.id == id)
            return n.count;
    return 0;
}

Result<ProfilePtr> ProfileBuilder::finish(const ImportOptions& options) {
    for (std::uint32_t i = 0; i < m_weight.size(); ++i)
        if (m_weight[i] != 0)
            m_profile->weights.push_back({StackId{i}, m_weight[i], m_count[i], {}});
    for (const Note& n : m_notes)
        m_profile->diagnostics.set({n.id, n.severity, n.count, noteText(n.id, n.count), n.offset, INT64_MIN});
    if (!m_spans.empty())
        if (auto done = makeTimeline(options); !done.ok())
            return done.error();
    m_profile->frames = m_frames;
    m_profile->stacks = m_stacks;
    return ProfilePtr(std::move(m_profile));
}

/// The spans as a trace of one thread: what reads traces makes one of them.
Result<Done> ProfileBuilder::makeTimeline(const ImportOptions& options) {
    std::string text;
    JsonWriter json(text);
    const auto microseconds = [](TimeNs ns) {
        return ns < 0 ? fmt::format("-{}.{:03}", -(ns / 1000), -(ns % 1000))
                      : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    };
    json.beginObject().key("traceEvents").beginArray();
    const std::string thread = m_profile->name.empty() ? "profile" : m_profile->name;
    json.beginObject().field("ph", "M").field("name", "thread_name");
    json.field("pid", std::int64_t{1}).field("tid", std::int64_t{1});
    json.key("args").beginObject().field("name", thread).endObject().endObject();
    for (const Span& span : m_spans) {
        json.beginObject().field("ph", "X").field("cat", "profile");
        json.field("name", m_frames->name(span.frame));
        json.field("pid", std::int64_t{1}).field("tid", std::int64_t{1});
        json.key("ts").raw(microseconds(span.start));
        json.key("dur").raw(microseconds(span.end - span.start));
        json.endObject();
    }
    json.endArray().endObject();
    std::vector<Span>().swap(m_spans);
    ImportOptions own = options;
    own.progress = nullptr;
    return forEachByteSource(text, m_profile->path, [&](ByteSource& source) -> Result<Done> {
        auto trace = chrome::readChromeTrace(source, own);
        if (!trace.ok())
            return trace.error();
        trace.value()->path = m_profile->path;
        trace.value()->format = m_profile->format;
        trace.value()->compression = m_profile->compression;
        trace.value()->fileBytes = m_profile->fileBytes;
        m_profile->timeline = std::move(trace).value();
        return Done{};
    });
}

FrameId frameOfName(FrameTable& frames, std::string_view name) {
    constexpr std::size_t kLongestMangled = 4096;
    if (name.starts_with("_Z") && name.size() <= kLongestMangled) {
        int status = 0;
        char* plain = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
        if (plain != nullptr) {
            const FrameId frame = frames.intern(FrameKind::Function, plain);
            std::free(plain);
            return frame;
        }
    }
    if (name.starts_with("nn.Module:_"))
        return frames.intern(FrameKind::Python, fmt::format("nn.Module: {}", name.substr(11)));
    if (name.starts_with("nn.Module: "))
        return frames.intern(FrameKind::Python, name);
    std::size_t at = 0;
    if (isPythonOfTorch(name, at))
        return frames.intern(FrameKind::Python,
                             fmt::format("{}): {}", name.substr(0, at), name.substr(at + 3)));
    if (name.find(".py(") != std::string_view::npos && name.find("): ") != std::string_view::npos)
        return frames.intern(FrameKind::Python, name);
    return frames.intern(FrameKind::Function, name);
}

} // namespace warpline::flame
