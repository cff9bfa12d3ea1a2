// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/memory_at.h"

#include "app/cli/options.h"
#include "model/query/search.h"

#include <charconv>
#include <fmt/format.h>

namespace warpline::cli {

std::optional<MemoryAt> MemoryAt::parse(std::string_view text) {
    if (text == "peak")
        return MemoryAt{Kind::Peak, 0};
    if (text == "end")
        return MemoryAt{Kind::End, 0};
    MemoryAt at;
    at.kind = Kind::Time;
    if (text.starts_with("event:")) {
        at.kind = Kind::Event;
        text.remove_prefix(6);
    }
    const auto r = std::from_chars(text.data(), text.data() + text.size(), at.value);
    if (r.ec == std::errc() && r.ptr == text.data() + text.size() && !text.empty())
        return at;
    if (at.kind == Kind::Time && parseDuration(text, at.value)) {
        at.kind = Kind::Relative;
        return at;
    }
    return std::nullopt;
}

Result<Moment> MemoryAt::in(const MemoryHistory& history, const MemoryDevice& d) const {
    switch (kind) {
    case Kind::Peak:
        return d.peakRequested.moment;
    case Kind::End:
        return d.lastMoment();
    case Kind::Event:
        if (value < -1 || value >= static_cast<std::int64_t>(d.lastMoment()))
            return Error::failed(fmt::format("{}: there is no event {}; it has {}.", history.path, value,
                                             counted(d.events.count(), "event", "events")));
        return static_cast<Moment>(value + 1);
    case Kind::Relative:
    case Kind::Time:
        break;
    }
    if (!d.hasTimes)
        return Error::failed(fmt::format("{}: its events have no times; name one by its number, as "
                                         "event:100.",
                                         history.path));
    TimeNs time = value;
    if (kind == Kind::Relative && __builtin_add_overflow(d.extent().begin, value, &time))
        time = INT64_MAX;
    return d.momentAt(time);
}

Result<const MemoryDevice*> memoryDevice(const MemoryHistory& history, std::optional<std::int64_t> ordinal) {
    if (ordinal) {
        if (const MemoryDevice* device = history.device(*ordinal))
            return device;
        return Error::failed(fmt::format("{}: nothing in it is of GPU {}.", history.path, *ordinal));
    }
    const MemoryDevice* best = nullptr;
    for (const MemoryDevice& d : history.devices)
        if (best == nullptr || d.peakRequested.requested > best->peakRequested.requested)
            best = &d;
    if (best == nullptr)
        return Error::failed(fmt::format("{}: the snapshot holds no segments and no events.", history.path));
    return best;
}

} // namespace warpline::cli
