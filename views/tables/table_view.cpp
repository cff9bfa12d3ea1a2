// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/table_view.h"

#include "views/tables/table_export.h"
#include "views/tables/tabular_text.h"
#include "views/theme.h"

#include <QActionGroup>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScopedValueRollback>
#include <QSettings>

#include <algorithm>

namespace warpline {
namespace {

constexpr int kPadding = 8;
constexpr int kMark = 9;
constexpr int kFirstColumnLeast = 190;

QString settingsKey(const QString& table, const QString& what) {
    return QStringLiteral("tables/") + table + QChar(u'/') + what;
}

} // namespace

void TableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    const QRect cell = option.rect;
    painter->save();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    painter->fillRect(cell, selected ? theme.chip : theme.background);
    painter->fillRect(QRect(cell.left(), cell.bottom(), cell.width(), 1), theme.line);

    QRect text = cell.adjusted(kPadding, 0, -kPadding, -1);
    const QString label = index.data(Qt::DisplayRole).toString();
    const QVariant mark = index.data(TableModel::MarkRole);
    if (mark.isValid()) {
        painter->fillRect(QRect(text.left(), text.center().y() - kMark / 2, kMark, kMark),
                          mark.value<QColor>());
        text.setLeft(text.left() + kMark + 6);
    }
    const QVariant bar = index.data(TableModel::BarRole);
    if (bar.isValid()) {
        // Room for the longest of its kind, so that bars of a column are of one scale and no number touches
        // one.
        const QString longest = label.endsWith(u'%') ? QStringLiteral("100.0%") : QStringLiteral("1,023 MiB");
        const int number = option.fontMetrics.horizontalAdvance(longest) + kPadding;
        const int room = text.width() - number;
        const int width = static_cast<int>(bar.toDouble() * room + 0.5);
        if (width > 0)
            painter->fillRect(QRect(text.left(), text.top() + 5, width, text.height() - 10), theme.bar);
    }
    painter->setFont(option.font);
    const bool unknown = !index.data(TableModel::RawRole).isValid();
    painter->setPen(unknown ? theme.mute : theme.text);
    const auto alignment = Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt());
    if (alignment.testFlag(Qt::AlignRight))
        drawTabular(*painter, text, label);
    else
        painter->drawText(text, static_cast<int>(alignment) | Qt::TextSingleLine,
                          option.fontMetrics.elidedText(label, Qt::ElideRight, text.width()));
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(theme.accent);
        painter->drawRect(cell.adjusted(0, 0, -1, -1));
    }
    painter->restore();
}

QSize TableDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.rwidth() += kPadding;
    return size;
}

TableHeader::TableHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setSectionsClickable(true);
    setHighlightSections(false);
    setStretchLastSection(false);
    setMinimumSectionSize(40);
    setContextMenuPolicy(Qt::CustomContextMenu);
}

QSize TableHeader::sectionSizeFromContents(int section) const {
    const QString title = model()->headerData(section, Qt::Horizontal).toString();
    // Room for the arrow too, so that sorting never cuts a title.
    return {fontMetrics().horizontalAdvance(title + QStringLiteral(" ▾")) + 2 * kPadding + 4,
            fontMetrics().height() + kPadding};
}

void TableHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
    const Theme& theme = Theme::current();
    painter->save();
    painter->fillRect(rect, theme.pane);
    painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.line);
    const bool sorted = isSortIndicatorShown() && sortIndicatorSection() == section;
    QString title = model()->headerData(section, Qt::Horizontal).toString();
    if (sorted)
        title += sortIndicatorOrder() == Qt::DescendingOrder ? QStringLiteral(" ▾") : QStringLiteral(" ▴");
    const auto alignment =
        Qt::Alignment(model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole).toInt());
    painter->setFont(font());
    painter->setPen(sorted ? theme.text : theme.mute);
    const QRect text = rect.adjusted(kPadding, 0, -kPadding, -1);
    painter->drawText(text, static_cast<int>(alignment) | Qt::TextSingleLine,
                      fontMetrics().elidedText(title, Qt::ElideRight, text.width()));
    painter->restore();
}

TableView::TableView(TableModel* model, const QString& name, const QString& sortKey, QWidget* parent)
    : QTableView(parent), m_model(model), m_name(name), m_sortKey(sortKey) {
    setHorizontalHeader(new TableHeader(this));
    setItemDelegate(new TableDelegate(this));
    setModel(model);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setWordWrap(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    setUpSizes();

    connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this, [this](QPoint at) {
        QMenu menu(this);
        fillColumnsMenu(&menu);
        menu.exec(horizontalHeader()->mapToGlobal(at));
    });
    connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this,
            [this](int column, Qt::SortOrder order) {
                if (m_sizing || column < 0)
                    return;
                QSettings().setValue(settingsKey(m_name, QStringLiteral("sort")),
                                     QStringList{m_model->columns()[static_cast<std::size_t>(column)].key,
                                                 order == Qt::AscendingOrder ? QStringLiteral("ascending")
                                                                             : QStringLiteral("descending")});
            });
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column, int, int width) {
        if (m_sizing || width == 0 || isColumnHidden(column))
            return;
        m_firstSetByUser = m_firstSetByUser || column == 0;
        QSettings().setValue(
            settingsKey(m_name,
                        QStringLiteral("width/") + m_model->columns()[static_cast<std::size_t>(column)].key),
            width);
        fitFirstColumn();
    });
    connect(this, &QAbstractItemView::doubleClicked, this,
            [this](const QModelIndex& i) { emit rowActivated(i.row()); });
    connect(this, &QTableView::clicked, this, [this](const QModelIndex& i) {
        // With a modifier rows are gathered, to be copied.
        if (QGuiApplication::keyboardModifiers() == Qt::NoModifier)
            emit rowChosen(i.row());
    });
    // A refresh replaces all rows; the row of the same name stays the current one.
    connect(m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        m_currentKey = currentIndex().isValid() ? m_model->rowKey(currentIndex().row()) : m_currentKey;
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        if (m_currentKey.isEmpty())
            return;
        for (int row = 0; row < m_model->rowCount(); ++row) {
            if (m_model->rowKey(row) != m_currentKey)
                continue;
            setCurrentIndex(m_model->index(row, 0));
            return;
        }
    });
    restore();
}

void TableView::setUpSizes() {
    setFont(tableFont());
    horizontalHeader()->setFont(tableFont());
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + kPadding);
}

void TableView::defaultWidths() {
    const QScopedValueRollback sizing(m_sizing, true);
    const QFontMetrics metrics = fontMetrics();
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const ColumnSpec& spec = m_model->columns()[static_cast<std::size_t>(column)];
        int width = static_cast<TableHeader*>(horizontalHeader())->sectionSizeFromContents(column).width();
        if (spec.bar)
            width = std::max(width, metrics.horizontalAdvance(QStringLiteral("100.0%")) + 3 * kPadding + 40);
        else if (spec.kind == ColumnKind::Text)
            width = std::max(width, 84);
        else
            width = std::max(width, metrics.horizontalAdvance(QStringLiteral("-999 MiB")) + 2 * kPadding);
        setColumnWidth(column, std::max(width, spec.width));
    }
    setColumnWidth(0, kFirstColumnLeast);
}

void TableView::restore() {
    const QScopedValueRollback sizing(m_sizing, true);
    const QSettings settings;
    m_firstSetByUser = false;
    defaultWidths();
    const QVariant hidden = settings.value(settingsKey(m_name, QStringLiteral("hidden")));
    m_hidden.clear();
    for (const ColumnSpec& spec : m_model->columns()) {
        if (hidden.isValid() ? hidden.toStringList().contains(spec.key) : spec.hiddenByDefault)
            m_hidden.insert(spec.key);
        const int column = m_model->columnOf(spec.key);
        const int width = settings.value(settingsKey(m_name, QStringLiteral("width/") + spec.key)).toInt();
        if (width >= 40 && width < 4000) {
            setColumnWidth(column, width);
            m_firstSetByUser = m_firstSetByUser || column == 0;
        }
    }
    const QStringList sort = settings.value(settingsKey(m_name, QStringLiteral("sort"))).toStringList();
    int column = sort.size() == 2 ? m_model->columnOf(sort[0]) : -1;
    const bool ascending = column >= 0 && sort[1] == QLatin1String("ascending");
    if (column < 0)
        column = m_model->columnOf(m_sortKey);
    horizontalHeader()->setSortIndicator(column, ascending ? Qt::AscendingOrder : Qt::DescendingOrder);
    setSortingEnabled(true);
    applyHidden();
}

void TableView::resetColumns() {
    QSettings().remove(QStringLiteral("tables/") + m_name);
    restore();
    fitFirstColumn();
}

void TableView::setUnavailable(const QStringList& keys) {
    const QSet<QString> unavailable(keys.begin(), keys.end());
    if (unavailable == m_unavailable)
        return;
    m_unavailable = unavailable;
    applyHidden();
}

void TableView::setColumnHiddenByUser(const QString& key, bool hidden) {
    if (hidden)
        m_hidden.insert(key);
    else
        m_hidden.remove(key);
    QSettings().setValue(settingsKey(m_name, QStringLiteral("hidden")),
                         QStringList(m_hidden.begin(), m_hidden.end()));
    applyHidden();
}

void TableView::applyHidden() {
    const QScopedValueRollback sizing(m_sizing, true);
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const QString& key = m_model->columns()[static_cast<std::size_t>(column)].key;
        setColumnHidden(column, m_hidden.contains(key) || m_unavailable.contains(key));
    }
    fitFirstColumn();
}

std::vector<int> TableView::visibleColumns() const {
    std::vector<int> columns;
    for (int column = 0; column < m_model->columnCount(); ++column) {
        if (!isColumnHidden(column))
            columns.push_back(column);
    }
    return columns;
}

std::vector<int> TableView::selectedRows() const {
    std::vector<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows(visibleColumns().front()))
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    return rows;
}

void TableView::fillColumnsMenu(QMenu* menu) {
    for (int column = 1; column < m_model->columnCount(); ++column) {
        const ColumnSpec& spec = m_model->columns()[static_cast<std::size_t>(column)];
        QAction* action = menu->addAction(spec.title);
        action->setCheckable(true);
        action->setChecked(!m_hidden.contains(spec.key));
        action->setToolTip(spec.help);
        if (m_unavailable.contains(spec.key)) {
            action->setEnabled(false);
            action->setText(spec.title + tr(" (not in this data)"));
        }
        connect(action, &QAction::toggled, this,
                [this, key = spec.key](bool shown) { setColumnHiddenByUser(key, !shown); });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("Reset columns")), &QAction::triggered, this, &TableView::resetColumns);
}

void TableView::fitFirstColumn() {
    if (m_firstSetByUser || isColumnHidden(0))
        return;
    int others = 0;
    for (int column = 1; column < m_model->columnCount(); ++column)
        others += isColumnHidden(column) ? 0 : columnWidth(column);
    const QScopedValueRollback sizing(m_sizing, true);
    setColumnWidth(0, std::max(kFirstColumnLeast, viewport()->width() - others));
}

void TableView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitFirstColumn();
}

void TableView::copy() {
    const std::vector<int> rows = selectedRows();
    if (!rows.empty())
        QGuiApplication::clipboard()->setText(
            exportTable(*m_model, TableFormat::Tabs, visibleColumns(), rows));
}

void TableView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        copy();
        return;
    }
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
        emit rowActivated(currentIndex().row());
        return;
    }
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && currentIndex().isValid()) {
        emit rowChosen(currentIndex().row());
        return;
    }
    QTableView::keyPressEvent(event);
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    QAction* go = menu.addAction(tr("Show the longest in the timeline"));
    const int row = currentIndex().isValid() ? currentIndex().row() : -1;
    go->setEnabled(row >= 0 && m_model->sliceAt(row));
    connect(go, &QAction::triggered, this, [this, row] { emit rowActivated(row); });
    QAction* copyAction = menu.addAction(tr("Copy rows"));
    copyAction->setShortcut(QKeySequence::Copy);
    copyAction->setEnabled(selectionModel()->hasSelection());
    connect(copyAction, &QAction::triggered, this, &TableView::copy);
    menu.addSeparator();
    QMenu* sort = menu.addMenu(tr("Sort by"));
    for (const int column : visibleColumns()) {
        QAction* action = sort->addAction(m_model->columns()[static_cast<std::size_t>(column)].title);
        action->setCheckable(true);
        const bool current = horizontalHeader()->sortIndicatorSection() == column;
        action->setChecked(current);
        const bool reverse = current && horizontalHeader()->sortIndicatorOrder() == Qt::DescendingOrder;
        connect(action, &QAction::triggered, this, [this, column, reverse] {
            sortByColumn(column, reverse ? Qt::AscendingOrder : Qt::DescendingOrder);
        });
    }
    fillColumnsMenu(menu.addMenu(tr("Columns")));
    menu.exec(event->reason() == QContextMenuEvent::Keyboard && currentIndex().isValid()
                  ? viewport()->mapToGlobal(visualRect(currentIndex()).bottomLeft())
                  : event->globalPos());
}

void TableView::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

} // namespace warpline
