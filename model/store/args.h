// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"
#include "model/base/json_writer.h"
#include "model/store/string_pool.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpline {

/// How one argument's value is written.
enum class ArgKind : std::uint8_t {
    Int,     ///< a signed 64-bit integer
    UInt,    ///< an integer above the signed range
    Decimal, ///< a number with a decimal point, kept digit by digit: mantissa and how many decimals
    Text,    ///< a string; its StringId
    Raw,     ///< anything else (arrays, objects, odd numbers): the JSON as it stood; its StringId
    True,
    False,
    Null,
};

/// The keys and kinds of one event's arguments. Events of a kind share a shape, so that an event itself
/// stores its values only.
struct ArgShape {
    struct Field {
        StringId key;
        ArgKind kind;
        /// The field stood in the event itself ("tts", "cname"), not in its "args".
        bool top;
        bool operator==(const Field&) const = default;
    };
    std::vector<Field> fields;
};

/// One argument, decoded.
struct Arg {
    StringId key;
    ArgKind kind = ArgKind::Null;
    bool top = false;
    std::int64_t integer = 0; ///< Int; UInt's bits; Decimal's mantissa
    int decimals = 0;         ///< Decimal: value = integer / 10^decimals
    StringId text;            ///< Text, Raw

    [[nodiscard]] double number() const;
    [[nodiscard]] bool isNumber() const {
        return kind == ArgKind::Int || kind == ArgKind::UInt || kind == ArgKind::Decimal;
    }
};

/// The arguments of all events: shapes once, values packed as variable-length integers in blocks that never
/// move. A reference is 32 bits and counts units of four bytes (16 GiB of arguments); 0 = no arguments.
class ArgStore {
  public:
    using Ref = std::uint32_t;

    /// A writer's own run of memory; each thread has one.
    class Writer {
      public:
        explicit Writer(ArgStore& store) : m_store(store) {}
        /// Stores one event's arguments and gives their reference. `values` holds a value a field:
        /// integers as they are, Decimal as mantissa with the decimals in `decimals`, texts as ids.
        Ref add(std::uint32_t shape, std::span<const ArgShape::Field> fields,
                std::span<const std::int64_t> values, std::span<const std::uint8_t> decimals);

      private:
        ArgStore& m_store;
        std::uint8_t* m_at = nullptr;
        std::uint8_t* m_end = nullptr;
        Ref m_base = 0;
        std::uint8_t* m_block = nullptr;
    };

    /// The number of a shape, made if new. Thread-safe.
    std::uint32_t shape(std::span<const ArgShape::Field> fields);
    [[nodiscard]] const ArgShape& shapeAt(std::uint32_t shape) const { return m_shapes[shape]; }
    [[nodiscard]] std::size_t shapeCount() const { return m_shapes.size(); }

    /// Calls `f(const Arg&)` for each argument in the order of the file; f may return false to stop.
    template <class F>
    void forEach(Ref ref, F&& f) const {
        Cursor c(*this, ref);
        Arg arg;
        while (c.next(arg)) {
            if constexpr (std::is_same_v<decltype(f(arg)), bool>) {
                if (!f(arg))
                    return;
            } else {
                f(arg);
            }
        }
    }
    [[nodiscard]] std::optional<Arg> find(Ref ref, StringId key) const;
    [[nodiscard]] std::uint32_t shapeOf(Ref ref) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

    class Cursor {
      public:
        Cursor(const ArgStore& store, Ref ref);
        bool next(Arg& arg);

      private:
        const ArgShape* m_shape = nullptr;
        std::size_t m_field = 0;
        const std::uint8_t* m_at = nullptr;
    };

  private:
    static constexpr std::size_t kBlockBytes = std::size_t{1} << 20; ///< 2^18 units of four bytes
    static constexpr std::size_t kUnitsBits = 18;
    /// Room of at least `size` bytes, which is set to what was given; null where references run out.
    std::uint8_t* newBlock(Ref& base, std::size_t& size);
    [[nodiscard]] const std::uint8_t* at(Ref ref) const;

    std::mutex m_mutex; ///< guards what writers share while a trace is read
    std::deque<ArgShape> m_shapes;
    std::unordered_multimap<std::uint64_t, std::uint32_t> m_byHash;
    std::deque<std::unique_ptr<std::uint8_t[]>> m_owned;
    std::vector<std::uint8_t*> m_blocks; ///< by ref >> kUnitsBits; a long entry spans several numbers
    std::size_t m_bytes = 0;
};

/// An argument's value as text for people: strings without quotes, numbers as they stood.
std::string argText(const StringPool& strings, const Arg& arg);
/// An argument's value as JSON.
void appendArgJson(std::string& out, const StringPool& strings, const Arg& arg);

} // namespace warpline
