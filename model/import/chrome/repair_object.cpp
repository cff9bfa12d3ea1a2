// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/repair_object.h"

#include "model/import/chrome/repair_string.h"
#include "model/import/chrome/repair_text.h"

#include <vector>

namespace warpline::repairing {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
/// Real events nest a handful deep; what is deeper would only exhaust whoever reads it next.
constexpr std::size_t kMostDepth = 128;

/// Reads one object member by member and writes it again as strict JSON. No step looks back: whatever stands
/// there is taken, put right or passed over.
class ObjectReader {
  public:
    ObjectReader(std::string_view text, std::size_t at, bool final)
        : m_text(text), m_begin(at), m_at(at + 1), m_final(final) {
        m_out = "{";
        m_levels.push_back({.object = true, .state = State::Key});
    }

    RepairedEvent run() {
        while (!m_levels.empty()) {
            m_at = skipSpace(m_text, m_at);
            if (m_at - m_begin > kMostBytes)
                return giveUp(m_at);
            if (m_at >= m_text.size()) {
                if (!m_final)
                    return m_text.size() - m_begin > kMostBytes ? giveUp(m_text.size()) : needMore();
                return cutOff(m_text.size());
            }
            const Step step = top().object ? object() : array();
            if (step == Step::TextEnds) {
                if (m_final)
                    return cutOff(m_text.size());
                return m_text.size() - m_begin > kMostBytes ? giveUp(m_text.size()) : needMore();
            }
            if (step == Step::EventEnds)
                return cutOff(m_at);
            if (step == Step::TooDeep)
                return giveUp(m_at);
        }
        RepairedEvent r;
        r.status = RepairedEvent::Status::Event;
        r.json = std::move(m_out);
        r.consumed = m_at;
        r.repairs = m_repairs;
        return r;
    }

  private:
    enum class State { Key, Colon, Value, After }; ///< of an array: Value (an element or its end) and After
    enum class Step { On, TextEnds, EventEnds, TooDeep };
    struct Level {
        bool object = false;
        State state = State::Key;
        bool comma = false;    ///< one came since the last member
        std::size_t count = 0; ///< members written
        std::size_t mark = 0;  ///< m_out's size before the member at hand
    };

    Level& top() { return m_levels.back(); }

    static RepairedEvent needMore() {
        RepairedEvent r;
        r.status = RepairedEvent::Status::NeedMore;
        return r;
    }
    [[nodiscard]] RepairedEvent giveUp(std::size_t at) const {
        RepairedEvent r;
        r.status = RepairedEvent::Status::Skipped;
        r.consumed = at;
        r.repairs = m_repairs | Repair::Unreadable;
        return r;
    }
    /// The event ends before its brace: what is whole of it stays.
    RepairedEvent cutOff(std::size_t at) {
        m_repairs |= Repair::Truncated;
        dropMember();
        const bool nothing = m_levels.size() == 1 && top().count == 0;
        for (; !m_levels.empty(); m_levels.pop_back())
            m_out += top().object ? '}' : ']';
        RepairedEvent r;
        r.status = nothing ? RepairedEvent::Status::Skipped : RepairedEvent::Status::Event;
        if (!nothing)
            r.json = std::move(m_out);
        r.consumed = at;
        r.repairs = m_repairs;
        return r;
    }

    void beginMember() {
        top().mark = m_out.size();
        if (top().count > 0)
            m_out += ',';
    }
    void endMember() {
        ++top().count;
        top().comma = false;
        top().state = State::After;
    }
    /// Takes back a member of which no value came.
    void dropMember() {
        Level& level = top();
        if (level.object ? level.state == State::Colon || level.state == State::Value
                         : level.state == State::Value)
            if (level.mark > 0 && m_memberOpen)
                m_out.resize(level.mark);
        m_memberOpen = false;
    }

    Step object() {
        switch (top().state) {
        case State::Key:
            return key();
        case State::Colon:
            return colon();
        case State::Value:
            return value();
        case State::After:
            return after();
        }
        return Step::On;
    }

    Step key() {
        switch (m_text[m_at]) {
        case '"': {
            beginMember();
            m_memberOpen = true;
            top().state = State::Colon;
            const StringEnd end = readString(m_text, m_at, Place::Key, m_final, m_out, m_repairs);
            return stepOf(end);
        }
        case ',':
            m_repairs |= Repair::ExtraComma;
            ++m_at;
            return Step::On;
        case '}':
            if (top().comma)
                m_repairs |= Repair::ExtraComma;
            return close();
        default:
            return stray();
        }
    }
    Step colon() {
        const char c = m_text[m_at];
        if (c == ':') {
            ++m_at;
            top().state = State::Value;
            m_out += ':';
            return Step::On;
        }
        m_repairs |= Repair::Garbage;
        if (c == ',' || c == '}') { // a key without a value
            dropMember();
            top().state = State::After;
            return Step::On;
        }
        if (c == ']')
            return stray();
        if (c == '{' && beginsEvent(m_text, m_at))
            return Step::EventEnds;
        top().state = State::Value; // a colon was forgotten
        m_out += ':';
        return Step::On;
    }
    Step value() {
        const char c = m_text[m_at];
        switch (c) {
        case '"': {
            const Place place = top().object ? Place::ObjectValue : Place::ArrayValue;
            const StringEnd end = readString(m_text, m_at, place, m_final, m_out, m_repairs);
            if (end == StringEnd::Closed) {
                m_memberOpen = false;
                endMember();
            }
            return stepOf(end);
        }
        case '{':
        case '[':
            if (m_levels.size() >= kMostDepth)
                return Step::TooDeep;
            m_out += c;
            ++m_at;
            m_memberOpen = false;
            endMember(); // counted now, so that it stays where the text ends within
            m_levels.push_back({.object = c == '{', .state = c == '{' ? State::Key : State::Value});
            return Step::On;
        case ',':
        case '}':
        case ']': // no value at all
            m_out += "null";
            m_repairs |= Repair::Garbage;
            m_memberOpen = false;
            endMember();
            return Step::On;
        case ':':
            m_repairs |= Repair::Garbage;
            ++m_at;
            return Step::On;
        default:
            return word();
        }
    }
    Step word() {
        const std::size_t end = wordEnd();
        // At the end of the text a word may be cut, and half a number is a wrong one.
        if (end == m_text.size())
            return Step::TextEnds;
        bool odd = false;
        m_out += strictWord(m_text.substr(m_at, end - m_at), odd);
        if (odd)
            m_repairs |= Repair::BareNumber;
        m_at = end;
        m_memberOpen = false;
        endMember();
        return Step::On;
    }
    Step after() {
        switch (m_text[m_at]) {
        case ',':
            ++m_at;
            top().comma = true;
            top().state = State::Key;
            return Step::On;
        case '}':
            return close();
        case '"': {
            const QuotedKey key = quotedKey(m_text, m_at);
            if (key.cut && !m_final)
                return Step::TextEnds;
            if (key.plausible)
                m_repairs |= Repair::MissingComma;
            else
                return skipOne();
            top().state = State::Key;
            return Step::On;
        }
        default:
            return stray();
        }
    }

    Step array() {
        Level& level = top();
        const char c = m_text[m_at];
        if (c == ',') {
            if (level.comma || level.count == 0)
                m_repairs |= Repair::ExtraComma;
            level.comma = true;
            ++m_at;
            return Step::On;
        }
        if (c == ']') {
            if (level.comma)
                m_repairs |= Repair::ExtraComma;
            return close();
        }
        if (c == '}') { // the array has no end; the object around it has
            m_repairs |= Repair::Garbage;
            m_out += ']';
            m_levels.pop_back();
            return Step::On;
        }
        if (c == ':')
            return skipOne();
        if (c == '{' && beginsEvent(m_text, m_at, true))
            return Step::EventEnds;
        if (level.count > 0 && !level.comma)
            m_repairs |= Repair::MissingComma;
        beginMember();
        m_memberOpen = true;
        level.state = State::Value;
        return value();
    }

    /// What has no place between two members.
    Step stray() {
        const char c = m_text[m_at];
        if (c == '{') {
            const std::size_t next = skipSpace(m_text, m_at + 1);
            if (next == m_text.size() && !m_final)
                return Step::TextEnds;
            return next < m_text.size() && m_text[next] == '"' ? Step::EventEnds : skipOne();
        }
        if (c == ']') {
            // Of an array that is open further out, or of the list that the event stands in.
            std::size_t depth = m_levels.size();
            while (depth > 0 && m_levels[depth - 1].object)
                --depth;
            if (depth == 0) {
                const ListEnd end = endsList(m_text, m_at, m_final);
                return end == ListEnd::Yes        ? Step::EventEnds
                       : end == ListEnd::TextEnds ? Step::TextEnds
                                                  : skipOne();
            }
            m_repairs |= Repair::Garbage;
            dropMember();
            while (m_levels.size() > depth) {
                m_out += '}';
                m_levels.pop_back();
            }
            return Step::On;
        }
        if (c == '[' || c == ':' || c == '"')
            return skipOne();
        const std::size_t end = wordEnd();
        if (end == m_text.size())
            return Step::TextEnds;
        m_repairs |= Repair::Garbage;
        const std::size_t next = skipSpace(m_text, end);
        if (top().state == State::Key && next < m_text.size() && m_text[next] == ':') {
            // A key without quotes. A number as a key is a text too.
            bool odd = false;
            const std::string key = strictWord(m_text.substr(m_at, end - m_at), odd);
            beginMember();
            m_memberOpen = true;
            top().state = State::Colon;
            m_out += key.starts_with('"') ? key : '"' + key + '"';
        }
        m_at = end;
        return Step::On;
    }
    Step skipOne() {
        m_repairs |= Repair::Garbage;
        ++m_at;
        return Step::On;
    }
    Step close() {
        m_out += top().object ? '}' : ']';
        m_levels.pop_back();
        ++m_at;
        return Step::On;
    }
    [[nodiscard]] std::size_t wordEnd() const {
        std::size_t end = m_at;
        while (end < m_text.size() && !isSpace(m_text[end]) &&
               std::string_view(",:{}[]\"").find(m_text[end]) == std::string_view::npos)
            ++end;
        return end;
    }
    static Step stepOf(StringEnd end) {
        return end == StringEnd::Closed     ? Step::On
               : end == StringEnd::TextEnds ? Step::TextEnds
                                            : Step::EventEnds;
    }

    std::string_view m_text;
    std::size_t m_begin;
    std::size_t m_at;
    bool m_final;
    std::string m_out;
    std::uint32_t m_repairs = 0;
    std::vector<Level> m_levels;
    bool m_memberOpen = false; ///< m_out holds a member of the top level that has no value yet
};

} // namespace

RepairedEvent repairObject(std::string_view text, std::size_t at, bool final) {
    return ObjectReader(text, at, final).run();
}

} // namespace warpline::repairing
