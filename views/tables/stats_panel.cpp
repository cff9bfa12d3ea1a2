// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/stats_panel.h"

#include "views/text.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QLabel>

namespace warpline {
namespace {

enum Col { Name, Kind, File, Count, Sum, Average, Min, Median, P95, Max, Self };

QString tr(const char* text) {
    return StatsModel::tr(text);
}

std::vector<ColumnSpec> statsColumns() {
    using enum ColumnKind;
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("name"), tr("Name"), tr("The name of the events."), Text},
        {key("kind"), tr("Kind"), tr("What the events are. Kinds are never summed together."), Text},
        {key("source"), tr("File"), tr("The file the events come from."), Text},
        {key("count"), tr("Count"), tr("Events that start in the range."), ColumnKind::Count},
        {key("sum_ns"), tr("Sum"),
         tr("Sum of the durations, whole even where an event reaches beyond the range."), Duration},
        {key("avg_ns"), tr("Average"), tr("Sum ÷ Count."), Duration},
        {key("min_ns"), tr("Min"), tr("The shortest."), Duration},
        {key("median_ns"), tr("Median"), tr("As many are shorter as are longer."), Duration},
        {key("p95_ns"), tr("p95"), tr("95 of 100 are shorter."), Duration},
        {key("max_ns"), tr("Max"), tr("The longest. Double click goes to it."), Duration},
        {key("self_ns"), tr("Self"), tr("Sum less what the events inside them on the same track took."),
         Duration},
    };
}

/// The longest event of each name of `stats` that starts in the range; one pass over the trace.
std::vector<SliceId> longestOf(const Trace& trace, TimeRange range, const std::vector<NameStats>& stats,
                               const std::stop_token& stop) {
    const auto key = [](StringId name, SliceKind kind) {
        return (std::uint64_t{name.value} << 8) | static_cast<std::uint64_t>(kind);
    };
    QHash<quint64, std::size_t> places;
    places.reserve(static_cast<qsizetype>(stats.size()));
    for (std::size_t i = 0; i < stats.size(); ++i)
        places.insert(key(stats[i].name, stats[i].kind), i);
    std::vector<SliceId> longest(stats.size());
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
        if ((row & 0xffff) == 0 && stop.stop_requested())
            break;
        if (!range.contains(trace.slices.start[row]))
            continue;
        const auto place = places.constFind(key(trace.slices.name[row], trace.kind(row)));
        if (place == places.constEnd())
            continue;
        SliceId& best = longest[*place];
        if (!best || trace.slices.duration[row] > trace.slices.duration[best.index()])
            best = SliceId::fromIndex(row);
    }
    return longest;
}

} // namespace

Result<StatsData> computeStats(const std::vector<Document::Item>& items, std::optional<TimeRange> range,
                               const std::vector<QString>& sourceLabels, const std::stop_token& stop) {
    StatsData out;
    out.range = range;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Document::Item& item = items[i];
        const Trace& trace = *item.trace;
        // The extent is half-open and events may start at its very end.
        const TimeRange own = range ? TimeRange{range->begin - item.shift, range->end - item.shift}
                                    : TimeRange{trace.extent.begin, trace.extent.end + 1};
        const RangeStats stats = rangeStats(trace, own, {}, stop);
        const std::vector<SliceId> longest = longestOf(trace, own, stats.names, stop);
        if (stop.stop_requested())
            return Error::cancelled();
        out.slices += stats.slices;
        out.bytesAllocated += stats.bytesAllocated;
        out.bytesFreed += stats.bytesFreed;
        for (const DeviceStats& device : stats.devices) {
            const TimeNs whole = device.busy + device.idle;
            QString text = QStringLiteral("GPU %1: ").arg(trace.processes[device.process].pid);
            if (items.size() > 1)
                text.prepend(sourceLabels[i] + QStringLiteral(" › "));
            text +=
                tr("busy %1 (%2), idle %3, %4 gaps")
                    .arg(durationText(device.busy),
                         percentText(whole > 0 ? static_cast<double>(device.busy) / static_cast<double>(whole)
                                               : 0),
                         durationText(device.idle), countText(static_cast<std::int64_t>(device.gaps)));
            if (device.gaps > 0)
                text += tr(", the largest %1").arg(durationText(device.largestGap));
            out.devices.push_back(text);
        }
        for (std::size_t n = 0; n < stats.names.size(); ++n) {
            StatsRow row;
            row.name = toQString(trace.strings.view(stats.names[n].name));
            row.stats = stats.names[n];
            row.source = static_cast<int>(i);
            row.longest = {static_cast<int>(i), longest[n]};
            row.family = longest[n] ? item.families->of(trace, longest[n].index()) : Family::OtherHost;
            out.rows.push_back(std::move(row));
        }
    }
    return out;
}

StatsModel::StatsModel(QObject* parent) : TableModel(statsColumns(), parent) {}

void StatsModel::set(StatsData stats, std::vector<QString> sourceLabels) {
    beginRows();
    m_data = std::move(stats);
    m_sourceLabels = std::move(sourceLabels);
    endRows();
}

SliceRef StatsModel::sliceAt(int row) const {
    return m_data.rows[static_cast<std::size_t>(sourceRow(row))].longest;
}

QString StatsModel::rowKey(int row) const {
    const int at = sourceRow(row);
    return raw(at, Name).toString() + QChar(u'\n') + raw(at, Kind).toString() + QChar(u'\n') +
           raw(at, File).toString();
}

QVariant StatsModel::raw(int sourceRow, int column) const {
    const StatsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    const NameStats& s = row.stats;
    const auto number = [](std::int64_t value) { return QVariant(static_cast<qlonglong>(value)); };
    switch (column) {
    case Name:
        return row.name;
    case Kind:
        return QString::fromLatin1(sliceKindName(s.kind));
    case File:
        return m_sourceLabels[static_cast<std::size_t>(row.source)];
    case Count:
        return number(static_cast<std::int64_t>(s.count));
    case Sum:
        return number(s.sum);
    case Average:
        return number(s.count > 0 ? s.sum / static_cast<TimeNs>(s.count) : 0);
    case Min:
        return number(s.min);
    case Median:
        return number(s.median);
    case P95:
        return number(s.p95);
    case Max:
        return number(s.max);
    case Self:
        return number(s.self);
    default:
        return {};
    }
}

QString StatsModel::toolTip(int sourceRow, int column) const {
    if (column != Name)
        return TableModel::toolTip(sourceRow, column);
    const StatsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    return row.name + QChar(u'\n') + QString::fromLatin1(familyName(row.family));
}

QVariant StatsModel::mark(int sourceRow, int column) const {
    if (column != Name)
        return {};
    return Theme::current().color(m_data.rows[static_cast<std::size_t>(sourceRow)].family);
}

StatsPanel::StatsPanel(Document* document, QWidget* parent)
    : TablePanel(document, new StatsModel, QStringLiteral("selection"), QStringLiteral("sum_ns"), parent),
      m_model(static_cast<StatsModel*>(model())) {
    view()->setAccessibleName(tr("Statistics of the selected range"));
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("summary"));
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    controls()->insertWidget(0, m_title, 1);
    connect(document, &Document::rangeChanged, this, &StatsPanel::scheduleRefresh);
    scheduleRefresh();
}

QString StatsPanel::summary() const {
    return m_title->text();
}

void StatsPanel::refresh() {
    compute([items = document()->items(), labels = sourceLabels(), range = document()->range()](
                const std::stop_token& stop) { return computeStats(items, range, labels, stop); },
            [this](StatsData rows) { showRows(std::move(rows)); });
}

void StatsPanel::showRows(StatsData stats) {
    m_model->set(std::move(stats), sourceLabels());
    view()->setUnavailable(document()->items().size() > 1 ? QStringList()
                                                          : QStringList{QStringLiteral("source")});
    const StatsData& s = m_model->stats();
    const TimeRange range = s.range.value_or(document()->extent());
    const QString what = !s.range                            ? tr("Whole trace")
                         : document()->rangeName().isEmpty() ? tr("Selection")
                                                             : document()->rangeName();
    QStringList parts{what + QStringLiteral("  ") + durationText(range.duration()),
                      tr("%1 events").arg(countText(static_cast<std::int64_t>(s.slices)))};
    for (const QString& device : s.devices)
        parts.append(device);
    if (s.bytesAllocated != 0 || s.bytesFreed != 0)
        parts.append(tr("device memory: %1 allocated, %2 freed")
                         .arg(bytesText(s.bytesAllocated), bytesText(s.bytesFreed)));
    const QString text = document()->empty() ? QString() : parts.join(QStringLiteral("   ·   "));
    m_title->setText(text);
    m_title->setToolTip(parts.join(QChar(u'\n')));
    setFooter(tr("%1 names").arg(countText(m_model->rowCount())));
    showTableOrMessage();
}

QString StatsPanel::emptyReason() const {
    if (document()->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    if (m_model->stats().range)
        return tr("No event starts in the selected range. Drag a wider one in the timeline, or close the "
                  "range's chip.");
    return tr("No events with a duration in this trace; the log says what was read.");
}

} // namespace warpline
