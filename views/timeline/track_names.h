// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"

#include <QString>

namespace warpline {

/// What a row's heading says: the name, and in smaller letters what tells it from its like.
struct RowTitle {
    QString name;
    QString detail;
};

/// "main thread" and "tid 455", "pt_autograd_0" and "tid 476", "stream 7" and "1,341 events".
RowTitle trackTitle(const Trace& trace, TrackId track);
/// "python3 train.py" and "pid 455 · 4 threads", "GPU 0 · NVIDIA H200".
RowTitle processTitle(const Trace& trace, std::uint32_t process);
/// The stream that a device's track belongs to: its tid, less what Kineto adds for tracks of waits.
std::int64_t streamNumber(const Track& track);
/// Where a track is, in one line: "GPU 0 · NVIDIA H200, stream 7".
QString trackPlace(const Trace& trace, TrackId track);

} // namespace warpline
