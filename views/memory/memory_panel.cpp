// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/memory_panel.h"

#include "views/charts/curve_chart.h"
#include "views/memory/allocation_view.h"
#include "views/memory/block_details.h"
#include "views/memory/blocks_panel.h"
#include "views/memory/growth_panel.h"
#include "views/memory/holders_panel.h"
#include "views/memory/oom_panel.h"
#include "views/memory/segments_view.h"
#include "views/tables/choice_button.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr int kCurvesHeight = 72;

QVBoxLayout* plainColumn(QWidget* parent) {
    auto* column = new QVBoxLayout(parent);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

} // namespace

MemoryPanel::MemoryPanel(Document* document, QWidget* parent)
    : QWidget(parent), m_focus(new MemoryFocus(document, this)) {
    setObjectName(QStringLiteral("memoryPanel"));
    m_curves = new CurveChart;
    m_curves->setFixedHeight(kCurvesHeight);
    m_curves->setMargins(AllocationView::kLeft, AllocationView::kRight);
    m_curves->setAccessibleName(tr("Requested, allocated and reserved bytes of the whole history"));
    m_allocation = new AllocationView(m_focus);
    m_holders = new HoldersPanel(m_focus);
    m_details = new BlockDetails(m_focus);
    m_blocks = new BlocksPanel(m_focus);
    m_segments = new SegmentsView(m_focus);
    m_growth = new GrowthPanel(m_focus);
    m_oom = new OomPanel(m_focus);
    m_tabs = new QTabWidget;
    m_tabs->setDocumentMode(true);
    m_tabs->setObjectName(QStringLiteral("memoryTabs"));
    m_tabs->setAccessibleName(tr("Lists of the memory view"));
    m_tabs->tabBar()->setDrawBase(false);
    m_tabs->tabBar()->setAccessibleName(tr("Lists"));
    m_tabs->addTab(m_blocks, tr("Blocks"));
    m_tabs->addTab(m_segments, tr("Segments"));
    m_tabs->addTab(m_growth, tr("Grew between marks"));
    m_tabs->addTab(m_oom, tr("Out of memory"));
    m_holdersTitle = new QLabel;
    m_holdersTitle->setObjectName(QStringLiteral("panelTitle"));
    m_holdersTitle->setContentsMargins(8, 6, 8, 4);
    m_truncated = new QLabel;
    m_truncated->setObjectName(QStringLiteral("memoryBanner"));
    m_truncated->setWordWrap(true);
    m_truncated->setContentsMargins(12, 5, 12, 5);
    m_truncated->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* plot = new QWidget;
    QVBoxLayout* column = plainColumn(plot);
    column->addWidget(m_truncated);
    column->addWidget(m_curves);
    column->addWidget(m_allocation, 1);
    column->addWidget(makeLegend());
    auto* left = new QSplitter(Qt::Vertical);
    left->setHandleWidth(1);
    left->setChildrenCollapsible(false);
    left->addWidget(plot);
    left->addWidget(m_tabs);
    left->setStretchFactor(0, 3);
    left->setStretchFactor(1, 2);
    auto* holders = new QWidget;
    QVBoxLayout* holdersColumn = plainColumn(holders);
    holdersColumn->addWidget(m_holdersTitle);
    holdersColumn->addWidget(m_holders, 1);
    auto* right = new QSplitter(Qt::Vertical);
    right->setHandleWidth(1);
    right->setChildrenCollapsible(false);
    right->addWidget(holders);
    right->addWidget(m_details);
    right->setStretchFactor(0, 3);
    right->setStretchFactor(1, 2);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setObjectName(QStringLiteral("memorySplitter"));
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left);
    splitter->addWidget(right);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({1120, 470});

    auto* views = new QWidget;
    QVBoxLayout* viewsColumn = plainColumn(views);
    viewsColumn->addWidget(makeHead());
    viewsColumn->addWidget(splitter, 1);
    m_message = new QLabel;
    m_message->setObjectName(QStringLiteral("emptyReason"));
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setMargin(24);
    m_stack = new QStackedLayout(this);
    m_stack->addWidget(views);
    m_stack->addWidget(m_message);

    connect(m_focus, &MemoryFocus::placesChanged, this, &MemoryPanel::takePlaces);
    connect(m_focus, &MemoryFocus::placeChanged, this, &MemoryPanel::takePlace);
    connect(m_focus, &MemoryFocus::viewChanged, this, &MemoryPanel::takeView);
    connect(m_focus, &MemoryFocus::momentChanged, this, &MemoryPanel::takeView);
    connect(m_allocation, &AllocationView::colorsChanged, this, &MemoryPanel::takeLegend);
    connect(m_allocation, &AllocationView::blockActivated, this, &MemoryPanel::goToBlock);
    connect(m_curves, &CurveChart::spanChosen, this, [this](double begin, double end) {
        if (!m_focus->hasMemory())
            return;
        const std::int64_t first = m_focus->whole().begin;
        m_focus->setView(first + std::llround(begin), first + std::llround(end));
    });
    connect(m_curves, &CurveChart::momentChosen, this, [this](double x) {
        if (m_focus->hasMemory())
            m_focus->setMoment(momentAtPosition(m_focus->device(), m_focus->view().axis,
                                                m_focus->whole().begin + static_cast<std::int64_t>(x)));
    });
    const auto list = [this](const Holder& holder) {
        m_blocks->showOnly(holder.rows, toQString(holder.label));
        showTab(Tab::Blocks);
    };
    connect(m_holders, &HoldersPanel::holderChosen, this, list);
    connect(m_growth, &GrowthPanel::holderChosen, this, list);
    connect(m_focus, &MemoryFocus::marksChanged, this, [this] {
        if (m_focus->marks().both())
            showTab(Tab::Growth);
    });
    connect(document, &Document::rangeChanged, this, &MemoryPanel::takeDocumentRange);
    takePlaces();
    takePlace();
    takeLegend();
}

QWidget* MemoryPanel::makeHead() {
    auto* head = new QWidget;
    head->setObjectName(QStringLiteral("controlsRow"));
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(8, 3, 8, 3);
    row->setSpacing(8);
    m_place = new ChoiceButton(tr("of"), {}, head);
    m_axis = new ChoiceButton(tr("x"), {tr("events"), tr("time")}, head);
    m_colour = new ChoiceButton(tr("colour"),
                                {tr("category"), tr("line"), tr("stream"), tr("pool"), tr("size")}, head);
    const auto button = [&](const QString& text, const QString& tip, int direction) {
        auto* b = new QToolButton(head);
        b->setObjectName(QStringLiteral("choice"));
        b->setText(text);
        b->setToolTip(tip);
        connect(b, &QToolButton::clicked, this, [this, direction] { m_focus->stepPeak(direction); });
        return b;
    };
    m_facts = new QLabel(head);
    m_facts->setObjectName(QStringLiteral("facts"));
    m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_facts->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_place);
    row->addWidget(m_axis);
    row->addWidget(m_colour);
    row->addWidget(button(tr("‹ peak"), tr("To the peak before (Shift+P)"), -1));
    row->addWidget(button(tr("peak ›"), tr("To the next peak (P)"), 1));
    row->addWidget(m_facts, 1);
    connect(m_place, &ChoiceButton::chosen, m_focus, &MemoryFocus::setPlace);
    connect(m_axis, &ChoiceButton::chosen, this,
            [this](int axis) { m_focus->setAxis(axis == 0 ? MemoryAxis::Events : MemoryAxis::Time); });
    connect(m_colour, &ChoiceButton::chosen, this,
            [this](int colour) { m_focus->setColour(static_cast<MemoryFocus::Colour>(colour)); });
    return head;
}

QWidget* MemoryPanel::makeLegend() {
    m_legend = new QLabel;
    m_legend->setObjectName(QStringLiteral("footer"));
    m_legend->setContentsMargins(12, 4, 12, 4);
    m_legend->setTextFormat(Qt::RichText);
    m_legend->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return m_legend;
}

void MemoryPanel::takePlaces() {
    QStringList names;
    for (const MemoryFocus::Place& place : m_focus->places())
        names.append(place.name);
    m_place->setOptions(names);
    m_message->setText(noMemoryReason(m_focus->document()));
    m_stack->setCurrentIndex(names.isEmpty() ? 1 : 0);
}

void MemoryPanel::takeChoices() {
    m_place->setCurrent(m_focus->place());
    m_axis->setCurrent(m_focus->view().axis == MemoryAxis::Time ? 1 : 0);
    m_colour->setCurrent(static_cast<int>(m_focus->colour()));
}

QString MemoryPanel::message() const {
    return m_stack->currentWidget() == m_message ? m_message->text() : QString();
}

void MemoryPanel::takePlace() {
    m_truncated->setVisible(false);
    if (!m_focus->hasMemory()) {
        m_facts->clear();
        m_curves->setCurves({}, 0, 1, 1);
        return;
    }
    m_place->setCurrent(m_focus->place());
    const MemoryDevice& device = m_focus->device();
    m_axis->setOptions(device.hasTimes ? QStringList{tr("events"), tr("time")} : QStringList{tr("events")});
    m_axis->setCurrent(m_focus->view().axis == MemoryAxis::Time ? 1 : 0);
    QStringList facts{
        tr("%1 events, all drawn").arg(countText(static_cast<std::int64_t>(device.events.count()))),
        tr("peak %1").arg(bytesText(device.peakRequested.requested)),
        tr("allocated %1").arg(bytesText(device.peakAllocated.allocated)),
        tr("reserved %1").arg(bytesText(device.peakReserved.reserved))};
    m_facts->setText(facts.join(QStringLiteral("  ·  ")));
    m_facts->setToolTip(
        tr("The highest of each curve: bytes asked for, bytes rounded up by the allocator, bytes taken "
           "from the driver. nvidia-smi shows the last, and the CUDA context beside it."));
    QString banner;
    if (!device.recorded)
        // What a cut file lost is no reason to record otherwise; the notice above says that it is cut.
        banner =
            m_focus->item().history->diagnostics.hasLoss()
                ? tr("What could be read of this file has no history, only what was allocated when it was "
                     "written (%1).")
                      .arg(bytesText(device.totals.allocated))
                : tr("This file has no history, only what was allocated when it was written (%1): call "
                     "torch.cuda.memory._record_memory_history() before what you want to see.")
                      .arg(bytesText(device.totals.allocated));
    else if (device.unmatchedFrees == 0 && device.implicitFrees == 0 && device.preexistingBytes > 0)
        banner = tr("The history begins after %1 had been allocated; who allocated that, the file does not "
                    "say. Start "
                    "recording before the model is built to see it.")
                     .arg(bytesText(device.preexistingBytes));
    else if (!device.complete)
        banner = tr("The history is cut: it begins after %1 had been allocated. Frees without an allocation: "
                    "%2; blocks "
                    "allocated again without a free: %3. Raise max_entries to see further back.")
                     .arg(bytesText(device.preexistingBytes),
                          countText(static_cast<std::int64_t>(device.unmatchedFrees)),
                          countText(static_cast<std::int64_t>(device.implicitFrees)));
    m_truncated->setText(banner);
    m_truncated->setVisible(!banner.isEmpty());
    m_tabs->setTabText(static_cast<int>(Tab::OutOfMemory),
                       device.outOfMemory.empty() ? tr("Out of memory")
                                                  : tr("Out of memory %1").arg(device.outOfMemory.size()));
    takeCurves();
    takeView();
}

void MemoryPanel::takeCurves() {
    if (!m_focus->hasMemory())
        return;
    const Theme& theme = Theme::current();
    const MemoryDevice& device = m_focus->device();
    const MemoryLayout& layout = *m_focus->deviceItem().layout;
    const MemoryView whole = m_focus->whole();
    const int columns = std::clamp(static_cast<int>(m_curves->plot().width()), 16, 4096);
    const std::vector<MomentSpan> spans = momentColumns(device, whole, columns);
    m_curvesAxis = whole.axis;
    // Distances from the begin: nanoseconds since an epoch are more than a double holds exactly.
    const double width = static_cast<double>(whole.end - whole.begin);
    const auto curve = [&](const CurveIndex& index, const QString& name, const QColor& color,
                           Curve::Style style) {
        Curve out{name, color, style, {}};
        const std::vector<CurveColumn> values = index.columns(spans);
        for (std::size_t c = 0; c < values.size(); ++c) {
            const double x = width * static_cast<double>(c) / columns;
            out.points.append({x, static_cast<double>(values[c].max)});
            if (values[c].min < values[c].max)
                out.points.append({x, static_cast<double>(values[c].min)});
        }
        return out;
    };
    QList<Curve> curves{curve(layout.requested(), tr("asked for"), theme.area, Curve::Style::Area),
                        curve(layout.allocated(),
                              device.curves.allocatedExact ? tr("allocated") : tr("allocated, by the rule"),
                              theme.accent, Curve::Style::Line),
                        curve(layout.reserved(), tr("reserved"), theme.mute, Curve::Style::Dashed)};
    const double most =
        static_cast<double>(std::max(device.peakReserved.reserved, device.peakAllocated.allocated));
    m_curves->setCurves(curves, 0, width, most);
}

void MemoryPanel::takeView() {
    m_holdersTitle->setText(
        m_focus->hasMemory()
            ? tr("Who holds %1 at %2").arg(bytesText(m_focus->bytesAtMoment()), m_focus->momentName())
            : QString());
    if (!m_focus->hasMemory())
        return;
    const MemoryView& view = m_focus->view();
    m_axis->setCurrent(view.axis == MemoryAxis::Time ? 1 : 0);
    if (m_curvesAxis != view.axis)
        takeCurves();
    const std::int64_t begin = m_focus->whole().begin;
    const auto at = [begin](std::int64_t position) { return static_cast<double>(position - begin); };
    m_curves->setSpan(at(view.begin), at(view.end));
    m_curves->setMoment(at(axisPosition(m_focus->device(), view.axis, m_focus->moment())));
}

void MemoryPanel::takeLegend() {
    QStringList parts;
    for (const BlockColors::Meaning& meaning : m_allocation->colors().legend())
        parts.append(QStringLiteral("<span style=\"color:%1\">■</span>&nbsp;%2")
                         .arg(meaning.color.name(), meaning.name.toHtmlEscaped()));
    parts.append(tr("<span style=\"color:%1\">╌</span>&nbsp;reserved").arg(Theme::current().mute.name()));
    m_legend->setText(parts.join(QStringLiteral(" &nbsp;&nbsp; ")));
}

void MemoryPanel::takeDocumentRange() {
    // A stretch of time chosen elsewhere is what grew between two marks here.
    if (!m_focus->hasMemory() || !m_focus->device().hasTimes || !m_focus->document().range())
        return;
    const TimeNs shift = m_focus->item().shift;
    const TimeRange range = *m_focus->document().range();
    const TimeRange own{range.begin - shift, range.end - shift};
    const TimeRange extent = m_focus->device().extent();
    if (own.end <= extent.begin || own.begin >= extent.end)
        return;
    m_focus->setMarks(m_focus->device().momentAt(own.begin), m_focus->device().momentAt(own.end));
}

void MemoryPanel::goToBlock(BlockId block) {
    m_focus->select(block);
    const MemoryItem& item = m_focus->item();
    const EventPlace place =
        item.join ? item.join->allocationOf(m_focus->deviceItem().device, block) : EventPlace{};
    if (place.op)
        m_focus->document().reveal({item.joined, place.op});
    else
        showTab(Tab::Blocks);
}

void MemoryPanel::showTab(Tab tab) {
    m_tabs->setCurrentIndex(static_cast<int>(tab));
}

void MemoryPanel::catchUp() {
    for (TablePanel* panel : std::initializer_list<TablePanel*>{m_holders, m_blocks, m_growth}) {
        if (!panel->visibleRegion().isEmpty())
            panel->catchUp();
    }
    if (!m_segments->visibleRegion().isEmpty())
        m_segments->catchUp();
}

void MemoryPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    QTimer::singleShot(0, this, &MemoryPanel::catchUp);
}

void MemoryPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    QTimer::singleShot(0, this, &MemoryPanel::takeCurves);
}

void MemoryPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        takeCurves();
        takeView();
        takeLegend();
    }
}

} // namespace warpline
