// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/text.h"

#include <QFileInfo>

#include <array>

namespace warpline {

QString fileSizeText(quint64 bytes) {
    static constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return QString::number(value, 'f', decimals) + QChar(u' ') + QLatin1String(kUnits.at(unit));
}

QString shortFrame(const QString& name) {
    const qsizetype line = name.indexOf(QStringLiteral(".py("));
    const qsizetype folder = line < 0 ? -1 : name.lastIndexOf(u'/', line);
    return folder < 0 ? name : name.mid(folder + 1);
}

static QString fileName(const Trace& trace) {
    if (trace.path == "-")
        return QStringLiteral("standard input");
    const QString path = toQString(trace.path);
    return path.mid(path.lastIndexOf(u'/') + 1);
}

QString sourceLabel(const Document& document, int source) {
    const auto& items = document.items();
    if (source < 0 || static_cast<std::size_t>(source) >= items.size())
        return {};
    const Trace& trace = *items[static_cast<std::size_t>(source)].trace;
    const QString name = fileName(trace);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (static_cast<int>(i) == source || fileName(*items[i].trace) != name)
            continue;
        // Two files of one name: the rank tells them apart, or else the folder.
        if (trace.rank >= 0 && items[i].trace->rank != trace.rank)
            return name + QStringLiteral(" (rank %1)").arg(trace.rank);
        const QString folder = QFileInfo(toQString(trace.path)).absolutePath();
        return folder.mid(folder.lastIndexOf(u'/') + 1) + QChar(u'/') + name;
    }
    return name;
}

QString trackLabel(const Document& document, SliceRef ref) {
    if (!ref)
        return {};
    const Trace& trace = *document.items()[static_cast<std::size_t>(ref.source)].trace;
    const TrackId track = trace.trackOf(ref.slice);
    const QString process = toQString(trace.processName(trace.tracks[track.index()].process));
    const QString name = toQString(trace.trackName(track));
    const QString where = process.isEmpty() ? name : process + QStringLiteral(" › ") + name;
    return document.items().size() > 1 ? sourceLabel(document, ref.source) + QStringLiteral(" › ") + where
                                       : where;
}

QString timeLabel(const Document& document, TimeNs time) {
    return durationText(time - document.extent().begin);
}

} // namespace warpline
