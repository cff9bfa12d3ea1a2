// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/kernels_panel.h"

#include "views/tables/choice_button.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHBoxLayout>

#include <algorithm>

namespace warpline {
namespace {

/// What of the selection narrows the kernels: what is chosen among them does not.
constexpr FilterPart kParts = FilterPart::Op | FilterPart::Frame | FilterPart::Tracks;

enum Col {
    Name,
    Family_,
    Device,
    Streams,
    Count,
    Total,
    Share,
    Average,
    Min,
    Median,
    Max,
    Occupancy,
    Registers,
    SharedMemory,
    TensorCore,
};

QString tr(const char* text) {
    return KernelsModel::tr(text);
}

std::vector<ColumnSpec> kernelColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("name"), tr("Name"), tr("The kernel's, copy's or set's name."), ColumnKind::Text},
        {key("family"), tr("Family"),
         tr("What it computes, told from its name. The colours of the timeline."), ColumnKind::Text},
        {key("device"), tr("Device"), tr("The GPU it ran on."), ColumnKind::Text},
        {key("streams"), tr("Streams"), tr("The streams it ran on."), ColumnKind::Text},
        {key("count"), tr("Count"), tr("How often it ran: events that start in the range."),
         ColumnKind::Count},
        {key("total_ns"), tr("Total"), tr("Sum of the durations."), ColumnKind::Duration},
        {key("share"), tr("Share"),
         tr("Total ÷ the durations of all kernels, copies and sets in the range. These shares make 100 %."),
         ColumnKind::Percent, true},
        {key("avg_ns"), tr("Average"), tr("Total ÷ Count."), ColumnKind::Duration},
        {key("min_ns"), tr("Min"), tr("The shortest."), ColumnKind::Duration},
        {key("median_ns"), tr("Median"), tr("As many are shorter as are longer."), ColumnKind::Duration},
        {key("max_ns"), tr("Max"), tr("The longest. Double click goes to it."), ColumnKind::Duration},
        {key("occupancy"), tr("Occupancy"),
         tr("Warps on a multiprocessor ÷ the most it can hold, as the profiler estimated it from the launch; "
            "average weighted by duration."),
         ColumnKind::Percent},
        {key("registers"), tr("Registers"), tr("Registers of one thread."), ColumnKind::Count},
        {key("shared_memory_bytes"), tr("Shared memory"), tr("Shared memory of one block."),
         ColumnKind::Bytes},
        {key("tensor_core"), tr("Tensor Cores"),
         tr("Whether the kernel's name says that it uses Tensor Cores."), ColumnKind::Text},
    };
}

QString streamsText(const std::vector<std::int64_t>& streams) {
    constexpr std::size_t kShown = 4;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(streams.size(), kShown); ++i)
        parts.append(QString::number(streams[i]));
    const QString text = parts.join(QStringLiteral(", "));
    return streams.size() > kShown ? tr("%1 and %2 more").arg(text).arg(streams.size() - kShown) : text;
}

} // namespace

Result<KernelsData> computeKernels(const std::vector<Document::Item>& items, std::optional<TimeRange> range,
                                   const Selection& filter, const std::vector<QString>& sourceLabels,
                                   const std::stop_token& stop) {
    KernelsData out;
    out.range = range;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Document::Item& item = items[i];
        std::optional<TimeRange> own;
        if (range)
            own = TimeRange{range->begin - item.shift, range->end - item.shift};
        const Result<SliceMask> mask = maskOf(item, filterOf(filter, static_cast<int>(i), kParts), stop);
        if (!mask.ok())
            return mask.error();
        Result<KernelTable> result = kernelTable(*item.trace, own, stop, mask.value());
        if (!result.ok())
            return result.error();
        out.total += result.value().total;
        for (KernelRow& row : result.value().rows) {
            KernelsRow r;
            r.name = toQString(item.trace->strings.view(row.name));
            r.device = QStringLiteral("GPU %1").arg(item.trace->processes[row.process].pid);
            if (items.size() > 1)
                r.device = sourceLabels[i] + QStringLiteral(" › ") + r.device;
            r.streams = streamsText(row.streams);
            r.source = static_cast<int>(i);
            r.family = row.longest ? item.families->of(*item.trace, row.longest.index())
                                   : familyOf(row.kind, item.trace->strings.view(row.name));
            r.sums = std::move(row);
            out.rows.push_back(std::move(r));
        }
    }
    for (KernelsRow& row : out.rows)
        row.sums.share =
            out.total > 0 ? static_cast<double>(row.sums.total) / static_cast<double>(out.total) : 0;
    return out;
}

KernelsModel::KernelsModel(QObject* parent) : TableModel(kernelColumns(), parent) {}

void KernelsModel::set(KernelsData kernels) {
    beginRows();
    m_data = std::move(kernels);
    endRows();
}

QStringList KernelsModel::unavailable() const {
    QStringList keys;
    for (const Col column : {Occupancy, Registers, SharedMemory}) {
        bool any = false;
        for (int row = 0; row < sourceRows() && !any; ++row)
            any = raw(row, column).isValid();
        if (!any)
            keys.append(columns()[column].key);
    }
    return keys;
}

SliceRef KernelsModel::sliceAt(int row) const {
    const KernelsRow& r = m_data.rows[static_cast<std::size_t>(sourceRow(row))];
    return {r.source, r.sums.longest};
}

QString KernelsModel::rowKey(int row) const {
    const KernelsRow& r = m_data.rows[static_cast<std::size_t>(sourceRow(row))];
    return r.name + QChar(u'\n') + r.device;
}

QVariant KernelsModel::raw(int sourceRow, int column) const {
    const KernelsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    const KernelRow& s = row.sums;
    const auto number = [](std::int64_t value) { return QVariant(static_cast<qlonglong>(value)); };
    const auto known = [&](std::int64_t value) { return value >= 0 ? number(value) : QVariant(); };
    switch (column) {
    case Name:
        return row.name;
    case Family_:
        return QString::fromLatin1(familyName(row.family));
    case Device:
        return row.device;
    case Streams:
        return row.streams;
    case Count:
        return number(static_cast<std::int64_t>(s.count));
    case Total:
        return number(s.total);
    case Share:
        return s.share;
    case Average:
        return number(s.average);
    case Min:
        return number(s.min);
    case Median:
        return number(s.median);
    case Max:
        return number(s.max);
    case Occupancy:
        return s.occupancyPercent >= 0 ? QVariant(s.occupancyPercent / 100) : QVariant();
    case Registers:
        return known(s.registers);
    case SharedMemory:
        return known(s.sharedMemoryBytes);
    case TensorCore:
        switch (s.tensorCore) {
        case KernelRow::TensorCore::Yes:
            return tr("yes");
        case KernelRow::TensorCore::No:
            return tr("no");
        case KernelRow::TensorCore::Unknown:
            return {};
        }
        return {};
    default:
        return {};
    }
}

QString KernelsModel::toolTip(int sourceRow, int column) const {
    const KernelsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    if (column == Name)
        return row.name + QChar(u'\n') + QString::fromLatin1(familyName(row.family));
    if (column == Streams) {
        QStringList all;
        for (const std::int64_t stream : row.sums.streams)
            all.append(QString::number(stream));
        return all.join(QStringLiteral(", "));
    }
    if (column == TensorCore && !raw(sourceRow, column).isValid())
        return tr("The name does not tell.");
    return TableModel::toolTip(sourceRow, column);
}

QVariant KernelsModel::mark(int sourceRow, int column) const {
    if (column != Name)
        return {};
    return Theme::current().color(m_data.rows[static_cast<std::size_t>(sourceRow)].family);
}

KernelsPanel::KernelsPanel(Document* document, QWidget* parent)
    : TablePanel(document, new KernelsModel, QStringLiteral("kernels"), QStringLiteral("total_ns"), parent),
      m_model(static_cast<KernelsModel*>(model())) {
    view()->setAccessibleName(tr("Kernels"));
    m_range = new ChoiceButton(tr("in"), {tr("Whole trace")}, this);
    controls()->insertWidget(0, m_range);
    connect(m_range, &ChoiceButton::chosen, this, &KernelsPanel::scheduleRefresh);
    connect(document, &Document::rangeChanged, this, &KernelsPanel::rangeChanged);
    connect(document, &Document::filterChanged, this, &KernelsPanel::filterChanged);
    connect(view(), &TableView::rowChosen, this,
            [this](int row) { this->document()->selectKernel(m_model->nameAt(row), ViewKind::Kernels); });
    rangeChanged();
}

void KernelsPanel::filterChanged() {
    const Selection& now = document()->selection();
    if (now.op != m_shown.op || now.frame != m_shown.frame || now.tracks != m_shown.tracks)
        scheduleRefresh();
    else
        view()->showCurrent(m_model, now.kernel);
}

void KernelsPanel::rangeChanged() {
    const QString name = document()->rangeName().isEmpty() ? tr("Selection") : document()->rangeName();
    m_range->setOptions(document()->range() ? QStringList{name, tr("Whole trace")}
                                            : QStringList{tr("Whole trace")});
    scheduleRefresh();
}

void KernelsPanel::refresh() {
    const std::optional<TimeRange> range = m_range->current() == 0 ? document()->range() : std::nullopt;
    m_shown = document()->selection();
    compute([items = document()->items(), labels = sourceLabels(), range, filter = m_shown](
                const std::stop_token& stop) { return computeKernels(items, range, filter, labels, stop); },
            [this](KernelsData rows) { showRows(std::move(rows)); });
}

void KernelsPanel::showRows(KernelsData kernels) {
    m_model->set(std::move(kernels));
    view()->setUnavailable(m_model->unavailable());
    std::uint64_t launches = 0;
    for (const KernelsRow& row : m_model->kernels().rows)
        launches += row.sums.count;
    QString text = tr("%1 rows   ·   %2 kernels, copies and sets   ·   total %3")
                       .arg(countText(m_model->rowCount()), countText(static_cast<std::int64_t>(launches)),
                            durationText(m_model->kernels().total));
    if (const QString only = filterText(*document(), kParts); !only.isEmpty())
        text += tr("   ·   only %1").arg(only);
    setFooter(text);
    showTableOrMessage();
    view()->showCurrent(m_model, document()->selection().kernel);
}

QString KernelsPanel::emptyReason() const {
    if (document()->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    if (const QString only = filterText(*document(), kParts); !only.isEmpty())
        return tr("The GPU starts nothing %1 in this stretch of time. Take a chip off above to see more.")
            .arg(only);
    if (m_model->kernels().range)
        return tr(
            "The GPU starts nothing in the selected range. Choose in: Whole trace, or select another range.");
    return tr("No GPU work in this trace: record with activities=[…, ProfilerActivity.CUDA] on a machine "
              "with a GPU.");
}

} // namespace warpline
