// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/byte_source.h"
#include "model/import/import.h"

#include <memory>

namespace warpline::chrome {

/// Reads a Chrome trace (Trace Event Format, as torch.profiler and many others write it) to its end. The
/// document may be an array of events, an object with "traceEvents", several of either one after the other,
/// or a list of events without any frame; what stands beside the events becomes Trace::properties.
Result<std::shared_ptr<Trace>> readChromeTrace(ByteSource& source, const ImportOptions& options);

} // namespace warpline::chrome
