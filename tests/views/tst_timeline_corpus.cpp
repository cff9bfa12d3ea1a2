// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"
#include "views/document.h"
#include "views/timeline/timeline_panel.h"
#include "views/timeline/timeline_state.h"
#include "views/timeline/timeline_view.h"

#include <QDir>
#include <QDirIterator>
#include <QTest>

using namespace warpline;

/// Real and odd files through the timeline: whatever opens is shown, walked through by keys and zoomed to its
/// smallest, without a crash and without an empty picture.
class TimelineCorpusTest : public QObject {
    Q_OBJECT

    static int colors(const QImage& image) {
        QSet<QRgb> seen;
        for (int y = 0; y < image.height(); y += 2) {
            for (int x = 0; x < image.width(); x += 2)
                seen.insert(image.pixel(x, y));
        }
        return static_cast<int>(seen.size());
    }

  private slots:
    void opened_data() {
        QTest::addColumn<QString>("path");
        const QString root = QStringLiteral(WARPLINE_SHARED_DATA);
        if (!QDir(root).exists())
            QSKIP("The folder of public recordings is not there.");
        constexpr qint64 largest = 12'000'000;
        for (const char* folder : {"corpus/kineto", "corpus/chrome", "h200"}) {
            QDirIterator it(root + QLatin1Char('/') + QLatin1String(folder),
                            {QStringLiteral("*.json"), QStringLiteral("*.json.gz"), QStringLiteral("*.zip"),
                             QStringLiteral("*.gz")},
                            QDir::Files, QDirIterator::Subdirectories);
            while (it.hasNext()) {
                const QString path = it.next();
                if (it.fileInfo().size() < largest)
                    QTest::newRow(qPrintable(path.mid(root.size() + 1))) << path;
            }
        }
    }
    void opened() {
        QFETCH(QString, path);
        auto traces = openTraces(path.toStdString());
        if (!traces.ok())
            return; // that a refusal is a true sentence is the importer's test
        Document document;
        document.set(Document::prepare({std::move(traces).value(), {}, {}}));
        TimelinePanel panel(&document);
        panel.setAnimated(false);
        panel.resize(900, 500);
        panel.show();
        panel.view()->setFocus();
        QVERIFY(colors(panel.view()->viewport()->grab().toImage()) > 3);
        const auto press = [&](std::initializer_list<Qt::Key> keys) {
            for (const Qt::Key key : keys)
                QTest::keyClick(panel.view(), key);
            QVERIFY(!document.visible().empty());
        };
        press({Qt::Key_Right, Qt::Key_Right, Qt::Key_Down, Qt::Key_Down, Qt::Key_Period, Qt::Key_BracketRight,
               Qt::Key_BracketLeft, Qt::Key_Up, Qt::Key_R, Qt::Key_F, Qt::Key_M});
        QVERIFY(colors(panel.view()->viewport()->grab().toImage()) > 3);
        for (int i = 0; i < 40; ++i)
            press({Qt::Key_W});
        (void)panel.view()->viewport()->grab();
        press({Qt::Key_D, Qt::Key_A, Qt::Key_End, Qt::Key_Home, Qt::Key_Escape, Qt::Key_Escape, Qt::Key_F,
               Qt::Key_F});
        QCOMPARE(document.visible(), document.extent());
        panel.state()->changeLayout([](TrackLayout& layout) {
            const std::vector<Row> rows = layout.rows();
            for (const Row& row : rows)
                layout.setFolded(row.id, !row.folded);
        });
        QVERIFY(colors(panel.grab().toImage()) > 3);
    }
};

QTEST_MAIN(TimelineCorpusTest)
#include "tst_timeline_corpus.moc"
