// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/ops_panel.h"

#include "views/tables/choice_button.h"
#include "views/text.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QLineEdit>

namespace warpline {

OpsPanel::OpsPanel(Document* document, QWidget* parent)
    : TablePanel(document, new OpsModel, QStringLiteral("ops"), QStringLiteral("self_cuda_ns"), parent),
      m_model(static_cast<OpsModel*>(model())) {
    view()->setAccessibleName(tr("Ops"));
    m_rows = new ChoiceButton(
        tr("rows"), {tr("Ops"), tr("Annotations"), tr("Kernels"), tr("Runtime"), tr("Python")}, this);
    m_group = new ChoiceButton(tr("by"), {tr("Name"), tr("Input shape")}, this);
    m_range = new ChoiceButton(tr("in"), {tr("Selection"), tr("Whole trace")}, this);
    m_range->setToolTip(tr("The events that start in this stretch of time."));
    m_source = new ChoiceButton(tr("file"), {tr("All files")}, this);
    m_steps = new QCheckBox(tr("Steps"), this);
    m_steps->setToolTip(tr("Show ProfilerStep*, the rows that hold all others."));
    m_steps->setAccessibleName(tr("Show profiler steps"));
    int at = 0;
    for (QWidget* choice : std::initializer_list<QWidget*>{m_rows, m_group, m_range, m_source, m_steps})
        controls()->insertWidget(at++, choice);
    for (ChoiceButton* choice : {m_rows, m_group, m_range, m_source})
        connect(choice, &ChoiceButton::chosen, this, &OpsPanel::scheduleRefresh);
    connect(m_steps, &QCheckBox::toggled, this, [this](bool shown) {
        m_model->setStepsShown(shown);
        showTableOrMessage();
    });
    connect(document, &Document::sessionChanged, this, &OpsPanel::sessionChanged);
    connect(document, &Document::rangeChanged, this, &OpsPanel::rangeChanged);
    connect(document, &Document::filterChanged, this, &OpsPanel::filterChanged);
    connect(view(), &TableView::rowChosen, this, &OpsPanel::choose);
    sessionChanged();
}

FilterPart OpsPanel::parts() const {
    switch (static_cast<OpRows>(m_rows->current())) {
    case OpRows::Ops:
        return FilterPart::Kernel | FilterPart::Frame | FilterPart::Tracks;
    case OpRows::Kernels:
        return FilterPart::Op | FilterPart::Frame | FilterPart::Tracks;
    default:
        return FilterPart::Op | FilterPart::Kernel | FilterPart::Tracks;
    }
}

void OpsPanel::filterChanged() {
    const FilterPart by = parts();
    const auto same = [&](int source) {
        const SliceFilter a = filterOf(m_shown, source, by);
        const SliceFilter b = filterOf(document()->selection(), source, by);
        return a.op == b.op && a.kernel == b.kernel && a.frames == b.frames && a.tracks == b.tracks;
    };
    bool changed = false;
    for (std::size_t i = 0; i < document()->items().size(); ++i)
        changed = changed || !same(static_cast<int>(i));
    if (changed)
        scheduleRefresh();
    else
        takeSelection();
}

void OpsPanel::choose(int row) {
    const QString name = m_model->nameAt(row);
    switch (static_cast<OpRows>(m_rows->current())) {
    case OpRows::Ops:
        document()->selectOp(name, ViewKind::Ops);
        break;
    case OpRows::Kernels:
        document()->selectKernel(name, ViewKind::Ops);
        break;
    default:
        // Steps are numbered in the stacks and one row here.
        if (!name.startsWith(QStringLiteral("ProfilerStep*")))
            document()->selectFrame({{name}, -1}, ViewKind::Ops);
    }
}

void OpsPanel::takeSelection() {
    const Selection& s = document()->selection();
    const auto rows = static_cast<OpRows>(m_rows->current());
    view()->showCurrent(m_model, rows == OpRows::Ops       ? s.op
                                 : rows == OpRows::Kernels ? s.kernel
                                                           : s.frame.name());
}

void OpsPanel::setRows(OpRows rows) {
    m_rows->setCurrent(static_cast<int>(rows));
    scheduleRefresh();
}

void OpsPanel::sessionChanged() {
    QStringList files{tr("All files")};
    for (std::size_t i = 0; i < document()->items().size(); ++i)
        files.append(sourceLabel(*document(), static_cast<int>(i)));
    m_source->setOptions(files);
    m_source->setVisible(files.size() > 2);
    rangeChanged();
}

void OpsPanel::rangeChanged() {
    const QString name = document()->range() ? document()->rangeName() : QString();
    const QString first = !document()->range() ? tr("Whole trace") : name.isEmpty() ? tr("Selection") : name;
    m_range->setOptions(document()->range() ? QStringList{first, tr("Whole trace")} : QStringList{first});
    scheduleRefresh();
}

void OpsPanel::refresh() {
    OpsRequest request;
    request.rows = static_cast<OpRows>(m_rows->current());
    request.group = static_cast<OpGroup>(m_group->current());
    if (m_range->current() == 0)
        request.range = document()->range();
    request.source = m_source->current() - 1;
    request.filter = m_shown = document()->selection();
    request.parts = parts();
    compute([items = document()->items(),
             request](const std::stop_token& stop) { return computeOps(items, request, stop); },
            [this](OpsData rows) { showRows(std::move(rows)); });
}

void OpsPanel::showRows(OpsData ops) {
    m_model->set(std::move(ops));
    view()->setUnavailable(m_model->unavailable());
    m_steps->setVisible(m_model->hasSteps());
    const OpTable& totals = m_model->ops().totals;
    QStringList parts{tr("%1 rows").arg(countText(m_model->rowCount())),
                      tr("Self CPU time total %1").arg(durationText(totals.selfCpuTotal))};
    if (totals.hasDeviceTime) {
        parts.append(tr("Self CUDA time total %1").arg(durationText(totals.selfDeviceTotal)));
        const double share =
            totals.span > 0 ? static_cast<double>(totals.deviceBusy) / static_cast<double>(totals.span) : 0;
        parts.append(
            tr("GPU busy %1 of %2 (%3)")
                .arg(durationText(totals.deviceBusy), durationText(totals.span), percentText(share)));
    }
    if (m_model->ops().request.group == OpGroup::Shape && !totals.hasShapes)
        parts.append(tr("no input shapes here: record with record_shapes=True"));
    if (const QString only = filterText(*document(), this->parts()); !only.isEmpty())
        parts.append(tr("only %1").arg(only));
    setFooter(parts.join(QStringLiteral("   ·   ")));
    showTableOrMessage();
    takeSelection();
}

QJsonObject OpsPanel::viewSettings() const {
    return {{QStringLiteral("rows"), m_rows->current()},
            {QStringLiteral("group"), m_group->current()},
            {QStringLiteral("steps"), m_steps->isChecked()},
            {QStringLiteral("filter"), filterLine()->text()}};
}

void OpsPanel::applyViewSettings(const QJsonObject& settings) {
    m_rows->setCurrent(settings[QStringLiteral("rows")].toInt(m_rows->current()));
    m_group->setCurrent(settings[QStringLiteral("group")].toInt(m_group->current()));
    m_steps->setChecked(settings[QStringLiteral("steps")].toBool(m_steps->isChecked()));
    filterLine()->setText(settings[QStringLiteral("filter")].toString());
    scheduleRefresh();
}

QString OpsPanel::emptyReason() const {
    if (document()->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    const QString rows = m_rows->options().value(m_rows->current());
    if (m_model->sourceRows() > 0)
        return tr("Only profiler steps are here. Tick Steps to see them.");
    if (const QString only = filterText(*document(), parts()); !only.isEmpty())
        return tr("None of these (%1) is %2 in this stretch of time. Take a chip off above to see more.")
            .arg(rows, only);
    if (m_model->ops().request.range)
        return tr("None of these (%1) starts in the selected range. Choose in: Whole trace, or select "
                  "another range.")
            .arg(rows);
    switch (static_cast<OpRows>(m_rows->current())) {
    case OpRows::Ops:
        return tr(
            "No CPU ops in this trace: record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]. "
            "Rows: Kernels shows what the GPU did.");
    case OpRows::Annotations:
        return tr(
            "No annotations in this trace: put torch.profiler.record_function(\"name\") around what you want "
            "to see.");
    case OpRows::Kernels:
        return tr("No GPU work in this trace: record with activities=[…, ProfilerActivity.CUDA] on a machine "
                  "with a "
                  "GPU.");
    case OpRows::Runtime:
        return tr("No runtime calls in this trace: record with activities=[…, ProfilerActivity.CUDA].");
    case OpRows::Python:
        return tr("No Python functions in this trace: record with with_stack=True.");
    }
    return {};
}

} // namespace warpline
