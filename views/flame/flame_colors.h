// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/frames.h"
#include "views/theme.h"

#include <QColor>

#include <cstdint>

namespace warpline {

/// The family that gives a frame its colour and its name in the legend: kernels by what they compute, ops by
/// namespace, Python grey, modules in a colour of their own.
Family frameFamily(const FrameTable& frames, FrameId id);
QColor frameColor(const Theme& theme, const FrameTable& frames, FrameId id);
/// From less (the accent's side) over even (the ground) to more (the warning's side), by the ratio of the
/// two.
QColor differenceColor(const Theme& theme, std::int64_t before, std::int64_t now);

} // namespace warpline
