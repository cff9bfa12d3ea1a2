// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// The window as it is used: opening, failing, cancelling, searching, commands, layouts, pictures.
#include "kineto_text.h"
#include "views/tables/hits_panel.h"
#include "views/tables/kernels_panel.h"
#include "views/tables/log_panel.h"
#include "views/tables/ops_panel.h"
#include "views/theme.h"
#include "views/timeline/timeline_panel.h"
#include "views/window/filter_chips.h"
#include "views/window/key_help.h"
#include "views/window/main_window.h"
#include "views/window/notice_bar.h"
#include "views/window/pages.h"
#include "views/window/screenshot.h"
#include "views/window/top_bar.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <atomic>
#include <chrono>
#include <thread>

using namespace warpline;
using warpline::test::KinetoText;

namespace {

/// The longest time in which the event loop answered nothing, measured by a thread that asks all the time.
class StallMeter {
  public:
    StallMeter() : m_last(now()) {
        m_timer.setInterval(1);
        QObject::connect(&m_timer, &QTimer::timeout, [this] {
            const qint64 t = now();
            m_longest = std::max(m_longest, t - m_last);
            m_last = t;
        });
        m_timer.start();
    }
    /// Milliseconds since the construction or the last reset.
    [[nodiscard]] double longest() const { return static_cast<double>(m_longest) / 1e6; }

  private:
    static qint64 now() {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    QTimer m_timer;
    qint64 m_last;
    qint64 m_longest = 0;
};

} // namespace

class TestFlow : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_dir.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_window_flow"));
        m_good = write("good.json", KinetoText{}.text());
        QByteArray cut = KinetoText{}.text();
        cut.truncate(cut.size() * 2 / 3);
        m_cut = write("cut.json", cut);
        m_empty = write("empty.json", {});
        m_page = write("page.html", "<!DOCTYPE html><html><body>404</body></html>");
    }

    void init() {
        QSettings().clear();
        m_appearance = std::make_unique<Appearance>();
        m_window = std::make_unique<MainWindow>(m_appearance.get());
        m_window->resize(1280, 800);
        m_window->show();
    }
    void cleanup() {
        m_window.reset();
        m_appearance.reset();
    }

    void startsEmpty() {
        QVERIFY(qobject_cast<StartPage*>(m_window->currentPage()) != nullptr);
        QCOMPARE(m_window->windowTitle(), QStringLiteral("Warpline"));
        // What needs a session says so by being grey.
        QVERIFY(!m_window->action(QStringLiteral("search.find"))->isEnabled());
        QVERIFY(m_window->action(QStringLiteral("file.open"))->isEnabled());
    }

    void opensAFile() {
        openAndWait({m_good});
        QVERIFY(!m_window->document()->empty());
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("good.json")));
        QVERIFY(!m_window->notice()->isVisible());
        QTRY_COMPARE(m_window->workbench()->ops()->model()->rowCount(), 2);
        // And remembers it.
        m_window->closeSession();
        QVERIFY(qobject_cast<StartPage*>(m_window->currentPage()) != nullptr);
        QVERIFY(m_window->document()->empty());
        bool listed = false;
        for (const QPushButton* button : m_window->findChildren<QPushButton*>())
            listed = listed || button->text() == QStringLiteral("good.json");
        QVERIFY(listed);
    }

    void aFailureIsAPage() {
        m_window->open({m_page});
        QTRY_VERIFY(qobject_cast<FailurePage*>(m_window->currentPage()) != nullptr);
        const QString text = m_window->failurePage()->text();
        QVERIFY2(text.contains(QStringLiteral("page.html")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("HTML"), Qt::CaseInsensitive), qPrintable(text));
        m_window->open({m_empty});
        QTRY_VERIFY(m_window->failurePage()->text().contains(QStringLiteral("empty.json")));
        m_window->open({m_dir.filePath(QStringLiteral("not there.json"))});
        QTRY_VERIFY(m_window->failurePage()->text().contains(QStringLiteral("not there.json")));
        QVERIFY(m_window->failurePage()->findChild<QPushButton*>(QStringLiteral("failureOpen"))->isVisible());
    }

    void lossesAreNamed() {
        openAndWait({m_cut});
        QVERIFY(m_window->notice()->isVisible());
        QVERIFY(m_window->notice()->text().contains(QStringLiteral("cut.json")));
        QVERIFY(m_window->workbench()->log()->visibleRegion().isEmpty());
        for (QToolButton* button : m_window->notice()->findChildren<QToolButton*>()) {
            if (button->text().contains(QStringLiteral("log")))
                QTest::mouseClick(button, Qt::LeftButton);
        }
        QTRY_VERIFY(!m_window->workbench()->log()->visibleRegion().isEmpty());
        QVERIFY(m_window->workbench()->log()->model()->rowCount() > 0);
    }

    void oneOfSeveralFails() {
        openAndWait({m_good, m_page});
        QCOMPARE(m_window->document()->items().size(), std::size_t{1});
        QVERIFY(m_window->notice()->isVisible());
        QVERIFY(m_window->notice()->text().contains(QStringLiteral("page.html")));
    }

    void severalFilesMakeOneSession() {
        openAndWait({m_good, m_cut});
        QCOMPARE(m_window->document()->items().size(), std::size_t{2});
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("1 more")));
    }

    void filesAreDroppedAnywhere() {
        // On the search field, which would take the address as text: while it is grey, and while it is not.
        auto* field = m_window->topBar()->searchField();
        for (const QString& file : {m_good, m_cut}) {
            QMimeData mime;
            mime.setUrls({QUrl::fromLocalFile(file)});
            QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(field, &enter);
            QVERIFY(enter.isAccepted());
            const QSignalSpy opened(m_window->loader(), &Loader::opened);
            QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(field, &drop);
            QTRY_COMPARE(opened.count(), 1);
            QVERIFY(m_window->windowTitle().startsWith(QFileInfo(file).fileName()));
            QVERIFY(field->text().isEmpty());
            QVERIFY(field->isEnabled());
        }
    }

    void aNewerOpenReplacesAnOlder() {
        const QString big = write("big.json", KinetoText{40, 100}.text());
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        m_window->open({big});
        m_window->open({m_good});
        QTRY_COMPARE(opened.count(), 1);
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("good.json")));
        QTest::qWait(50);
        QCOMPARE(opened.count(), 1);
    }

    void cancelLeavesNothing() {
        const QString big = write("big2.json", KinetoText{100, 100}.text());
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        m_window->open({big});
        QVERIFY(qobject_cast<LoadingPage*>(m_window->currentPage()) != nullptr);
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("big2.json")));
        QTest::mouseClick(m_window->findChild<QPushButton*>(QStringLiteral("cancelLoading")), Qt::LeftButton);
        QVERIFY(qobject_cast<StartPage*>(m_window->currentPage()) != nullptr);
        QTest::qWait(100);
        QCOMPARE(opened.count(), 0);
        QVERIFY(m_window->document()->empty());
    }

    void progressInWords() {
        Loader::Status status;
        status.bytesDone = 123'000'000;
        status.bytesTotal = 1'000'000'000;
        status.events = 1'234'567;
        status.secondsLeft = 6.2;
        QCOMPARE(LoadingPage::describe(status),
                 QStringLiteral("123 MB of 1.00 GB · 1,234,567 events · 6 s left"));
        status.secondsLeft = 200;
        QVERIFY(LoadingPage::describe(status).endsWith(QStringLiteral("3 min left")));
        status.bytesTotal = 0;
        status.secondsLeft = -1;
        QCOMPARE(LoadingPage::describe(status), QStringLiteral("123 MB · 1,234,567 events"));
    }

    void searchFromTheKeyboard() {
        openAndWait({m_good});
        m_window->activateWindow();
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        auto* field = m_window->topBar()->searchField();
        QTRY_COMPARE(QApplication::focusWidget(), field);
        QTest::keyClicks(field, QStringLiteral("gemm"));
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_COMPARE(m_window->search()->status(), QStringLiteral("1 of 15"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(m_window->search()->status(), QStringLiteral("2 of 15"));
        QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
        QTest::keyClick(m_window.get(), Qt::Key_F3);
        QCOMPARE(m_window->search()->status(), QStringLiteral("2 of 15"));
        QCOMPARE(m_window->document()->selected(), m_window->document()->hits()[1]);
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(field->text().isEmpty());
        QTRY_VERIFY(m_window->document()->hits().empty());
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(QApplication::focusWidget() != field);
    }

    void rangeChipShowsAndClears() {
        openAndWait({m_good});
        FilterChip* chip = m_window->topBar()->chips()->chip(FilterChips::Kind::Range);
        QVERIFY(!chip->isVisible());
        const TimeRange extent = m_window->document()->extent();
        m_window->document()->setRange(TimeRange{extent.begin, extent.begin + 1'000'000},
                                       QStringLiteral("ProfilerStep#1"));
        QVERIFY(chip->isVisible());
        QVERIFY(chip->text().contains(QStringLiteral("ProfilerStep#1")));
        QTest::mouseClick(chip, Qt::LeftButton);
        QVERIFY(!m_window->document()->range());
    }

    void paletteFindsAndRuns() {
        openAndWait({m_good});
        CommandPalette palette(m_window->commands(), m_window.get());
        palette.setAttribute(Qt::WA_DeleteOnClose, false);
        const QAbstractItemModelTester tester(palette.model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        palette.show();
        QVERIFY(palette.model()->rowCount() > 20);
        QTest::keyClicks(palette.field(), QStringLiteral("layout ops"));
        QCOMPARE(palette.model()->index(0).data().toString(), QStringLiteral("Layout: Ops"));
        QTest::keyClick(palette.field(), Qt::Key_Return);
        QVERIFY(!palette.isVisible());
        QTRY_COMPARE(m_window->workbench()->layoutChoice(), Workbench::Layout::Ops);
    }

    void paletteScores() {
        QVERIFY(CommandModel::score(QStringLiteral("open"), QStringLiteral("Open")) >
                CommandModel::score(QStringLiteral("open"), QStringLiteral("Reopen")));
        QVERIFY(CommandModel::score(QStringLiteral("zi"), QStringLiteral("Zoom in")) >= 0);
        QCOMPARE(CommandModel::score(QStringLiteral("xyz"), QStringLiteral("Zoom in")), -1);
    }

    void everyCommandHasANameAndNoKeyIsTakenTwice() {
        QStringList names;
        QHash<QString, QString> keys;
        for (const Command& command : m_window->commands()) {
            QVERIFY(command.action);
            QVERIFY(!command.title().isEmpty());
            QVERIFY2(!command.action->objectName().isEmpty(), qPrintable(command.title()));
            QVERIFY2(!names.contains(command.action->objectName()), qPrintable(command.action->objectName()));
            names.append(command.action->objectName());
            for (const QKeySequence& key : command.action->shortcuts()) {
                // A widget's own keys may repeat the window's (copy); two of one scope may not.
                const QString scope = QString::number(command.action->shortcutContext()) + key.toString();
                QVERIFY2(!keys.contains(scope),
                         qPrintable(key.toString() + QStringLiteral(": ") + command.title() +
                                    QStringLiteral(" and ") + keys.value(scope)));
                keys.insert(scope, command.title());
            }
        }
        const QString help = KeyHelp::html(m_window->commands());
        for (const char* key : {"Ctrl+O", "Ctrl+F", "F3", "Ctrl+Shift+P"})
            QVERIFY2(help.contains(QLatin1String(key)), key);
    }

    void keysRaisePanels() {
        openAndWait({m_good});
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::AltModifier);
        QTRY_VERIFY(!m_window->workbench()->kernels()->visibleRegion().isEmpty());
        QTRY_COMPARE(m_window->workbench()->kernels()->model()->rowCount(), 3);
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::AltModifier);
        QTRY_VERIFY(!m_window->workbench()->ops()->visibleRegion().isEmpty());
    }

    void layoutsAreKeptAndReset() {
        openAndWait({m_good});
        m_window->action(QStringLiteral("layout.ops"))->trigger();
        m_window->workbench()->dock(Workbench::Panel::Kernels)->hide();
        m_window->close();
        auto again = std::make_unique<MainWindow>(m_appearance.get());
        again->show();
        const QSignalSpy opened(again->loader(), &Loader::opened);
        again->open({m_good});
        QTRY_COMPARE(opened.count(), 1);
        QVERIFY(again->workbench()->dock(Workbench::Panel::Kernels)->isHidden());
        QVERIFY(again->workbench()->dock(Workbench::Panel::Details)->isHidden());
        again->action(QStringLiteral("layout.reset"))->trigger();
        QVERIFY(!again->workbench()->dock(Workbench::Panel::Kernels)->isHidden());
        QVERIFY(!again->workbench()->dock(Workbench::Panel::Details)->isHidden());
    }

    void lightAndDark() {
        m_window->action(QStringLiteral("appearance.dark"))->trigger();
        QVERIFY(Theme::current().dark);
        QVERIFY(Appearance::isDark(QApplication::palette()));
        const QImage dark = m_window->grab().toImage();
        m_window->action(QStringLiteral("appearance.light"))->trigger();
        QVERIFY(!Theme::current().dark);
        const QImage light = m_window->grab().toImage();
        QVERIFY(qGray(dark.pixel(dark.width() / 2, dark.height() - 20)) < 60);
        QVERIFY(qGray(light.pixel(light.width() / 2, light.height() - 20)) > 200);
        QCOMPARE(Appearance().choice(), Appearance::Choice::Light); // kept
    }

    void everythingHasAName() {
        openAndWait({m_good});
        for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || widget->focusPolicy() == Qt::NoFocus)
                continue;
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            const bool named = !widget->accessibleName().isEmpty() ||
                               (button != nullptr && !button->text().isEmpty()) ||
                               qobject_cast<const QLabel*>(widget) != nullptr;
            const QString what =
                QString::fromLatin1(widget->metaObject()->className()) + QChar(u' ') + widget->objectName();
            const bool inner = widget->objectName().startsWith(QStringLiteral("qt_"));
            QVERIFY2(named || inner, qPrintable(what));
        }
    }

    void pictures() {
        Options options;
        options.files = {m_good};
        options.screenshot = m_dir.filePath(QStringLiteral("timeline.png"));
        options.size = QSize(1200, 760);
        options.range = RangeOption::parse(QStringLiteral("1ms:2ms"));
        options.select = QStringLiteral("aten::addmm");
        QCOMPARE(takeScreenshot(*m_window, options), 0);
        const QImage picture(options.screenshot);
        QCOMPARE(picture.size(), options.size);
        QVERIFY(m_window->document()->range().has_value());
        QCOMPARE(m_window->document()->sliceName(m_window->document()->selected()),
                 QStringLiteral("aten::addmm"));

        options.screenshot = m_dir.filePath(QStringLiteral("no folder/x.png"));
        QCOMPARE(takeScreenshot(*m_window, options), 1);
        options.screenshot = m_dir.filePath(QStringLiteral("select.png"));
        options.select = QStringLiteral("not there");
        QCOMPARE(takeScreenshot(*m_window, options), 1);
        QVERIFY(QFile::exists(options.screenshot));
    }

    void pictureOfAFailure() {
        Options options;
        options.files = {m_page};
        options.screenshot = m_dir.filePath(QStringLiteral("failure.png"));
        QCOMPARE(takeScreenshot(*m_window, options), 1);
        QVERIFY(!QImage(options.screenshot).isNull());
    }

    void theWindowNeverStopsWhileLoading() {
        // 20 MB. The bound is generous for shared machines; tests/bench measures the time itself.
        const QByteArray text = KinetoText{170, 120}.text();
        QVERIFY(text.size() > 19'000'000);
        const QString big = write("big20.json", text);
        const StallMeter meter;
        openAndWait({big});
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->busy(), 60'000);
        QTest::qWait(50);
        qInfo("longest stall of the event loop: %.1f ms", meter.longest());
        QVERIFY2(meter.longest() < kStallBoundMs, qPrintable(QString::number(meter.longest())));
    }

  private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static constexpr double kStallBoundMs = 3000;
#else
    static constexpr double kStallBoundMs = 400;
#endif

    QString write(const char* name, const QByteArray& bytes) const {
        QFile file(m_dir.filePath(QString::fromLatin1(name)));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", name);
        return file.fileName();
    }
    void openAndWait(const QStringList& files) {
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        m_window->open(files);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 60'000);
    }

    QTemporaryDir m_dir;
    QString m_good, m_cut, m_empty, m_page;
    std::unique_ptr<Appearance> m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestFlow)
#include "tst_window_flow.moc"
