// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/slice_details.h"

#include "views/text.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <optional>

namespace warpline {
namespace {

constexpr std::size_t kMostLinks = 32; ///< of one kind and direction that are listed

QString tr(const char* text) {
    return QCoreApplication::translate("SliceDetails", text);
}

const Document::Item& itemOf(const Document& document, SliceRef ref) {
    return document.items()[static_cast<std::size_t>(ref.source)];
}

/// An argument by its key; none where the slice has none of that name.
std::optional<Arg> argument(const Trace& trace, SliceId slice, std::string_view key) {
    const StringId id = trace.strings.find(key);
    const ArgStore::Ref ref = trace.slices.args[slice.index()];
    return id && ref != 0 ? trace.args.find(ref, id) : std::nullopt;
}

/// "[4096, 1, 1]" as "4096 × 1 × 1".
QString dimensions(const QString& json) {
    const QJsonArray array = QJsonDocument::fromJson(json.toUtf8()).array();
    QStringList parts;
    for (const QJsonValue& value : array)
        parts.append(QString::number(value.toInteger()));
    return parts.isEmpty() ? json : parts.join(QStringLiteral(" × "));
}

void addFlags(std::vector<DetailEntry>& entries, std::uint8_t flags) {
    const auto note = [&](std::uint8_t flag, const QString& text) {
        if ((flags & flag) != 0)
            entries.push_back({tr("Note"), text, {}, {}});
    };
    note(SliceFlag::Unfinished, tr("began and never ended; drawn to the end"));
    note(SliceFlag::NegativeDuration, tr("the file gives a duration below zero; shown as a moment"));
    note(SliceFlag::NoDuration, tr("the file gives no duration; shown as a moment"));
    note(SliceFlag::Untimed, tr("the file gives no time for it"));
}

/// The step that holds the slice's start, or null.
const Step* stepOf(const Trace& trace, TimeNs start) {
    for (const Step& step : trace.steps) {
        if (step.range.contains(start))
            return &step;
    }
    return nullptr;
}

/// Its duration less what its children in the track took. None where it has no children, or so many events
/// below it that the window would have to wait.
std::optional<TimeNs> selfTime(const Trace& trace, SliceId slice) {
    constexpr std::size_t kMostRows = 200'000;
    const Track& track = trace.tracks[trace.trackOf(slice).index()];
    TimeNs self = trace.slices.duration[slice.index()];
    std::size_t seen = 0;
    bool children = false;
    for (std::uint32_t lane = track.firstLane; lane < track.firstLane + track.laneCount; ++lane) {
        const auto [begin, end] = rowsIn(trace, trace.lanes[lane], trace.range(slice));
        seen += end - begin;
        if (seen > kMostRows)
            return std::nullopt;
        for (std::uint32_t row = begin; row < end; ++row) {
            if (trace.slices.parent[row] != slice)
                continue;
            self -= trace.slices.duration[row];
            children = true;
        }
    }
    return children ? std::optional(self) : std::nullopt;
}

void addTimes(const Document& document, SliceRef ref, std::vector<DetailEntry>& entries) {
    const Trace& trace = *itemOf(document, ref).trace;
    const std::size_t row = ref.slice.index();
    const TimeRange own = trace.range(ref.slice);
    if ((trace.slices.flags[row] & SliceFlag::Instant) == 0)
        entries.push_back(
            {tr("Duration"), durationText(own.duration()), exactDurationText(own.duration()), {}});
    const TimeNs start = document.sliceRange(ref).begin - document.extent().begin;
    entries.push_back({tr("Start"), durationText(start), exactDurationText(start), {}});
    if (const Step* step = stepOf(trace, own.begin); step != nullptr && step->slice != ref.slice) {
        const TimeNs inStep = own.begin - step->range.begin;
        entries.push_back({tr("Start in step %1").arg(step->number),
                           durationText(inStep),
                           exactDurationText(inStep),
                           {ref.source, step->slice}});
        if (own.duration() > 0 && step->range.duration() > 0) {
            const double share =
                static_cast<double>(own.duration()) / static_cast<double>(step->range.duration());
            entries.push_back({tr("Share of step"), percentText(share), {}, {}});
        }
    }
    if (const std::optional<TimeNs> self = selfTime(trace, ref.slice))
        entries.push_back({tr("Self time"), durationText(*self), exactDurationText(*self), {}});
    if (document.items().size() > 1)
        entries.push_back({tr("File"), sourceLabel(document, ref.source), {}, {}});
    const Track& track = trace.tracks[trace.trackOf(ref.slice).index()];
    entries.push_back({tr("Process"), toQString(trace.processName(track.process)), {}, {}});
    entries.push_back({tr("Track"), toQString(trace.trackName(trace.trackOf(ref.slice))), {}, {}});
    addFlags(entries, trace.slices.flags[row]);
}

/// What a launch was given and what it came to, in words; empty for anything but device work.
void addDeviceFacts(const Trace& trace, SliceId slice, std::vector<DetailEntry>& entries) {
    const auto text = [&](const Arg& arg) { return toQString(argText(trace.strings, arg)); };
    const auto add = [&](std::string_view key, const QString& label, const auto& format) {
        if (const std::optional<Arg> arg = argument(trace, slice, key))
            entries.push_back({label, format(*arg), {}, {}});
    };
    const auto plain = [&](const Arg& arg) { return text(arg); };
    add("grid", tr("Grid"), [&](const Arg& arg) { return dimensions(text(arg)); });
    add("block", tr("Block"), [&](const Arg& arg) { return dimensions(text(arg)); });
    add("registers per thread", tr("Registers / thread"), plain);
    add("shared memory", tr("Shared memory"), [](const Arg& arg) { return bytesText(arg.integer); });
    add("warps per SM", tr("Warps per SM"), plain);
    add("est. achieved occupancy %", tr("Occupancy (estimated)"),
        [&](const Arg& arg) -> QString { return text(arg) + QStringLiteral(" %"); });
    add("bytes", tr("Bytes"), [](const Arg& arg) { return bytesText(arg.integer); });
    add("memory bandwidth (GB/s)", tr("Bandwidth"), [](const Arg& arg) -> QString {
        return QString::number(arg.number(), 'g', 3) + QStringLiteral(" GB/s");
    });
    add("correlation", tr("Correlation"), plain);
}

QString linkLabel(const LinkedSlice& link, const Trace& trace) {
    switch (link.kind) {
    case LinkedSlice::Kind::Launch:
        if (!link.outgoing)
            return tr("Launch");
        return trace.kind(link.slice) == SliceKind::Kernel ? tr("Kernel")
               : trace.kind(link.slice) == SliceKind::Copy ? tr("Copy")
                                                           : tr("Device work");
    case LinkedSlice::Kind::Op:
        return link.outgoing ? tr("Launched") : tr("Op");
    case LinkedSlice::Kind::Forward:
        return link.outgoing ? tr("Backward") : tr("Forward");
    case LinkedSlice::Kind::Flow:
        return link.outgoing ? tr("Arrow to") : tr("Arrow from");
    }
    return {};
}

DetailEntry entryFor(const Document& document, SliceRef ref, const QString& label) {
    return {label, document.sliceName(ref), exactDurationText(document.sliceRange(ref).duration()), ref};
}

/// The slices around this one, innermost first.
std::vector<SliceId> parents(const Trace& trace, SliceId slice) {
    std::vector<SliceId> chain;
    for (SliceId at = trace.slices.parent[slice.index()]; at && chain.size() < 256;
         at = trace.slices.parent[at.index()])
        chain.push_back(at);
    return chain;
}

void addLinks(const Document& document, SliceRef ref, SliceDetails& details) {
    const Trace& trace = *itemOf(document, ref).trace;
    DetailSection from{tr("Caused by"), {}};
    DetailSection to{tr("Leads to"), {}};
    SliceId op;
    SliceId launch;
    for (const LinkedSlice& link : linkedSlices(trace, ref.slice, kMostLinks)) {
        (link.outgoing ? to : from)
            .entries.push_back(entryFor(document, {ref.source, link.slice}, linkLabel(link, trace)));
        if (!link.outgoing && link.kind == LinkedSlice::Kind::Op)
            op = link.slice;
        if (!link.outgoing && link.kind == LinkedSlice::Kind::Launch)
            launch = link.slice;
    }
    if (launch && isDeviceWork(trace.kind(ref.slice))) {
        const TimeNs wait = trace.slices.start[ref.slice.index()] - trace.slices.start[launch.index()];
        details.sections.front().entries.push_back(
            {tr("Launch to start"), durationText(wait), exactDurationText(wait), {}});
    }
    if (!from.entries.empty())
        details.sections.push_back(std::move(from));
    // What was open around it; for device work, around the op (or the call) that launched it.
    const SliceId host = op ? op : launch ? launch : ref.slice;
    DetailSection inside{host == ref.slice ? tr("Inside") : tr("Launched inside"), {}};
    for (const SliceId parent : parents(trace, host)) {
        const QString kind = QString::fromLatin1(sliceKindName(trace.kind(parent)));
        inside.entries.push_back(entryFor(document, {ref.source, parent}, kind));
    }
    if (!inside.entries.empty())
        details.sections.push_back(std::move(inside));
    if (to.entries.size() >= kMostLinks)
        to.title = tr("Leads to (the first %1)").arg(to.entries.size());
    if (!to.entries.empty())
        details.sections.push_back(std::move(to));
}

QString jsonString(const QString& text) {
    const QByteArray array = QJsonDocument(QJsonArray{text}).toJson(QJsonDocument::Compact);
    return QString::fromUtf8(array.mid(1, array.size() - 2));
}

} // namespace

SliceDetails describeSlice(const Document& document, SliceRef ref) {
    SliceDetails details;
    if (!ref)
        return details;
    const Document::Item& item = itemOf(document, ref);
    const Trace& trace = *item.trace;
    details.name = document.sliceName(ref);
    details.kind = QString::fromLatin1(sliceKindName(trace.kind(ref.slice)));
    details.family = item.families->of(trace, ref.slice.index());
    details.sections.push_back({});
    addTimes(document, ref, details.sections.front().entries);
    if (isDeviceWork(trace.kind(ref.slice)))
        addDeviceFacts(trace, ref.slice, details.sections.front().entries);
    addLinks(document, ref, details);

    DetailSection arguments{tr("Arguments"), {}};
    const std::string_view category =
        trace.strings.view(trace.categories[trace.slices.category[ref.slice.index()]].name);
    if (!category.empty())
        arguments.entries.push_back({QStringLiteral("cat"), toQString(category), {}, {}});
    if (const ArgStore::Ref args = trace.slices.args[ref.slice.index()]; args != 0) {
        trace.args.forEach(args, [&](const Arg& arg) {
            arguments.entries.push_back(
                {toQString(trace.strings.view(arg.key)), toQString(argText(trace.strings, arg)), {}, {}});
        });
    }
    if (!arguments.entries.empty())
        details.sections.push_back(std::move(arguments));
    return details;
}

QString detailsText(const SliceDetails& details) {
    QString out = details.name + QChar(u'\n') + details.kind + QStringLiteral(", ") +
                  QString::fromLatin1(familyName(details.family)) + QChar(u'\n');
    for (const DetailSection& section : details.sections) {
        if (!section.title.isEmpty())
            out += QChar(u'\n') + section.title + QChar(u'\n');
        for (const DetailEntry& entry : section.entries) {
            out += entry.label + QStringLiteral(": ") + entry.value;
            if (!entry.exact.isEmpty() && entry.exact != entry.value)
                out += QStringLiteral(" (") + entry.exact + QChar(u')');
            out += QChar(u'\n');
        }
    }
    return out;
}

QString sliceJson(const Document& document, SliceRef ref) {
    if (!ref)
        return {};
    const Trace& trace = *itemOf(document, ref).trace;
    const std::size_t row = ref.slice.index();
    const auto field = [](const char* key, const QString& json) -> QString {
        return QStringLiteral("  \"%1\": ").arg(QLatin1String(key)) + json;
    };
    const auto text = [](std::string_view s) { return jsonString(toQString(s)); };
    QStringList fields;
    fields.append(field("name", jsonString(document.sliceName(ref))));
    fields.append(field("kind", text(sliceKindName(trace.kind(ref.slice)))));
    fields.append(
        field("category", text(trace.strings.view(trace.categories[trace.slices.category[row]].name))));
    fields.append(field("file", text(trace.path)));
    fields.append(field("track", jsonString(trackLabel(document, ref))));
    fields.append(field("start_ns", QString::number(trace.slices.start[row])));
    fields.append(field("duration_ns", QString::number(trace.slices.duration[row])));
    QStringList args;
    if (const ArgStore::Ref refArgs = trace.slices.args[row]; refArgs != 0) {
        trace.args.forEach(refArgs, [&](const Arg& arg) {
            // The file's own digits: a number never goes through floating point here.
            std::string value;
            appendArgJson(value, trace.strings, arg);
            args.append(QStringLiteral("    ") + text(trace.strings.view(arg.key)) + QStringLiteral(": ") +
                        toQString(value));
        });
    }
    fields.append(field("args", args.isEmpty() ? QStringLiteral("{}")
                                               : QStringLiteral("{\n") + args.join(QStringLiteral(",\n")) +
                                                     QStringLiteral("\n  }")));
    QStringList links;
    for (const LinkedSlice& link : linkedSlices(trace, ref.slice, kMostLinks)) {
        links.append(
            QStringLiteral("    {\"relation\": %1, \"name\": %2, \"start_ns\": %3, \"duration_ns\": %4}")
                .arg(jsonString(linkLabel(link, trace)), text(trace.name(link.slice)),
                     QString::number(trace.slices.start[link.slice.index()]),
                     QString::number(trace.slices.duration[link.slice.index()])));
    }
    fields.append(field("links", links.isEmpty() ? QStringLiteral("[]")
                                                 : QStringLiteral("[\n") + links.join(QStringLiteral(",\n")) +
                                                       QStringLiteral("\n  ]")));
    return QStringLiteral("{\n") + fields.join(QStringLiteral(",\n")) + QStringLiteral("\n}\n");
}

} // namespace warpline
