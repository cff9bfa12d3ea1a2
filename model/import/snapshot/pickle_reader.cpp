// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/pickle_reader.h"

#include "model/import/snapshot/machine.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

namespace warpline::snapshot {

namespace {

/// Small enough to stay in a core's cache while it is read.
constexpr std::size_t kBuffer = std::size_t{256} << 10;
/// More than any instruction that dictionary() and list() read takes.
constexpr std::ptrdiff_t kLongest = 16;
/// As much of one text as is kept in one piece; nobody's path is that long.
constexpr std::uint64_t kMostText = std::uint64_t{16} << 20;

/// Opcodes that would run code, or take something from elsewhere, with the names of pickletools.
const char* codeName(unsigned char op) {
    switch (op) {
    case 'c':
        return "GLOBAL";
    case 0x93:
        return "STACK_GLOBAL";
    case 'R':
        return "REDUCE";
    case 'b':
        return "BUILD";
    case 'i':
        return "INST";
    case 'o':
        return "OBJ";
    case 0x81:
        return "NEWOBJ";
    case 0x92:
        return "NEWOBJ_EX";
    case 'P':
        return "PERSID";
    case 'Q':
        return "BINPERSID";
    case 0x82:
        return "EXT1";
    case 0x83:
        return "EXT2";
    case 0x84:
        return "EXT4";
    case 0x97:
        return "NEXT_BUFFER";
    case 0x98:
        return "READONLY_BUFFER";
    default:
        return nullptr;
    }
}

/// Opcodes of protocols 0 and 1 that write values as lines of text.
bool isTextOpcode(unsigned char op) {
    return std::strchr("FILSVgp", op) != nullptr && op != 0;
}

class PickleReader {
  public:
    PickleReader(ByteSource& source, Sink& sink, const ImportOptions& options)
        : m_source(source), m_sink(sink), m_options(options), m_machine(sink),
          m_buffer(std::make_unique<char[]>(kBuffer)) {}

    Result<Done> run() {
        for (std::uint64_t count = 0;; ++count) {
            if ((count & 255) == 0 || m_wantsCheck || m_machine.gaveUp()) {
                if (auto r = check(); !r.ok())
                    return r;
            }
            if (m_at == m_end && !fill(1))
                return ended();
            m_opAt = offset();
            const auto op = static_cast<unsigned char>(m_buffer[m_at++]);
            if (op == '.')
                break;
            m_machine.setOffset(m_opAt);
            const Step step = take(op);
            if (step == Step::Ended)
                return ended();
            if (step == Step::Bad)
                return bad(op);
        }
        if (auto r = check(); !r.ok())
            return r;
        if (!m_machine.finish())
            return Error::wrongKind(fmt::format(
                "{}: This is a Python pickle, but not a PyTorch memory snapshot: {}. Open a file that "
                "torch.cuda.memory._dump_snapshot() wrote.",
                m_source.name, m_machine.error()));
        return Done{};
    }

  private:
    enum class Step { Done, Ended, Bad };

    [[nodiscard]] std::uint64_t offset() const { return m_base + m_at; }

    /// Has at least `bytes` (few) in the buffer.
    bool fill(std::size_t bytes) { return m_end - m_at >= bytes || readOn(bytes); }
    [[gnu::noinline]] bool readOn(std::size_t bytes) {
        std::memmove(m_buffer.get(), m_buffer.get() + m_at, m_end - m_at);
        m_base += m_at;
        m_end -= m_at;
        m_at = 0;
        while (m_end < bytes && !m_ended) {
            auto r = m_source.read(m_buffer.get() + m_end, kBuffer - m_end);
            if (!r.ok()) {
                m_error = r.error();
                m_ended = true;
            } else if (r.value() == 0) {
                m_ended = true;
            } else {
                m_end += r.value();
            }
            m_wantsCheck = true;
        }
        return m_end >= bytes;
    }

    Result<Done> check() {
        m_wantsCheck = false;
        if (m_options.stop.stop_requested())
            return Error::cancelled();
        if (m_options.progress != nullptr) {
            m_options.progress->bytesDone = m_source.bytesDone();
            m_options.progress->events = m_machine.rows();
        }
        m_machine.setOffset(offset());
        if (m_machine.overBudget())
            return Error::failed(fmt::format("{}: Up to byte {} this pickle builds far more than its own "
                                             "size, which no memory snapshot does, "
                                             "so reading it was given up.",
                                             m_source.name, offset()));
        return Done{};
    }

    Result<Done> ended() {
        if (m_error)
            return *m_error;
        const auto damage = m_source.damage();
        m_sink.cut = {damage ? damage->message : "the pickle is not finished", offset()};
        if (auto r = check(); !r.ok())
            return r;
        if (!m_machine.finishCut())
            return Error::failed(
                fmt::format("{}: This pickle ends at byte {} before any segment or event is complete: the "
                            "program was stopped "
                            "while it wrote the file, or the copy failed. Write or copy it again.",
                            m_source.name, offset()));
        return Done{};
    }

    Result<Done> bad(unsigned char op) {
        if (const char* name = codeName(op))
            return Error::failed(fmt::format("{}: This pickle is code, not only data: it has {} at byte {}, "
                                             "which a memory snapshot never has, so "
                                             "it was not read further and nothing of it was run.",
                                             m_source.name, name, m_opAt));
        if (isTextOpcode(op))
            return Error::wrongKind(fmt::format("{}: This is a pickle of protocol 0 or 1 (byte {}), which "
                                                "PyTorch does not write. Write it again with "
                                                "pickle.dump(snapshot, file, protocol=4).",
                                                m_source.name, m_opAt));
        if (m_machine.error()[0] != '\0')
            return Error::failed(
                fmt::format("{}: The pickle is damaged at byte {}: {}. Copy or write it again.",
                            m_source.name, m_opAt, m_machine.error()));
        return Error::failed(fmt::format(
            "{}: The pickle is damaged at byte {}: there is no instruction {:#04x}. Copy or write it again.",
            m_source.name, m_opAt, op));
    }

    template <class T>
    bool number(T& value) {
        if (!fill(sizeof(T)))
            return false;
        std::memcpy(&value, m_buffer.get() + m_at, sizeof(T)); // little-endian, as all that runs CUDA
        m_at += sizeof(T);
        return true;
    }

    template <class Length>
    Step text(bool known) {
        Length length = 0;
        if (!number(length))
            return Step::Ended;
        const auto n = static_cast<std::uint64_t>(length);
        if (n <= kBuffer / 2) {
            if (!fill(static_cast<std::size_t>(n)))
                return Step::Ended;
            const std::string_view view(m_buffer.get() + m_at, static_cast<std::size_t>(n));
            m_at += static_cast<std::size_t>(n);
            if (known)
                m_machine.pushText(view);
            else
                m_machine.push({Value::Kind::Other, 0});
            return Step::Done;
        }
        // Room is taken for what comes, not for what is announced.
        std::string whole;
        for (std::uint64_t left = n; left > 0;) {
            if (m_at == m_end && !fill(1))
                return Step::Ended;
            if (m_options.stop.stop_requested())
                return Step::Ended;
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, m_end - m_at));
            if (known && whole.size() < kMostText)
                whole.append(m_buffer.get() + m_at, part);
            m_at += part;
            left -= part;
        }
        if (known)
            m_machine.pushText(whole);
        else
            m_machine.push({Value::Kind::Other, 0});
        return Step::Done;
    }

    /// LONG1, LONG4: two's complement, little-endian, as many bytes as it takes.
    Step longInteger(std::uint64_t length) {
        if (length <= 9) {
            if (!fill(static_cast<std::size_t>(length)))
                return Step::Ended;
            std::uint64_t value = 0;
            bool negative = false;
            for (std::size_t i = 0; i < length; ++i) {
                const auto byte = static_cast<unsigned char>(m_buffer[m_at + i]);
                if (i < 8)
                    value |= static_cast<std::uint64_t>(byte) << (8 * i);
                negative = (byte & 0x80) != 0;
            }
            if (negative && length < 8 && length > 0)
                value |= ~std::uint64_t{0} << (8 * length);
            m_at += static_cast<std::size_t>(length);
            // Addresses beyond 2^63 have a ninth byte, 0; their 64 bits are what counts.
            if (length == 9 || static_cast<std::int64_t>(value) < 0)
                m_machine.pushUnsigned(value);
            else
                m_machine.pushInt(static_cast<std::int64_t>(value));
            return Step::Done;
        }
        for (std::uint64_t left = length; left > 0;) {
            if (m_at == m_end && !fill(1))
                return Step::Ended;
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, m_end - m_at));
            m_at += part;
            left -= part;
        }
        m_machine.push({Value::Kind::Other, 0});
        return Step::Done;
    }

    /// LONG_BINGET and BINGET at `p`, which has room for either; Unset where it is neither.
    Value remembered(const char*& p) const {
        if (*p == 'h') {
            p += 2;
            return m_machine.memoAt(static_cast<unsigned char>(p[-1]));
        }
        if (*p != 'j')
            return {};
        std::uint32_t index = 0;
        std::memcpy(&index, p + 1, sizeof index);
        p += 5;
        return m_machine.memoAt(index);
    }

    /// The instruction at `p` that gives the last value its place in the memo, if it is one.
    bool putAside(const char*& p) {
        if (static_cast<unsigned char>(*p) == 0x94) {
            ++p;
            return m_machine.memoize();
        }
        if (*p != 'q' && *p != 'r')
            return true;
        std::uint32_t index = static_cast<unsigned char>(p[1]);
        if (*p == 'r')
            std::memcpy(&index, p + 1, sizeof index);
        if (!m_machine.memoPut(index))
            return false;
        p += *p == 'q' ? 2 : 5;
        return true;
    }

    /// EMPTY_DICT and on: most of a snapshot is dictionaries of names, numbers and of what was there before.
    /// Their pairs are read at one go, past the machine's stack. From the first instruction that is anything
    /// else, or lies beyond the buffer, it goes on as always.
    void dictionary() {
        Machine& m = m_machine;
        m.pushDict();
        const char* p = m_buffer.get() + m_at;
        const char* const end = m_buffer.get() + m_end;
        const auto leave = [&] { m_at = static_cast<std::size_t>(p - m_buffer.get()); };
        if (end - p < kLongest)
            return;
        if (!putAside(p) || *p != '(')
            return leave();
        ++p;
        std::size_t count = 0;
        while (end - p >= kLongest && count < m_values.size()) {
            Value value;
            const auto op = static_cast<unsigned char>(*p);
            switch (op) {
            case 'h':
            case 'j': {
                const char* next = p;
                value = remembered(next);
                if (value.kind() == Value::Kind::Unset)
                    break;
                m.prepare(value);
                p = next;
                break;
            }
            case 'N':
                value = {Value::Kind::None, 0};
                ++p;
                break;
            case 0x88:
            case 0x89:
                value = {op == 0x88 ? Value::Kind::True : Value::Kind::False, 0};
                ++p;
                break;
            case 'K':
                value = integer(static_cast<unsigned char>(p[1]));
                p += 2;
                break;
            case 'M':
                value = integer(loaded<std::uint16_t>(p + 1));
                p += 3;
                break;
            case 'J':
                value = integer(loaded<std::int32_t>(p + 1));
                p += 5;
                break;
            case 0x8A: {
                const auto length = static_cast<unsigned char>(p[1]);
                if (length == 0 || length > 8)
                    break;
                const int unused = 64 - 8 * length;
                const std::int64_t number =
                    static_cast<std::int64_t>(loaded<std::uint64_t>(p + 2) << unused) >> unused;
                if (number < 0 || !Machine::fitsInline(number))
                    break;
                value = integer(number);
                p += 2 + length;
                break;
            }
            case 'u':
                if (count % 2 != 0)
                    break;
                m.setOffset(m_base + static_cast<std::uint64_t>(p - m_buffer.get()));
                m.setItemsOf(m.top(), m_values.data(), count);
                ++p;
                return leave();
            default:
                break;
            }
            if (value.kind() == Value::Kind::Unset)
                break;
            m_values[count++] = value;
        }
        m.mark();
        for (std::size_t i = 0; i < count; ++i)
            m.push(m_values[i]);
        leave();
    }
    static Value integer(std::int64_t value) { return {Value::Kind::Int, static_cast<std::uint64_t>(value)}; }
    template <class T>
    static T loaded(const char* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    /// EMPTY_LIST and on: a list of what was there before, as the frames of a stack are.
    void list() {
        Machine& m = m_machine;
        m.pushList();
        const char* p = m_buffer.get() + m_at;
        const char* const end = m_buffer.get() + m_end;
        const auto leave = [&] { m_at = static_cast<std::size_t>(p - m_buffer.get()); };
        if (end - p < kLongest)
            return;
        if (!putAside(p) || *p != '(')
            return leave();
        ++p;
        m_items.clear();
        while (end - p >= kLongest && m_items.size() < 1024) {
            if (*p == 'e') {
                m.setOffset(m_base + static_cast<std::uint64_t>(p - m_buffer.get()));
                m.appendTo(m.top(), m_items.data(), m_items.size());
                ++p;
                return leave();
            }
            const char* next = p;
            const Value value = remembered(next);
            if (value.kind() == Value::Kind::Unset)
                break;
            p = next;
            m_items.push_back(value);
        }
        m.mark();
        for (const Value value : m_items)
            m.push(value);
        leave();
    }

    template <class T, class F>
    Step with(F&& f) {
        T value{};
        if (!number(value))
            return Step::Ended;
        return f(value) ? Step::Done : Step::Bad;
    }
    static Step ok(bool done) { return done ? Step::Done : Step::Bad; }

    Step take(unsigned char op) {
        Machine& m = m_machine;
        const auto always = [](auto&&) { return Step::Done; };
        switch (op) {
        case 0x80: // PROTO
            return with<std::uint8_t>([](std::uint8_t) { return true; });
        case 0x95: // FRAME
            return with<std::uint64_t>([](std::uint64_t) { return true; });
        case 'N':
            return always((m.pushNone(), 0));
        case 0x88:
            return always((m.pushBool(true), 0));
        case 0x89:
            return always((m.pushBool(false), 0));
        case 'J': // BININT
            return with<std::int32_t>([&](std::int32_t v) { return m.pushInt(v), true; });
        case 'K': // BININT1
            return with<std::uint8_t>([&](std::uint8_t v) { return m.pushInt(v), true; });
        case 'M': // BININT2
            return with<std::uint16_t>([&](std::uint16_t v) { return m.pushInt(v), true; });
        case 0x8A: { // LONG1
            std::uint8_t length = 0;
            return number(length) ? longInteger(length) : Step::Ended;
        }
        case 0x8B: { // LONG4
            std::int32_t length = 0;
            if (!number(length))
                return Step::Ended;
            return length < 0 ? Step::Bad : longInteger(static_cast<std::uint64_t>(length));
        }
        case 'G': // BINFLOAT, big-endian
            return with<std::uint64_t>([&](std::uint64_t bits) {
                return m.pushFloat(std::bit_cast<double>(__builtin_bswap64(bits))), true;
            });
        case 'X': // BINUNICODE
        case 'T': // BINSTRING
            return text<std::uint32_t>(true);
        case 0x8C: // SHORT_BINUNICODE
        case 'U':  // SHORT_BINSTRING
            return text<std::uint8_t>(true);
        case 0x8D: // BINUNICODE8
            return text<std::uint64_t>(true);
        case 'C': // SHORT_BINBYTES
            return text<std::uint8_t>(false);
        case 'B': // BINBYTES
            return text<std::uint32_t>(false);
        case 0x8E: // BINBYTES8
        case 0x96: // BYTEARRAY8
            return text<std::uint64_t>(false);
        case ']':
            return always((list(), 0));
        case 0x8F: // EMPTY_SET
            return always((m.pushList(), 0));
        case '}':
            return always((dictionary(), 0));
        case ')':
            return ok(m.tuple(0));
        case '(':
            return always((m.mark(), 0));
        case 'a':
            return ok(m.append());
        case 'e':
        case 0x90: // ADDITEMS
            return ok(m.appends());
        case 's':
            return ok(m.setItem());
        case 'u':
            return ok(m.setItems());
        case 'l':
        case 0x91: // FROZENSET
            return ok(m.listFromMark());
        case 'd':
            return ok(m.dictFromMark());
        case 't':
            return ok(m.tupleFromMark());
        case 0x85:
            return ok(m.tuple(1));
        case 0x86:
            return ok(m.tuple(2));
        case 0x87:
            return ok(m.tuple(3));
        case '0':
            return ok(m.pop());
        case '1':
            return ok(m.popMark());
        case '2':
            return ok(m.duplicate());
        case 0x94:
            return ok(m.memoize());
        case 'q': // BINPUT
            return with<std::uint8_t>([&](std::uint8_t i) { return m.memoPut(i); });
        case 'r': // LONG_BINPUT
            return with<std::uint32_t>([&](std::uint32_t i) { return m.memoPut(i); });
        case 'h': // BINGET
            return with<std::uint8_t>([&](std::uint8_t i) { return m.memoGet(i); });
        case 'j': // LONG_BINGET
            return with<std::uint32_t>([&](std::uint32_t i) { return m.memoGet(i); });
        default:
            return Step::Bad;
        }
    }

    ByteSource& m_source;
    Sink& m_sink;
    const ImportOptions& m_options;
    Machine m_machine;
    std::unique_ptr<char[]> m_buffer;
    std::array<Value, 48> m_values; ///< of one dictionary
    std::vector<Value> m_items;     ///< of one list
    std::size_t m_at = 0;
    std::size_t m_end = 0;
    std::uint64_t m_base = 0; ///< offset of the buffer's first byte
    std::uint64_t m_opAt = 0;
    bool m_ended = false;
    bool m_wantsCheck = false;
    std::optional<Error> m_error;
};

} // namespace

Result<Done> readPickle(ByteSource& source, Sink& sink, const ImportOptions& options) {
    return PickleReader(source, sink, options).run();
}

} // namespace warpline::snapshot
