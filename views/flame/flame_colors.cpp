// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_colors.h"

#include <algorithm>
#include <cmath>

namespace warpline {

Family frameFamily(const FrameTable& frames, FrameId id) {
    switch (frames.at(id).kind) {
    case FrameKind::Op:
        return familyOf(SliceKind::CpuOp, frames.name(id));
    case FrameKind::Backward:
        return Family::Autograd;
    case FrameKind::Annotation:
        return Family::User;
    case FrameKind::Runtime:
    case FrameKind::Graph:
        return familyOf(SliceKind::Runtime, frames.name(id));
    case FrameKind::Kernel:
        return familyOf(SliceKind::Kernel, frames.name(id));
    case FrameKind::Copy:
        return familyOf(SliceKind::Copy, frames.name(id));
    case FrameKind::Set:
        return familyOf(SliceKind::Set, frames.name(id));
    case FrameKind::Module:
        return Family::Attention; // the palette's violet; modules and attention kernels never lie in one row
    case FrameKind::Python:
    case FrameKind::Function:
        return Family::Python;
    case FrameKind::Thread:
    case FrameKind::Host:
    case FrameKind::Missing:
        break;
    }
    return Family::OtherHost;
}

QColor frameColor(const Theme& theme, const FrameTable& frames, FrameId id) {
    return theme.color(frameFamily(frames, id));
}

QColor differenceColor(const Theme& theme, std::int64_t before, std::int64_t now) {
    // A ratio of 2 either way has the full colour.
    const double ratio = std::log2((static_cast<double>(now) + 1) / (static_cast<double>(before) + 1));
    const double strength = std::clamp(std::abs(ratio), 0.0, 1.0) * 0.55;
    const QColor ground = theme.color(Family::Python);
    const QColor tint = ratio > 0 ? theme.warn : theme.accent;
    const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * strength)); };
    return {mix(ground.red(), tint.red()), mix(ground.green(), tint.green()),
            mix(ground.blue(), tint.blue())};
}

} // namespace warpline
