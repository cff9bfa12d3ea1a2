// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/memory_item.h"

#include "views/flame/lazy_stacks.h"

#include <QCoreApplication>

#include <utility>

namespace warpline {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("MemoryItem", text);
}

/// A curve has one value more than there are events: the one before the first stands at its time.
StepSeries overTime(const MemoryDevice& device, const Column<std::int64_t>& curve) {
    std::vector<TimeNs> time;
    std::vector<double> value;
    const std::size_t events = device.events.count();
    time.reserve(events);
    value.reserve(events);
    for (std::size_t e = 0; e < events; ++e) {
        // Of events at one nanosecond the last one holds.
        if (!time.empty() && time.back() == device.events.time[e]) {
            value.back() = static_cast<double>(curve[e + 1]);
            continue;
        }
        time.push_back(device.events.time[e]);
        value.push_back(static_cast<double>(curve[e + 1]));
    }
    return {std::move(time), std::move(value)};
}

} // namespace

MemoryItem MemoryItem::prepare(MemoryHistoryPtr history, TimeNs shift) {
    MemoryItem item;
    item.shift = shift;
    for (std::size_t d = 0; d < history->devices.size(); ++d) {
        const MemoryDevice& device = history->devices[d];
        MemoryDeviceItem of;
        of.device = d;
        of.layout = MemoryLayout::build(history, d);
        of.live = std::make_shared<const LiveIndex>(device);
        of.peaks = localPeaks(device, MemoryCurve::Requested);
        std::vector<RowSeries> series;
        if (device.hasTimes && device.events.count() > 0) {
            series.push_back(
                {RowSeries::Role::Allocated, tr("requested"), overTime(device, device.curves.requested)});
            series.push_back(
                {RowSeries::Role::Reserved, tr("reserved"), overTime(device, device.curves.reserved)});
        }
        of.series = std::make_shared<const std::vector<RowSeries>>(std::move(series));
        item.devices.push_back(std::move(of));
    }
    item.stacks = std::make_shared<LazyMemoryStacks>(history);
    item.history = std::move(history);
    return item;
}

} // namespace warpline
