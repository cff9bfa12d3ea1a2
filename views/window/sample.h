// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <QString>
#include <QStringList>

namespace warpline {

/// What comes with the program to try it on.
enum class Sample {
    Training,    ///< training steps of a small GPT: its trace and the memory snapshot of the same run
    OutOfMemory, ///< a snapshot that ends with a refused allocation
};

/// The files of a sample, unpacked into the cache folder of the user; an error if they cannot be written.
Result<QStringList> samplePaths(Sample sample);
/// Whether a path is one of those.
bool isSample(const QString& path);

} // namespace warpline
