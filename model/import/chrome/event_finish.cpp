// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// What an event that was read becomes.
#include "model/import/chrome/event_parser.h"
#include "model/import/chrome/number.h"
#include "model/import/chrome/scan.h"

#include <algorithm>

namespace warpline::chrome {

namespace {

/// Times are kept within 126 years of zero on either side, so that sums of two of them do not overflow.
constexpr TimeNs kMostTime = 4'000'000'000'000'000'000;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 29);
}

} // namespace

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

EventParser::TrackSlot EventParser::track(const Token& pid, const Token& tid, TrackKind kind,
                                          StringId group) {
    const auto shortly = [](const Token& token) { return !token.present() || token.text().size() <= 8; };
    if (!shortly(pid) || !shortly(tid))
        return track(number(pid), number(tid), kind, group);
    // As written: the texts say as much as the numbers.
    const WrittenTrack written{pid.present() ? scan::shortWord(pid.begin, pid.text().size()) : 0,
                               tid.present() ? scan::shortWord(tid.begin, tid.text().size()) : 0,
                               group,
                               kind,
                               pid.present() ? pid.type : '\1',
                               tid.present() ? tid.type : '\1'};
    const std::uint64_t h = mix(mix(written.pid, written.tid),
                                (std::uint64_t{group.value} << 8) | static_cast<std::uint64_t>(kind));
    auto& [known, slot] = m_written[h >> 58];
    if (!slot.used || known != written) {
        known = written;
        slot = track(number(pid), number(tid), kind, group);
    }
    return slot;
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

std::uint32_t EventParser::shape() {
    // The way through the keys says which they are; what is left are the kinds of their values.
    PathShape* ofPath = nullptr;
    if (m_node != KeyPaths::kNowhere && m_fields.size() <= kMostKinds) {
        if (m_node >= m_pathShapes.size())
            m_pathShapes.resize(std::size_t{m_node} + 1);
        ofPath = &m_pathShapes[m_node];
        if (ofPath->count == m_fields.size() && ofPath->kinds == m_kinds)
            return ofPath->shape;
    }
    std::uint64_t hash = m_fields.size();
    for (const auto& f : m_fields)
        hash = mix(hash, (std::uint64_t{f.key.value} << 8) | (static_cast<std::uint64_t>(f.kind) << 1) |
                             (f.top ? 1 : 0));
    ShapeSlot& slot = m_shapes[hash >> 56];
    if (slot.hash != hash || slot.fields != m_fields)
        slot = {hash, m_fields, m_trace.args.shape(m_fields)};
    if (ofPath != nullptr)
        *ofPath = {m_kinds, static_cast<std::uint32_t>(m_fields.size()), slot.number};
    return slot.number;
}

ArgStore::Ref EventParser::storeArgs(std::uint64_t offset, OpenBatch& out) {
    if (m_fields.empty())
        return 0;
    const ArgStore::Ref ref = m_args.add(shape(), m_fields, m_values, m_decimals);
    if (ref == 0)
        out.tallies[static_cast<std::size_t>(Oddity::LostArguments)].add(offset);
    return ref;
}

void EventParser::finish(Event& event, std::uint64_t offset, OpenBatch& out) {
    const auto odd = [&](Oddity o) { out.tallies[static_cast<std::size_t>(o)].add(offset); };
    const char phase =
        event.phase.present() && event.phase.end == event.phase.begin + 1 ? *event.phase.begin : '?';
    if (phase == 'M')
        return finishMetadata(event, out);

    TimeNs ts = 0;
    const bool timed =
        (event.timeKnown ? (ts = event.time, true)
                         : event.ts.present() && (event.ts.type == 0 || event.ts.type == '"') &&
                               parseMicroseconds(event.ts.text(), ts)) &&
        ts > -kMostTime && ts < kMostTime;
    if (!timed)
        return odd(Oddity::MissingTime);

    const StringId name = event.nameId ? event.nameId : m_empty;
    switch (phase) {
    case 's':
    case 't':
    case 'f': {
        const TrackSlot slot = track(event.pid, event.tid, TrackKind::Thread, {});
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
        const TrackSlot slot = track(event.pid, event.tid, TrackKind::Thread, {});
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
                             OpenBatch& out) {
    const Registry::CategoryRef cat = category(event.category);
    ParsedSpan span{ts, 0, event.external, event.correlation, name, 0, 0, cat.number, 0, phase};
    if (phase == 'X') {
        TimeNs duration = 0;
        if (event.durationKnown)
            duration = event.length;
        if (!event.durationKnown &&
            (!event.duration.present() || !parseMicroseconds(event.duration.text(), duration))) {
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
            addOwn("dur", event.duration, event);
    }
    if (event.id.present())
        addOwn("id", event.id, event);
    span.track = track(event.pid, event.tid, trackKindOf(cat.kind), {}).track;
    span.args = storeArgs(offset, out);
    out.spans.push_back(span);
}

void EventParser::finishAsync(Event& event, char phase, TimeNs ts, StringId name, OpenBatch& out) {
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
        addOwn("id", event.id, event);
    if (event.id2.present())
        addOwn("id2", event.id2, event);
    if (event.scope.present())
        addOwn("scope", event.scope, event);
    const StringId group = object ? name : cat.name;
    span.track = track(event.pid, event.tid, TrackKind::Async, group).track;
    span.args = storeArgs(0, out);
    out.async.push_back({static_cast<std::uint32_t>(out.spans.size()), id});
    out.spans.push_back(span);
}

bool EventParser::finishMemory(const Event& event, TimeNs ts, StringId name, OpenBatch& out) {
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
    m.track = track(event.pid, event.tid, TrackKind::Thread, {}).raw;
    m.args = storeArgs(0, out);
    out.memory.push_back(m);
    return true;
}

void EventParser::finishMetadata(const Event& event, OpenBatch& out) {
    const Number pid = number(event.pid);
    const Number tid = number(event.tid);
    out.metadata.push_back({textOrEmpty(event.name), pid.value, tid.value, pid.text, tid.text, m_argsRaw});
}

} // namespace warpline::chrome
