// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/args.h"

#include <fmt/format.h>

#include <cmath>

namespace warpline {

namespace {

constexpr std::size_t kMaxVarint = 10;

std::uint8_t* putVarint(std::uint8_t* at, std::uint64_t v) {
    while (v >= 0x80) {
        *at++ = static_cast<std::uint8_t>(v | 0x80);
        v >>= 7;
    }
    *at++ = static_cast<std::uint8_t>(v);
    return at;
}

std::uint64_t getVarint(const std::uint8_t*& at) {
    std::uint64_t v = *at & 0x7F;
    int shift = 7;
    while (*at++ & 0x80) {
        v |= static_cast<std::uint64_t>(*at & 0x7F) << shift;
        shift += 7;
    }
    return v;
}

std::uint64_t zigzag(std::int64_t v) {
    return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
std::int64_t unzigzag(std::uint64_t v) {
    return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

} // namespace

double Arg::number() const {
    switch (kind) {
    case ArgKind::UInt:
        return static_cast<double>(static_cast<std::uint64_t>(integer));
    case ArgKind::Decimal:
        return static_cast<double>(integer) / std::pow(10.0, decimals);
    default:
        return static_cast<double>(integer);
    }
}

std::uint32_t ArgStore::shape(std::span<const ArgShape::Field> fields) {
    std::uint64_t hash = fields.size();
    for (const auto& f : fields) {
        const std::uint64_t word = (std::uint64_t{f.key.value} << 16) |
                                   (static_cast<std::uint64_t>(f.kind) << 1) | (f.top ? 1u : 0u);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
    }
    const std::lock_guard lock(m_mutex);
    for (auto [it, end] = m_byHash.equal_range(hash); it != end; ++it) {
        const auto& known = m_shapes[it->second].fields;
        if (std::equal(known.begin(), known.end(), fields.begin(), fields.end()))
            return it->second;
    }
    const auto number = static_cast<std::uint32_t>(m_shapes.size());
    m_shapes.push_back({{fields.begin(), fields.end()}});
    m_byHash.emplace(hash, number);
    m_bytes += fields.size() * sizeof(ArgShape::Field);
    return number;
}

std::uint8_t* ArgStore::newBlock(Ref& base, std::size_t& size) {
    const std::size_t pieces = (size + kBlockBytes - 1) / kBlockBytes;
    size = pieces * kBlockBytes;
    const std::lock_guard lock(m_mutex);
    // Unit 0 stays unused: it would be the reference that means "none".
    const std::size_t first = m_blocks.size();
    if (first + pieces > (std::size_t{1} << (32 - kUnitsBits)))
        return nullptr;
    m_owned.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(size));
    m_bytes += size;
    std::uint8_t* block = m_owned.back().get();
    for (std::size_t i = 0; i < pieces; ++i)
        m_blocks.push_back(block + i * kBlockBytes);
    base = static_cast<Ref>(first << kUnitsBits);
    return block;
}

const std::uint8_t* ArgStore::at(Ref ref) const {
    constexpr Ref kMask = (Ref{1} << kUnitsBits) - 1;
    return m_blocks[ref >> kUnitsBits] + std::size_t{ref & kMask} * 4;
}

ArgStore::Ref ArgStore::Writer::add(std::uint32_t shape, std::span<const ArgShape::Field> fields,
                                    std::span<const std::int64_t> values,
                                    std::span<const std::uint8_t> decimals) {
    const std::size_t most = (fields.size() + 1) * (kMaxVarint + 1) + 4;
    if (static_cast<std::size_t>(m_end - m_at) < most) {
        std::size_t size = std::max(most + 4, kBlockBytes);
        m_block = m_store.newBlock(m_base, size);
        if (m_block == nullptr) {
            m_at = m_end = nullptr;
            return 0;
        }
        m_at = m_base == 0 ? m_block + 4 : m_block;
        m_end = m_block + size;
    }
    const Ref ref = m_base + static_cast<Ref>((m_at - m_block) / 4);
    std::uint8_t* at = putVarint(m_at, shape);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        switch (fields[i].kind) {
        case ArgKind::Int:
            at = putVarint(at, zigzag(values[i]));
            break;
        case ArgKind::Decimal:
            *at++ = decimals[i];
            at = putVarint(at, zigzag(values[i]));
            break;
        case ArgKind::UInt:
        case ArgKind::Text:
        case ArgKind::Raw:
            at = putVarint(at, static_cast<std::uint64_t>(values[i]));
            break;
        case ArgKind::True:
        case ArgKind::False:
        case ArgKind::Null:
            break;
        }
    }
    m_at = m_block + (static_cast<std::size_t>(at - m_block) + 3) / 4 * 4;
    return ref;
}

ArgStore::Cursor::Cursor(const ArgStore& store, Ref ref) {
    if (ref == 0)
        return;
    m_at = store.at(ref);
    m_shape = &store.m_shapes[getVarint(m_at)];
}

bool ArgStore::Cursor::next(Arg& arg) {
    if (m_shape == nullptr || m_field == m_shape->fields.size())
        return false;
    const auto& field = m_shape->fields[m_field++];
    arg = {.key = field.key, .kind = field.kind, .top = field.top, .integer = 0, .decimals = 0, .text = {}};
    switch (field.kind) {
    case ArgKind::Int:
        arg.integer = unzigzag(getVarint(m_at));
        break;
    case ArgKind::UInt:
        arg.integer = static_cast<std::int64_t>(getVarint(m_at));
        break;
    case ArgKind::Decimal:
        arg.decimals = *m_at++;
        arg.integer = unzigzag(getVarint(m_at));
        break;
    case ArgKind::Text:
    case ArgKind::Raw:
        arg.text = StringId{static_cast<std::uint32_t>(getVarint(m_at))};
        break;
    case ArgKind::True:
    case ArgKind::False:
    case ArgKind::Null:
        break;
    }
    return true;
}

std::optional<Arg> ArgStore::find(Ref ref, StringId key) const {
    Cursor cursor(*this, ref);
    Arg arg;
    while (cursor.next(arg))
        if (arg.key == key)
            return arg;
    return std::nullopt;
}

std::uint32_t ArgStore::shapeOf(Ref ref) const {
    const std::uint8_t* p = at(ref);
    return static_cast<std::uint32_t>(getVarint(p));
}

namespace {

/// The digits of a Decimal as they stood in the file.
std::string decimalText(const Arg& arg) {
    const bool negative = arg.integer < 0;
    std::string digits = fmt::format("{}", negative ? 0 - static_cast<std::uint64_t>(arg.integer)
                                                    : static_cast<std::uint64_t>(arg.integer));
    const auto decimals = static_cast<std::size_t>(arg.decimals);
    if (digits.size() <= decimals)
        digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, ".");
    return fmt::format("{}{}", negative ? "-" : "", digits);
}

} // namespace

std::string argText(const StringPool& strings, const Arg& arg) {
    switch (arg.kind) {
    case ArgKind::Int:
        return fmt::format("{}", arg.integer);
    case ArgKind::UInt:
        return fmt::format("{}", static_cast<std::uint64_t>(arg.integer));
    case ArgKind::Decimal:
        return decimalText(arg);
    case ArgKind::Text:
    case ArgKind::Raw:
        return std::string(strings.view(arg.text));
    case ArgKind::True:
        return "true";
    case ArgKind::False:
        return "false";
    case ArgKind::Null:
        return "null";
    }
    return {};
}

void appendArgJson(std::string& out, const StringPool& strings, const Arg& arg) {
    if (arg.kind == ArgKind::Text)
        appendJsonString(out, strings.view(arg.text));
    else
        out += argText(strings, arg);
}

} // namespace warpline
