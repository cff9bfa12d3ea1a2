// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/flame/json_cursor.h"
#include "model/import/flame/profile_builder.h"
#include "model/import/flame/profile_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace warpline::flame {

namespace {

using Type = JsonCursor::Type;
using Severity = Diagnostic::Severity;

/// One profile's members, where they stand in the text: events need the unit, which may come after them.
struct Outline {
    std::string type;
    std::string name;
    std::string unit;
    std::string startValue = "0";
    std::string endValue;
    std::size_t events = 0; ///< 0 = not there
    std::size_t samples = 0;
    std::size_t weights = 0;
};

class SpeedscopeReader {
  public:
    SpeedscopeReader(std::string_view text, const ByteSource& source, const ImportOptions& options)
        : m_json(text), m_source(source), m_options(options) {}

    Result<std::vector<ProfilePtr>> run() {
        std::size_t profilesAt = 0;
        const bool whole = m_json.object([&](std::string_view key) {
            if (key == "profiles" && m_json.peek() == Type::Array) {
                profilesAt = m_json.offset();
                return m_json.skip();
            }
            if (key == "shared" && m_json.peek() == Type::Object)
                return m_json.object([&](std::string_view k) {
                    return k == "frames" && m_json.peek() == Type::Array ? readFrames() : m_json.skip();
                });
            if (key == "name" && m_json.peek() == Type::String)
                return m_json.string(m_fileName);
            if (key == "activeProfileIndex" && m_json.peek() == Type::Number) {
                std::string_view number;
                bool rounded = false;
                return m_json.number(number) && (parseScaled(number, 0, m_active, rounded) || true);
            }
            return m_json.skip();
        });
        if (!whole)
            return broken();
        if (profilesAt == 0)
            return Error::wrongKind(
                fmt::format("{}: this JSON has no \"profiles\", as a speedscope file has.", m_source.name));
        m_json.seek(profilesAt);
        const bool read = m_json.array([&] { return readProfile(); });
        if (m_error)
            return *m_error;
        if (m_options.stop.stop_requested())
            return Error::cancelled();
        if (!read)
            return broken();
        if (m_profiles.empty())
            return Error::failed(
                fmt::format("{}: this speedscope file holds no profile (its list is empty).", m_source.name));
        if (m_active > 0 && static_cast<std::uint64_t>(m_active) < m_profiles.size())
            std::rotate(m_profiles.begin(), m_profiles.begin() + m_active, m_profiles.begin() + m_active + 1);
        return std::move(m_profiles);
    }

  private:
    [[nodiscard]] Error broken() const {
        return Error::failed(
            fmt::format("{}: this speedscope file breaks off or is no JSON at byte {}. Write "
                        "or copy it again.",
                        m_source.name, m_json.offset()));
    }
    bool failed(std::string message) {
        m_error = Error::failed(std::move(message));
        return m_json.fail();
    }

    bool readFrames() {
        return m_json.array([&] {
            if (m_json.peek() != Type::Object)
                return m_json.skip();
            std::string name;
            std::string file;
            std::int64_t line = 0;
            const bool read = m_json.object([&](std::string_view key) {
                if (key == "name" && m_json.peek() == Type::String)
                    return m_json.string(name);
                if (key == "file" && m_json.peek() == Type::String)
                    return m_json.string(file);
                if (key == "line" && m_json.peek() == Type::Number) {
                    std::string_view number;
                    bool rounded = false;
                    return m_json.number(number) && (parseScaled(number, 0, line, rounded) || true);
                }
                return m_json.skip();
            });
            FrameId frame = frameOfName(*m_frames, name);
            if (m_frames->at(frame).kind == FrameKind::Function && !file.empty()) {
                const auto most = std::int64_t{std::numeric_limits<std::uint32_t>::max()};
                const FrameKind kind = file.ends_with(".py") ? FrameKind::Python : FrameKind::Function;
                frame = m_frames->intern(kind, m_frames->name(frame), file,
                                         static_cast<std::uint32_t>(std::clamp<std::int64_t>(line, 0, most)));
            }
            m_byIndex.push_back(frame);
            return read;
        });
    }

    bool readProfile() {
        if (m_json.peek() != Type::Object)
            return m_json.skip();
        Outline o;
        const auto list = [&](std::size_t& at) {
            m_json.peek();
            at = m_json.offset();
            return m_json.skip();
        };
        const auto text = [&](std::string& to) {
            return m_json.peek() == Type::String ? m_json.string(to) : m_json.skip();
        };
        const auto number = [&](std::string& to) {
            std::string_view digits;
            if (m_json.peek() != Type::Number)
                return m_json.skip();
            if (!m_json.number(digits))
                return false;
            to = digits;
            return true;
        };
        const bool read = m_json.object([&](std::string_view key) {
            if (key == "type")
                return text(o.type);
            if (key == "name")
                return text(o.name);
            if (key == "unit")
                return text(o.unit);
            if (key == "startValue")
                return number(o.startValue);
            if (key == "endValue")
                return number(o.endValue);
            if (key == "events")
                return list(o.events);
            if (key == "samples")
                return list(o.samples);
            if (key == "weights")
                return list(o.weights);
            return m_json.skip();
        });
        if (!read)
            return false;
        const std::size_t behind = m_json.offset();
        ProfileBuilder builder(m_frames, m_source, "speedscope profile");
        builder.profile().name = o.name.empty() ? m_fileName : o.name;
        m_unit = fileUnit(o.unit);
        builder.profile().unit = m_unit.unit;
        bool done = false;
        if (o.type == "evented" || (o.type.empty() && o.events != 0))
            done = evented(builder, o);
        else if (o.type == "sampled" || (o.type.empty() && o.samples != 0))
            done = sampled(builder, o);
        else
            return failed(fmt::format("{}: its profile \"{}\" is of the type \"{}\", which is neither "
                                      "\"sampled\" nor \"evented\".",
                                      m_source.name, o.name, o.type));
        if (!done)
            return m_json.fail();
        auto profile = builder.finish(m_options);
        if (!profile.ok()) {
            m_error = profile.error();
            return m_json.fail();
        }
        m_profiles.push_back(std::move(profile).value());
        m_json.seek(behind);
        return true;
    }

    bool overflow(const Outline& o) {
        return failed(fmt::format("{}: the weights of its profile \"{}\" add up to more than can be counted "
                                  "(2^63).",
                                  m_source.name, o.name));
    }
    /// A frame by its number in the shared list.
    [[nodiscard]] FrameId frameAt(std::string_view number) const {
        std::int64_t index = -1;
        bool rounded = false;
        if (!parseScaled(number, 0, index, rounded) || rounded || index < 0 ||
            static_cast<std::uint64_t>(index) >= m_byIndex.size())
            return {};
        return m_byIndex[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] bool stopped() { return ++m_steps % 65536 == 0 && m_options.stop.stop_requested(); }

    bool sampled(ProfileBuilder& builder, const Outline& o) {
        if (o.samples == 0)
            return failed(
                fmt::format("{}: its sampled profile \"{}\" has no \"samples\".", m_source.name, o.name));
        // The weights first: samples are of use with them only.
        std::vector<std::int64_t> weights;
        if (o.weights != 0) {
            m_json.seek(o.weights);
            const bool read = m_json.array([&] {
                std::int64_t weight = 0;
                bool rounded = false;
                std::string_view number;
                const std::size_t at = m_json.offset();
                if (m_json.peek() != Type::Number)
                    return m_json.skip() && (weights.push_back(0), true);
                if (!m_json.number(number))
                    return false;
                if (!parseScaled(number, m_unit.exponent, weight, rounded))
                    return overflow(o);
                if (rounded)
                    builder.note("fraction_rounded", Severity::Warning, at);
                if (weight < 0) {
                    builder.note("weight_negative", Severity::DataLoss, at);
                    weight = 0;
                }
                weights.push_back(weight);
                return !stopped();
            });
            if (!read)
                return false;
        }
        const bool timed = m_unit.unit == WeightUnit::Nanoseconds && o.weights != 0;
        std::int64_t now = 0;
        bool rounded = false;
        if (!parseScaled(o.startValue, m_unit.exponent, now, rounded))
            now = 0;
        std::vector<FrameId> frames;
        std::vector<std::size_t> open; // spans of the frames that are on the stack
        std::vector<Span>& spans = builder.spans();
        std::size_t index = 0;
        m_json.seek(o.samples);
        return m_json.array([&] {
            frames.clear();
            const std::size_t at = m_json.offset();
            if (m_json.peek() != Type::Array)
                return m_json.skip();
            const bool read = m_json.array([&] {
                std::string_view number;
                if (m_json.peek() != Type::Number || !m_json.number(number))
                    return m_json.fail();
                if (const FrameId frame = frameAt(number))
                    frames.push_back(frame);
                else
                    builder.note("unknown_frame", Severity::DataLoss, m_json.offset());
                return true;
            });
            if (!read)
                return false;
            std::int64_t weight = 1;
            if (index < weights.size())
                weight = weights[index];
            else
                builder.note("weight_missing", Severity::Warning, at);
            ++index;
            StackId stack;
            for (const FrameId frame : frames)
                stack = builder.stacks().push(stack, frame);
            std::int64_t end = 0;
            if (!builder.add(stack, weight) || __builtin_add_overflow(now, weight, &end))
                return overflow(o);
            ++builder.profile().samples;
            if (timed) {
                std::size_t same = 0;
                while (same < open.size() && same < frames.size() && spans[open[same]].frame == frames[same])
                    ++same;
                open.resize(same);
                for (std::size_t i = same; i < frames.size(); ++i) {
                    open.push_back(spans.size());
                    spans.push_back({frames[i], now, now});
                }
                for (const std::size_t span : open)
                    spans[span].end = end;
            }
            now = end;
            return !stopped();
        });
    }

    bool evented(ProfileBuilder& builder, const Outline& o) {
        if (o.events == 0)
            return failed(
                fmt::format("{}: its evented profile \"{}\" has no \"events\".", m_source.name, o.name));
        const bool timed = m_unit.unit == WeightUnit::Nanoseconds;
        struct Open {
            FrameId frame;
            StackId stack;
            std::size_t span;
        };
        std::vector<Open> open;
        std::vector<Span>& spans = builder.spans();
        std::int64_t now = 0;
        bool any = false;
        // What passes until `to` belongs to the stack that is open.
        const auto advance = [&](std::int64_t to, std::size_t at) {
            if (!any) {
                now = to;
                any = true;
            }
            if (to < now) {
                builder.note("time_backwards", Severity::Warning, at);
                return true;
            }
            std::int64_t passed = 0;
            if (__builtin_sub_overflow(to, now, &passed))
                return false;
            now = to;
            return open.empty() || builder.add(open.back().stack, passed, 0);
        };
        const auto close = [&] {
            if (timed)
                spans[open.back().span].end = now;
            open.pop_back();
        };
        m_json.seek(o.events);
        std::string type;
        const bool read = m_json.array([&] {
            const std::size_t at = m_json.offset();
            if (m_json.peek() != Type::Object)
                return m_json.skip();
            std::string_view frameNumber;
            std::string_view when;
            type.clear();
            if (!m_json.object([&](std::string_view key) {
                    if (key == "type" && m_json.peek() == Type::String)
                        return m_json.string(type);
                    if (key == "frame" && m_json.peek() == Type::Number)
                        return m_json.number(frameNumber);
                    if (key == "at" && m_json.peek() == Type::Number)
                        return m_json.number(when);
                    return m_json.skip();
                }))
                return false;
            ++builder.profile().samples;
            std::int64_t to = 0;
            bool rounded = false;
            const FrameId frame = frameAt(frameNumber);
            if (!frame || when.empty()) {
                builder.note("unknown_frame", Severity::DataLoss, at);
                return true;
            }
            if (!parseScaled(when, m_unit.exponent, to, rounded) || !advance(to, at))
                return overflow(o);
            if (rounded)
                builder.note("fraction_rounded", Severity::Warning, at);
            if (type == "O") {
                const StackId stack =
                    builder.stacks().push(open.empty() ? StackId{} : open.back().stack, frame);
                builder.add(stack, 0, 1);
                open.push_back({frame, stack, spans.size()});
                if (timed)
                    spans.push_back({frame, now, now});
                return !stopped();
            }
            const auto it = std::find_if(open.rbegin(), open.rend(),
                                         [&](const Open& entry) { return entry.frame == frame; });
            if (it == open.rend()) {
                builder.note("close_without_open", Severity::DataLoss, at);
                return true;
            }
            if (it != open.rbegin())
                builder.note("close_out_of_order", Severity::Warning, at);
            for (auto n = it - open.rbegin() + 1; n > 0; --n)
                close();
            return !stopped();
        });
        if (!read)
            return false;
        if (!open.empty()) {
            for (std::size_t i = 0; i < open.size(); ++i)
                builder.note("open_at_end", Severity::Warning, Diagnostic::kNoOffset);
            std::int64_t end = now;
            bool rounded = false;
            if (parseScaled(o.endValue, m_unit.exponent, end, rounded) && end > now &&
                !advance(end, Diagnostic::kNoOffset))
                return overflow(o);
            while (!open.empty())
                close();
        }
        return true;
    }

    JsonCursor m_json;
    const ByteSource& m_source;
    const ImportOptions& m_options;
    std::shared_ptr<FrameTable> m_frames = std::make_shared<FrameTable>();
    std::vector<FrameId> m_byIndex;
    std::string m_fileName;
    std::int64_t m_active = 0;
    FileUnit m_unit;
    std::uint64_t m_steps = 0;
    std::vector<ProfilePtr> m_profiles;
    std::optional<Error> m_error;
};

} // namespace

Result<std::vector<ProfilePtr>> readSpeedscope(std::string_view text, const ByteSource& source,
                                               const ImportOptions& options) {
    return SpeedscopeReader(text, source, options).run();
}

} // namespace warpline::flame
