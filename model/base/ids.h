// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace warpline {

/// A 32-bit id of one kind of thing; 0 means none. Ids of different things do not mix. The row that an id
/// stands for is index(), so that an id is also an index into the columns of its table.
template <class Tag>
struct Id {
    std::uint32_t value = 0;

    static constexpr Id fromIndex(std::size_t index) { return Id{static_cast<std::uint32_t>(index + 1)}; }
    [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value) - 1; }
    constexpr explicit operator bool() const { return value != 0; }
    constexpr auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;
using TrackId = Id<struct TrackTag>;
using LaneId = Id<struct LaneTag>;
using SliceId = Id<struct SliceTag>;
using FrameId = Id<struct FrameTag>;
using StackId = Id<struct StackTag>;
using BlockId = Id<struct BlockTag>;

} // namespace warpline

template <class Tag>
struct std::hash<warpline::Id<Tag>> {
    std::size_t operator()(warpline::Id<Tag> id) const noexcept { return id.value * 0x9E3779B97F4A7C15ULL; }
};
