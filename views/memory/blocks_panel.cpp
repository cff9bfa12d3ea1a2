// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/blocks_panel.h"

#include "model/analysis/memory_categories.h"
#include "model/analysis/memory_holders.h"
#include "views/memory/block_filter.h"
#include "views/memory/holders_panel.h"
#include "views/memory/memory_colors.h"
#include "views/slice_masks.h"
#include "views/tables/choice_button.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>

namespace warpline {

namespace {

enum Col { Line, Size, Allocated, Born, Dies, Life, Age, Kind, Address, Stream, Pool };

/// Rows at most; a list that nobody can read to its end need not hold a million of them. The filter and the
/// sum know all.
constexpr std::size_t kMostRows = 100'000;

QString tr(const char* text) {
    return BlocksModel::tr(text);
}

std::vector<ColumnSpec> blockColumns() {
    const auto key = [](const char* text) { return QString::fromLatin1(text); };
    return {
        {key("line"), tr("Allocated by"), tr("The innermost line of the program in its stack."),
         ColumnKind::Text},
        {key("size_bytes"), tr("Size"), tr("Bytes asked for."), ColumnKind::Bytes, true},
        {key("allocated_bytes"), tr("Allocated"), tr("Bytes of the block, rounded up by the allocator."),
         ColumnKind::Bytes, false, true},
        {key("born_event"), tr("Born"), tr("The event that allocated it; a dash: before the history began."),
         ColumnKind::Count},
        {key("freed_event"), tr("Freed"), tr("The event that freed it; a dash: alive at the end."),
         ColumnKind::Count},
        {key("life"), tr("Lives"),
         tr("From its birth, or the start of the history, to its free, or the end."), ColumnKind::Duration},
        {key("age"), tr("Age"), tr("How long it had been there at the moment."), ColumnKind::Duration, false,
         true},
        {key("category"), tr("Category"),
         tr("What it holds, as far as it can be told. The tooltip says from what."), ColumnKind::Text, false,
         false, 120},
        {key("address"), tr("Address"), tr("Where it lay on the device."), ColumnKind::Text, false, true},
        {key("stream"), tr("Stream"), tr("The stream it was allocated for."), ColumnKind::Text, false, true},
        {key("pool"), tr("Pool"), tr("The allocator's pool it came from."), ColumnKind::Text, false, true},
    };
}

} // namespace

BlocksModel::BlocksModel(MemoryFocus* focus, QObject* parent)
    : TableModel(blockColumns(), parent), m_focus(focus) {}

void BlocksModel::set(std::vector<std::uint32_t> rows, Moment moment) {
    beginRows();
    m_rows = std::move(rows);
    m_moment = moment;
    endRows();
}

BlockId BlocksModel::blockAt(int row) const {
    return BlockId::fromIndex(m_rows[static_cast<std::size_t>(sourceRow(row))]);
}

int BlocksModel::rowOf(BlockId block) const {
    for (int row = 0; row < rowCount(); ++row) {
        if (blockAt(row) == block)
            return row;
    }
    return -1;
}

QString BlocksModel::rowKey(int row) const {
    return QString::number(blockAt(row).value);
}

QVariant BlocksModel::raw(int sourceRow, int column) const {
    if (!m_focus->hasMemory())
        return {};
    const MemoryDevice& device = m_focus->device();
    const MemoryBlockTable& blocks = device.blocks;
    const std::size_t row = m_rows[static_cast<std::size_t>(sourceRow)];
    if (row >= blocks.count())
        return {};
    const auto number = [](std::int64_t value) { return QVariant(static_cast<qlonglong>(value)); };
    switch (column) {
    case Size:
        return number(blocks.size[row]);
    case Allocated:
        return number(blocks.allocated[row]);
    case Born:
        return blocks.birth[row] == kBeforeHistory ? QVariant() : number(std::int64_t{blocks.birth[row]} - 1);
    case Dies:
        return blocks.death[row] == kAliveAtEnd ? QVariant() : number(std::int64_t{blocks.death[row]} - 1);
    case Life:
        return number(blockLifetime(device, row));
    case Age:
        return number(blockAge(device, row, m_moment));
    case Kind:
        return toQString(memoryCategoryName(blocks.category[row]));
    case Line:
        if (const FrameId frame = programFrame(*m_focus->item().history, blocks.stack[row]))
            return toQString(m_focus->item().history->frameText(frame));
        return {};
    case Address:
        return QStringLiteral("0x%1").arg(blocks.address[row], 0, 16);
    case Stream:
        return toQString(device.streamName(blocks.stream[row]));
    case Pool:
        return toQString(device.poolName(blocks.pool[row]));
    default:
        return {};
    }
}

QString BlocksModel::display(int sourceRow, int column) const {
    if ((column == Life || column == Age) && m_focus->hasMemory() && !m_focus->device().hasTimes)
        return tr("%1 events").arg(countText(raw(sourceRow, column).toLongLong()));
    return TableModel::display(sourceRow, column);
}

QString BlocksModel::toolTip(int sourceRow, int column) const {
    if (!m_focus->hasMemory())
        return {};
    const MemoryHistory& history = *m_focus->item().history;
    const BlockId block = BlockId::fromIndex(m_rows[static_cast<std::size_t>(sourceRow)]);
    if (column == Kind)
        return toQString(categoryEvidence(history, m_focus->device(), block));
    if (column == Line) {
        constexpr std::size_t kMost = 24;
        QStringList lines;
        for (const std::string& text : stackTexts(history, m_focus->device().blocks.stack[block.index()])) {
            if (static_cast<std::size_t>(lines.size()) == kMost) {
                lines.append(QStringLiteral("…"));
                break;
            }
            lines.append(toQString(text));
        }
        return lines.isEmpty() ? tr("The file has no stack for it.") : lines.join(u'\n');
    }
    if (column == Born && !raw(sourceRow, column).isValid())
        return tr("Before the history began.");
    if (column == Dies && !raw(sourceRow, column).isValid())
        return tr("Alive at the end of the history.");
    if ((column == Life || column == Age) && !m_focus->device().hasTimes)
        return display(sourceRow, column);
    return TableModel::toolTip(sourceRow, column);
}

QVariant BlocksModel::mark(int sourceRow, int column) const {
    if (column != Kind || !m_focus->hasMemory())
        return {};
    const std::size_t row = m_rows[static_cast<std::size_t>(sourceRow)];
    return BlockColors::category(Theme::current(), m_focus->device().blocks.category[row]);
}

BlocksPanel::BlocksPanel(MemoryFocus* focus, QWidget* parent)
    : TablePanel(&focus->document(), new BlocksModel(focus), QStringLiteral("blocks"),
                 QStringLiteral("size_bytes"), parent),
      m_focus(focus), m_model(static_cast<BlocksModel*>(model())) {
    view()->setAccessibleName(tr("Blocks"));
    m_which = new ChoiceButton(tr("blocks"), {tr("at the moment"), tr("between the marks"), tr("all")}, this);
    m_query = new QLineEdit(this);
    m_query->setPlaceholderText(tr("size>1MiB age>2ms life<10us addr:0x7f… conv2d"));
    m_query->setAccessibleName(tr("Filter blocks by size, age, life, address or a text of their stack"));
    m_query->setToolTip(
        tr("Conditions are size, age, life (with < or >) and addr:; other words must be in the stack."));
    m_query->setClearButtonEnabled(true);
    m_query->setMinimumWidth(320);
    m_only = new QToolButton(this);
    m_only->setObjectName(QStringLiteral("rangeChip"));
    m_only->setVisible(false);
    m_only->setToolTip(tr("Only these blocks; click for all"));
    filterLine()->setVisible(false); // the query takes its place
    int at = 0;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_which, m_query, m_only})
        controls()->insertWidget(at++, widget);
    connect(m_which, &ChoiceButton::chosen, this, &BlocksPanel::scheduleRefresh);
    connect(m_query, &QLineEdit::textChanged, this, &BlocksPanel::scheduleRefresh);
    connect(m_query, &QLineEdit::textChanged, this, &BlocksPanel::narrowed);
    connect(m_only, &QToolButton::clicked, this, [this] { showOnly({}, {}); });
    connect(focus, &MemoryFocus::momentChanged, this, &BlocksPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::marksChanged, this, &BlocksPanel::scheduleRefresh);
    connect(focus, &MemoryFocus::placeChanged, this, [this] { showOnly({}, {}); });
    connect(focus, &MemoryFocus::selectionChanged, this, &BlocksPanel::takeSelection);
    connect(document(), &Document::filterChanged, this, &BlocksPanel::scheduleRefresh);
    connect(view()->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid() && view()->hasFocus())
                    m_focus->select(m_model->blockAt(current.row()));
            });
    scheduleRefresh();
}

void BlocksPanel::showOnly(std::vector<std::uint32_t> rows, const QString& name) {
    m_onlyRows = std::move(rows);
    m_only->setVisible(!m_onlyRows.empty());
    m_only->setText(name + QStringLiteral("  ×"));
    m_onlyName = m_onlyRows.empty() ? QString() : name;
    scheduleRefresh();
    emit narrowed();
}

QString BlocksPanel::query() const {
    return m_query->text();
}

void BlocksPanel::setQuery(const QString& query) {
    m_query->setText(query);
}

QString BlocksPanel::selectionText() const {
    if (!BlockNarrowing::of(*m_focus))
        return {};
    const FrameRef& frame = document()->selection().frame;
    return frame && frame.memory >= 0 ? tr("under %1").arg(shortFrame(frame.name()))
                                      : filterText(*document());
}

void BlocksPanel::takeSelection() {
    if (view()->hasFocus() || !m_focus->selected() || m_model->sourceRows() == 0)
        return;
    const int row = m_model->rowOf(m_focus->selected());
    if (row >= 0) {
        view()->setCurrentIndex(m_model->index(row, 0));
        view()->scrollTo(m_model->index(row, 0));
    } else {
        view()->clearSelection();
    }
}

void BlocksPanel::refresh() {
    if (!m_focus->hasMemory()) {
        job()->cancel();
        clearRows();
        showTableOrMessage();
        return;
    }
    BlockFilter filter = parseBlockFilter(m_query->text().toStdString());
    const Moment moment = m_focus->moment();
    if (m_which->current() == 0)
        filter.aliveAt = moment;
    if (m_which->current() == 1 && m_focus->marks().both())
        filter.overlaps = {*m_focus->marks().first, *m_focus->marks().second};
    struct Rows {
        std::vector<std::uint32_t> rows;
        std::size_t all = 0;
        std::int64_t bytes = 0;
    };
    compute(
        [history = m_focus->item().history, device = m_focus->deviceItem().device, filter,
         narrowing = BlockNarrowing::of(*m_focus),
         only = m_onlyRows](const std::stop_token& stop) -> Result<Rows> {
            const MemoryDevice& d = history->devices[device];
            Rows out;
            out.rows = listBlocks(*history, d, filter, BlockSort::Size, true, stop);
            if (stop.stop_requested())
                return Error::cancelled();
            if (!only.empty()) {
                std::erase_if(out.rows, [&](std::uint32_t row) {
                    return !std::binary_search(only.begin(), only.end(), row);
                });
            }
            if (narrowing) {
                const Result<std::vector<char>> mask = blockMask(*narrowing, stop);
                if (!mask.ok())
                    return mask.error();
                std::erase_if(out.rows, [&](std::uint32_t row) { return mask.value()[row] == 0; });
            }
            out.all = out.rows.size();
            for (const std::uint32_t row : out.rows)
                out.bytes += d.blocks.size[row];
            if (out.rows.size() > kMostRows)
                out.rows.resize(kMostRows);
            return out;
        },
        [this, moment](Rows rows) {
            QString text = tr("%1 blocks   ·   %2")
                               .arg(countText(static_cast<std::int64_t>(rows.all)), bytesText(rows.bytes));
            if (rows.all > rows.rows.size())
                text += tr("   ·   the %1 largest are listed")
                            .arg(countText(static_cast<std::int64_t>(kMostRows)));
            if (const QString only = selectionText(); !only.isEmpty())
                text += tr("   ·   only %1").arg(only);
            m_model->set(std::move(rows.rows), moment);
            setFooter(text);
            showTableOrMessage();
            takeSelection();
        });
}

QString BlocksPanel::emptyReason() const {
    if (!m_focus->hasMemory())
        return noMemoryReason(m_focus->document());
    if (!m_query->text().isEmpty() || !m_onlyRows.empty())
        return tr("No block fits the filter.");
    if (const QString only = selectionText(); !only.isEmpty())
        return tr("No block at %1 was allocated %2. Choose all blocks, or take a chip off above.")
            .arg(m_focus->momentName(), only);
    return tr("No block is alive at %1.").arg(m_focus->momentName());
}

} // namespace warpline
