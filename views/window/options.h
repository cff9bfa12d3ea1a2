// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/time.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace warpline {

/// A stretch of time as it is typed, "A:B". A time with a unit ("10ms") counts from the start of the session,
/// one without is nanoseconds on the session's clock; an end left open is the session's.
struct RangeOption {
    struct Moment {
        bool relative = false;
        TimeNs value = 0;
    };
    std::optional<Moment> begin;
    std::optional<Moment> end;

    static std::optional<RangeOption> parse(const QString& text);
    /// Within the extent; may be empty where the two do not meet.
    [[nodiscard]] TimeRange in(TimeRange extent) const;
};

/// What the command line asks for.
struct Options {
    enum class View { Timeline, Ops, Kernels, Memory, Flame };
    enum class Appearance { Kept, Light, Dark };

    QStringList files;  ///< "-" = the standard input
    QString screenshot; ///< the picture to write; empty = open a window
    View view = View::Timeline;
    bool viewGiven = false; ///< else a session file says what is drawn
    std::optional<RangeOption> range;
    QString select;
    QString search;
    QSize size{1600, 1000};
    Appearance appearance = Appearance::Kept;
};

/// The options, or a text and an exit status to end with at once: 0 for --help and --version, 2 for wrong
/// usage.
struct ParsedOptions {
    std::optional<Options> options;
    QString text;
    int status = 0;
};

/// `arguments` begins with the program's name. Needs a QCoreApplication.
ParsedOptions parseOptions(const QStringList& arguments);

} // namespace warpline
