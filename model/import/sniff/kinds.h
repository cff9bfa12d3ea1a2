// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/sniff.h"

#include <optional>
#include <string_view>

namespace warpline {

/// Formats told by magic numbers and binary structure; none for text.
std::optional<Sniffed> sniffBinary(std::string_view head);
/// Documents that begin with { or [ ; `head` begins there. None where nothing in it tells.
std::optional<Sniffed> sniffJson(std::string_view head, bool whole);
/// Pointers, pages, tables and other text.
Sniffed sniffText(std::string_view head, bool whole);

/// Whether the text has what Chrome trace events have in it, whatever stands around them.
bool hasTraceEvents(std::string_view text);

Sniffed isChromeTrace();
/// A memory snapshot; `what` names its form for people.
Sniffed isMemory(Sniffed::Format format, std::string_view what);
Sniffed isOther(std::string sentence);
/// "This is WHAT, not a trace.": a profile that is read.
Sniffed isProfile(std::string_view what);
/// "This is WHAT. This version of Warpline does not read it." and then `advice`.
Sniffed notRead(std::string_view what, std::string_view advice = {});

} // namespace warpline
