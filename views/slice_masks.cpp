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

Result<std::vector<SliceRef>> namedSlices(const std::vector<Document::Item>& items,
                                          const Selection& selection, const std::stop_token& stop) {
    std::vector<SliceRef> out;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const SliceFilter filter = filterOf(selection, static_cast<int>(i));
        if (!items[i].stacks || (filter.op.empty() && filter.kernel.empty() && filter.frames.empty()))
            continue;
        Result<TraceStacksPtr> built = items[i].stacks->get(stop);
        if (!built.ok())
            return built.error();
        const TraceStacks& stacks = *built.value();
        Result<SliceMask> mask = sliceMask(stacks, filter, stop);
        if (!mask.ok())
            return mask.error();
        // Names are few beside slices: each frame is compared once.
        const FrameTable& frames = stacks.frames();
        std::vector<char> named(frames.size() + 1, 0);
        for (std::uint32_t f = 1; f <= frames.size(); ++f) {
            const auto is = [&](FrameId id) {
                const std::string_view name = frames.name(id);
                return name == filter.op || name == filter.kernel ||
                       (!filter.frames.empty() && name == filter.frames.back());
            };
            const FrameId family = frames.at(FrameId{f}).family;
            named[f] = is(FrameId{f}) || (family && is(family)) ? 1 : 0;
        }
        for (std::size_t row = 0; row < mask.value().size(); ++row) {
            const StackId stack =
                mask.value()[row] != 0 ? stacks.stackOf(SliceId::fromIndex(row)) : StackId{};
            if (stack && named[stacks.stacks().frame(stack).value] != 0)
                out.push_back({static_cast<int>(i), SliceId::fromIndex(row)});
        }
    }
    return out;
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
