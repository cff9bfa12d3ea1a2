// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/track_names.h"

#include "views/text.h"

#include <QCoreApplication>

#include <algorithm>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("TrackNames", text);
}

/// Kineto writes "thread 476 (pt_autograd_0)": the name proper stands in the brackets.
QString properThreadName(const QString& name) {
    if (!name.startsWith(QLatin1String("thread ")) || !name.endsWith(QLatin1Char(')')))
        return name;
    const qsizetype open = name.indexOf(QLatin1Char('('));
    return open < 0 ? name : name.mid(open + 1, name.size() - open - 2);
}

QString tidText(const Trace& trace, const Track& track) {
    return track.tidText ? toQString(trace.strings.view(track.tidText)) : QString::number(track.tid);
}

bool runsAutograd(const Trace& trace, const Track& track) {
    constexpr std::uint32_t looked = 64;
    if (track.kind != TrackKind::Thread)
        return false;
    for (std::uint32_t row = track.firstSlice; row < std::min(track.endSlice, track.firstSlice + looked);
         ++row) {
        if (trace.name(SliceId::fromIndex(row)).starts_with("autograd::engine::"))
            return true;
    }
    return false;
}

QString threadName(const Trace& trace, const Track& track) {
    const Process& process = trace.processes[track.process];
    if (!track.tidText && !process.pidText && track.tid == process.pid)
        return tr("main thread");
    // A track of Python frames may lack the name that the thread's own track has.
    StringId name = track.name;
    for (const Track& other : trace.tracks) {
        if (name)
            break;
        if (other.process == track.process && other.tid == track.tid && other.tidText == track.tidText)
            name = other.name;
    }
    const QString text = properThreadName(toQString(trace.strings.view(name)));
    // The program's name says nothing about a thread: what it runs may.
    if (text.isEmpty() || text == toQString(trace.strings.view(process.name))) {
        if (runsAutograd(trace, track))
            return tr("autograd");
        const QString tid = tidText(trace, track);
        return tid.isEmpty() ? tr("unnamed thread") : tr("thread %1").arg(tid);
    }
    return text;
}

QString eventCount(const Track& track) {
    const auto n = static_cast<std::int64_t>(track.endSlice) - track.firstSlice;
    return n == 1 ? tr("1 event") : tr("%1 events").arg(countText(n));
}

} // namespace

std::int64_t streamNumber(const Track& track) {
    constexpr std::int64_t waits = 1'000'000; // Kineto's virtual threads for the waits of stream N
    return track.kind == TrackKind::GpuSync && track.tid >= waits ? track.tid - waits : track.tid;
}

RowTitle trackTitle(const Trace& trace, TrackId id) {
    const Track& track = trace.tracks[id.index()];
    const QString stream =
        tr("stream %1").arg(track.tidText ? tidText(trace, track) : QString::number(streamNumber(track)));
    switch (track.kind) {
    case TrackKind::Thread: {
        const QString tid = tidText(trace, track);
        return {threadName(trace, track), tid.isEmpty() ? QString() : tr("tid %1").arg(tid)};
    }
    case TrackKind::Python:
        return {tr("Python"), threadName(trace, track)};
    case TrackKind::Stream:
        return {stream, eventCount(track)};
    case TrackKind::GpuAnnotation:
        return {tr("annotations"), stream};
    case TrackKind::GpuSync:
        return {tr("waits"), stream};
    case TrackKind::Async: {
        const QString name = toQString(trace.strings.view(track.name));
        return {name.isEmpty() ? tr("asynchronous") : name, eventCount(track)};
    }
    case TrackKind::Overhead:
        return {tr("profiler overhead"), eventCount(track)};
    }
    return {};
}

RowTitle processTitle(const Trace& trace, std::uint32_t index) {
    const Process& process = trace.processes[index];
    const QString pid =
        process.pidText ? toQString(trace.strings.view(process.pidText)) : QString::number(process.pid);
    if (process.device)
        return {toQString(trace.processName(index)), {}};
    QString name = toQString(trace.strings.view(process.name));
    int threads = 0;
    for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
        if (trace.tracks[i].process != index)
            continue;
        const bool thread = trace.tracks[i].kind == TrackKind::Thread;
        const bool python = trace.tracks[i].kind == TrackKind::Python;
        bool counted = false; // a thread with frames and ops has two tracks
        for (std::size_t k = 0; k < i && python && !counted; ++k)
            counted = trace.tracks[k].process == index && trace.tracks[k].kind == TrackKind::Thread &&
                      trace.tracks[k].tid == trace.tracks[i].tid &&
                      trace.tracks[k].tidText == trace.tracks[i].tidText;
        threads += (thread || python) && !counted ? 1 : 0;
    }
    if (name.isEmpty())
        name = process.pidText ? pid : tr("process %1").arg(pid);
    if (name.isEmpty())
        name = tr("unnamed process");
    QString detail = process.pidText ? pid : tr("pid %1").arg(pid);
    if (detail == name)
        detail.clear();
    if (threads > 0) {
        const QString count = threads == 1 ? tr("1 thread") : tr("%1 threads").arg(threads);
        detail = detail.isEmpty() ? count : QString(detail % QStringLiteral(" · ") % count);
    }
    return {name, detail};
}

QString trackPlace(const Trace& trace, TrackId id) {
    const RowTitle title = trackTitle(trace, id);
    const Track& track = trace.tracks[id.index()];
    QString name = title.name;
    switch (track.kind) {
    case TrackKind::Thread:
        if (!name.contains(tidText(trace, track)))
            name = name % QStringLiteral(" (") % title.detail % QLatin1Char(')');
        break;
    case TrackKind::Python:
    case TrackKind::GpuAnnotation:
    case TrackKind::GpuSync:
        name = name % QStringLiteral(" of ") % title.detail;
        break;
    default:
        break;
    }
    return processTitle(trace, track.process).name % QStringLiteral(", ") % name;
}

} // namespace warpline
