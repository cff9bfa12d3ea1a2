// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/holders_panel.h"

#include "views/memory/memory_colors.h"
#include "views/tables/choice_button.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>

#include <array>

namespace warpline {

namespace {

enum Col { Label, Bytes, Share, Blocks, Largest, Allocated, Oldest };

/// In the order of the menu; the first is what people look for.
constexpr std::array kGroups{HolderGroup::Frame,  HolderGroup::Stack,  HolderGroup::File,
                             HolderGroup::Op,     HolderGroup::Module, HolderGroup::Category,
                             HolderGroup::Stream, HolderGroup::Pool,   HolderGroup::Size};

QString tr(const char* text) {
    return HoldersModel::tr(text);
}

std::vector<ColumnSpec> holderColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("label"), tr("Held by"), tr("What the blocks are grouped by. Double click lists them."),
         ColumnKind::Text},
        {key("bytes"), tr("Bytes"), tr("Sum of the bytes asked for, of the blocks alive at the moment."),
         ColumnKind::Bytes, true, false, 120},
        {key("share"), tr("Share"), tr("Bytes ÷ all bytes alive at the moment."), ColumnKind::Percent},
        {key("blocks"), tr("Blocks"), tr("How many blocks."), ColumnKind::Count},
        {key("largest_bytes"), tr("Largest"), tr("The largest single block."), ColumnKind::Bytes, false,
         true},
        {key("allocated_bytes"), tr("Allocated"), tr("The same blocks as the allocator rounded them up."),
         ColumnKind::Bytes, false, true},
        {key("oldest"), tr("Oldest"), tr("How long the oldest of them had been there at the moment."),
         ColumnKind::Duration, false, true},
    };
}

} // namespace

QString noMemoryReason(const Document& document) {
    if (document.empty())
        return HoldersPanel::tr("Nothing is open. Open a trace or a memory snapshot with Ctrl+O.");
    return HoldersPanel::tr("No allocator events: record with profile_memory=True, or open a snapshot of "
                            "torch.cuda.memory._dump_snapshot() beside the trace.");
}

HoldersModel::HoldersModel(QObject* parent) : TableModel(holderColumns(), parent) {}

void HoldersModel::set(Holders holders, bool timed, bool categories) {
    beginRows();
    m_data = std::move(holders);
    m_timed = timed;
    m_categories = categories;
    endRows();
}

QString HoldersModel::rowKey(int row) const {
    return toQString(m_data.rows[static_cast<std::size_t>(sourceRow(row))].label);
}

QVariant HoldersModel::raw(int sourceRow, int column) const {
    const Holder& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
    const auto number = [](std::int64_t value) { return QVariant(static_cast<qlonglong>(value)); };
    switch (column) {
    case Label:
        return toQString(row.label);
    case Bytes:
        return number(row.bytes);
    case Share:
        return row.share;
    case Blocks:
        return number(static_cast<std::int64_t>(row.blocks));
    case Largest:
        return number(row.largest);
    case Allocated:
        return number(row.allocated);
    case Oldest:
        return number(row.longestLife);
    default:
        return {};
    }
}

QString HoldersModel::display(int sourceRow, int column) const {
    if (column == Oldest && !m_timed)
        return tr("%1 events").arg(countText(raw(sourceRow, column).toLongLong()));
    return TableModel::display(sourceRow, column);
}

QString HoldersModel::toolTip(int sourceRow, int column) const {
    if (column == Label) {
        const Holder& row = m_data.rows[static_cast<std::size_t>(sourceRow)];
        return tr("%1\n%2 blocks, the largest %3")
            .arg(toQString(row.label), countText(static_cast<std::int64_t>(row.blocks)),
                 bytesText(row.largest));
    }
    if (column == Oldest && !m_timed)
        return display(sourceRow, column);
    return TableModel::toolTip(sourceRow, column);
}

QVariant HoldersModel::mark(int sourceRow, int column) const {
    if (column != Label || !m_categories)
        return {};
    const std::string& label = m_data.rows[static_cast<std::size_t>(sourceRow)].label;
    for (int c = 0; c < kMemoryCategoryCount; ++c) {
        if (label == memoryCategoryName(static_cast<MemoryCategory>(c)))
            return BlockColors::category(Theme::current(), static_cast<MemoryCategory>(c));
    }
    return {};
}

HoldersPanel::HoldersPanel(MemoryFocus* focus, QWidget* parent)
    : TablePanel(&focus->document(), new HoldersModel, QStringLiteral("holders"), QStringLiteral("bytes"),
                 parent),
      m_focus(focus), m_model(static_cast<HoldersModel*>(model())) {
    view()->setAccessibleName(tr("Who holds the memory"));
    filterLine()->setFixedWidth(130);
    m_group = new ChoiceButton(tr("by"),
                               {tr("line"), tr("stack"), tr("file"), tr("op"), tr("module"), tr("category"),
                                tr("stream"), tr("pool"), tr("size")},
                               this);
    m_group->setToolTip(tr("What the blocks are grouped by"));
    controls()->insertWidget(0, m_group);
    connect(m_group, &ChoiceButton::chosen, this, &HoldersPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::momentChanged, this, &HoldersPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::placeChanged, this, &HoldersPanel::scheduleRefresh);
    connect(view(), &TableView::rowActivated, this, [this](int row) {
        emit holderChosen(m_model->holders().rows[static_cast<std::size_t>(m_model->sourceRow(row))]);
    });
    scheduleRefresh();
}

HolderGroup HoldersPanel::group() const {
    return kGroups[static_cast<std::size_t>(m_group->current())];
}

void HoldersPanel::setGroup(HolderGroup group) {
    for (std::size_t i = 0; i < kGroups.size(); ++i) {
        if (kGroups[i] == group)
            m_group->setCurrent(static_cast<int>(i));
    }
    scheduleRefresh();
}

void HoldersPanel::clearRows() {
    m_model->set({}, false, false);
}

void HoldersPanel::refresh() {
    if (!m_focus->hasMemory()) {
        job()->cancel();
        clearRows();
        showTableOrMessage();
        return;
    }
    const MemoryItem& item = m_focus->item();
    compute(
        [history = item.history, live = m_focus->deviceItem().live, device = m_focus->deviceItem().device,
         moment = m_focus->moment(), join = item.join,
         group = group()](const std::stop_token& stop) -> Result<Holders> {
            HolderQuery query;
            query.group = group;
            query.rows = true;
            query.join = join.get();
            Holders holders = holdersAt(*history, history->devices[device], *live, moment, query, stop);
            if (stop.stop_requested())
                return Error::cancelled();
            return holders;
        },
        [this](Holders holders) {
            const QString sum =
                tr("%1 in %2 blocks")
                    .arg(bytesText(holders.bytes), countText(static_cast<std::int64_t>(holders.blocks)));
            const bool timed = m_focus->hasMemory() && m_focus->device().hasTimes;
            m_model->set(std::move(holders), timed, group() == HolderGroup::Category);
            setFooter(sum);
            showTableOrMessage();
        });
}

QString HoldersPanel::emptyReason() const {
    if (!m_focus->hasMemory())
        return noMemoryReason(m_focus->document());
    return tr("Nothing is allocated at %1.").arg(m_focus->momentName());
}

} // namespace warpline
