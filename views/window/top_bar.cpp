// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/top_bar.h"

#include "views/memory/memory_item.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/window/buttons.h"
#include "views/window/filter_chips.h"
#include "views/window/search_controller.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

namespace warpline {

SearchField::SearchField(SearchController* search, QWidget* parent) : QLineEdit(parent), m_search(search) {
    setObjectName(QStringLiteral("search"));
    setAccessibleName(tr("Search"));
    setAccessibleDescription(
        tr("Words match names, /…/ is a regular expression, key=value an argument, dur>1ms a "
           "duration, cat:kernel a category."));
    setPlaceholderText(tr("Search: name, /regex/, dur>1ms"));
    setMinimumWidth(200);
    setMaximumWidth(300);
    connect(this, &QLineEdit::textChanged, search, &SearchController::setText);
    connect(search, &SearchController::changed, this, &SearchField::refresh);
    refresh();
}

void SearchField::refresh() {
    const QString status = m_search->status();
    setTextMargins(0, 0, fontMetrics().horizontalAdvance(status.isEmpty() ? tr("Ctrl F") : status) + 10, 0);
    setToolTip(m_search->error().isEmpty() ? accessibleDescription() : m_search->error());
    update();
}

void SearchField::paintEvent(QPaintEvent* event) {
    QLineEdit::paintEvent(event);
    const Theme& theme = Theme::current();
    const QString status = m_search->status();
    QPainter painter(this);
    painter.setFont(font());
    painter.setPen(m_search->error().isEmpty() ? theme.mute : theme.warn);
    painter.drawText(rect().adjusted(0, 0, -10, 0), Qt::AlignRight | Qt::AlignVCenter,
                     status.isEmpty() && text().isEmpty() ? tr("Ctrl F") : status);
}

void SearchField::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (event->modifiers().testFlag(Qt::ShiftModifier))
            m_search->previous();
        else
            m_search->next();
        return;
    }
    if (event->key() == Qt::Key_Escape) {
        if (text().isEmpty())
            emit left();
        else
            clear();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

TopBar::TopBar(Document* document, SearchController* search, QWidget* parent)
    : QWidget(parent), m_document(document) {
    setObjectName(QStringLiteral("topBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 5, 16, 6);
    layout->setSpacing(8);
    auto* name = new QLabel(tr("Warpline"), this);
    name->setFont(sizedFont(13, QFont::DemiBold));
    layout->addWidget(name);
    m_menuBar = new QMenuBar(this);
    m_menuBar->setNativeMenuBar(false);
    m_menuBar->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    layout->addWidget(m_menuBar);
    auto* files = new QWidget(this);
    m_files = new QHBoxLayout(files);
    m_files->setContentsMargins(0, 0, 0, 0);
    m_files->setSpacing(8);
    layout->addWidget(files);
    m_search = new SearchField(search, this);
    m_search->setFixedHeight(26);
    m_chips = new FilterChips(document, m_search, this);
    layout->addWidget(m_chips, 3);
    layout->addWidget(m_search, 2);
    auto* record = new QPushButton(tr("● Record…"), this);
    record->setObjectName(QStringLiteral("recordButton"));
    record->setToolTip(tr("Record a program (Ctrl+R)"));
    record->setFocusPolicy(Qt::TabFocus);
    record->setFixedHeight(26);
    connect(record, &QPushButton::clicked, this, &TopBar::recordRequested);
    layout->addWidget(record);
    connect(document, &Document::sessionChanged, this, &TopBar::fillFiles);
    fillFiles();
}

void TopBar::fillFiles() {
    while (QLayoutItem* item = m_files->takeAt(0)) {
        if (item->widget() != nullptr)
            item->widget()->deleteLater();
        delete item;
    }
    struct File {
        QString label;
        QString path;
        QStringList facts;
    };
    std::vector<File> files;
    const auto formatOf = [](const auto& file) -> QString { // not a QStringBuilder of references
        return toQString(file.format) +
               (file.compression.empty() ? QString() : QStringLiteral(", ") + toQString(file.compression));
    };
    const auto nameOf = [](const QString& path) { return path.mid(path.lastIndexOf(u'/') + 1); };
    for (std::size_t i = 0; i < m_document->items().size(); ++i) {
        const Trace& trace = *m_document->items()[i].trace;
        files.push_back({sourceLabel(*m_document, static_cast<int>(i)),
                         toQString(trace.path),
                         {formatOf(trace), tr("%1 events, %2")
                                               .arg(countText(static_cast<std::int64_t>(trace.eventCount)),
                                                    durationText(trace.extent.duration()))}});
    }
    for (const MemoryItem& item : m_document->memories()) {
        const MemoryHistory& history = *item.history;
        if (history.fromTrace)
            continue; // its trace has a chip
        File file{nameOf(toQString(history.path)), toQString(history.path), {formatOf(history)}};
        for (const MemoryDevice& device : history.devices)
            file.facts.append(tr("%1: %2 events, peak %3")
                                  .arg(toQString(device.name()),
                                       countText(static_cast<std::int64_t>(device.events.count())),
                                       bytesText(device.peakRequested.requested)));
        files.push_back(std::move(file));
    }
    for (const ProfilePtr& profile : m_document->profiles()) {
        const QString path = toQString(profile->path);
        if (files.empty() || files.back().path != path) // a file may hold several
            files.push_back({nameOf(path), path, {formatOf(*profile)}});
    }
    constexpr std::size_t kMostChips = 3;
    for (std::size_t i = 0; i < std::min(files.size(), kMostChips); ++i) {
        const File& file = files[i];
        auto* chip = new QToolButton(this);
        chip->setObjectName(QStringLiteral("chip"));
        chip->setPopupMode(QToolButton::InstantPopup);
        chip->setFocusPolicy(Qt::TabFocus);
        const QString label = i + 1 == kMostChips && files.size() > kMostChips
                                  ? tr("%1 more files").arg(files.size() - i)
                                  : file.label;
        chip->setText(fontMetrics().elidedText(label, Qt::ElideMiddle, 180));
        chip->setAccessibleName(tr("File %1").arg(label));
        chip->setToolTip((QStringList{file.path} + file.facts).join(QChar(u'\n')));
        auto* menu = new QMenu(chip);
        connect(menu->addAction(tr("Copy the path")), &QAction::triggered, this,
                [path = file.path] { QGuiApplication::clipboard()->setText(path); });
        connect(menu->addAction(tr("Read again")), &QAction::triggered, this, &TopBar::reloadRequested);
        connect(menu->addAction(files.size() > 1 ? tr("Close all files") : tr("Close")), &QAction::triggered,
                this, &TopBar::closeRequested);
        chip->setMenu(menu);
        m_files->addWidget(chip);
    }
}

} // namespace warpline
