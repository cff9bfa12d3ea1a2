// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/chrome/batch.h"
#include "model/import/chrome/interner.h"
#include "model/import/chrome/key_paths.h"
#include "model/import/chrome/number.h"
#include "model/import/chrome/registry.h"
#include "model/import/chrome/text_cache.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::chrome {

/// Reads one event after the other, strictly, into a batch. One a thread; the trace's pools and the registry
/// are shared. What is not strict JSON is refused as a whole event, so that a forgiving reader can have it.
class EventParser {
  public:
    EventParser(Trace& trace, Registry& registry);

    enum class Outcome {
        Event,
        Refused, ///< not strict JSON, or no object
        Cut,     ///< strict JSON as far as it goes, but the text ends within it
    };
    /// Reads the event whose brace `p` stands at, and sets `p` behind it; otherwise `p` and the batch's
    /// events are as before. The text ends at `end`; scan::kPadding zero bytes follow it. `offset` is the
    /// event's place in the file, for what is odd about it.
    Outcome parse(const char*& p, const char* end, std::uint64_t offset, OpenBatch& out);

  private:
    struct Token {
        const char* begin = nullptr; ///< strings: after the quote
        const char* end = nullptr;
        char type = 0; ///< " for strings, 0 for numbers, t f n, { [; 1 = not there
        bool escaped = false;
        [[nodiscard]] std::string_view text() const { return {begin, static_cast<std::size_t>(end - begin)}; }
        [[nodiscard]] bool present() const { return begin != nullptr && type != 'n'; }
    };
    /// The members of the event that have a meaning of their own.
    struct Event {
        Token phase, name, category, pid, tid, ts, duration, id, id2, scope, bind;
        StringId nameId; ///< none = no name so far
        TimeNs time = 0;
        TimeNs length = 0;
        bool timeKnown = false; ///< `ts` is read already, as `time`
        bool durationKnown = false;
        std::int64_t external = kNoId;
        std::int64_t correlation = kNoId;

        Token& at(Member member);
    };
    struct TrackSlot {
        Number pid, tid;
        TrackKind kind = TrackKind::Thread;
        StringId group;
        std::uint32_t raw = 0;
        std::uint32_t track = 0;
        bool used = false;
    };
    /// The pid and tid of a track as texts of up to eight bytes, and the rest of what names it.
    struct WrittenTrack {
        std::uint64_t pid = 0;
        std::uint64_t tid = 0;
        StringId group;
        TrackKind kind = TrackKind::Thread;
        char pidType = 0;
        char tidType = 0;
        bool operator==(const WrittenTrack&) const = default;
    };
    struct WrittenSlot {
        WrittenTrack written;
        TrackSlot slot;
    };
    struct Key {
        Member member = Member::Other;
        StringId id;
    };
    enum class Level { Event, Args };
    /// The kinds of some fields, three bits each, and the shape they make at the end of a way through keys.
    struct PathShape {
        std::uint64_t kinds = 0;
        std::uint32_t count = 0;
        std::uint32_t shape = 0;
    };
    static constexpr std::size_t kMostKinds = 21;
    struct ShapeSlot {
        std::uint64_t hash = 0;
        std::vector<ArgShape::Field> fields;
        std::uint32_t number = 0;
    };

    bool readEvent(const char*& p, Event& event, bool& empty);
    bool nextMember(const char*& p, bool first, Level level, Key& key);
    static bool readTime(const char*& p, Token& token, TimeNs& time);
    bool readArgument(const char*& p, StringId key, bool top, Event& event);
    bool readKey(const char*& p, Token& key);
    bool keyId(const Token& key, StringId& out);
    bool readToken(const char*& p, Token& token);
    bool refuse(const char* at) {
        m_stop = at;
        return false;
    }
    bool readArgs(const char*& p, Event& event);
    bool addArg(StringId key, const Token& token, bool top, Event& event);
    void addNumber(StringId key, const Decimal& number, bool top, Event& event);
    void addField(StringId key, ArgKind kind, bool top, std::int64_t value, std::uint8_t decimals) {
        m_fields.push_back({key, kind, top});
        m_values.push_back(value);
        m_decimals.push_back(decimals);
        m_kinds = (m_kinds << 3) | static_cast<std::uint64_t>(kind);
    }
    /// Adds a member that has a meaning of its own to the arguments after all.
    void addOwn(std::string_view key, const Token& token, Event& event) {
        m_node = KeyPaths::kNowhere;
        addArg(m_interner.key(key), token, true, event);
    }
    void finish(Event& event, std::uint64_t offset, OpenBatch& out);
    void finishSpan(Event& event, char phase, TimeNs ts, StringId name, std::uint64_t offset, OpenBatch& out);
    void finishAsync(Event& event, char phase, TimeNs ts, StringId name, OpenBatch& out);
    bool finishMemory(const Event& event, TimeNs ts, StringId name, OpenBatch& out);
    void finishMetadata(const Event& event, OpenBatch& out);
    [[nodiscard]] std::string argsJson() const;

    bool text(const Token& token, StringId& out);
    [[nodiscard]] StringId textOrEmpty(const Token& token);
    Number number(const Token& token);
    std::uint64_t identifier(const Event& event);
    TrackSlot track(const Token& pid, const Token& tid, TrackKind kind, StringId group);
    TrackSlot& track(Number pid, Number tid, TrackKind kind, StringId group);
    Registry::CategoryRef category(const Token& token);
    std::uint32_t shape();
    ArgStore::Ref storeArgs(std::uint64_t offset, OpenBatch& out);

    Trace& m_trace;
    Registry& m_registry;
    Interner m_interner;
    ArgStore::Writer m_args;
    std::string m_scratch;
    bool m_repairedUtf8 = false;
    const char* m_stop = nullptr; ///< where reading an event gave up
    const char* m_end = nullptr;  ///< of the text
    KeyPaths m_paths;
    std::uint32_t m_node = KeyPaths::kNowhere; ///< what of the event was read so far, where it is known
    TextCache m_texts;
    TextCache m_nested; ///< arrays and objects, by key and name of the event

    // The arguments of the event at hand.
    std::vector<ArgShape::Field> m_fields;
    std::vector<std::int64_t> m_values;
    std::vector<std::uint8_t> m_decimals;
    std::uint64_t m_kinds = 0; ///< of the fields, three bits each, the last in the lowest
    StringId m_argsRaw;        ///< metadata events: their "args" as they stood

    std::array<TrackSlot, 256> m_tracks;
    std::array<WrittenSlot, 64> m_written;
    std::vector<PathShape> m_pathShapes; ///< by node
    std::array<ShapeSlot, 256> m_shapes;
    std::array<Registry::CategoryRef, 64> m_categories{};

    const StringId m_empty, m_externalId, m_externalIdOld, m_correlation, m_memory, m_outOfMemory, m_bytes,
        m_address, m_totalAllocated, m_totalReserved, m_deviceType, m_deviceId;
};

} // namespace warpline::chrome
