// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/slice_masks.h"

#include "views/flame/lazy_stacks.h"
#include "views/text.h"

#include <QCoreApplication>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("SliceMasks", text);
}

} // namespace

SliceFilter filterOf(const Selection& selection, int source, FilterPart parts) {
    SliceFilter filter;
    if (has(parts, FilterPart::Op))
        filter.op = selection.op.toStdString();
    if (has(parts, FilterPart::Kernel))
        filter.kernel = selection.kernel.toStdString();
    if (has(parts, FilterPart::Frame) && selection.frame.memory < 0) {
        for (const QString& name : selection.frame.path)
            filter.frames.push_back(name.toStdString());
    }
    if (has(parts, FilterPart::Tracks) && !selection.tracks.empty()) {
        for (const TrackRef& track : selection.tracks) {
            if (track.source == source)
                filter.tracks.push_back(track.track);
        }
        if (filter.tracks.empty())
            filter.tracks.emplace_back(); // the tracks of other files: nothing of this one
    }
    return filter;
}

Result<SliceMask> maskOf(const Document::Item& item, const SliceFilter& filter, const std::stop_token& stop) {
    if (filter.empty() || !item.stacks)
        return SliceMask();
    Result<TraceStacksPtr> stacks = item.stacks->get(stop);
    if (!stacks.ok())
        return stacks.error();
    return sliceMask(*stacks.value(), filter, stop);
}

QString filterText(const Document& document, FilterPart parts) {
    const Selection& s = document.selection();
    QStringList texts;
    if (has(parts, FilterPart::Op) && !s.op.isEmpty())
        texts.append(tr("under %1").arg(s.op));
    if (has(parts, FilterPart::Frame) && s.frame && s.frame.memory < 0)
        texts.append(tr("under %1").arg(shortFrame(s.frame.name())));
    if (has(parts, FilterPart::Kernel) && !s.kernel.isEmpty())
        texts.append(tr("that launched %1").arg(s.kernel));
    if (has(parts, FilterPart::Tracks) && !s.tracks.empty())
        texts.append(tr("on the chosen tracks"));
    return texts.join(QStringLiteral(", "));
}

} // namespace warpline
