// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QString>

namespace warpline {

/// A slice in a few lines of rich text: name, family in words, duration, start counted from `origin`, where
/// it ran, the arguments that matter for its kind, what launched it.
QString sliceToolTip(const Document& document, SliceRef ref, TimeNs origin);
/// The same in one plain sentence, for screen readers.
QString sliceSentence(const Document& document, SliceRef ref, TimeNs origin);

} // namespace warpline
