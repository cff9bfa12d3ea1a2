// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"
#include "model/base/time.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace warpline {

/// A slice of one of the document's sources; source -1 = nothing.
struct SliceRef {
    int source = -1;
    SliceId slice;

    explicit operator bool() const { return source >= 0 && slice; }
    bool operator==(const SliceRef&) const = default;
};

/// A track of one of the document's sources.
struct TrackRef {
    int source = -1;
    TrackId track;
    bool operator==(const TrackRef&) const = default;
};

/// A frame by the names on the way to it, outermost first: it is found again in another tree, in another
/// file and after the file was read again.
struct FrameRef {
    QStringList path;
    /// Index into Document::memories() of the history whose stacks have it; -1 = the traces' stacks.
    int memory = -1;

    explicit operator bool() const { return !path.isEmpty(); }
    [[nodiscard]] QString name() const { return path.isEmpty() ? QString() : path.last(); }
    bool operator==(const FrameRef&) const = default;
};

/// A block of one device of one of the document's memory histories.
struct BlockRef {
    int memory = -1; ///< index into Document::memories()
    int device = -1; ///< index into MemoryItem::devices
    BlockId block;

    explicit operator bool() const { return memory >= 0 && block; }
    bool operator==(const BlockRef&) const = default;
};

/// The views that a selection is made in.
enum class ViewKind { None, Timeline, Ops, Kernels, Flame, Memory };

/// All that is selected in a window, as every view reads and writes it. What names an event or a block is
/// looked at; what names a stretch of time, an op, a kernel, a frame or tracks narrows the other views.
struct Selection {
    SliceRef slice;
    std::optional<TimeRange> range;   ///< session time; none = everything
    QString rangeName;                ///< for its chip: "ProfilerStep#5", "2.1 ms"
    std::optional<std::int64_t> step; ///< the number of the step that the range is
    QString op;                       ///< name of a CPU op; empty = none
    QString kernel;                   ///< name of a kernel, copy or set; empty = none
    FrameRef frame;
    std::vector<TrackRef> tracks; ///< empty = all
    BlockRef block;
    ViewKind view = ViewKind::None; ///< where the last change was made

    /// Whether something narrows the views beside the range.
    [[nodiscard]] bool filters() const {
        return !op.isEmpty() || !kernel.isEmpty() || frame || !tracks.empty();
    }
    /// The same things, wherever they were selected.
    [[nodiscard]] bool same(const Selection& o) const {
        return slice == o.slice && range == o.range && rangeName == o.rangeName && sameFilter(o) &&
               block == o.block;
    }
    [[nodiscard]] bool sameFilter(const Selection& o) const {
        return op == o.op && kernel == o.kernel && frame == o.frame && tracks == o.tracks;
    }
};

} // namespace warpline
