// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/ops_model.h"

#include "views/text.h"
#include "views/theme.h"

#include <QHash>

#include <algorithm>

namespace warpline {
namespace {

enum Col {
    Name,
    SelfCpuShare,
    SelfCpu,
    CpuShare,
    CpuTotal,
    CpuAverage,
    SelfCuda,
    SelfCudaShare,
    CudaTotal,
    CudaAverage,
    GpuBusy,
    CpuMemory,
    SelfCpuMemory,
    CudaMemory,
    SelfCudaMemory,
    Calls,
    Shapes,
};

QString tr(const char* text) {
    return OpsModel::tr(text);
}

std::vector<ColumnSpec> opsColumns() {
    using enum ColumnKind;
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("name"), tr("Name"),
         tr("The name that the program gave. ProfilerStep#1, #2 … count as one row, ProfilerStep*."), Text},
        {key("self_cpu_share"), tr("Self CPU %"),
         tr("Self CPU ÷ the sum of Self CPU over all ops, annotations and runtime calls in the range. These "
            "shares make 100 % together."),
         Percent, true},
        {key("self_cpu_ns"), tr("Self CPU"),
         tr("CPU total less the CPU total of direct children (ops, annotations and runtime calls inside it), "
            "summed over all calls. Below zero where children ran on another thread; profiler overhead "
            "events "
            "are no children here."),
         Duration},
        {key("cpu_total_share"), tr("CPU total %"),
         tr("CPU total ÷ the sum of all Self CPU. Nested rows count their children too, so that these shares "
            "make more than 100 % together."),
         Percent},
        {key("cpu_total_ns"), tr("CPU total"),
         tr("End less start, summed over all calls, children included."), Duration},
        {key("cpu_avg_ns"), tr("CPU time avg"), tr("CPU total ÷ # of Calls."), Duration},
        {key("self_cuda_ns"), tr("Self CUDA"),
         tr("Durations of the kernels, copies and sets that it launched itself (no op deeper inside was open "
            "at "
            "the launch), summed. Kernels that ran at the same time count twice: see GPU busy."),
         Duration},
        {key("self_cuda_share"), tr("Self CUDA %"),
         tr("Self CUDA ÷ the durations of all kernels, copies and sets in the range. Annotations are not "
            "part of "
            "that sum."),
         Percent, true},
        {key("cuda_total_ns"), tr("CUDA total"), tr("Self CUDA of it and of everything inside it, summed."),
         Duration},
        {key("cuda_avg_ns"), tr("CUDA time avg"), tr("CUDA total ÷ # of Calls."), Duration},
        {key("gpu_busy_ns"), tr("GPU busy"),
         tr("Time in which at least one kernel, copy or set launched below it ran: the union of their times, "
            "never more than the clock on the wall."),
         Duration},
        {key("cpu_mem_bytes"), tr("CPU Mem"),
         tr("Bytes of host memory allocated less freed between its start and its end, by any thread. Below "
            "zero "
            "where more was freed."),
         Bytes, false, true},
        {key("self_cpu_mem_bytes"), tr("Self CPU Mem"), tr("CPU Mem less the CPU Mem of direct children."),
         Bytes, false, true},
        {key("cuda_mem_bytes"), tr("CUDA Mem"),
         tr("Bytes of device memory allocated less freed between its start and its end, by any thread."),
         Bytes},
        {key("self_cuda_mem_bytes"), tr("Self CUDA Mem"),
         tr("CUDA Mem less the CUDA Mem of direct children."), Bytes},
        {key("count"), tr("# of Calls"),
         tr("Events that start in the range. An only child of its parent's name is the same call."), Count},
        {key("input_shapes"), tr("Input Shapes"), tr("Sizes of the inputs, as the profiler recorded them."),
         Text},
    };
}

double ratio(TimeNs part, TimeNs whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

void add(OpRow& into, const OpRow& row) {
    into.count += row.count;
    into.selfCpu += row.selfCpu;
    into.cpuTotal += row.cpuTotal;
    into.selfDevice += row.selfDevice;
    into.deviceTotal += row.deviceTotal;
    into.deviceBusy += row.deviceBusy;
    into.deviceSpan += row.deviceSpan;
    into.cpuMemory += row.cpuMemory;
    into.selfCpuMemory += row.selfCpuMemory;
    into.deviceMemory += row.deviceMemory;
    into.selfDeviceMemory += row.selfDeviceMemory;
}

void add(OpTable& into, const OpTable& table) {
    into.selfCpuTotal += table.selfCpuTotal;
    into.selfDeviceTotal += table.selfDeviceTotal;
    into.deviceBusy += table.deviceBusy;
    into.span = std::max(into.span, table.span);
    into.hasDeviceTime = into.hasDeviceTime || table.hasDeviceTime;
    into.hasMemory = into.hasMemory || table.hasMemory;
    into.hasShapes = into.hasShapes || table.hasShapes;
}

} // namespace

Result<OpsData> computeOps(const std::vector<Document::Item>& items, const OpsRequest& request,
                           const std::stop_token& stop) {
    OpsData data;
    data.request = request;
    QHash<std::pair<QString, QString>, std::size_t> places;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (request.source >= 0 && static_cast<std::size_t>(request.source) != i)
            continue;
        const Document::Item& item = items[i];
        OpQuery query;
        query.rows = request.rows;
        query.group = request.group;
        if (request.range)
            query.range = TimeRange{request.range->begin - item.shift, request.range->end - item.shift};
        const Result<SliceMask> mask =
            maskOf(item, filterOf(request.filter, static_cast<int>(i), request.parts), stop);
        if (!mask.ok())
            return mask.error();
        query.only = mask.value();
        Result<OpTable> result = opTable(*item.ops, query, stop);
        if (!result.ok())
            return result.error();
        const Trace& trace = *item.trace;
        for (const OpRow& row : result.value().rows) {
            const auto key =
                std::pair(toQString(trace.strings.view(row.name)), toQString(trace.strings.view(row.shape)));
            const auto [place, isNew] = [&] {
                const auto found = places.constFind(key);
                if (found != places.constEnd())
                    return std::pair(found.value(), false);
                places.insert(key, data.rows.size());
                return std::pair(data.rows.size(), true);
            }();
            const SliceRef longest{static_cast<int>(i), row.longest};
            if (isNew) {
                OpsRow out{key.first, key.second, row, longest, Family::OtherHost};
                if (row.longest)
                    out.family = item.families->of(trace, row.longest.index());
                data.rows.push_back(std::move(out));
                continue;
            }
            OpsRow& into = data.rows[place];
            add(into.sums, row);
            const auto length = [&](SliceRef ref) {
                return items[static_cast<std::size_t>(ref.source)].trace->range(ref.slice).duration();
            };
            if (row.longest && (!into.longest || length(longest) > length(into.longest)))
                into.longest = longest;
        }
        result.value().rows.clear();
        add(data.totals, result.value());
    }
    return data;
}

OpsModel::OpsModel(QObject* parent) : TableModel(opsColumns(), parent) {}

void OpsModel::set(OpsData data) {
    beginRows();
    m_data = std::move(data);
    endRows();
}

void OpsModel::setStepsShown(bool shown) {
    if (m_stepsShown == shown)
        return;
    m_stepsShown = shown;
    refilter();
}

static bool isStep(const OpsRow& row) {
    return row.name.startsWith(QStringLiteral("ProfilerStep*"));
}

bool OpsModel::hasSteps() const {
    return std::any_of(m_data.rows.begin(), m_data.rows.end(), isStep);
}

bool OpsModel::accepts(int sourceRow) const {
    return m_stepsShown || !isStep(m_data.rows[static_cast<std::size_t>(sourceRow)]);
}

QStringList OpsModel::unavailable() const {
    QStringList keys;
    const auto drop = [&](int first, int last) {
        for (int column = first; column <= last; ++column)
            keys.append(columns()[static_cast<std::size_t>(column)].key);
    };
    const OpRows rows = m_data.request.rows;
    if (rows == OpRows::Kernels)
        drop(SelfCpuShare, CpuAverage);
    if (!m_data.totals.hasDeviceTime || rows == OpRows::Python)
        drop(SelfCuda, GpuBusy);
    // A column of nothing but zeros says nothing: profiles often hold device memory alone.
    const auto all = [&](auto member) {
        return std::all_of(m_data.rows.begin(), m_data.rows.end(),
                           [member](const OpsRow& row) { return row.sums.*member == 0; });
    };
    const bool memory = m_data.totals.hasMemory;
    if (!memory || (all(&OpRow::cpuMemory) && all(&OpRow::selfCpuMemory)))
        drop(CpuMemory, SelfCpuMemory);
    if (!memory || (all(&OpRow::deviceMemory) && all(&OpRow::selfDeviceMemory)))
        drop(CudaMemory, SelfCudaMemory);
    if (m_data.request.group != OpGroup::Shape)
        drop(Shapes, Shapes);
    return keys;
}

SliceRef OpsModel::sliceAt(int row) const {
    return m_data.rows[static_cast<std::size_t>(sourceRow(row))].longest;
}

QString OpsModel::rowKey(int row) const {
    const OpsRow& r = m_data.rows[static_cast<std::size_t>(sourceRow(row))];
    return r.name + QChar(u'\n') + r.shape;
}

QVariant OpsModel::raw(int sourceRow, int column) const {
    const OpsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    const OpRow& s = row.sums;
    const OpTable& totals = m_data.totals;
    const auto calls = static_cast<TimeNs>(std::max<std::uint64_t>(s.count, 1));
    const auto number = [](std::int64_t value) { return QVariant(static_cast<qlonglong>(value)); };
    switch (column) {
    case Name:
        return row.name;
    case SelfCpuShare:
        return ratio(s.selfCpu, totals.selfCpuTotal);
    case SelfCpu:
        return number(s.selfCpu);
    case CpuShare:
        return ratio(s.cpuTotal, totals.selfCpuTotal);
    case CpuTotal:
        return number(s.cpuTotal);
    case CpuAverage:
        return number(s.cpuTotal / calls);
    case SelfCuda:
        return number(s.selfDevice);
    case SelfCudaShare:
        return ratio(s.selfDevice, totals.selfDeviceTotal);
    case CudaTotal:
        return number(s.deviceTotal);
    case CudaAverage:
        return number(s.deviceTotal / calls);
    case GpuBusy:
        return number(s.deviceBusy);
    case CpuMemory:
        return number(s.cpuMemory);
    case SelfCpuMemory:
        return number(s.selfCpuMemory);
    case CudaMemory:
        return number(s.deviceMemory);
    case SelfCudaMemory:
        return number(s.selfDeviceMemory);
    case Calls:
        return number(static_cast<std::int64_t>(s.count));
    case Shapes:
        return row.shape;
    default:
        return {};
    }
}

QString OpsModel::toolTip(int sourceRow, int column) const {
    if (column != Name)
        return TableModel::toolTip(sourceRow, column);
    const OpsRow& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    return row.name + QChar(u'\n') + QString::fromLatin1(familyName(row.family));
}

QVariant OpsModel::mark(int sourceRow, int column) const {
    if (column != Name)
        return {};
    return Theme::current().color(m_data.rows[static_cast<std::size_t>(sourceRow)].family);
}

} // namespace warpline
