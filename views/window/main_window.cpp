// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/main_window.h"

#include "views/capture/capture_bar.h"
#include "views/capture/capture_controller.h"
#include "views/capture/record_dialog.h"
#include "views/flame/flame_panel.h"
#include "views/memory/allocation_view.h"
#include "views/memory/memory_panel.h"
#include "views/tables/hits_panel.h"
#include "views/text.h"
#include "views/timeline/timeline_panel.h"
#include "views/window/filter_chips.h"
#include "views/window/jumps.h"
#include "views/window/live_stream.h"
#include "views/window/notice_bar.h"
#include "views/window/pages.h"
#include "views/window/sample.h"
#include "views/window/session_keeper.h"
#include "views/window/source_dialog.h"
#include "views/window/top_bar.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <tuple>

namespace warpline {
namespace {

QString geometryKey() {
    return QStringLiteral("window/geometry");
}

QString fileTitle(const QStringList& paths) {
    const QString first = paths.value(0) == QLatin1String("-") ? MainWindow::tr("standard input")
                                                               : QFileInfo(paths.value(0)).fileName();
    return paths.size() > 1 ? MainWindow::tr("%1 and %2 more").arg(first).arg(paths.size() - 1) : first;
}

QStringList droppedFiles(const QMimeData* mime) {
    QStringList files;
    if (mime == nullptr)
        return files;
    for (const QUrl& url : mime->urls()) {
        if (url.isLocalFile())
            files.append(url.toLocalFile());
    }
    return files;
}

} // namespace

MainWindow::MainWindow(Appearance* appearance, QWidget* parent)
    : QMainWindow(parent), m_appearance(appearance), m_search(&m_document) {
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    setMinimumSize(640, 420);

    m_topBar = new TopBar(&m_document, &m_search, this);
    setMenuWidget(m_topBar);
    m_pages = new QStackedWidget(this);
    m_start = new StartPage(&m_recent, m_pages);
    m_loading = new LoadingPage(&m_loader, m_pages);
    m_failure = new FailurePage(m_pages);
    m_session = new QWidget(m_pages);
    auto* layout = new QVBoxLayout(m_session);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_notice = new NoticeBar(m_session);
    m_workbench = new Workbench(&m_document, m_session);
    m_capture = new CaptureController(&m_document, this);
    m_captureBar = new CaptureBar(m_capture, m_session);
    m_stream = new LiveStream(&m_document, &m_loader, this);
    layout->addWidget(m_captureBar);
    layout->addWidget(m_notice);
    layout->addWidget(m_workbench, 1);
    for (QWidget* page : std::initializer_list<QWidget*>{m_start, m_loading, m_failure, m_session})
        m_pages->addWidget(page);
    setCentralWidget(m_pages);

    m_keeper = new SessionKeeper(&m_document, m_workbench, m_topBar->searchField(), this);
    setAsking(true);
    connect(m_keeper, &SessionKeeper::noticeChanged, this, &MainWindow::showNotice);
    connect(m_keeper, &SessionKeeper::saveFailed, m_notice, &NoticeBar::setText);
    connect(m_keeper, &SessionKeeper::saved, this, [this](const QString& path) {
        m_recent.add(path, tr("session"));
        updateTitle();
    });

    m_jumps = new Jumps(&m_document, m_workbench->memory()->focus(), this);

    addMenus();
    connectLoader();
    connectSelection();
    connectStream();
    connectCapture();
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFiles);
    connect(m_start, &StartPage::recordRequested, this, &MainWindow::record);
    connect(m_topBar, &TopBar::recordRequested, this, [this] { record(false); });
    connect(m_start, &StartPage::sampleRequested, this, &MainWindow::openSample);
    connect(m_start, &StartPage::fileRequested, this, [this](const QString& path) { open({path}); });
    connect(m_failure, &FailurePage::openRequested, this, &MainWindow::chooseFiles);
    connect(m_failure, &FailurePage::retryRequested, this, [this] { open(m_asked); });
    connect(m_failure, &FailurePage::closeRequested, this,
            [this] { showPage(m_document.empty() ? static_cast<QWidget*>(m_start) : m_session); });
    connect(m_topBar, &TopBar::closeRequested, this, &MainWindow::closeSession);
    connect(m_topBar, &TopBar::reloadRequested, this,
            [this] { action(QStringLiteral("file.reload"))->trigger(); });
    connect(m_topBar->searchField(), &SearchField::left, m_workbench->timeline(),
            [this] { m_workbench->timeline()->setFocus(); });
    connect(m_notice, &NoticeBar::logRequested, this,
            [this] { m_workbench->raisePanel(Workbench::Panel::Log); });
    connect(&m_search, &SearchController::finished, this,
            [this] { m_workbench->hits()->setQuery(m_search.text(), m_search.error()); });
    connect(&m_search, &SearchController::stepped, m_workbench->hits(), &HitsPanel::setCurrentHit);

    const QByteArray geometry = QSettings().value(geometryKey()).toByteArray();
    if (geometry.isEmpty() || !restoreGeometry(geometry))
        resize(1440, 900);
    m_workbench->restoreLayout();
    qApp->installEventFilter(this);
    showPage(m_start);
    m_start->setFocus();
}

MainWindow::~MainWindow() {
    qApp->removeEventFilter(this);
}

void MainWindow::connectLoader() {
    connect(&m_loader, &Loader::started, this, [this] { showPage(m_loading); });
    connect(&m_loader, &Loader::opened, this, &MainWindow::sessionOpened);
    connect(&m_loader, &Loader::failed, this, &MainWindow::showFailures);
    connect(&m_loader, &Loader::cancelled, this,
            [this] { showPage(m_document.empty() ? static_cast<QWidget*>(m_start) : m_session); });
}

void MainWindow::connectSelection() {
    m_topBar->chips()->setBlocks(m_workbench->memory()->blocks());
    connect(m_jumps, &Jumps::failed, m_notice, &NoticeBar::setText);
    connect(m_jumps, &Jumps::arrived, this, [this](ViewKind view) {
        if (view == ViewKind::Flame)
            m_workbench->flame()->showFrame();
        if (view == ViewKind::Memory)
            m_workbench->memory()->showTab(MemoryPanel::Tab::Blocks);
        m_workbench->showView(view);
    });
}

void MainWindow::connectStream() {
    connect(m_stream, &LiveStream::begun, this, [this] {
        m_notice->setStoppable(true);
        showPage(m_session);
    });
    connect(m_stream, &LiveStream::changed, this, [this] { m_notice->setText(m_stream->text()); });
    connect(m_notice, &NoticeBar::stopRequested, &m_loader, &Loader::cancel);
    connect(m_stream, &LiveStream::ended, this, [this](bool stopped) {
        m_notice->setStoppable(false);
        m_notice->setText(
            stopped ? tr("Stopped before the recording's end: shown are the newest events that had come.")
                    : QString());
    });
}

void MainWindow::connectCapture() {
    connect(m_capture, &CaptureController::started, this, [this] {
        m_document.clear();
        m_failures.clear();
        m_keeper->forget();
        m_notice->setText({});
        showPage(m_session);
    });
    connect(m_capture, &CaptureController::failed, this, [this](const QString& sentence) {
        if (m_document.empty())
            showFailures({{tr("the recording"), sentence, false}});
        else
            m_notice->setText(sentence);
    });
    connect(m_capture, &CaptureController::finished, this, [this](const QString& file) {
        // When it stops the recording is simply open: whole, from its file, with the allocator's snapshot
        // beside it.
        QStringList files{file};
        for (const std::string& snapshot : m_capture->status().snapshots)
            files.append(toQString(snapshot));
        open(files);
    });
}

void MainWindow::record(bool attach) {
    auto* dialog = new RecordDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->showPage(attach ? RecordDialog::Page::Attach : RecordDialog::Page::Launch);
    connect(dialog, &RecordDialog::recordRequested, m_capture, &CaptureController::start);
    dialog->open();
}

void MainWindow::open(const QStringList& paths) {
    m_asked = paths;
    std::vector<OpenFailure> failures;
    const QStringList files = m_keeper->sourcesOf(paths, failures);
    if (!failures.empty() && files.isEmpty())
        showFailures(failures);
    else
        m_loader.open(files);
    m_failures = std::move(failures);
}

void MainWindow::setAsking(bool asking) {
    m_keeper->setAsk(!asking ? SessionKeeper::Ask()
                             : [this](const std::vector<SourceTrouble>& missing,
                                      const SessionFile& session) -> std::optional<QStringList> {
        SourceDialog dialog(missing, session, this);
        if (dialog.exec() != QDialog::Accepted)
            return std::nullopt;
        return dialog.found();
    });
}

void MainWindow::saveSession(bool choosePath) {
    QString path = m_keeper->path();
    if (path.isEmpty() || choosePath) {
        const QFileInfo first(m_loader.paths().value(0));
        const QString suggested =
            !path.isEmpty() ? path
            : isSample(first.filePath())
                ? QDir::home().filePath(QStringLiteral("sample.wps"))
                : first.absolutePath() + u'/' + first.fileName().section(u'.', 0, 0) + QStringLiteral(".wps");
        path = QFileDialog::getSaveFileName(this, tr("Save the session"), suggested,
                                            tr("Sessions (*.wps);;All files (*)"));
        if (!path.isEmpty() && QFileInfo(path).suffix().isEmpty())
            path += QStringLiteral(".wps");
    }
    if (!path.isEmpty())
        m_keeper->save(path);
}

void MainWindow::showNotice() {
    QStringList parts{NoticeBar::sentence(m_document, m_failures), m_keeper->notice()};
    parts.removeAll(QString());
    m_notice->setText(parts.join(QStringLiteral("  ")));
}

void MainWindow::openSample(Sample sample) {
    const Result<QStringList> paths = samplePaths(sample);
    if (paths.ok())
        open(paths.value());
    else
        showFailures({{tr("the sample"), toQString(paths.error().message), false}});
}

void MainWindow::chooseFiles() {
    const QString folder =
        m_recent.entries().empty() ? QString() : QFileInfo(m_recent.entries().front().path).absolutePath();
    const QStringList paths =
        QFileDialog::getOpenFileNames(this, tr("Open traces and snapshots"), folder,
                                      tr("Traces, snapshots and sessions (*.json *.json.gz *.gz *.zst *.zip "
                                         "*.tar *.tgz *.tmp *.trace *.pickle "
                                         "*.pkl *.sqlite *.db *.wpl *.wps);;All files (*)"));
    if (!paths.isEmpty())
        open(paths);
}

void MainWindow::sessionOpened(const Document::Prepared& prepared, const std::vector<OpenFailure>& failures) {
    auto before = std::tuple(m_document.items(), m_document.memories(), m_document.session());
    const bool wasOpen = !m_document.empty();
    m_document.set(prepared);
    if (wasOpen) {
        m_disposal.start(
            [before = std::move(before)](const std::stop_token&) mutable -> Result<Done> {
                before = {};
                return Done{};
            },
            [](const Result<Done>&) {});
    }
    m_failures.insert(m_failures.end(), failures.begin(), failures.end());
    remember();
    // What was opened decides what is looked at: a snapshot alone is looked at as one, a profile as a flame
    // graph.
    using Layout = Workbench::Layout;
    if (m_document.items().empty()) {
        m_workbench->applyLayout(m_document.memories().empty() ? Layout::Flame : Layout::Memory);
        m_layoutByFile = true;
    } else if (std::exchange(m_layoutByFile, false)) {
        m_workbench->applyLayout(Layout::Timeline);
    }
    showPage(m_session);
    // A session says itself what is looked at.
    m_keeper->restore();
    showNotice();
    if (!m_document.items().empty())
        m_workbench->timeline()->setFocus();
    else if (!m_document.memories().empty())
        m_workbench->memory()->allocation()->setFocus();
    else
        m_workbench->flame()->view()->setFocus();
}

void MainWindow::remember() {
    if (!m_keeper->path().isEmpty()) {
        m_recent.add(m_keeper->path(), tr("session of %1 files").arg(m_loader.paths().size()));
        return;
    }
    for (const Document::Item& item : m_document.items()) {
        const Trace& trace = *item.trace;
        const QString path = toQString(trace.path.substr(0, trace.path.find('!')));
        if (!isSample(path)) {
            m_recent.add(path, tr("%1 events · %2")
                                   .arg(countText(static_cast<std::int64_t>(trace.eventCount)),
                                        durationText(trace.extent.duration())));
        }
    }
    for (const MemoryItem& item : m_document.memories()) {
        const MemoryHistory& history = *item.history;
        const QString path = toQString(history.path.substr(0, history.path.find('!')));
        if (history.fromTrace || isSample(path) || history.devices.empty())
            continue;
        const MemoryDevice& device = history.devices.front();
        m_recent.add(path, tr("memory · %1 events · peak %2")
                               .arg(countText(static_cast<std::int64_t>(device.events.count())),
                                    bytesText(device.peakRequested.requested)));
    }
}

void MainWindow::showFailures(const std::vector<OpenFailure>& failures) {
    m_failure->setFailures(failures);
    showPage(m_failure);
}

void MainWindow::closeSession() {
    m_loader.cancel();
    m_topBar->searchField()->clear();
    auto before = std::tuple(m_document.items(), m_document.memories(), m_document.session());
    m_document.clear();
    m_disposal.start(
        [before = std::move(before)](const std::stop_token&) mutable -> Result<Done> {
            before = {};
            return Done{};
        },
        [](const Result<Done>&) {});
    m_failures.clear();
    m_keeper->forget();
    m_notice->setText({});
    showPage(m_start);
    m_start->setFocus();
}

void MainWindow::showPage(QWidget* page) {
    m_pages->setCurrentWidget(page);
    const bool session = page == m_session;
    for (const Command& command : m_commands) {
        if (command.action && command.action->property("session").toBool())
            command.action->setEnabled(session);
    }
    for (QAction* action : m_workbench->timeline()->timelineActions())
        action->setEnabled(session);
    m_topBar->searchField()->setEnabled(session);
    updateTitle();
}

void MainWindow::updateTitle() {
    const QWidget* page = currentPage();
    QString title = tr("Warpline");
    if (page == m_loading)
        title = tr("Reading %1 — Warpline").arg(fileTitle(m_loader.paths()));
    else if (page == m_failure)
        title = m_failure->text().section(u'\n', 0, 0) + tr(" — Warpline");
    else if (page == m_session && m_document.items().empty())
        title = fileTitle(m_loader.paths()) + tr(" — Warpline");
    else if (page == m_session && m_document.items().size() == 1)
        title = sourceLabel(m_document, 0) + tr(" — Warpline");
    else if (page == m_session)
        title = tr("%1 and %2 more — Warpline")
                    .arg(sourceLabel(m_document, 0))
                    .arg(m_document.items().size() - 1);
    if (page == m_session && !m_keeper->path().isEmpty())
        title = QFileInfo(m_keeper->path()).fileName() + QStringLiteral(" — ") + title;
    setWindowTitle(title);
}

QWidget* MainWindow::currentPage() const {
    return m_pages->currentWidget();
}

bool MainWindow::busy() const {
    const auto jobs = findChildren<LatestJob*>();
    return m_loader.loading() || m_search.pending() || m_disposal.busy() ||
           std::any_of(jobs.begin(), jobs.end(), [](const LatestJob* job) { return job->busy(); });
}

void MainWindow::closeEvent(QCloseEvent* event) {
    QSettings().setValue(geometryKey(), saveGeometry());
    m_workbench->saveLayout();
    QMainWindow::closeEvent(event);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    // Files are dropped on whatever is under the pointer; fields would take them as text.
    if (event->type() == QEvent::DragEnter || event->type() == QEvent::DragMove ||
        event->type() == QEvent::Drop) {
        auto* drop = static_cast<QDropEvent*>(event);
        const auto* widget = qobject_cast<QWidget*>(watched);
        const QStringList files = droppedFiles(drop->mimeData());
        if (widget != nullptr && widget->window() == this && !files.isEmpty()) {
            drop->acceptProposedAction();
            if (event->type() == QEvent::Drop)
                open(files);
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

} // namespace warpline
