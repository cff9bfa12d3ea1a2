// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/pages.h"

#include "views/text.h"
#include "views/theme.h"
#include "views/window/buttons.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace warpline {
namespace {

QLabel* muted(const QString& text, int pixels, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setFont(sizedFont(pixels));
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

/// A page's content in a column of at most `width`, a sixth of the height below the top.
QWidget* column(QWidget* page, int width) {
    auto* outer = new QGridLayout(page);
    outer->setContentsMargins(24, 24, 24, 24);
    auto* content = new QWidget(page);
    content->setMaximumWidth(width);
    content->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    outer->addWidget(content, 1, 1);
    outer->setColumnStretch(0, 1);
    outer->setColumnStretch(1, 1000);
    outer->setColumnStretch(2, 1);
    outer->setRowStretch(0, 1);
    outer->setRowStretch(2, 4);
    page->setAutoFillBackground(true);
    page->setBackgroundRole(QPalette::Base);
    return content;
}

} // namespace

StartPage::StartPage(RecentFiles* recent, QWidget* parent) : QWidget(parent), m_recent(recent) {
    // The page itself has the focus at first: no button is framed before Tab is pressed.
    setFocusPolicy(Qt::ClickFocus);
    setAccessibleName(tr("Start"));
    QWidget* content = column(this, 860);
    auto* grid = new QGridLayout(content);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(60);
    grid->setVerticalSpacing(8);

    auto* title = new QLabel(tr("See where the time and the memory went."), content);
    title->setFont(sizedFont(26, QFont::DemiBold));
    grid->addWidget(title, 0, 0, 1, 2);
    grid->addWidget(
        muted(tr("Drop a trace or a memory snapshot anywhere. Several at once share one time axis."), 14,
              content),
        1, 0, 1, 2);
    grid->setRowMinimumHeight(2, 24);

    auto* left = new QVBoxLayout;
    left->setSpacing(12);
    auto* open = new CardButton(tr("Open a file…"), tr("Ctrl O"),
                                tr("torch traces, memory snapshots, flame graph profiles, .wpl"), content);
    open->setObjectName(QStringLiteral("startOpen"));
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    left->addWidget(open);
    const auto card = [&](const QString& name, const QString& text, const QString& key, const QString& detail,
                          bool attach) {
        auto* button = new CardButton(text, key, detail, content);
        button->setObjectName(name);
        connect(button, &QPushButton::clicked, this, [this, attach] { emit recordRequested(attach); });
        left->addWidget(button);
    };
    card(QStringLiteral("startRecord"), tr("Record a program…"), tr("Ctrl R"),
         tr("launch with CUDA, NVTX and allocator capture"), false);
    card(QStringLiteral("startAttach"), tr("Attach…"), tr("Ctrl Shift A"),
         tr("to a GPU program that is running now"), true);
    left->addSpacing(20);
    left->addWidget(muted(tr("?  all keys        Ctrl Shift P  every command"), 12, content));
    left->addStretch(1);
    grid->addLayout(left, 3, 0);

    m_recentBox = new QWidget(content);
    m_recentLayout = new QVBoxLayout(m_recentBox);
    m_recentLayout->setContentsMargins(0, 4, 0, 0);
    m_recentLayout->setSpacing(8);
    auto* right = new QVBoxLayout;
    right->setSpacing(20);
    right->addWidget(m_recentBox);
    right->addLayout(makeSamples(content));
    right->addStretch(1);
    grid->addLayout(right, 3, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    connect(recent, &RecentFiles::changed, this, &StartPage::fillRecent);
    fillRecent();
}

void StartPage::fillRecent() {
    while (QLayoutItem* item = m_recentLayout->takeAt(0)) {
        if (item->widget() != nullptr)
            item->widget()->deleteLater();
        delete item;
    }
    QLabel* heading = muted(tr("Recent"), 12, m_recentBox);
    heading->setFont(sizedFont(12, QFont::DemiBold));
    m_recentLayout->addWidget(heading);
    if (m_recent->entries().empty())
        m_recentLayout->addWidget(muted(tr("What you open is listed here."), 12, m_recentBox));
    const QDateTime now = QDateTime::currentDateTime();
    for (const RecentFiles::Entry& entry : m_recent->entries()) {
        QStringList parts{entry.summary, RecentFiles::when(entry.opened, now)};
        parts.removeAll(QString());
        auto* button =
            new LinkButton(QFileInfo(entry.path).fileName(), parts.join(QStringLiteral(" · ")), m_recentBox);
        button->setToolTip(entry.path);
        connect(button, &QPushButton::clicked, this, [this, path = entry.path] { emit fileRequested(path); });
        m_recentLayout->addWidget(button);
    }
}

QLayout* StartPage::makeSamples(QWidget* parent) {
    auto* layout = new QVBoxLayout;
    layout->setSpacing(8);
    QLabel* heading = muted(tr("Try a sample"), 12, parent);
    heading->setFont(sizedFont(12, QFont::DemiBold));
    layout->addWidget(heading);
    const auto add = [&](Sample sample, const QString& name, const QString& title, const QString& detail) {
        auto* button = new LinkButton(title, detail, parent);
        button->setObjectName(name);
        connect(button, &QPushButton::clicked, this, [this, sample] { emit sampleRequested(sample); });
        layout->addWidget(button);
    };
    add(Sample::Training, QStringLiteral("startSample"), tr("A GPT training step"),
        tr("trace and memory snapshot of the same run · Ctrl Shift O"));
    add(Sample::OutOfMemory, QStringLiteral("startSampleOom"), tr("Out of memory"),
        tr("who filled the card?"));
    return layout;
}

LoadingPage::LoadingPage(Loader* loader, QWidget* parent) : QWidget(parent), m_loader(loader) {
    QWidget* content = column(this, 520);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_title = new QLabel(content);
    m_title->setFont(sizedFont(18, QFont::DemiBold));
    m_title->setWordWrap(true);
    m_bar = new QProgressBar(content);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(6);
    m_bar->setAccessibleName(tr("Progress"));
    m_detail = muted(QString(), 12, content);
    m_cancel = new QPushButton(tr("Cancel"), content);
    m_cancel->setObjectName(QStringLiteral("cancelLoading"));
    m_cancel->setShortcut(QKeySequence(Qt::Key_Escape));
    m_cancel->setToolTip(tr("Cancel (Esc)"));
    connect(m_cancel, &QPushButton::clicked, m_loader, &Loader::cancel);
    layout->addWidget(m_title);
    layout->addWidget(m_bar);
    layout->addWidget(m_detail);
    layout->addWidget(m_cancel, 0, Qt::AlignLeft);
    m_timer.setInterval(100);
    connect(&m_timer, &QTimer::timeout, this, &LoadingPage::refresh);
}

QString LoadingPage::describe(const Loader::Status& status) {
    QStringList parts;
    switch (status.stage) {
    case Progress::Stage::Reading:
        parts.append(status.bytesTotal > 0
                         ? tr("%1 of %2").arg(fileSizeText(status.bytesDone), fileSizeText(status.bytesTotal))
                         : fileSizeText(status.bytesDone));
        break;
    case Progress::Stage::Arranging:
        parts.append(tr("arranging events"));
        break;
    case Progress::Stage::Analysing:
    case Progress::Stage::Finished:
        parts.append(tr("making the views ready"));
        break;
    }
    if (status.events > 0)
        parts.append(tr("%1 events").arg(countText(static_cast<std::int64_t>(status.events))));
    if (status.secondsLeft >= 90)
        parts.append(tr("%1 min left").arg(std::lround(status.secondsLeft / 60)));
    else if (status.secondsLeft >= 0)
        parts.append(tr("%1 s left").arg(std::max(1L, std::lround(status.secondsLeft))));
    return parts.join(QStringLiteral(" · "));
}

void LoadingPage::refresh() {
    const Loader::Status status = m_loader->status();
    m_title->setText(
        status.fileCount > 1
            ? tr("Reading %1 (%2 of %3)").arg(status.file).arg(status.fileNumber).arg(status.fileCount)
            : tr("Reading %1").arg(status.file));
    m_detail->setText(describe(status));
    if (status.bytesTotal > 0) {
        m_bar->setRange(0, 1000);
        m_bar->setValue(static_cast<int>(1000 * static_cast<double>(status.bytesDone) /
                                         static_cast<double>(status.bytesTotal)));
    } else {
        m_bar->setRange(0, 0);
    }
}

void LoadingPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
    m_timer.start();
    m_cancel->setFocus();
}

void LoadingPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_timer.stop();
}

FailurePage::FailurePage(QWidget* parent) : QWidget(parent) {
    QWidget* content = column(this, 640);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_title = new QLabel(content);
    m_title->setFont(sizedFont(20, QFont::DemiBold));
    m_title->setWordWrap(true);
    layout->addWidget(m_title);
    m_list = new QVBoxLayout;
    m_list->setSpacing(8);
    layout->addLayout(m_list);
    layout->addSpacing(8);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    auto* open = new QPushButton(tr("Open another…"), content);
    open->setObjectName(QStringLiteral("failureOpen"));
    auto* retry = new QPushButton(tr("Try again"), content);
    auto* close = new QPushButton(tr("Back"), content);
    close->setToolTip(tr("Back to what was open before"));
    connect(open, &QPushButton::clicked, this, &FailurePage::openRequested);
    connect(retry, &QPushButton::clicked, this, &FailurePage::retryRequested);
    connect(close, &QPushButton::clicked, this, &FailurePage::closeRequested);
    row->addWidget(open);
    row->addWidget(retry);
    row->addWidget(close);
    row->addStretch(1);
    layout->addLayout(row);
}

void FailurePage::setFailures(const std::vector<OpenFailure>& failures) {
    while (QLayoutItem* item = m_list->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_sentences.clear();
    const auto name = [](const OpenFailure& f) -> QString {
        return f.path == QLatin1String("-") ? tr("The standard input") : QFileInfo(f.path).fileName();
    };
    m_title->setText(failures.size() != 1 ? tr("None of the %1 files could be opened").arg(failures.size())
                     : failures.front().wrongKind ? tr("%1 is not a trace").arg(name(failures.front()))
                                                  : tr("%1 could not be opened").arg(name(failures.front())));
    for (const OpenFailure& failure : failures) {
        m_sentences.append(failure.sentence);
        auto* sentence = new QLabel(failure.reason(), this);
        sentence->setTextFormat(Qt::PlainText);
        sentence->setFont(sizedFont(14));
        sentence->setWordWrap(true);
        sentence->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        m_list->addWidget(sentence);
        if (failure.path == QLatin1String("-"))
            continue;
        QLabel* path = muted(failure.path, 12, this);
        path->setWordWrap(true);
        path->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_list->addWidget(path);
    }
}

QString FailurePage::text() const {
    return m_title->text() + QChar(u'\n') + m_sentences.join(QChar(u'\n'));
}

} // namespace warpline
