// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/machine.h"

#include <algorithm>
#include <bit>

namespace warpline::snapshot {

namespace {

constexpr const char* kStackEmpty = "it takes a value from an empty stack";
constexpr const char* kNoMark = "it goes back to a mark that was not set";
constexpr const char* kNotSet = "it refers to a value that was not set";
/// Who numbers the memo leaves no gaps; one this wide is damage.
constexpr std::uint64_t kMostGap = 1 << 16;

} // namespace

Machine::~Machine() = default;

void Machine::pushInt(std::int64_t value) {
    if (fitsInline(value)) {
        push({Value::Kind::Int, static_cast<std::uint64_t>(value)});
        return;
    }
    pushUnsigned(static_cast<std::uint64_t>(value));
}

void Machine::pushUnsigned(std::uint64_t value) {
    push({Value::Kind::BigInt, m_ints.size()});
    m_ints.push_back(value);
    m_held += 16;
}

void Machine::pushFloat(double value) {
    push({Value::Kind::Float, m_floats.size()});
    m_floats.push_back(value);
    m_held += 16;
}

std::uint32_t Machine::newObject(What what, std::uint32_t number) {
    if (m_objectCount == m_objects.size())
        m_objects.makeRoom(m_objectCount);
    m_objects[m_objectCount] = {what, 0, number};
    return static_cast<std::uint32_t>(m_objectCount++);
}

void Machine::pushList() {
    push({Value::Kind::Object, newObject(What::NewList, 0)});
}

void Machine::pushDict() {
    push({Value::Kind::Object, newObject(What::NewDict, 0)});
}

bool Machine::pop() {
    // Beneath a mark nothing may be taken; POP takes the mark itself then.
    if (!m_marks.empty() && m_marks.back() == m_stack.size()) {
        m_marks.pop_back();
        return true;
    }
    if (m_stack.empty())
        return fail(kStackEmpty);
    m_stack.pop_back();
    return true;
}

std::size_t Machine::popToMark(bool& ok) {
    ok = !m_marks.empty() && m_marks.back() <= m_stack.size();
    if (!ok) {
        fail(kNoMark);
        return 0;
    }
    const std::size_t at = m_marks.back();
    m_marks.pop_back();
    return at;
}

bool Machine::popMark() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    if (ok)
        m_stack.resize(at);
    return ok;
}

bool Machine::duplicate() {
    if (m_stack.empty())
        return fail(kStackEmpty);
    m_stack.push_back(m_stack.back());
    return true;
}

bool Machine::append() {
    if (m_stack.size() < 2)
        return fail(kStackEmpty);
    const Value value = m_stack.back();
    m_stack.pop_back();
    appendTo(m_stack.back(), &value, 1);
    return true;
}

bool Machine::appends() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    if (!ok)
        return false;
    if (at == 0)
        return fail(kStackEmpty);
    appendTo(m_stack[at - 1], m_stack.data() + at, m_stack.size() - at);
    m_stack.resize(at);
    return true;
}

bool Machine::setItem() {
    if (m_stack.size() < 3)
        return fail(kStackEmpty);
    const std::size_t at = m_stack.size() - 2;
    setItemsOf(m_stack[at - 1], m_stack.data() + at, 2);
    m_stack.resize(at);
    return true;
}

bool Machine::setItems() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    if (!ok)
        return false;
    if (at == 0)
        return fail(kStackEmpty);
    if ((m_stack.size() - at) % 2 != 0)
        return fail("it sets items of a dictionary, and one has no value");
    setItemsOf(m_stack[at - 1], m_stack.data() + at, m_stack.size() - at);
    m_stack.resize(at);
    return true;
}

bool Machine::tuple(std::size_t count) {
    if (m_stack.size() < count)
        return fail(kStackEmpty);
    const std::size_t at = m_stack.size() - count;
    Value value(Value::Kind::Tuple0, 0);
    if (count > 0) {
        value = {Value::Kind::Object, newObject(What::Tuple, static_cast<std::uint32_t>(m_generic.size()))};
        m_generic.emplace_back(m_stack.begin() + static_cast<std::ptrdiff_t>(at), m_stack.end());
        m_held += 48 + count * 8;
    }
    m_stack.resize(at);
    push(value);
    return true;
}

bool Machine::tupleFromMark() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    return ok && tuple(m_stack.size() - at);
}

bool Machine::listFromMark() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    if (!ok)
        return false;
    const Value list(Value::Kind::Object, newObject(What::NewList, 0));
    appendTo(list, m_stack.data() + at, m_stack.size() - at);
    m_stack.resize(at);
    push(list);
    return true;
}

bool Machine::dictFromMark() {
    bool ok = false;
    const std::size_t at = popToMark(ok);
    if (!ok)
        return false;
    if ((m_stack.size() - at) % 2 != 0)
        return fail("it makes a dictionary, and one key has no value");
    const Value dict(Value::Kind::Object, newObject(What::NewDict, 0));
    setItemsOf(dict, m_stack.data() + at, m_stack.size() - at);
    m_stack.resize(at);
    push(dict);
    return true;
}

bool Machine::memoPut(std::uint64_t index) {
    if (m_stack.empty())
        return fail(kStackEmpty);
    if (index > m_memoNext + kMostGap)
        return fail("it numbers a value far beyond those before it");
    // What a gap takes counts before it is made.
    if (index > m_memoNext + 256 && held() + (index - m_memoNext) * 8 > budget(m_offset)) {
        m_gaveUp = true;
        return true;
    }
    for (; m_memoNext <= index; ++m_memoNext) {
        if (m_memoNext == m_memo.size())
            m_memo.makeRoom(static_cast<std::size_t>(m_memoNext));
        m_memo[m_memoNext] = Value();
    }
    m_memo[index] = m_stack.back();
    return true;
}

bool Machine::memoGet(std::uint64_t index) {
    const Value value = memoAt(index);
    if (value.kind() == Value::Kind::Unset)
        return fail(kNotSet);
    m_stack.push_back(value);
    return true;
}

void Machine::restore(Height height) {
    m_stack.resize(std::min(m_stack.size(), height.stack));
    m_marks.resize(std::min(m_marks.size(), height.marks));
}

StackId Machine::popStack() {
    if (m_stack.empty())
        return {};
    const Value value = m_stack.back();
    m_stack.pop_back();
    return stackOf(value);
}

std::optional<MemoryPool> Machine::popPool() {
    if (m_stack.empty())
        return std::nullopt;
    const Value value = m_stack.back();
    m_stack.pop_back();
    return poolOf(value);
}

bool Machine::finish() {
    if (m_stack.empty())
        return fail("it ends without a value");
    return takeDocument(m_stack.back());
}

bool Machine::finishCut() {
    // Innermost first: what was being appended or set is put where it was meant to go.
    while (!m_marks.empty() && !overBudget()) {
        const std::size_t at = m_marks.back();
        m_marks.pop_back();
        if (at == 0 || at > m_stack.size())
            break;
        Object* holder = object(m_stack[at - 1]);
        std::size_t count = m_stack.size() - at;
        if (holder != nullptr && (holder->what == What::NewDict || holder->what == What::Dict)) {
            // Half an event says what never was; of the outermost dictionary every part counts.
            if (at > 1) {
                m_stack.resize(at - 1);
                continue;
            }
            count -= count % 2;
            setItemsOf(m_stack[at - 1], m_stack.data() + at, count);
        } else if (holder != nullptr) {
            appendTo(m_stack[at - 1], m_stack.data() + at, count);
        }
        m_stack.resize(at);
    }
    if (m_stack.empty() || overBudget())
        return false;
    return takeDocument(m_stack.front());
}

} // namespace warpline::snapshot
