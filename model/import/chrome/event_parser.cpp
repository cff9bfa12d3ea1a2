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

std::uint64_t loadWord(const char* p, std::size_t size) {
    if (size > 8)
        return ~std::uint64_t{0};
    std::uint64_t w = 0;
    std::memcpy(&w, p, 8); // the padding makes this readable
    return size == 8 ? w : w & ((std::uint64_t{1} << (8 * size)) - 1);
}

/// Times are kept within 126 years of zero on either side, so that sums of two of them do not overflow.
constexpr TimeNs kMostTime = 4'000'000'000'000'000'000;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 29);
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

EventParser::Outcome EventParser::parse(const char*& p, const char* end, std::uint64_t offset, Batch& out) {
    Event event;
    m_fields.clear();
    m_values.clear();
    m_decimals.clear();
    m_argsRaw = {};
    m_repairedUtf8 = false;
    m_stop = nullptr;

    const char* q = scan::skipSpace(p + 1);
    if (*q == '}') {
        ++out.events;
        out.tallies[static_cast<std::size_t>(Oddity::EmptyEvent)].add(offset);
        p = q + 1;
        return Outcome::Event;
    }
    if (!readEvent(q, event))
        return m_stop != nullptr && m_stop >= end ? Outcome::Cut : Outcome::Refused;
    // "args" may stand before "ph".
    if (event.phase.present() && *event.phase.begin == 'M' && !m_argsRaw && !m_fields.empty())
        m_argsRaw = m_trace.strings.intern(argsJson());
    finish(event, offset, out);
    if (m_repairedUtf8)
        out.tallies[static_cast<std::size_t>(Oddity::InvalidUtf8)].add(offset);
    ++out.events;
    p = q;
    return Outcome::Event;
}

bool EventParser::readEvent(const char*& q, Event& event) {
    for (;;) {
        Token key;
        if (!readKey(q, key))
            return false;
        const std::uint64_t w = key.escaped ? ~std::uint64_t{0} : loadWord(key.begin, key.text().size());
        if (w == word("args") && *q == '{') {
            const char* from = q;
            if (!readArgs(q, event))
                return false;
            if (event.phase.present() && *event.phase.begin == 'M') {
                const std::string_view raw(from, static_cast<std::size_t>(q - from));
                m_argsRaw = isUtf8(raw) ? m_trace.strings.intern(raw) : m_trace.strings.intern(toUtf8(raw));
            }
        } else {
            Token token;
            if (!readToken(q, token))
                return false;
            switch (w) {
            case word("ph"):
                event.phase = token;
                break;
            case word("name"):
                event.name = token;
                break;
            case word("cat"):
                event.category = token;
                break;
            case word("pid"):
                event.pid = token;
                break;
            case word("tid"):
                event.tid = token;
                break;
            case word("ts"):
                event.ts = token;
                break;
            case word("dur"):
                event.duration = token;
                break;
            case word("id"):
                event.id = token;
                break;
            case word("id2"):
                event.id2 = token;
                break;
            case word("scope"):
                event.scope = token;
                break;
            case word("bp"):
                event.bind = token;
                break;
            default: {
                StringId id;
                if (!keyId(key, id) || !addArg(id, token, true, event))
                    return false;
            }
            }
        }
        q = scan::skipSpace(q);
        if (*q == ',') {
            q = scan::skipSpace(q + 1);
        } else if (*q == '}') {
            ++q;
            return true;
        } else {
            return refuse(q);
        }
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

bool EventParser::readArgs(const char*& p, Event& event) {
    const char* q = scan::skipSpace(p + 1);
    if (*q == '}') {
        p = q + 1;
        return true;
    }
    for (;;) {
        Token key;
        if (!readKey(q, key))
            return false;
        StringId id;
        Token token;
        if (!readToken(q, token) || !keyId(key, id) || !addArg(id, token, false, event))
            return false;
        q = scan::skipSpace(q);
        if (*q == ',') {
            q = scan::skipSpace(q + 1);
        } else if (*q == '}') {
            p = q + 1;
            return true;
        } else {
            return refuse(q);
        }
    }
}

bool EventParser::addArg(StringId key, const Token& token, bool top, Event& event) {
    ArgKind kind = ArgKind::Null;
    std::int64_t value = 0;
    std::uint8_t decimals = 0;
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
            kind = d.decimals == 0 ? ArgKind::Int : ArgKind::Decimal;
            value = d.mantissa;
            decimals = d.decimals;
            if (kind == ArgKind::Int && !top) {
                if (key == m_externalId || key == m_externalIdOld)
                    event.external = value;
                if (key == m_correlation)
                    event.correlation = value;
            }
            break;
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
    m_fields.push_back({key, kind, top});
    m_values.push_back(value);
    m_decimals.push_back(decimals);
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
    std::uint64_t hash = 0;
    out = m_interner.find(body, hash);
    if (out)
        return true;
    if (isUtf8(body)) {
        out = m_interner.add(body, hash);
    } else {
        m_repairedUtf8 = true;
        out = m_trace.strings.intern(toUtf8(body));
    }
    return true;
}

StringId EventParser::textOrEmpty(const Token& token) {
    if (!token.present())
        return m_empty;
    StringId id;
    return text(token, id) ? id : m_empty;
}

Number EventParser::number(const Token& token) {
    if (!token.present())
        return {};
    std::uint64_t v = 0;
    const bool negative = *token.begin == '-';
    // Texts of digits are numbers that somebody quoted; texts that only begin so ("0x1f") stay texts.
    const bool plain = token.type == 0 || (token.type == '"' && !token.escaped);
    if (plain && parseIdentifier(token.text(), v) &&
        (negative || v <= static_cast<std::uint64_t>(INT64_MAX)) &&
        (token.type == 0 || token.text().find('x') == std::string_view::npos))
        return {static_cast<std::int64_t>(v), {}};
    Decimal d;
    if (token.type == 0 && parseDecimal(token.text(), d)) {
        std::int64_t scale = 1;
        for (int i = 0; i < d.decimals; ++i)
            scale *= 10;
        if (d.mantissa % scale == 0)
            return {d.mantissa / scale, {}};
    }
    return {0, textOrEmpty(token)};
}

std::uint64_t EventParser::identifier(const Event& event) {
    const Token& token = event.id.present() ? event.id : event.id2;
    if (!token.present())
        return 0;
    std::uint64_t v = 0;
    if ((token.type == 0 || token.type == '"') && parseIdentifier(token.text(), v))
        return v;
    // A name: its hash. Identifiers are compared and written, never counted with.
    return StringPool::hash(token.text());
}

EventParser::TrackSlot& EventParser::track(Number pid, Number tid, TrackKind kind, StringId group) {
    std::uint64_t h = mix(static_cast<std::uint64_t>(pid.value), pid.text.value);
    h = mix(h, static_cast<std::uint64_t>(tid.value));
    h = mix(h, (std::uint64_t{tid.text.value} << 32) | group.value);
    h = mix(h, static_cast<std::uint64_t>(kind));
    TrackSlot& slot = m_tracks[h >> 56];
    if (!slot.used || slot.pid != pid || slot.tid != tid || slot.kind != kind || slot.group != group) {
        slot = {pid, tid, kind, group, m_registry.rawTrack(pid, tid), 0, true};
        slot.track = m_registry.track(slot.raw, kind, group);
    }
    return slot;
}

Registry::CategoryRef EventParser::category(const Token& token) {
    const StringId name = textOrEmpty(token);
    auto& slot = m_categories[name.value % m_categories.size()];
    if (slot.name != name)
        slot = m_registry.category(name);
    return slot;
}

ArgStore::Ref EventParser::storeArgs(std::uint64_t offset, Batch& out) {
    if (m_fields.empty())
        return 0;
    std::uint64_t hash = m_fields.size();
    for (const auto& f : m_fields)
        hash = mix(hash, (std::uint64_t{f.key.value} << 8) | (static_cast<std::uint64_t>(f.kind) << 1) |
                             (f.top ? 1 : 0));
    ShapeSlot& slot = m_shapes[hash >> 56];
    if (slot.hash != hash || slot.fields != m_fields)
        slot = {hash, m_fields, m_trace.args.shape(m_fields)};
    const ArgStore::Ref ref = m_args.add(slot.number, m_fields, m_values, m_decimals);
    if (ref == 0)
        out.tallies[static_cast<std::size_t>(Oddity::LostArguments)].add(offset);
    return ref;
}

void EventParser::finish(Event& event, std::uint64_t offset, Batch& out) {
    const auto odd = [&](Oddity o) { out.tallies[static_cast<std::size_t>(o)].add(offset); };
    const char phase =
        event.phase.present() && event.phase.end == event.phase.begin + 1 ? *event.phase.begin : '?';
    if (phase == 'M')
        return finishMetadata(event, out);

    TimeNs ts = 0;
    const bool timed = event.ts.present() && (event.ts.type == 0 || event.ts.type == '"') &&
                       parseMicroseconds(event.ts.text(), ts) && ts > -kMostTime && ts < kMostTime;
    if (!timed)
        return odd(Oddity::MissingTime);

    const StringId name = textOrEmpty(event.name);
    switch (phase) {
    case 's':
    case 't':
    case 'f': {
        const auto& slot = track(number(event.pid), number(event.tid), TrackKind::Thread, {});
        const bool enclosing = event.bind.present() && event.bind.text() == "e";
        out.flows.push_back({ts, identifier(event), name, slot.raw, storeArgs(offset, out),
                             category(event.category).number, phase, enclosing});
        return;
    }
    case 'C': {
        StringId full = name;
        if (event.id.present()) {
            std::string with(m_trace.strings.view(name));
            with += '[';
            with += event.id.text();
            with += ']';
            full = m_trace.strings.intern(with);
        }
        const auto& slot = track(number(event.pid), number(event.tid), TrackKind::Thread, {});
        out.counters.push_back({ts, full, slot.raw, storeArgs(offset, out)});
        return;
    }
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
    case 'N':
    case 'D':
    case 'O':
        return finishAsync(event, phase, ts, name, out);
    case 'i':
    case 'I':
        if ((name == m_memory || name == m_outOfMemory) && finishMemory(event, ts, name, out))
            return;
        break;
    case 'X':
    case 'B':
    case 'E':
    case 'R':
    case 'P':
    case 'c':
    case 'v':
    case 'V':
    case '(':
    case ')':
    case '=':
        break;
    default:
        odd(Oddity::UnknownPhase);
    }
    finishSpan(event, phase, ts, name, offset, out);
}

void EventParser::finishSpan(Event& event, char phase, TimeNs ts, StringId name, std::uint64_t offset,
                             Batch& out) {
    const Registry::CategoryRef cat = category(event.category);
    ParsedSpan span{ts, 0, event.external, event.correlation, name, 0, 0, cat.number, 0, phase};
    if (phase == 'X') {
        TimeNs duration = 0;
        if (!event.duration.present() || !parseMicroseconds(event.duration.text(), duration)) {
            span.flags |= SliceFlag::NoDuration;
            out.tallies[static_cast<std::size_t>(Oddity::MissingDuration)].add(offset, ts);
        } else if (duration < 0) {
            span.flags |= SliceFlag::NegativeDuration;
            out.tallies[static_cast<std::size_t>(Oddity::NegativeDuration)].add(offset, ts);
        } else {
            span.duration = std::min(duration, kMostTime - ts);
        }
    } else if (phase != 'B' && phase != 'E') {
        span.phase = 'i';
        span.flags |= SliceFlag::Instant;
        if (event.duration.present())
            addArg(m_interner.key("dur"), event.duration, true, event);
    }
    if (event.id.present())
        addArg(m_interner.key("id"), event.id, true, event);
    span.track = track(number(event.pid), number(event.tid), trackKindOf(cat.kind), {}).track;
    span.args = storeArgs(offset, out);
    out.spans.push_back(span);
}

void EventParser::finishAsync(Event& event, char phase, TimeNs ts, StringId name, Batch& out) {
    const Registry::CategoryRef cat = category(event.category);
    const bool object = phase == 'N' || phase == 'D' || phase == 'O';
    const Number pid = number(event.pid);
    std::uint64_t id = mix(identifier(event), cat.name.value);
    id = mix(id, textOrEmpty(event.scope).value);
    // "id" and "id2.local" are a process's own, "id2.global" is everybody's.
    const bool global = event.id2.present() && event.id2.text().find("\"global\"") != std::string_view::npos;
    if (!global)
        id = mix(mix(id, static_cast<std::uint64_t>(pid.value)), pid.text.value);
    if (object)
        id = mix(id, name.value);

    char kind = 'i';
    if (phase == 'b' || phase == 'S' || phase == 'N')
        kind = 'b';
    if (phase == 'e' || phase == 'F' || phase == 'D')
        kind = 'e';
    ParsedSpan span{ts, 0, event.external, event.correlation, name, 0, 0, cat.number, SliceFlag::Async, kind};
    if (kind == 'i')
        span.flags |= SliceFlag::Instant;
    if (event.id.present())
        addArg(m_interner.key("id"), event.id, true, event);
    if (event.id2.present())
        addArg(m_interner.key("id2"), event.id2, true, event);
    if (event.scope.present())
        addArg(m_interner.key("scope"), event.scope, true, event);
    const StringId group = object ? name : cat.name;
    span.track = track(pid, number(event.tid), TrackKind::Async, group).track;
    span.args = storeArgs(0, out);
    out.async.push_back({static_cast<std::uint32_t>(out.spans.size()), id});
    out.spans.push_back(span);
}

bool EventParser::finishMemory(const Event& event, TimeNs ts, StringId name, Batch& out) {
    ParsedMemory m{ts, 0, -1, -1, 0, name, 0, 0, -1};
    bool sized = name == m_outOfMemory;
    std::int64_t type = 0;
    std::int64_t device = 0;
    for (std::size_t i = 0; i < m_fields.size(); ++i) {
        if (m_fields[i].kind != ArgKind::Int && m_fields[i].kind != ArgKind::UInt)
            continue;
        const StringId key = m_fields[i].key;
        const std::int64_t v = m_values[i];
        if (key == m_bytes) {
            m.bytes = v;
            sized = true;
        } else if (key == m_address) {
            m.address = static_cast<std::uint64_t>(v);
        } else if (key == m_totalAllocated) {
            m.totalAllocated = v;
        } else if (key == m_totalReserved) {
            m.totalReserved = v;
        } else if (key == m_deviceType) {
            type = v;
        } else if (key == m_deviceId) {
            device = v;
        }
    }
    if (!sized)
        return false;
    // Device Type 0 is the host (c10::DeviceType::CPU); every other one is a device.
    m.device = static_cast<std::int16_t>(type == 0 ? -1 : device);
    m.track = track(number(event.pid), number(event.tid), TrackKind::Thread, {}).raw;
    m.args = storeArgs(0, out);
    out.memory.push_back(m);
    return true;
}

void EventParser::finishMetadata(const Event& event, Batch& out) {
    const Number pid = number(event.pid);
    const Number tid = number(event.tid);
    out.metadata.push_back({textOrEmpty(event.name), pid.value, tid.value, pid.text, tid.text, m_argsRaw});
}

} // namespace warpline::chrome
