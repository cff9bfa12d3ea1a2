// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// A recording that comes through a pipe is shown while it comes.
#include "views/window/main_window.h"
#include "views/window/notice_bar.h"

#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace warpline;

class TestLiveStream : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_dir.path());
        QFile file(QStringLiteral(WARPLINE_TEST_DATA "/recordings/torch.wpl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        m_bytes = file.readAll();
    }
    void init() {
        m_appearance = std::make_unique<Appearance>();
        m_window = std::make_unique<MainWindow>(m_appearance.get());
        m_window->resize(1280, 800);
        m_window->show();
        m_pipe = m_dir.filePath(QStringLiteral("pipe"));
        QFile::remove(m_pipe);
        QCOMPARE(::mkfifo(QFile::encodeName(m_pipe).constData(), 0600), 0);
        m_window->open({m_pipe});
        // Opens once the reader is there.
        m_writer = ::open(QFile::encodeName(m_pipe).constData(), O_WRONLY);
        QVERIFY(m_writer >= 0);
    }
    void cleanup() {
        closeWriter();
        m_window.reset();
        m_appearance.reset();
    }

    void growsAndIsWholeAtItsEnd() {
        const QSignalSpy opened(m_window->loader(), &Loader::opened);
        put(0, m_bytes.size() / 2);
        QTRY_VERIFY(!m_window->document()->empty());
        QTRY_VERIFY(m_window->notice()->text().contains(QStringLiteral("Receiving")));
        QCOMPARE(opened.count(), 0);
        const std::uint64_t half = events();
        QVERIFY(half > 0);
        put(m_bytes.size() / 2, m_bytes.size());
        closeWriter();
        QTRY_COMPARE(opened.count(), 1);
        QVERIFY(events() > half);
        QCOMPARE(events(), std::uint64_t{8492});
        QVERIFY(m_window->notice()->text().isEmpty());
        QVERIFY(!stopButton()->isVisible());
    }

    void followsUntilTheUserLooksElsewhere() {
        Document* document = m_window->document();
        put(0, m_bytes.size() / 3);
        QTRY_VERIFY(!document->empty());
        QCOMPARE(document->visible().end, document->extent().end);
        const TimeRange mine{document->extent().begin, document->extent().begin + 1000};
        document->setVisible(mine);
        const std::uint64_t before = events();
        // Views are made again once in a while, so that more must come more than once.
        qsizetype at = m_bytes.size() / 3;
        for (int i = 0; i < 40 && events() == before && at < m_bytes.size(); ++i) {
            put(at, std::min(at + 1500, m_bytes.size()));
            at = std::min(at + 1500, m_bytes.size());
            QTest::qWait(50);
        }
        QVERIFY(events() > before);
        QCOMPARE(document->visible().begin, mine.begin);
        QCOMPARE(document->visible().end, mine.end);
    }

    void stoppedItKeepsWhatCame() {
        put(0, m_bytes.size() / 2);
        QTRY_VERIFY(!m_window->document()->empty());
        const std::uint64_t half = events();
        QVERIFY(stopButton()->isVisible());
        QTest::mouseClick(stopButton(), Qt::LeftButton);
        QVERIFY(!m_window->loader()->loading());
        QCOMPARE(events(), half);
        QVERIFY(m_window->notice()->text().contains(QStringLiteral("newest")));
        QVERIFY(!stopButton()->isVisible());
        closeWriter();
    }

  private:
    void put(qsizetype from, qsizetype to) {
        while (from < to) {
            const ssize_t n =
                ::write(m_writer, m_bytes.constData() + from, static_cast<std::size_t>(to - from));
            QVERIFY(n > 0);
            from += n;
        }
    }
    void closeWriter() {
        if (m_writer >= 0)
            ::close(m_writer);
        m_writer = -1;
    }
    [[nodiscard]] std::uint64_t events() const {
        return m_window->document()->empty() ? 0 : m_window->document()->items().front().trace->eventCount;
    }
    [[nodiscard]] QToolButton* stopButton() const {
        for (QToolButton* button : m_window->notice()->findChildren<QToolButton*>())
            if (button->text().contains(QStringLiteral("Stop")))
                return button;
        return nullptr;
    }

    QTemporaryDir m_dir;
    QByteArray m_bytes;
    QString m_pipe;
    int m_writer = -1;
    std::unique_ptr<Appearance> m_appearance;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestLiveStream)
#include "tst_live_stream.moc"
