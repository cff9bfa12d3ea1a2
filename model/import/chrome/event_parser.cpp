// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/event_parser.h"

#include "model/base/json.h"
#include "model/import/chrome/number.h"
#include "model/import/chrome/scan.h"

#include <algorithm>
#include <charconv>

namespace warpline::chrome {

namespace {

/// A short key as one word: its bytes, zero after them. Keys longer than eight bytes have no word.
constexpr std::uint64_t word(std::string_view key) {
    std::uint64_t w = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
        w |= std::uint64_t{static_cast<unsigned char>(key[i])} << (8 * i);
    return w;
}

Member memberOf(std::string_view key) {
    switch (scan::shortWord(key.data(), key.size())) {
    case word("args"):
        return Member::Args;
    case word("ph"):
        return Member::Phase;
    case word("name"):
        return Member::Name;
    case word("cat"):
        return Member::Category;
    case word("pid"):
        return Member::Pid;
    case word("tid"):
        return Member::Tid;
    case word("ts"):
        return Member::Time;
    case word("dur"):
        return Member::Duration;
    case word("id"):
        return Member::Id;
    case word("id2"):
        return Member::Id2;
    case word("scope"):
        return Member::Scope;
    case word("bp"):
        return Member::Bind;
    default:
        return Member::Other;
    }
}

} // namespace

EventParser::EventParser(Trace& trace, Registry& registry)
    : m_trace(trace), m_registry(registry), m_interner(trace.strings), m_args(trace.args),
      m_empty(trace.strings.intern("")), m_externalId(trace.strings.intern("External id")),
      m_externalIdOld(trace.strings.intern("external id")),
      m_correlation(trace.strings.intern("correlation")), m_memory(trace.strings.intern("[memory]")),
      m_outOfMemory(trace.strings.intern("[OutOfMemory]")), m_bytes(trace.strings.intern("Bytes")),
      m_address(trace.strings.intern("Addr")), m_totalAllocated(trace.strings.intern("Total Allocated")),
      m_totalReserved(trace.strings.intern("Total Reserved")),
      m_deviceType(trace.strings.intern("Device Type")), m_deviceId(trace.strings.intern("Device Id")) {}

EventParser::Outcome EventParser::parse(const char*& p, const char* end, std::uint64_t offset,
                                        OpenBatch& out) {
    Event event;
    m_fields.clear();
    m_values.clear();
    m_decimals.clear();
    m_kinds = 0;
    m_argsRaw = {};
    m_repairedUtf8 = false;
    m_stop = nullptr;
    m_end = end;
    m_node = KeyPaths::kStart;

    const char* q = p + 1;
    bool empty = false;
    if (!readEvent(q, event, empty))
        return m_stop != nullptr && m_stop >= end ? Outcome::Cut : Outcome::Refused;
    ++out.events;
    p = q;
    if (empty) {
        out.tallies[static_cast<std::size_t>(Oddity::EmptyEvent)].add(offset);
        return Outcome::Event;
    }
    // "args" may stand before "ph".
    if (event.phase.present() && *event.phase.begin == 'M' && !m_argsRaw && !m_fields.empty())
        m_argsRaw = m_trace.strings.intern(argsJson());
    finish(event, offset, out);
    if (m_repairedUtf8)
        out.tallies[static_cast<std::size_t>(Oddity::InvalidUtf8)].add(offset);
    return Outcome::Event;
}

bool EventParser::readEvent(const char*& q, Event& event, bool& empty) {
    Key key;
    for (bool first = true;; first = false) {
        if (!nextMember(q, first, Level::Event, key))
            return false;
        switch (key.member) {
        case Member::Close:
            empty = first;
            return true;
        case Member::Other:
            if (!readArgument(q, key.id, true, event))
                return false;
            break;
        case Member::Args:
            if (*q == '{') {
                const char* from = q;
                if (!readArgs(q, event))
                    return false;
                if (event.phase.present() && *event.phase.begin == 'M') {
                    const std::string_view raw(from, static_cast<std::size_t>(q - from));
                    m_argsRaw =
                        isUtf8(raw) ? m_trace.strings.intern(raw) : m_trace.strings.intern(toUtf8(raw));
                }
            } else {
                m_node = KeyPaths::kNowhere;
                if (!readArgument(q, m_interner.key("args"), true, event))
                    return false;
            }
            break;
        case Member::Time:
            event.timeKnown = readTime(q, event.ts, event.time);
            if (!event.timeKnown && !readToken(q, event.ts))
                return false;
            break;
        case Member::Duration:
            event.durationKnown = readTime(q, event.duration, event.length);
            if (!event.durationKnown && !readToken(q, event.duration))
                return false;
            break;
        case Member::Name:
            if (!readToken(q, event.name))
                return false;
            event.nameId = textOrEmpty(event.name);
            break;
        default:
            if (!readToken(q, event.at(key.member)))
                return false;
        }
    }
}

bool EventParser::readArgs(const char*& p, Event& event) {
    const char* q = p + 1;
    Key key;
    for (bool first = true;; first = false) {
        if (!nextMember(q, first, Level::Args, key))
            return false;
        if (key.member == Member::Close) {
            p = q;
            return true;
        }
        if (!readArgument(q, key.id, false, event))
            return false;
    }
}

/// What follows a value, or the opening brace: the next key, `p` then at its value, or the closing brace.
bool EventParser::nextMember(const char*& p, bool first, Level level, Key& key) {
    if (const std::uint32_t node = m_paths.follow(m_node, p); node != KeyPaths::kNowhere) {
        const KeyPaths::Node& known = m_paths[node];
        m_node = node;
        key = {known.member, known.key};
        p += known.size;
        if (scan::isSpace(*p) && key.member != Member::Close)
            p = scan::skipSpace(p);
        return true;
    }
    const char* const from = p;
    p = scan::skipSpace(p);
    Token token;
    if (*p == '}') {
        ++p;
        key = {Member::Close, {}};
    } else {
        if (!first) {
            if (*p != ',')
                return refuse(p);
            p = scan::skipSpace(p + 1);
        }
        if (!readKey(p, token))
            return false;
        key = {Member::Other, {}};
        if (level == Level::Event && !token.escaped)
            key.member = memberOf(token.text());
        if (key.member == Member::Other && !keyId(token, key.id))
            return false;
    }
    // A key with escapes is another text than it stands for; it is read by the rules each time.
    m_node = token.escaped
                 ? KeyPaths::kNowhere
                 : m_paths.add(m_node, {from, static_cast<std::size_t>(p - from)}, key.member, key.id);
    return true;
}

/// A time as nearly all are written. False, and nothing done, for any other.
bool EventParser::readTime(const char*& p, Token& token, TimeNs& time) {
    const char* const end = readMicroseconds(p, time);
    if (end == nullptr)
        return false;
    token = {p, end, 0, false};
    p = end;
    return true;
}

bool EventParser::readArgument(const char*& p, StringId key, bool top, Event& event) {
    const char c = *p;
    if (c == '[' || c == '{') {
        // The values of one key in events of one name are few: look for those before walking brackets.
        const std::size_t set = TextCache::setOf((std::uint64_t{key.value} << 32) | event.nameId.value);
        std::size_t size = 0;
        if (const StringId id = m_nested.findAt(set, p, static_cast<std::size_t>(m_end - p), size)) {
            addField(key, ArgKind::Raw, top, id.value, 0);
            p += size;
            return true;
        }
        Token token;
        if (!readToken(p, token) || !addArg(key, token, top, event))
            return false;
        const auto id = StringId{static_cast<std::uint32_t>(m_values.back())};
        m_nested.add(set, m_trace.strings.view(id), id);
        return true;
    }
    Decimal number;
    if (const char* const end = readDecimal(p, number); end != nullptr && number.canonical) {
        addNumber(key, number, top, event);
        p = end;
        return true;
    }
    Token token;
    return readToken(p, token) && addArg(key, token, top, event);
}

void EventParser::addNumber(StringId key, const Decimal& number, bool top, Event& event) {
    if (number.decimals == 0 && !top) {
        if (key == m_externalId || key == m_externalIdOld)
            event.external = number.mantissa;
        if (key == m_correlation)
            event.correlation = number.mantissa;
    }
    addField(key, number.decimals == 0 ? ArgKind::Int : ArgKind::Decimal, top, number.mantissa,
             number.decimals);
}

EventParser::Token& EventParser::Event::at(Member member) {
    switch (member) {
    case Member::Phase:
        return phase;
    case Member::Name:
        return name;
    case Member::Category:
        return category;
    case Member::Pid:
        return pid;
    case Member::Tid:
        return tid;
    case Member::Duration:
        return duration;
    case Member::Id:
        return id;
    case Member::Id2:
        return id2;
    case Member::Scope:
        return scope;
    case Member::Bind:
        return bind;
    default:
        return ts;
    }
}

std::string EventParser::argsJson() const {
    std::string json = "{";
    for (std::size_t i = 0; i < m_fields.size(); ++i) {
        if (m_fields[i].top)
            continue;
        const bool textual = m_fields[i].kind == ArgKind::Text || m_fields[i].kind == ArgKind::Raw;
        if (json.size() > 1)
            json += ", ";
        appendJsonString(json, m_trace.strings.view(m_fields[i].key));
        json += ": ";
        appendArgJson(json, m_trace.strings,
                      {m_fields[i].key, m_fields[i].kind, false, m_values[i], m_decimals[i],
                       textual ? StringId{static_cast<std::uint32_t>(m_values[i])} : StringId{}});
    }
    json += '}';
    return json;
}

/// A member's key and the colon behind it; `p` is then at the value.
bool EventParser::readKey(const char*& p, Token& key) {
    if (*p != '"')
        return refuse(p);
    key.begin = p + 1;
    key.type = '"';
    key.end = scan::stringEnd(key.begin, key.escaped, m_stop);
    if (key.end == nullptr)
        return false;
    p = scan::skipSpace(key.end + 1);
    if (*p != ':')
        return refuse(p);
    p = scan::skipSpace(p + 1);
    return true;
}

bool EventParser::keyId(const Token& key, StringId& out) {
    if (!key.escaped) {
        out = m_interner.key(key.text());
        return true;
    }
    m_scratch.clear();
    if (!appendUnescaped(m_scratch, key.text()))
        return false;
    out = m_interner.key(m_scratch);
    return true;
}

bool EventParser::readToken(const char*& p, Token& token) {
    const char c = *p;
    if (c == '"') {
        token.begin = p + 1;
        token.type = '"';
        token.end = scan::stringEnd(token.begin, token.escaped, m_stop);
        if (token.end == nullptr)
            return false;
        p = token.end + 1;
        return true;
    }
    token.begin = p;
    if (c == '{' || c == '[') {
        token.type = c;
        token.end = scan::nestedEnd(p, m_stop);
        if (token.end == nullptr)
            return false;
        p = token.end;
        return true;
    }
    token.end = p = scan::scalarEnd(p);
    if (c == '-' || static_cast<unsigned char>(c - '0') < 10) {
        token.type = 0;
        return true;
    }
    token.type = c;
    const auto text = token.text();
    if (text == "true" || text == "false" || text == "null")
        return true;
    return refuse(token.end);
}

bool EventParser::addArg(StringId key, const Token& token, bool top, Event& event) {
    ArgKind kind = ArgKind::Null;
    std::int64_t value = 0;
    switch (token.type) {
    case '"': {
        StringId id;
        if (!text(token, id))
            return false;
        kind = ArgKind::Text;
        value = id.value;
        break;
    }
    case 0: {
        Decimal d;
        if (parseDecimal(token.text(), d) && d.canonical) {
            addNumber(key, d, top, event);
            return true;
        }
        std::uint64_t wide = 0;
        const auto r = std::from_chars(token.begin, token.end, wide);
        if (r.ec == std::errc() && r.ptr == token.end && *token.begin != '0') {
            kind = wide <= static_cast<std::uint64_t>(INT64_MAX) ? ArgKind::Int : ArgKind::UInt;
            value = static_cast<std::int64_t>(wide);
            break;
        }
        [[fallthrough]];
    }
    case '{':
    case '[': {
        std::uint64_t hash = 0;
        StringId id = m_interner.find(token.text(), hash);
        if (!id) {
            // What was interned is known to be good; what is new is looked at once.
            if (!isStrictJson(token.text()))
                return false;
            id = m_interner.add(token.text(), hash);
        }
        kind = ArgKind::Raw;
        value = id.value;
        break;
    }
    case 't':
        kind = ArgKind::True;
        break;
    case 'f':
        kind = ArgKind::False;
        break;
    default:
        break;
    }
    addField(key, kind, top, value, 0);
    return true;
}

bool EventParser::text(const Token& token, StringId& out) {
    std::string_view body = token.text();
    if (token.escaped) {
        m_scratch.clear();
        if (!appendUnescaped(m_scratch, body))
            return false;
        body = m_scratch;
    }
    const std::size_t set = TextCache::setOf(body);
    out = m_texts.find(set, body);
    if (out)
        return true;
    std::uint64_t hash = 0;
    out = m_interner.find(body, hash);
    if (!out) {
        if (!isUtf8(body)) {
            m_repairedUtf8 = true;
            out = m_trace.strings.intern(toUtf8(body));
            return true;
        }
        out = m_interner.add(body, hash);
    }
    m_texts.add(set, m_trace.strings.view(out), out);
    return true;
}

StringId EventParser::textOrEmpty(const Token& token) {
    if (!token.present())
        return m_empty;
    StringId id;
    return text(token, id) ? id : m_empty;
}

} // namespace warpline::chrome
