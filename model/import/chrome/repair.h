// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

/// What had to be done to make an event readable; a set of bits.
namespace Repair {
inline constexpr std::uint32_t ControlCharacter = 1u
                                                  << 0; ///< a raw byte below 0x20 in a string; kept, escaped
inline constexpr std::uint32_t BadEscape =
    1u << 1; ///< a backslash before something it cannot escape; kept as text
inline constexpr std::uint32_t UnescapedQuote = 1u << 2; ///< a quote within a string; kept, escaped
inline constexpr std::uint32_t BareNumber =
    1u << 3; ///< NaN, Infinity and the like become null; 1., .5, 007 numbers; other words text
inline constexpr std::uint32_t ExtraComma = 1u << 4;   ///< a comma before } or ], or two in a row
inline constexpr std::uint32_t MissingComma = 1u << 5; ///< two members without a comma between
inline constexpr std::uint32_t InvalidUtf8 = 1u << 6;  ///< bytes that are no UTF-8; U+FFFD for each
inline constexpr std::uint32_t Garbage = 1u << 7; ///< bytes between events that are part of none; skipped
inline constexpr std::uint32_t Restart =
    1u << 8; ///< "][" or "]...[": another array follows; its events are read too
inline constexpr std::uint32_t Truncated =
    1u << 9; ///< the text ended within the event; members up to there kept
inline constexpr std::uint32_t Unreadable = 1u << 10; ///< an event that could not be made sense of; skipped
inline constexpr int kCount = 11;
} // namespace Repair

/// The outcome of reading one event from text that a strict parser refused.
struct RepairedEvent {
    enum class Status {
        Event,    ///< `json` is a strict JSON object
        Skipped,  ///< nothing usable in text[0, consumed); go on after it
        NeedMore, ///< the event may go on beyond the text: come again with more (never where `final`)
        End,      ///< the event list is closed here ("]" with no further array), or the text is at its end
    };
    Status status = Status::End;
    std::string json;
    std::size_t consumed = 0; ///< bytes of the text used, separators before the event included
    std::uint32_t repairs = 0;
};

/// Reads the next event of an event list from `text`, which begins between two events (or anywhere, after
/// damage): white space and commas before the event are passed over. `final` says that nothing follows the
/// text. Never fails and always either consumes something or says NeedMore or End. Cost is linear in what is
/// consumed; an event is given up as Unreadable after 16 MiB.
RepairedEvent repairEvent(std::string_view text, bool final);

} // namespace warpline
