// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/session_names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace warpline::sessionNames {

SessionFile::TrackRef refOf(const Row& row, std::uint32_t source) {
    const bool heading = row.id.kind == RowKind::Group || row.id.kind == RowKind::Source;
    QString track = heading ? QString() : row.name;
    // Threads of one name are told apart by their number.
    if (row.id.kind == RowKind::Track && !row.detail.isEmpty())
        track += QStringLiteral(" · ") + row.detail;
    const QString process = row.id.kind == RowKind::Source ? QString() : heading ? row.name : row.where;
    return {source, process.toStdString(), track.toStdString()};
}

std::optional<Row> rowOf(const TrackLayout& layout, const SessionFile::TrackRef& ref, int item) {
    for (const Row& row : layout.everyRow()) {
        if (row.id.source == item && refOf(row, ref.source) == ref)
            return row;
    }
    return std::nullopt;
}

SliceId sliceOf(const Trace& trace, std::string_view name, TimeNs start) {
    const StringId id = trace.strings.find(name);
    for (std::size_t row = 0; id && row < trace.slices.size(); ++row) {
        if (trace.slices.start[row] == start && trace.slices.name[row] == id)
            return SliceId::fromIndex(row);
    }
    return {};
}

std::string textOf(const MemoryItem& item, const BlockRef& block) {
    const auto at = static_cast<std::size_t>(block.device);
    const MemoryBlockTable& blocks = item.history->devices[item.devices[at].device].blocks;
    const std::size_t row = block.block.index();
    return fmt::format("0x{:x}/{}", blocks.address[row], blocks.birth[row]);
}

BlockRef blockOf(const MemoryItem& item, int memory, int device, const std::string& text) {
    const auto at = static_cast<std::size_t>(device);
    if (device < 0 || at >= item.devices.size() || !text.starts_with("0x"))
        return {};
    std::uint64_t address = 0;
    Moment birth = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data() + 2, end, address, 16);
    if (first.ec != std::errc())
        return {};
    const bool hasBirth =
        first.ptr != end && *first.ptr == '/' && std::from_chars(first.ptr + 1, end, birth).ec == std::errc();
    const MemoryBlockTable& blocks = item.history->devices[item.devices[at].device].blocks;
    for (std::size_t row = 0; row < blocks.count(); ++row) {
        if (blocks.address[row] == address && (!hasBirth || blocks.birth[row] == birth))
            return {memory, device, BlockId::fromIndex(row)};
    }
    return {};
}

} // namespace warpline::sessionNames
