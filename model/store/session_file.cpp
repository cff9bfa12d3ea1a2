// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/session_file.h"

#include "model/base/json.h"
#include "model/base/json_writer.h"
#include "model/store/base64.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace warpline {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "warpline session";
constexpr std::array<std::string_view, 11> kKeys = {"format",    "version",  "sources", "layout",
                                                    "visible",   "pinned",   "hidden",  "marks",
                                                    "selection", "settings", "exporter"};

/// The path as it is written: relative to the session's folder, with /.
std::string relativePath(const std::string& path, const std::string& session) {
    if (path.empty() || path == "-")
        return path;
    std::error_code error;
    const fs::path from =
        fs::absolute(
            fs::path(session).parent_path().empty() ? fs::path(".") : fs::path(session).parent_path(), error)
            .lexically_normal();
    const fs::path to = fs::absolute(path, error).lexically_normal();
    const fs::path relative = to.lexically_relative(from);
    return error || relative.empty() ? path : relative.generic_string();
}

std::string resolvedPath(const std::string& path, const std::string& session) {
    if (path.empty() || path == "-" || fs::path(path).is_absolute())
        return path;
    return (fs::path(session).parent_path() / path).lexically_normal().string();
}

// --- writing ---

void writeRange(JsonWriter& json, const TimeRange& range) {
    json.beginObject();
    json.field("start_ns", range.begin);
    json.field("end_ns", range.end);
    json.endObject();
}

void writeTracks(JsonWriter& json, const std::vector<SessionFile::TrackRef>& tracks) {
    json.beginArray();
    for (const SessionFile::TrackRef& t : tracks) {
        json.beginObject();
        json.field("source", std::int64_t{t.source});
        json.field("process", t.process);
        json.field("track", t.track);
        json.endObject();
    }
    json.endArray();
}

void writeSelection(JsonWriter& json, const SessionFile::Selection& s) {
    json.beginObject();
    if (s.range)
        writeRange(json.key("range"), *s.range);
    if (!s.tracks.empty())
        writeTracks(json.key("tracks"), s.tracks);
    if (s.step)
        json.field("step", *s.step);
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty())
            json.field(key, value);
    };
    text("op", s.op);
    text("kernel", s.kernel);
    text("frame", s.frame);
    text("block", s.block);
    text("search", s.search);
    json.endObject();
}

// --- reading ---

/// Takes a document apart; the first thing that is not as it must be is the error.
class Reader {
  public:
    explicit Reader(std::string path) : m_path(std::move(path)) {}

    Result<SessionFile> run(std::string_view text) {
        const auto root = parseJson(text);
        if (!root || root->type != JsonValue::Type::Object)
            return Error::failed(fmt::format("{}: this session file is damaged: it is no whole JSON object. "
                                             "Save the session again, or take a copy of it.",
                                             m_path));
        const JsonValue* format = root->find("format");
        if (format == nullptr || format->string() != kFormat)
            return Error::wrongKind(fmt::format(
                "{}: this JSON is no session of Warpline (it has no \"format\": \"{}\").", m_path, kFormat));
        const JsonValue* version = root->find("version");
        const auto number = version != nullptr ? version->integer() : std::nullopt;
        if (!number || *number < 1)
            return damaged("\"version\" is no number");
        if (*number > SessionFile::kVersion)
            return Error::failed(
                fmt::format("{}: this session was saved by a later version of Warpline "
                            "(format {}; this version reads {}). Update Warpline to open it.",
                            m_path, *number, SessionFile::kVersion));
        readSources(root->find("sources"));
        readLayout(root->find("layout"));
        readRange(root->find("visible"), "visible", m_session.visible);
        readTracks(root->find("pinned"), "pinned", m_session.pinned);
        readTracks(root->find("hidden"), "hidden", m_session.hidden);
        readMarks(root->find("marks"));
        readSelection(root->find("selection"));
        readSettings(root->find("settings"));
        for (const JsonMember& member : root->members)
            if (std::find(kKeys.begin(), kKeys.end(), member.key) == kKeys.end())
                m_session.unknown.emplace_back(member.key, jsonOf(member.value));
        if (!m_wrong.empty())
            return damaged(m_wrong);
        return std::move(m_session);
    }

  private:
    using Type = JsonValue::Type;

    [[nodiscard]] Error damaged(const std::string& what) const {
        return Error::failed(
            fmt::format("{}: this session file is damaged: {}. Save the session again.", m_path, what));
    }
    void wrong(std::string what) {
        if (m_wrong.empty())
            m_wrong = std::move(what);
    }
    bool is(const JsonValue* value, Type type, const char* key, const char* noun) {
        if (value == nullptr)
            return false;
        if (value->type == type)
            return true;
        wrong(fmt::format("\"{}\" is no {}", key, noun));
        return false;
    }
    std::string text(const JsonValue& object, const char* key) {
        const JsonValue* value = object.find(key);
        return is(value, Type::String, key, "text") ? value->text : std::string();
    }
    std::optional<std::int64_t> whole(const JsonValue& object, const char* key) {
        const JsonValue* value = object.find(key);
        if (value == nullptr)
            return std::nullopt;
        const auto number = value->integer();
        if (!number)
            wrong(fmt::format("\"{}\" is no whole number", key));
        return number;
    }

    void readSources(const JsonValue* list) {
        if (!is(list, Type::Array, "sources", "list"))
            return;
        for (const JsonValue& item : list->items) {
            SessionFile::SourceRef source;
            source.path = text(item, "path");
            if (source.path.empty()) {
                wrong("one of its \"sources\" has no \"path\"");
                return;
            }
            source.path = resolvedPath(source.path, m_path);
            source.checksum = text(item, "checksum");
            source.bytes =
                static_cast<std::uint64_t>(std::max<std::int64_t>(0, whole(item, "bytes").value_or(0)));
            source.shift = whole(item, "shift_ns").value_or(0);
            m_session.sources.push_back(std::move(source));
        }
    }
    void readLayout(const JsonValue* value) {
        if (!is(value, Type::String, "layout", "text"))
            return;
        if (auto bytes = fromBase64(value->text))
            m_session.layout = std::move(*bytes);
        else
            wrong("\"layout\" is no base64");
    }
    void readRange(const JsonValue* value, const char* key, std::optional<TimeRange>& range) {
        if (!is(value, Type::Object, key, "range"))
            return;
        const auto begin = whole(*value, "start_ns");
        const auto end = whole(*value, "end_ns");
        if (begin && end && *begin <= *end)
            range = TimeRange{*begin, *end};
        else
            wrong(fmt::format("\"{}\" is no range of times", key));
    }
    void readTracks(const JsonValue* list, const char* key, std::vector<SessionFile::TrackRef>& tracks) {
        if (!is(list, Type::Array, key, "list"))
            return;
        for (const JsonValue& item : list->items) {
            const auto source = whole(item, "source").value_or(0);
            if (source < 0 || static_cast<std::uint64_t>(source) >= m_session.sources.size()) {
                wrong(fmt::format("\"{}\" names a source that is not in the list", key));
                return;
            }
            tracks.push_back(
                {static_cast<std::uint32_t>(source), text(item, "process"), text(item, "track")});
        }
    }
    void readMarks(const JsonValue* list) {
        if (!is(list, Type::Array, "marks", "list"))
            return;
        for (const JsonValue& item : list->items) {
            SessionFile::Mark mark;
            const auto time = whole(item, "time_ns");
            if (!time) {
                wrong("one of its \"marks\" has no time");
                return;
            }
            mark.time = *time;
            mark.end = whole(item, "end_ns");
            mark.note = text(item, "note");
            mark.colour = text(item, "colour");
            m_session.marks.push_back(std::move(mark));
        }
    }
    void readSelection(const JsonValue* value) {
        if (!is(value, Type::Object, "selection", "object"))
            return;
        SessionFile::Selection& s = m_session.selection;
        readRange(value->find("range"), "range", s.range);
        readTracks(value->find("tracks"), "tracks", s.tracks);
        s.step = whole(*value, "step");
        s.op = text(*value, "op");
        s.kernel = text(*value, "kernel");
        s.frame = text(*value, "frame");
        s.block = text(*value, "block");
        s.search = text(*value, "search");
    }
    void readSettings(const JsonValue* value) {
        if (!is(value, Type::Object, "settings", "object"))
            return;
        for (const JsonMember& member : value->members)
            m_session.settings.emplace_back(member.key, jsonOf(member.value));
    }

    static std::string jsonOf(const JsonValue& value) {
        std::string out;
        JsonWriter json(out);
        write(json, value);
        return out;
    }
    /// As deep as parseJson() reads.
    static void write(JsonWriter& json, const JsonValue& value) {
        switch (value.type) {
        case Type::Null:
            json.null();
            break;
        case Type::Bool:
            json.boolean(value.boolean);
            break;
        case Type::Number:
            json.raw(value.text);
            break;
        case Type::String:
            json.text(value.text);
            break;
        case Type::Array:
            json.beginArray();
            for (const JsonValue& item : value.items)
                write(json, item);
            json.endArray();
            break;
        case Type::Object:
            json.beginObject();
            for (const JsonMember& member : value.members) {
                json.key(member.key);
                write(json, member.value);
            }
            json.endObject();
            break;
        }
    }

    std::string m_path;
    SessionFile m_session;
    std::string m_wrong;
};

} // namespace

std::string sessionText(const SessionFile& session, const std::string& path) {
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject();
    json.field("format", kFormat);
    json.field("version", std::int64_t{SessionFile::kVersion});
    json.key("sources").beginArray();
    for (const SessionFile::SourceRef& source : session.sources) {
        json.beginObject();
        json.field("path", relativePath(source.path, path));
        if (!source.checksum.empty())
            json.field("checksum", source.checksum);
        json.field("bytes", source.bytes);
        if (source.shift != 0)
            json.field("shift_ns", source.shift);
        json.endObject();
    }
    json.endArray();
    if (!session.layout.empty())
        json.field("layout", toBase64(session.layout));
    if (session.visible)
        writeRange(json.key("visible"), *session.visible);
    writeTracks(json.key("pinned"), session.pinned);
    writeTracks(json.key("hidden"), session.hidden);
    json.key("marks").beginArray();
    for (const SessionFile::Mark& mark : session.marks) {
        json.beginObject();
        json.field("time_ns", mark.time);
        if (mark.end)
            json.field("end_ns", *mark.end);
        json.field("note", mark.note);
        if (!mark.colour.empty())
            json.field("colour", mark.colour);
        json.endObject();
    }
    json.endArray();
    writeSelection(json.key("selection"), session.selection);
    json.key("settings").beginObject();
    for (const auto& [key, value] : session.settings)
        json.key(key).raw(isStrictJson(value) ? std::string_view(value) : std::string_view("null"));
    json.endObject();
    for (const auto& [key, value] : session.unknown)
        if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end() && isStrictJson(value))
            json.key(key).raw(value);
    json.endObject();
    out.push_back('\n');
    return out;
}

Result<SessionFile> parseSession(std::string_view text, const std::string& path) {
    return Reader(path).run(text);
}

bool looksLikeSession(std::string_view head) {
    const std::size_t brace = head.find_first_not_of(" \t\r\n");
    if (brace == std::string_view::npos || head[brace] != '{')
        return false;
    const std::size_t key = head.find_first_not_of(" \t\r\n", brace + 1);
    constexpr std::string_view kKey = "\"format\"";
    if (key == std::string_view::npos || head.compare(key, kKey.size(), kKey) != 0)
        return false;
    const std::size_t value = head.find('"', key + kKey.size());
    return value != std::string_view::npos && head.compare(value + 1, kFormat.size(), kFormat) == 0;
}

} // namespace warpline
