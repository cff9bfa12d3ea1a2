// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// Session files in the window: what was looked at is there again; what is gone or has changed is told.
#include "kineto_text.h"
#include "views/flame/flame_panel.h"
#include "views/memory/blocks_panel.h"
#include "views/memory/holders_panel.h"
#include "views/memory/memory_panel.h"
#include "views/timeline/timeline_panel.h"
#include "views/timeline/timeline_state.h"
#include "views/window/main_window.h"
#include "views/window/notice_bar.h"
#include "views/window/pages.h"
#include "views/window/screenshot.h"
#include "views/window/session_keeper.h"
#include "views/window/source_dialog.h"
#include "views/window/top_bar.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace warpline;
using warpline::test::KinetoText;

class TestWindowSession : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_window_session"));
    }

    void init() {
        QSettings().clear();
        m_dir = std::make_unique<QTemporaryDir>();
        m_appearance = std::make_unique<Appearance>();
        makeWindow();
    }
    void cleanup() {
        m_window.reset();
        m_appearance.reset();
        m_dir.reset();
    }

    void everythingIsThereAgain() {
        const QStringList files = samples();
        openAndSettle(files);
        Document& document = *m_window->document();
        TimelineState& state = *m_window->workbench()->timeline()->state();
        const Trace& trace = *document.items().front().trace;
        const Step step = trace.steps.at(1);

        // Everything that can be set is set to something that it is not by itself.
        document.setVisible({step.range.begin - 1000, step.range.end + 5000});
        document.setRange(step.range, QStringLiteral("the second step"));
        document.selectOp(QStringLiteral("aten::addmm"));
        document.selectKernel(kernelName());
        document.selectFrame({{QStringLiteral("train.py(1): main"), QStringLiteral("Block_0")}, -1});
        const Row stream = rowOf(RowKind::Track, TrackKind::Stream);
        const Row memory = rowOf(RowKind::Memory, TrackKind::Thread);
        document.selectTracks({{0, stream.track}});
        document.select({0, SliceId::fromIndex(17)});
        state.changeLayout([&](TrackLayout& layout) {
            layout.setPinned(stream.id, true);
            layout.setHidden(memory.id, true);
        });
        state.setNote(step.range.begin + 500, QStringLiteral("here it waits; \"why\"?"));
        state.toggleMark(step.range.end, 0);
        MemoryPanel& memoryPanel = *m_window->workbench()->memory();
        MemoryFocus& focus = *memoryPanel.focus();
        focus.setColour(MemoryFocus::Colour::Size);
        focus.setAxis(MemoryAxis::Time);
        focus.setMarks(100, 700);
        focus.setMoment(345);
        const BlockId block = focus.deviceItem().layout->blockAt(345, 10);
        QVERIFY(block);
        focus.select(block);
        memoryPanel.holders()->setGroup(HolderGroup::Category);
        memoryPanel.blocks()->setQuery(QStringLiteral("size>1KiB"));
        FlamePanel& flame = *m_window->workbench()->flame();
        flame.setMeasure(FlameMeasure::Live);
        m_window->topBar()->searchField()->setText(QStringLiteral("aten::mm"));
        m_window->workbench()->raisePanel(Workbench::Panel::Flame);
        m_window->workbench()->dock(Workbench::Panel::Details)->hide();
        settle();
        const Selection selected = document.selection();
        const TimeRange visible = document.visible();
        const std::vector<TimeMark> marks = state.marks();
        QCOMPARE(marks.size(), std::size_t{2});

        const QString path = save(QStringLiteral("work.wps"));
        m_window.reset();
        makeWindow();
        openAndSettle({path});

        Document& again = *m_window->document();
        const TimelineState& shown = *m_window->workbench()->timeline()->state();
        QCOMPARE(again.items().size(), std::size_t{1});
        QVERIFY(again.memories().size() >= 1);
        const Selection& now = again.selection();
        QCOMPARE(now.range, selected.range);
        QCOMPARE(now.rangeName, QStringLiteral("the second step"));
        QCOMPARE(now.step, std::optional(step.number));
        QCOMPARE(now.op, selected.op);
        QCOMPARE(now.kernel, selected.kernel);
        QVERIFY(now.frame == selected.frame);
        QVERIFY(now.tracks == selected.tracks);
        QVERIFY(now.slice == selected.slice);
        QVERIFY(now.block == selected.block);
        QCOMPARE(again.visible().begin, visible.begin);
        QCOMPARE(again.visible().end, visible.end);
        QVERIFY(shown.marks() == marks);
        QVERIFY(shown.layout().isPinned(stream.id));
        QVERIFY(shown.layout().isHidden(memory.id));
        QCOMPARE(shown.layout().hiddenCount(), std::size_t{1});
        const MemoryPanel& memoryNow = *m_window->workbench()->memory();
        QCOMPARE(memoryNow.focus()->colour(), MemoryFocus::Colour::Size);
        QCOMPARE(memoryNow.focus()->view().axis, MemoryAxis::Time);
        QCOMPARE(memoryNow.focus()->moment(), Moment{345});
        QCOMPARE(*memoryNow.focus()->marks().first, Moment{100});
        QCOMPARE(*memoryNow.focus()->marks().second, Moment{700});
        QCOMPARE(memoryNow.holders()->group(), HolderGroup::Category);
        QCOMPARE(memoryNow.blocks()->query(), QStringLiteral("size>1KiB"));
        QCOMPARE(m_window->workbench()->flame()->measure(), FlameMeasure::Live);
        QVERIFY(!m_window->workbench()->flame()->visibleRegion().isEmpty());
        QVERIFY(m_window->workbench()->dock(Workbench::Panel::Details)->isHidden());
        QCOMPARE(m_window->topBar()->searchField()->text(), QStringLiteral("aten::mm"));
        QVERIFY(!again.hits().empty());
        QVERIFY2(!m_window->notice()->isVisible(), qPrintable(m_window->notice()->text()));
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("work.wps")));

        // Saved again without a change it says the same.
        const QByteArray before = bytesOf(path);
        m_window->sessionKeeper()->save(path);
        QSignalSpy saved(m_window->sessionKeeper(), &SessionKeeper::saved);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20'000);
        QCOMPARE(withoutLayout(bytesOf(path)), withoutLayout(before));
    }

    void foundAfterMovingTogether() {
        openAndSettle(samples());
        const QString path = save(QStringLiteral("work.wps"));
        QVERIFY(!bytesOf(path).contains(m_dir->path().toUtf8()));
        const QTemporaryDir other;
        for (const QString& name : QDir(m_dir->path()).entryList(QDir::Files))
            QVERIFY(QFile::rename(m_dir->filePath(name), other.filePath(name)));
        openAndSettle({other.filePath(QStringLiteral("work.wps"))});
        QCOMPARE(m_window->document()->items().size(), std::size_t{1});
        QVERIFY(m_window->notice()->text().isEmpty());
    }

    void missingSourceIsLeftOutAndNamed() {
        const QStringList files = samples();
        openAndSettle(files);
        m_window->document()->selectOp(QStringLiteral("aten::addmm"));
        const QString path = save(QStringLiteral("work.wps"));
        QVERIFY(QFile::remove(files.last()));
        openAndSettle({path});
        QCOMPARE(m_window->document()->items().size(), std::size_t{1});
        QCOMPARE(m_window->document()->selection().op, QStringLiteral("aten::addmm"));
        QVERIFY(m_window->notice()->isVisible());
        QVERIFY2(m_window->notice()->text().contains(QFileInfo(files.last()).fileName()),
                 qPrintable(m_window->notice()->text()));
        // Without any of them there is nothing to show, and a page that says so.
        QVERIFY(QFile::remove(files.first()));
        m_window->open({path});
        QTRY_VERIFY(qobject_cast<FailurePage*>(m_window->currentPage()) != nullptr);
        QVERIFY(m_window->failurePage()->text().contains(QStringLiteral("gpt.json.gz")));
    }

    void missingSourceIsLocated() {
        const QString trace = write("one.json", KinetoText{}.text());
        openAndSettle({trace});
        const TimeRange extent = m_window->document()->extent();
        m_window->document()->setRange(TimeRange{extent.begin, extent.begin + 1'000'000});
        const Row row = m_window->workbench()->timeline()->state()->layout().everyRow().at(1);
        m_window->workbench()->timeline()->state()->changeLayout(
            [&](TrackLayout& layout) { layout.setHidden(row.id, true); });
        const QString path = save(QStringLiteral("work.wps"));
        const QString moved = m_dir->filePath(QStringLiteral("two.json"));
        QVERIFY(QFile::rename(trace, moved));
        QStringList asked;
        m_window->sessionKeeper()->setAsk([&](const std::vector<SourceTrouble>& missing,
                                              const SessionFile& session) -> std::optional<QStringList> {
            for (const SourceTrouble& trouble : missing)
                asked.append(QString::fromStdString(session.sources[trouble.source].path));
            return QStringList{moved};
        });
        openAndSettle({path});
        QCOMPARE(asked, QStringList{trace});
        QCOMPARE(m_window->document()->range()->duration(), TimeNs{1'000'000});
        QCOMPARE(m_window->workbench()->timeline()->state()->layout().hiddenCount(), std::size_t{1});
        QVERIFY(m_window->notice()->text().isEmpty());
        // Called off, nothing happens.
        QVERIFY(QFile::rename(moved, trace + QStringLiteral(".away")));
        m_window->sessionKeeper()->setAsk(
            [](const auto&, const auto&) -> std::optional<QStringList> { return std::nullopt; });
        const QSignalSpy started(m_window->loader(), &Loader::started);
        m_window->open({path});
        QTest::qWait(30);
        QCOMPARE(started.count(), 0);
        QCOMPARE(m_window->document()->items().size(), std::size_t{1});
    }

    void changedSourceIsTold() {
        const QString trace = write("one.json", KinetoText{}.text());
        openAndSettle({trace});
        const QString path = save(QStringLiteral("work.wps"));
        write("one.json", KinetoText{3, 4}.text());
        openAndSettle({path});
        QTRY_VERIFY(m_window->notice()->text().contains(QStringLiteral("one.json")));
        QVERIFY2(m_window->notice()->text().contains(QStringLiteral("changed")),
                 qPrintable(m_window->notice()->text()));
    }

    void damagedSessionIsRefused() {
        const QString path =
            write("bad.wps", R"({"format": "warpline session", "version": 1, "sources": 7})");
        m_window->open({path});
        QTRY_VERIFY(qobject_cast<FailurePage*>(m_window->currentPage()) != nullptr);
        QVERIFY(m_window->failurePage()->text().contains(QStringLiteral("damaged")));
    }

    void openedLikeAnyFile() {
        const QString trace = write("one.json", KinetoText{}.text());
        openAndSettle({trace});
        m_window->document()->selectOp(QStringLiteral("aten::mm"));
        const QString path = save(QStringLiteral("work.wps"));
        m_window->closeSession();
        // It is among the recent files, and opens by being dropped.
        QPushButton* recent = nullptr;
        for (QPushButton* button : m_window->findChildren<QPushButton*>())
            recent = button->text() == QStringLiteral("work.wps") ? button : recent;
        QVERIFY(recent != nullptr);
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window->currentPage(), &enter);
        QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window->currentPage(), &drop);
        QTRY_COMPARE(opened.count(), 1);
        QCOMPARE(m_window->document()->selection().op, QStringLiteral("aten::mm"));
        // Saving goes to the same file without a question.
        m_window->document()->selectOp(QStringLiteral("aten::add"));
        const QSignalSpy saved(m_window->sessionKeeper(), &SessionKeeper::saved);
        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QTRY_COMPARE(saved.count(), 1);
        QVERIFY(bytesOf(path).contains("aten::add"));
    }

    void readAgainLooksAtTheSame() {
        const QString trace = write("one.json", KinetoText{}.text());
        openAndSettle({trace});
        m_window->document()->selectOp(QStringLiteral("aten::mm"));
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        m_window->action(QStringLiteral("file.reload"))->trigger();
        QTRY_COMPARE(opened.count(), 1);
        QCOMPARE(m_window->document()->selection().op, QStringLiteral("aten::mm"));
    }

    void picturesAskNothing() {
        const QString trace = write("one.json", KinetoText{}.text());
        const QString other = write("other.json", KinetoText{}.text());
        openAndSettle({trace, other});
        const QString path = save(QStringLiteral("work.wps"));
        QVERIFY(QFile::remove(other));
        m_window->setAsking(true);
        Options options;
        options.files = {path};
        options.screenshot = m_dir->filePath(QStringLiteral("session.png"));
        QCOMPARE(takeScreenshot(*m_window, options), 0);
        QVERIFY(!QImage(options.screenshot).isNull());
        QVERIFY(m_window->notice()->text().contains(QStringLiteral("other.json")));
    }

    void theDialogFindsNeighbours() {
        const QString first = write("a.json", "1");
        const QString second = write("b.json", "2");
        SessionFile session;
        session.sources.push_back({"/gone/a.json", "", 0, 0});
        session.sources.push_back({"/gone/b.json", "", 0, 0});
        SourceDialog dialog({{0, SourceTrouble::Kind::Missing, "a"}, {1, SourceTrouble::Kind::Missing, "b"}},
                            session);
        auto* open = dialog.findChild<QPushButton*>(QStringLiteral("sourceOpen"));
        QCOMPARE(open->text(), QStringLiteral("Open without them"));
        dialog.setFound(0, first);
        QCOMPARE(dialog.found(), (QStringList{first, second}));
        QCOMPARE(open->text(), QStringLiteral("Open"));
    }

  private:
    void makeWindow() {
        m_window = std::make_unique<MainWindow>(m_appearance.get());
        m_window->setAsking(false);
        m_window->resize(1280, 800);
        m_window->show();
    }
    void openAndSettle(const QStringList& files) {
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        m_window->open(files);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 60'000);
        settle();
    }
    void settle() {
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->busy(), 60'000);
        QTest::qWait(30);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->busy(), 60'000);
    }
    QString save(const QString& name) {
        const QString path = m_dir->filePath(name);
        QSignalSpy saved(m_window->sessionKeeper(), &SessionKeeper::saved);
        m_window->sessionKeeper()->save(path);
        if (!saved.wait(20'000))
            qFatal("the session was not saved");
        return path;
    }
    /// The samples' trace and snapshot, in a folder of their own.
    QStringList samples() const {
        QStringList paths;
        for (const char* name : {"gpt.json.gz", "gpt.snapshot.pickle.zst"}) {
            const QString to = m_dir->filePath(QString::fromLatin1(name));
            if (!QFile::copy(QStringLiteral(WARPLINE_TEST_DATA "/../../resources/samples/") +
                                 QString::fromLatin1(name),
                             to))
                qFatal("cannot copy %s", name);
            paths.append(to);
        }
        return paths;
    }
    QString write(const char* name, const QByteArray& bytes) const {
        QFile file(m_dir->filePath(QString::fromLatin1(name)));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", name);
        return file.fileName();
    }
    static QByteArray bytesOf(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// Qt writes the places of docks in an order of its own.
    static QByteArray withoutLayout(const QByteArray& text) {
        QByteArray out;
        for (const QByteArray& line : text.split('\n')) {
            if (!line.contains("\"layout\""))
                out += line + '\n';
        }
        return out;
    }
    [[nodiscard]] Row rowOf(RowKind kind, TrackKind track) const {
        for (const Row& row : m_window->workbench()->timeline()->state()->layout().everyRow()) {
            if (row.id.kind == kind && (kind != RowKind::Track || row.trackKind == track))
                return row;
        }
        qFatal("no such row");
    }
    [[nodiscard]] QString kernelName() const {
        const Trace& trace = *m_window->document()->items().front().trace;
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            if (trace.kind(row) == SliceKind::Kernel)
                return m_window->document()->sliceName({0, SliceId::fromIndex(row)});
        }
        qFatal("no kernel");
    }

    QTemporaryDir m_settings;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<Appearance> m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestWindowSession)
#include "tst_window_session.moc"
