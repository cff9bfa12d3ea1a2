// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QString>

#include <vector>

namespace warpline {

/// One line about a slice; with a link it can be followed.
struct DetailEntry {
    QString label;
    QString value;
    QString exact; ///< the value in full, where `value` rounds
    SliceRef link;
};

struct DetailSection {
    QString title; ///< empty for the first
    std::vector<DetailEntry> entries;
};

/// Everything that is known of one slice, made for reading: its times, what its launch was given, what
/// caused it and what it caused, and every argument as it stands in the file.
struct SliceDetails {
    QString name;
    QString kind;
    Family family = Family::OtherHost;
    std::vector<DetailSection> sections;
};

SliceDetails describeSlice(const Document& document, SliceRef ref);
/// The same as plain text, a line an entry, exact.
QString detailsText(const SliceDetails& details);
/// The slice as one JSON object: name, kind, category, track, start_ns and duration_ns of its own clock, args
/// as they stand in the file, links.
QString sliceJson(const Document& document, SliceRef ref);

} // namespace warpline
