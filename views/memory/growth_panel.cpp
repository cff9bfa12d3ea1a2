// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/growth_panel.h"

#include "views/memory/holders_panel.h"
#include "views/tables/choice_button.h"
#include "views/text.h"

#include <QHBoxLayout>

#include <array>

namespace warpline {

namespace {

enum Col { Label, Bytes, Blocks, Born, Returned, Before, After, Steps };

constexpr std::array kGroups{HolderGroup::Stack, HolderGroup::Frame, HolderGroup::File, HolderGroup::Op,
                             HolderGroup::Category};

QString tr(const char* text) {
    return GrowthModel::tr(text);
}

std::vector<ColumnSpec> growthColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("label"), tr("Allocated by"), tr("What the blocks are grouped by. Double click lists them."),
         ColumnKind::Text},
        {key("bytes"), tr("Kept"), tr("Bytes of the blocks born after A and alive at B."), ColumnKind::Bytes,
         true},
        {key("blocks"), tr("Blocks"), tr("How many blocks were born after A and are alive at B."),
         ColumnKind::Count},
        {key("born"), tr("Born"), tr("Blocks born between A and B."), ColumnKind::Count},
        {key("returned"), tr("Freed again"), tr("Of those born in between, how many were freed by B."),
         ColumnKind::Count},
        {key("before_bytes"), tr("At A"), tr("Bytes of this group alive at A."), ColumnKind::Bytes},
        {key("after_bytes"), tr("At B"), tr("Bytes of this group alive at B."), ColumnKind::Bytes},
        {key("every_step"), tr("Grows"),
         tr("Something of it was kept in each of at least three steps: a leak's mark."), ColumnKind::Text},
    };
}

} // namespace

GrowthModel::GrowthModel(QObject* parent) : TableModel(growthColumns(), parent) {}

void GrowthModel::set(std::vector<Growth> rows) {
    beginRows();
    m_rows = std::move(rows);
    endRows();
}

QString GrowthModel::rowKey(int row) const {
    return toQString(m_rows[static_cast<std::size_t>(sourceRow(row))].holder.label);
}

QVariant GrowthModel::raw(int sourceRow, int column) const {
    const Growth& row = m_rows[static_cast<std::size_t>(sourceRow)];
    const auto number = [](auto value) { return QVariant(static_cast<qlonglong>(value)); };
    switch (column) {
    case Label:
        return toQString(row.holder.label);
    case Bytes:
        return number(row.holder.bytes);
    case Blocks:
        return number(row.holder.blocks);
    case Born:
        return number(row.born);
    case Returned:
        return number(row.returned);
    case Before:
        return number(row.before);
    case After:
        return number(row.after);
    case Steps:
        return row.everyStep ? tr("every step") : QString();
    default:
        return {};
    }
}

GrowthPanel::GrowthPanel(MemoryFocus* focus, QWidget* parent)
    : TablePanel(&focus->document(), new GrowthModel, QStringLiteral("growth"), QStringLiteral("bytes"),
                 parent),
      m_focus(focus), m_model(static_cast<GrowthModel*>(model())) {
    view()->setAccessibleName(tr("What grew between the marks"));
    m_group =
        new ChoiceButton(tr("by"), {tr("stack"), tr("line"), tr("file"), tr("op"), tr("category")}, this);
    controls()->insertWidget(0, m_group);
    connect(m_group, &ChoiceButton::chosen, this, &GrowthPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::marksChanged, this, &GrowthPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::placeChanged, this, &GrowthPanel::scheduleRefresh);
    connect(view(), &TableView::rowActivated, this, [this](int row) {
        emit holderChosen(m_model->rows()[static_cast<std::size_t>(m_model->sourceRow(row))].holder);
    });
    scheduleRefresh();
}

void GrowthPanel::refresh() {
    if (!m_focus->hasMemory() || !m_focus->marks().both()) {
        job()->cancel();
        clearRows();
        showTableOrMessage();
        return;
    }
    const MemoryItem& item = m_focus->item();
    compute(
        [history = item.history, live = m_focus->deviceItem().live, device = m_focus->deviceItem().device,
         marks = m_focus->marks(), join = item.join,
         group = kGroups[static_cast<std::size_t>(m_group->current())]](
            const std::stop_token& stop) -> Result<std::vector<Growth>> {
            HolderQuery query;
            query.group = group;
            query.rows = true;
            query.join = join.get();
            std::vector<Growth> rows = growthBetween(*history, history->devices[device], *live, *marks.first,
                                                     *marks.second, query, stop);
            if (stop.stop_requested())
                return Error::cancelled();
            return rows;
        },
        [this](std::vector<Growth> rows) {
            std::int64_t bytes = 0;
            std::uint64_t blocks = 0;
            for (const Growth& row : rows) {
                bytes += row.holder.bytes;
                blocks += row.holder.blocks;
            }
            m_model->set(std::move(rows));
            setFooter(tr("%1 in %2 blocks born after A are alive at B")
                          .arg(bytesText(bytes), countText(static_cast<std::int64_t>(blocks))));
            showTableOrMessage();
        });
}

QString GrowthPanel::emptyReason() const {
    if (!m_focus->hasMemory())
        return noMemoryReason(m_focus->document());
    if (!m_focus->marks().both())
        return tr(
            "Set two marks: drag across the plot, or press M at one moment and again at another. Choose the "
            "same place of two steps to see what leaks.");
    return tr("Nothing born between the marks is alive at the second one.");
}

} // namespace warpline
