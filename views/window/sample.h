// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <QString>

namespace warpline {

/// The sample that is compiled into the program, as a file: written to the user's cache when it is not there
/// yet.
Result<QString> samplePath();
/// Whether a path is that file.
bool isSample(const QString& path);

} // namespace warpline
