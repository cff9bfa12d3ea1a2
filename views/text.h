// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/format.h"
#include "views/document.h"

#include <QString>

#include <string_view>

namespace warpline {

/// A text of the model for Qt; bytes that are no UTF-8 become replacement characters.
inline QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}
inline QString durationText(TimeNs ns) {
    return toQString(formatDuration(ns));
}
inline QString exactDurationText(TimeNs ns) {
    return toQString(formatExactDuration(ns));
}
inline QString bytesText(std::int64_t bytes) {
    return toQString(formatBytes(bytes));
}
inline QString countText(std::int64_t n) {
    return toQString(formatCount(n));
}
inline QString percentText(double share) {
    return toQString(formatPercent(share));
}
/// "1.21 GB", "14.0 MB": sizes of files as file managers give them (1000-based).
QString fileSizeText(quint64 bytes);
/// "event", "events".
inline QString plural(std::uint64_t n, const QString& one, const QString& many) {
    return n == 1 ? one : many;
}

/// "/home/me/train.py(46): forward" as "train.py(46): forward"; other names as they are.
QString shortFrame(const QString& name);

/// What a source is called in chips and tables: its file's name, without the folder; with the rank where two
/// sources have the same name.
QString sourceLabel(const Document& document, int source);
/// "python3 › main thread 455": where a slice stands.
QString trackLabel(const Document& document, SliceRef ref);
/// A time of the session as a distance from its start.
QString timeLabel(const Document& document, TimeNs time);

} // namespace warpline
