// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/import/snapshot/sink.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpline::snapshot {

/// Anything on the machine's stack, in eight bytes: a kind and 60 bits. What does not fit lies in a table.
class Value {
  public:
    enum class Kind : std::uint8_t {
        Unset,
        None,
        False,
        True,
        Int,
        BigInt,
        Float,
        Text,
        Object,
        Tuple0,
        Other
    };

    constexpr Value() = default;
    constexpr Value(Kind kind, std::uint64_t payload)
        : m_bits(static_cast<std::uint64_t>(kind) << 60 | (payload & kPayload)) {}
    [[nodiscard]] constexpr bool operator==(const Value&) const = default;
    [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(m_bits >> 60); }
    [[nodiscard]] constexpr std::uint64_t payload() const { return m_bits & kPayload; }

  private:
    static constexpr std::uint64_t kPayload = (std::uint64_t{1} << 60) - 1;
    std::uint64_t m_bits = 0;
};

/// The machine that reads a snapshot's values in the order in which a pickle builds them: a stack, marks,
/// containers that get their items. It keeps nothing whole: a dictionary that is seen to be a trace entry, a
/// frame, a block, a segment or an annotation becomes a record as soon as its items are there, a list of them
/// becomes columns as they are appended; a list of frames becomes a stack, once, however many entries share
/// it. Anything else stays as it is, within `budget`.
///
/// Nothing here recurses over values but what prints a setting, four deep.
class Machine {
  public:
    explicit Machine(Sink& sink) : m_sink(sink) {}
    ~Machine();

    // What a reader does. All give false where the stack does not hold what is needed; error() says what.
    void push(Value value) { m_stack.push_back(value); }
    void pushNone() { push({Value::Kind::None, 0}); }
    void pushInt(std::int64_t value);
    void pushUnsigned(std::uint64_t value);
    void pushFloat(double value);
    void pushText(std::string_view text) { push({Value::Kind::Text, m_sink.text(text).value}); }
    void pushKey(Key key) { push({Value::Kind::Text, static_cast<std::uint64_t>(key)}); }
    void pushBool(bool value) { push({value ? Value::Kind::True : Value::Kind::False, 0}); }
    void pushList();
    void pushDict();
    void mark() { m_marks.push_back(static_cast<std::uint32_t>(m_stack.size())); }
    bool pop();
    bool popMark();
    bool duplicate();
    bool append();
    bool appends();
    bool setItem();
    bool setItems();
    bool tuple(std::size_t count);
    bool tupleFromMark();
    bool listFromMark();
    bool dictFromMark();
    bool memoPut(std::uint64_t index);
    bool memoize() { return memoPut(m_memoNext); }
    bool memoGet(std::uint64_t index);
    /// What was put there, Unset where nothing was.
    [[nodiscard]] Value memoAt(std::uint64_t index) const {
        return index < m_memoNext ? m_memo[index] : Value();
    }
    /// The same as a reader's instructions one by one do, for one that has several together.
    static constexpr bool fitsInline(std::int64_t value) {
        return value >= -(std::int64_t{1} << 59) && value < std::int64_t{1} << 59;
    }
    /// Says that the value is going to be used.
    void prepare(Value value) const {
        if (value.kind() == Value::Kind::Object)
            __builtin_prefetch(m_objects.data() + value.payload());
    }
    [[nodiscard]] Value top() const { return m_stack.back(); }
    void setItemsOf(Value dict, const Value* pairs, std::size_t count);
    void appendTo(Value list, const Value* values, std::size_t count);

    /// How high the stack stands, and back to it after something that did not come to its end.
    struct Height {
        std::size_t stack = 0;
        std::size_t marks = 0;
    };
    [[nodiscard]] Height height() const { return {m_stack.size(), m_marks.size()}; }
    void restore(Height height);
    /// The last value, taken off, as a stack of frames and as a pool.
    StackId popStack();
    std::optional<MemoryPool> popPool();

    /// Takes what the whole document is: the one value left. False where that is no snapshot.
    bool finish();
    /// Closes what is open and takes what is there, of a document that was cut.
    bool finishCut();

    [[nodiscard]] const char* error() const { return m_error; }
    /// Where the reader stands, for messages about odd values.
    void setOffset(std::uint64_t offset) { m_offset = offset; }
    /// About how many bytes are held, the tables that rows will need among them. A reader gives up where this
    /// is more than budget() of what it has read.
    [[nodiscard]] static std::uint64_t budget(std::uint64_t read) {
        return (std::uint64_t{48} << 20) + 8 * read;
    }
    [[nodiscard]] std::uint64_t held() const {
        // The stacks have room for up to twice what is on them.
        return m_held + m_stack.size() * 16 + m_marks.size() * 8 + (m_objectCount + m_memoNext) * 8 +
               m_rows * 112;
    }
    [[nodiscard]] bool gaveUp() const { return m_gaveUp; }
    [[nodiscard]] bool overBudget() const { return m_gaveUp || held() > budget(m_offset); }
    [[nodiscard]] std::uint64_t rows() const { return m_rows; }

  private:
    enum class What : std::uint8_t {
        NewList,     ///< nothing in it yet
        NewDict,     ///< nothing in it yet
        List,        ///< number in m_generic: anything
        Dict,        ///< number in m_generic: keys and values in turn
        Tuple,       ///< number in m_generic
        Frame,       ///< FrameId
        Frames,      ///< number in m_frameLists
        Stack,       ///< StackId
        Event,       ///< number in m_events, not in a list yet
        EventRow,    ///< row `number` of the event list `list`
        Events,      ///< number in m_eventLists
        Block,       ///< number in m_blocks
        Blocks,      ///< number in m_blockLists
        Segment,     ///< number in m_segments
        Segments,    ///< number in m_segmentLists
        Annotation,  ///< number in m_annotations
        Annotations, ///< number in m_annotationLists
        Past,        ///< number in m_pasts: an entry of an old block's history
        Pasts,       ///< number in m_pastLists
        Gone,        ///< was moved into what holds it
    };
    struct Object {
        What what : 8;
        std::uint32_t list : 24;
        std::uint32_t number;
    };
    static_assert(sizeof(Object) == 8);
    static constexpr std::size_t kMostEventLists = std::size_t{1} << 24;
    /// Records that wait to be put where they belong; numbers of those that were are used again.
    template <class T>
    struct Waiting {
        std::vector<T> items;
        std::vector<std::uint32_t> free;
        std::uint32_t take() {
            if (free.empty()) {
                items.emplace_back();
                return static_cast<std::uint32_t>(items.size() - 1);
            }
            const std::uint32_t n = free.back();
            free.pop_back();
            return n;
        }
        void drop(std::uint32_t n) {
            items[n] = T{};
            free.push_back(n);
        }
        T give(std::uint32_t n) {
            T item = std::move(items[n]);
            items[n] = T{};
            free.push_back(n);
            return item;
        }
    };
    struct FrameParts {
        MemoryFrame frame;
        StringId op, node, target;
    };
    struct Past {
        std::int64_t size = -1;
        StackId stack;
    };

    bool fail(const char* message) {
        m_error = message;
        return false;
    }
    void odd() { m_sink.addOdd(m_offset); }
    std::uint32_t newObject(What what, std::uint32_t number);
    [[nodiscard]] Object* object(Value value) {
        return value.kind() == Value::Kind::Object ? &m_objects[value.payload()] : nullptr;
    }
    std::size_t popToMark(bool& ok);

    // machine_records.cpp: dictionaries and what becomes of them
    void appendOne(Object& list, Value value);
    bool startList(Object& list, Value first);
    bool classify(Object& dict, const Value* pairs, std::size_t count);
    void apply(Object& record, Key key, Value value);
    [[nodiscard]] bool likeLastEvent(const Value* pairs, std::size_t count) const;
    void applyEvent(RawMemoryEvent& event, Key key, Value value);
    void applyFrame(FrameParts& parts, Key key, Value value);
    FrameId internFrame(const FrameParts& parts);
    void applyBlock(RawMemoryBlock& block, Key key, Value value);
    void applySegment(RawMemorySegment& segment, Key key, Value value);
    void applyAnnotation(AnnotationMark& mark, Key key, Value value);
    void applyPast(Past& past, Key key, Value value);

    // machine_values.cpp: what values mean
    [[nodiscard]] std::int64_t integer(Value value) {
        return value.kind() == Value::Kind::Int ? inlineInteger(value) : oddInteger(value);
    }
    [[nodiscard]] static std::int64_t inlineInteger(Value value) {
        return static_cast<std::int64_t>(value.payload() << 4) >> 4;
    }
    [[nodiscard]] std::int64_t oddInteger(Value value);
    [[nodiscard]] std::optional<std::int64_t> maybeInteger(Value value) const;
    [[nodiscard]] std::string_view textOf(Value value) const;
    [[nodiscard]] bool truth(Value value) const;
    StackId stackOf(Value value);
    std::optional<MemoryPool> poolOf(Value value);
    StringId describe(Value value);
    void print(std::string& out, Value value, int depth);
    void takeTop(Value key, Value value);
    void takeSegments(Value value, bool host);
    void takeTraces(Value value, bool host);
    void takeSettings(Value value);
    bool takeDocument(Value value);

    Sink& m_sink;
    std::vector<Value> m_stack;
    std::vector<std::uint32_t> m_marks;
    Column<Value> m_memo; ///< filled up to m_memoNext
    std::uint64_t m_memoNext = 0;
    Column<Object> m_objects; ///< filled up to m_objectCount
    std::size_t m_objectCount = 0;
    std::vector<std::vector<Value>> m_generic;
    std::vector<std::uint64_t> m_ints;
    std::vector<double> m_floats;
    std::vector<std::vector<FrameId>> m_frameLists;
    Waiting<RawMemoryEvent> m_events;
    std::vector<MemoryDeviceBuilder> m_eventLists;
    Waiting<RawMemoryBlock> m_blocks;
    std::vector<std::vector<RawMemoryBlock>> m_blockLists;
    Waiting<RawMemorySegment> m_segments;
    std::vector<std::vector<RawMemorySegment>> m_segmentLists;
    Waiting<AnnotationMark> m_annotations;
    std::vector<std::vector<AnnotationMark>> m_annotationLists;
    Waiting<Past> m_pasts;
    std::vector<std::vector<Past>> m_pastLists;
    std::vector<std::pair<StringId, MemoryAction>> m_actions; ///< names seen
    std::array<Value, 16> m_eventKeys;                        ///< of the last event that classify() met
    std::size_t m_eventKeyCount = 0;
    std::uint64_t m_held = 0;
    std::uint64_t m_rows = 0;
    std::uint64_t m_offset = 0;
    bool m_gaveUp = false; ///< one instruction asked for more than the budget
    bool m_tookAnything = false;
    const char* m_error = "";
};

} // namespace warpline::snapshot
