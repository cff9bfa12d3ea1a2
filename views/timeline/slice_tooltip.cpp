// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/slice_tooltip.h"

#include "model/query/spans.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/track_names.h"

#include <QCoreApplication>

#include <array>
#include <vector>

namespace warpline {

namespace {

constexpr int kMostArguments = 8;
constexpr qsizetype kLongestText = 120;

QString tr(const char* text) {
    return QCoreApplication::translate("SliceToolTip", text);
}

struct KnownArgument {
    const char* key;
    const char* label;
    enum Form { AsIs, Bytes } form;
};

/// What people look for first, in the order of interest. Everything else is in Details.
constexpr std::array kKnown{
    KnownArgument{"bytes", "Bytes", KnownArgument::Bytes},
    KnownArgument{"Bytes", "Bytes", KnownArgument::Bytes},
    KnownArgument{"memory bandwidth (GB/s)", "GB/s", KnownArgument::AsIs},
    KnownArgument{"grid", "Grid", KnownArgument::AsIs},
    KnownArgument{"block", "Block", KnownArgument::AsIs},
    KnownArgument{"registers per thread", "Registers / thread", KnownArgument::AsIs},
    KnownArgument{"shared memory", "Shared memory", KnownArgument::Bytes},
    KnownArgument{"est. achieved occupancy %", "Occupancy, estimated %", KnownArgument::AsIs},
    KnownArgument{"Input Dims", "Shapes", KnownArgument::AsIs},
    KnownArgument{"Input type", "Types", KnownArgument::AsIs},
    KnownArgument{"Collective name", "Collective", KnownArgument::AsIs},
    KnownArgument{"In msg nelems", "Elements in", KnownArgument::AsIs},
    KnownArgument{"dtype", "Type", KnownArgument::AsIs},
    KnownArgument{"Group size", "Ranks", KnownArgument::AsIs},
    KnownArgument{"Sequence number", "Sequence number", KnownArgument::AsIs},
    KnownArgument{"wait_on_stream", "Waits for stream", KnownArgument::AsIs},
    KnownArgument{"cbid", "Callback id", KnownArgument::AsIs},
};

QString shortened(const QString& text) {
    return text.size() <= kLongestText ? text : QString(text.left(kLongestText) % QStringLiteral("…"));
}

struct Line {
    QString label;
    QString value;
};

void addArguments(const Trace& trace, SliceId slice, std::vector<Line>& lines) {
    const ArgStore::Ref ref = trace.slices.args[slice.index()];
    if (ref == 0)
        return;
    int shown = 0;
    for (const KnownArgument& known : kKnown) {
        const StringId key = trace.strings.find(known.key);
        const auto arg = key ? trace.args.find(ref, key) : std::nullopt;
        if (!arg || shown == kMostArguments)
            continue;
        const QString value = known.form == KnownArgument::Bytes && arg->kind == ArgKind::Int
                                  ? bytesText(arg->integer)
                                  : toQString(argText(trace.strings, *arg));
        if (value.isEmpty() || value == QLatin1String("[]"))
            continue;
        lines.push_back({tr(known.label), shortened(value)});
        ++shown;
    }
    if (shown > 0 || trace.kind(slice) != SliceKind::Other)
        return;
    // Events of unknown writers: their first arguments as they are.
    trace.args.forEach(ref, [&](const Arg& arg) {
        lines.push_back({shortened(toQString(trace.strings.view(arg.key))),
                         shortened(toQString(argText(trace.strings, arg)))});
        return ++shown < kMostArguments;
    });
}

void addLinks(const Trace& trace, SliceId slice, std::vector<Line>& lines) {
    int launched = 0;
    for (const LinkedSlice& link : linkedSlices(trace, slice, 64)) {
        if (link.kind == LinkedSlice::Kind::Launch && !link.outgoing) {
            lines.push_back({tr("Launched by"), shortened(toQString(trace.name(link.slice)))});
            const TimeNs wait = coordinates::subtract(trace.slices.start[slice.index()],
                                                      trace.slices.start[link.slice.index()]);
            lines.push_back({tr("Launch to start"), durationText(wait)});
        } else if (link.kind == LinkedSlice::Kind::Op && !link.outgoing) {
            lines.push_back({tr("Op"), shortened(toQString(trace.name(link.slice)))});
        } else if (link.outgoing && link.kind != LinkedSlice::Kind::Flow &&
                   link.kind != LinkedSlice::Kind::Forward) {
            ++launched;
        }
    }
    if (launched > 1)
        lines.push_back({tr("Launched"), tr("%1 pieces of GPU work").arg(launched)});
}

std::vector<Line> linesOf(const Document& document, SliceRef ref, TimeNs origin) {
    const Document::Item& item = document.items().at(static_cast<std::size_t>(ref.source));
    const Trace& trace = *item.trace;
    const std::size_t row = ref.slice.index();
    std::vector<Line> lines;
    const std::uint8_t flags = trace.slices.flags[row];
    QString duration = durationText(trace.slices.duration[row]);
    if ((flags & SliceFlag::Instant) != 0)
        duration = tr("a moment");
    else if ((flags & SliceFlag::Unfinished) != 0)
        duration += tr(", never ended");
    else if ((flags & SliceFlag::NegativeDuration) != 0)
        duration += tr(", negative in the file");
    lines.push_back({tr("Duration"), duration});
    lines.push_back(
        {tr("Start"), durationText(coordinates::subtract(document.sliceRange(ref).begin, origin))});
    lines.push_back({tr("Track"), trackPlace(trace, trace.trackOf(ref.slice))});
    addArguments(trace, ref.slice, lines);
    addLinks(trace, ref.slice, lines);
    return lines;
}

} // namespace

QString sliceToolTip(const Document& document, SliceRef ref, TimeNs origin) {
    const Document::Item& item = document.items().at(static_cast<std::size_t>(ref.source));
    const Theme& theme = Theme::current();
    const Family family = item.families->of(*item.trace, ref.slice.index());
    QString name = document.sliceName(ref);
    if (name.size() > 4 * kLongestText)
        name = name.left(4 * kLongestText) % QStringLiteral("…");
    QString html = QStringLiteral("<div style='white-space:pre-wrap'><b>") % name.toHtmlEscaped() %
                   QStringLiteral("</b></div><div><span style='background-color:") %
                   theme.color(family).name() % QStringLiteral("'>&nbsp;&nbsp;&nbsp;</span> ") %
                   toQString(familyName(family)).toHtmlEscaped() %
                   QStringLiteral("</div><table cellspacing='0' cellpadding='1'>");
    for (const Line& line : linesOf(document, ref, origin))
        html += QStringLiteral("<tr><td style='color:") % theme.mute.name() % QStringLiteral("'>") %
                line.label.toHtmlEscaped() % QStringLiteral("&nbsp;&nbsp;&nbsp;</td><td>") %
                line.value.toHtmlEscaped() % QStringLiteral("</td></tr>");
    return html % QStringLiteral("</table>");
}

QString sliceSentence(const Document& document, SliceRef ref, TimeNs origin) {
    QString text = document.sliceName(ref);
    for (const Line& line : linesOf(document, ref, origin))
        text += QStringLiteral(", ") % line.label % QLatin1Char(' ') % line.value;
    return text;
}

} // namespace warpline
