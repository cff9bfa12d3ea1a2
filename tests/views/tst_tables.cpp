// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/choice_button.h"
#include "views/tables/table_export.h"
#include "views/tables/table_view.h"
#include "views/tables/tabular_text.h"
#include "views/text.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace warpline;

namespace {

struct Fruit {
    QString name;
    QVariant count;
    QVariant time;
    double share;
};

class FruitModel : public TableModel {
  public:
    FruitModel()
        : TableModel({{QStringLiteral("name"), QStringLiteral("Name"), QStringLiteral("What it is."),
                       ColumnKind::Text},
                      {QStringLiteral("count"), QStringLiteral("Count"), QStringLiteral("How many."),
                       ColumnKind::Count},
                      {QStringLiteral("time_ns"), QStringLiteral("Time"), QStringLiteral("How long."),
                       ColumnKind::Duration},
                      {QStringLiteral("share"), QStringLiteral("Share"), QStringLiteral("Of all."),
                       ColumnKind::Percent, true},
                      {QStringLiteral("odd"), QStringLiteral("Odd"), QStringLiteral("Seldom."),
                       ColumnKind::Text, false, true}}) {}

    void set(std::vector<Fruit> fruits) {
        beginRows();
        m_fruits = std::move(fruits);
        endRows();
    }
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_fruits.size()); }
    [[nodiscard]] QStringList names() const {
        QStringList out;
        for (int row = 0; row < rowCount(); ++row)
            out.append(index(row, 0).data().toString());
        return out;
    }

  protected:
    [[nodiscard]] QVariant raw(int row, int column) const override {
        const Fruit& f = m_fruits[static_cast<std::size_t>(row)];
        switch (column) {
        case 0:
            return f.name;
        case 1:
            return f.count;
        case 2:
            return f.time;
        case 3:
            return f.share;
        default:
            return QStringLiteral("x");
        }
    }

  private:
    std::vector<Fruit> m_fruits;
};

std::vector<Fruit> basket() {
    return {{QStringLiteral("pear"), qlonglong{3}, qlonglong{1'310'000}, 0.25},
            {QStringLiteral("Apple, \"red\""), qlonglong{20}, QVariant(), 0.5},
            {QStringLiteral("fig|dry"), qlonglong{1234567}, qlonglong{-111}, 0.125},
            {QStringLiteral("apricot"), qlonglong{3}, qlonglong{999}, 0.125}};
}

} // namespace

class TestTables : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_tables"));
    }
    void init() { QSettings().clear(); }

    void modelKeepsTheRules() {
        FruitModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 0);
        model.set(basket());
        QCOMPARE(model.rowCount(), 4);
        model.sort(1, Qt::AscendingOrder);
        QVERIFY(model.setFilter(QStringLiteral("ap")));
        QCOMPARE(model.rowCount(), 2);
        model.sort(0, Qt::DescendingOrder);
        model.set({});
        QCOMPARE(model.rowCount(), 0);
        model.set(basket());
        QCOMPARE(model.names(), (QStringList{QStringLiteral("apricot"), QStringLiteral("Apple, \"red\"")}));
    }

    void sortsNumbersAsNumbersAndUnknownLast() {
        FruitModel model;
        model.set(basket());
        model.sort(1, Qt::AscendingOrder);
        // Equal ones keep the order in which they came.
        QCOMPARE(model.names(), (QStringList{QStringLiteral("pear"), QStringLiteral("apricot"),
                                             QStringLiteral("Apple, \"red\""), QStringLiteral("fig|dry")}));
        model.sort(2, Qt::AscendingOrder);
        QCOMPARE(model.names().constLast(), QStringLiteral("Apple, \"red\""));
        QCOMPARE(model.names().constFirst(), QStringLiteral("fig|dry"));
        model.sort(2, Qt::DescendingOrder);
        QCOMPARE(model.names().constFirst(), QStringLiteral("pear"));
        QCOMPARE(model.names().constLast(), QStringLiteral("Apple, \"red\""));
        model.sort(-1);
        QCOMPARE(model.names().constFirst(), QStringLiteral("pear"));
        QCOMPARE(model.names().constLast(), QStringLiteral("apricot"));
    }

    void persistentIndexesFollowTheirRows() {
        FruitModel model;
        model.set(basket());
        const QPersistentModelIndex fig = model.index(2, 1);
        model.sort(0, Qt::AscendingOrder);
        QCOMPARE(fig.row(), 2);
        model.sort(1, Qt::DescendingOrder);
        QCOMPARE(fig.row(), 0);
        QCOMPARE(fig.sibling(fig.row(), 0).data().toString(), QStringLiteral("fig|dry"));
    }

    void filterByWordsAndExpression() {
        FruitModel model;
        model.set(basket());
        QVERIFY(model.setFilter(QStringLiteral("RED app")));
        QCOMPARE(model.rowCount(), 1);
        QVERIFY(model.setFilter(QStringLiteral("/^ap.*t$/")));
        QCOMPARE(model.names(), QStringList{QStringLiteral("apricot")});
        QVERIFY(!model.setFilter(QStringLiteral("/(/")));
        QCOMPARE(model.names(), QStringList{QStringLiteral("apricot")});
        QVERIFY(model.setFilter(QString()));
        QCOMPARE(model.rowCount(), 4);
    }

    void writesNumbersForPeople() {
        FruitModel model;
        model.set(basket());
        QCOMPARE(model.index(0, 2).data().toString(), durationText(1'310'000));
        QCOMPARE(model.index(1, 2).data().toString(), QStringLiteral("–"));
        QCOMPARE(model.index(2, 1).data().toString(), QStringLiteral("1,234,567"));
        QCOMPARE(model.index(0, 2).data(Qt::ToolTipRole).toString(), exactDurationText(1'310'000));
        QVERIFY(!model.index(1, 2).data(Qt::ToolTipRole).toString().isEmpty());
        QCOMPARE(model.index(1, 3).data(TableModel::BarRole).toDouble(), 1.0); // the largest fills its cell
        QCOMPARE(model.index(0, 3).data(TableModel::BarRole).toDouble(), 0.5);
        QVERIFY(!model.index(1, 1).data(TableModel::BarRole).isValid());
        const auto right = Qt::Alignment(model.index(0, 1).data(Qt::TextAlignmentRole).toInt());
        QVERIFY(right.testFlag(Qt::AlignRight));
        for (int column = 0; column < model.columnCount(); ++column)
            QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }

    void exportsCsv() {
        FruitModel model;
        model.set(basket());
        QCOMPARE(exportTable(model, TableFormat::Csv, {0, 1, 2, 3}),
                 QStringLiteral("name,count,time_ns,share\r\n"
                                "pear,3,1310000,0.25\r\n"
                                "\"Apple, \"\"red\"\"\",20,,0.5\r\n"
                                "fig|dry,1234567,-111,0.125\r\n"
                                "apricot,3,999,0.125\r\n"));
    }

    void exportsMarkdown() {
        FruitModel model;
        model.set(basket());
        model.sort(1, Qt::DescendingOrder);
        QCOMPARE(exportTable(model, TableFormat::Markdown, {0, 1}, {0}),
                 QStringLiteral("| Name | Count |\n| :--- | ---: |\n| fig\\|dry | 1,234,567 |\n"));
    }

    void exportsJson() {
        FruitModel model;
        model.set(basket());
        const QJsonDocument json = QJsonDocument::fromJson(exportTable(model, TableFormat::Json).toUtf8());
        const QJsonArray rows = json.object().value(QStringLiteral("rows")).toArray();
        QCOMPARE(rows.size(), 4);
        QCOMPARE(rows[0].toObject().value(QStringLiteral("time_ns")).toInteger(), 1'310'000);
        QVERIFY(rows[1].toObject().value(QStringLiteral("time_ns")).isNull());
        QCOMPARE(rows[1].toObject().value(QStringLiteral("name")).toString(),
                 QStringLiteral("Apple, \"red\""));
    }

    void columnsAreHiddenAndKept() {
        FruitModel model;
        model.set(basket());
        {
            TableView view(&model, QStringLiteral("fruit"), QStringLiteral("count"));
            QVERIFY(view.isColumnHidden(4)); // hidden by default
            view.setColumnHiddenByUser(QStringLiteral("odd"), false);
            view.setColumnHiddenByUser(QStringLiteral("share"), true);
            view.setUnavailable({QStringLiteral("time_ns")});
            QVERIFY(!view.isColumnHidden(4));
            QVERIFY(view.isColumnHidden(3));
            QVERIFY(view.isColumnHidden(2));
            QCOMPARE(view.visibleColumns(), (std::vector<int>{0, 1, 4}));
            view.sortByColumn(0, Qt::AscendingOrder);
        }
        TableView again(&model, QStringLiteral("fruit"), QStringLiteral("count"));
        QVERIFY(!again.isColumnHidden(4));
        QVERIFY(again.isColumnHidden(3));
        QVERIFY(!again.isColumnHidden(2)); // data, not a choice: not kept
        QCOMPARE(again.horizontalHeader()->sortIndicatorSection(), 0);
        QCOMPARE(again.horizontalHeader()->sortIndicatorOrder(), Qt::AscendingOrder);
        again.resetColumns();
        QVERIFY(again.isColumnHidden(4));
        QVERIFY(!again.isColumnHidden(3));
        QCOMPARE(again.horizontalHeader()->sortIndicatorSection(), 1);
    }

    void columnsMenuTicksAndUnticks() {
        FruitModel model;
        TableView view(&model, QStringLiteral("fruit"), QStringLiteral("count"));
        QMenu menu;
        view.fillColumnsMenu(&menu);
        QAction* share = nullptr;
        for (QAction* action : menu.actions()) {
            if (action->text() == QStringLiteral("Share"))
                share = action;
        }
        QVERIFY(share != nullptr && share->isChecked());
        share->trigger();
        QVERIFY(view.isColumnHidden(3));
        share->trigger();
        QVERIFY(!view.isColumnHidden(3));
    }

    void currentRowSurvivesARefresh() {
        FruitModel model;
        model.set(basket());
        TableView view(&model, QStringLiteral("fruit"), QStringLiteral("count"));
        view.setCurrentIndex(model.index(1, 0));
        const QString name = view.currentIndex().data().toString();
        auto fewer = basket();
        fewer.erase(fewer.begin());
        model.set(fewer);
        QCOMPARE(view.currentIndex().siblingAtColumn(0).data().toString(), name);
    }

    void keysCopyAndActivate() {
        FruitModel model;
        model.set(basket());
        TableView view(&model, QStringLiteral("fruit"), QStringLiteral("count"));
        view.resize(600, 300);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.setCurrentIndex(model.index(0, 0));
        const QSignalSpy activated(&view, &TableView::rowActivated);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        // QTest's double click is the second half of one only.
        const QPoint third = view.visualRect(model.index(2, 1)).center();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, third);
        QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, third);
        QCOMPARE(activated.count(), 2);
        QCOMPARE(activated.last().first().toInt(), 2);
        view.setCurrentIndex(model.index(0, 0));
        QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text().section(u'\n', 0, 0),
                 QStringLiteral("Name\tCount\tTime\tShare"));
        QCOMPARE(QGuiApplication::clipboard()->text().count(u'\n'), 2);
    }

    void headerClickSorts() {
        FruitModel model;
        model.set(basket());
        TableView view(&model, QStringLiteral("fruit"), QStringLiteral("count"));
        view.resize(700, 300);
        view.show();
        QCOMPARE(model.names().constFirst(), QStringLiteral("fig|dry")); // by count, descending
        auto* header = view.horizontalHeader();
        const QPoint at(header->sectionViewportPosition(2) + 10, header->height() / 2);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
        QCOMPARE(header->sortIndicatorSection(), 2);
        const QString first = header->sortIndicatorOrder() == Qt::AscendingOrder ? QStringLiteral("fig|dry")
                                                                                 : QStringLiteral("pear");
        QCOMPARE(model.names().constFirst(), first);
    }

    void digitsAreEquallyWide() {
        // The ink of "1111" ends where the ink of "8888" begins counting from the right: both are four cells
        // wide.
        const auto inkLeft = [](const QString& text) {
            QImage image(200, 30, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.setFont(tableFont());
            drawTabular(painter, QRectF(0, 0, 190, 30), text);
            painter.end();
            for (int x = 0; x < image.width(); ++x) {
                for (int y = 0; y < image.height(); ++y) {
                    if (qGray(image.pixel(x, y)) < 200)
                        return x;
                }
            }
            return -1;
        };
        const int dotsWithOnes = inkLeft(QStringLiteral("_1111"));
        const int dotsWithEights = inkLeft(QStringLiteral("_8888"));
        QVERIFY(dotsWithOnes > 0);
        QCOMPARE(dotsWithOnes, dotsWithEights);
    }

    void choiceButtonChooses() {
        ChoiceButton button(QStringLiteral("rows"), {QStringLiteral("Ops"), QStringLiteral("Kernels")});
        const QSignalSpy chosen(&button, &ChoiceButton::chosen);
        QCOMPARE(button.text(), QStringLiteral("rows: Ops ▾"));
        button.menu()->actions().at(1)->trigger();
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(button.current(), 1);
        QTest::keyClick(&button, Qt::Key_Down);
        QCOMPARE(button.current(), 1);
        QTest::keyClick(&button, Qt::Key_Up);
        QCOMPARE(button.current(), 0);
        QCOMPARE(button.accessibleName(), QStringLiteral("rows: Ops"));
        button.setCurrent(1);
        QCOMPARE(chosen.count(), 2); // setCurrent says nothing
    }

    void fileSizes() {
        QCOMPARE(fileSizeText(0), QStringLiteral("0 B"));
        QCOMPARE(fileSizeText(999), QStringLiteral("999 B"));
        QCOMPARE(fileSizeText(1000), QStringLiteral("1.00 kB"));
        QCOMPARE(fileSizeText(14'000'000), QStringLiteral("14.0 MB"));
        QCOMPARE(fileSizeText(999'600), QStringLiteral("1.00 MB"));
        QCOMPARE(fileSizeText(1'210'000'000), QStringLiteral("1.21 GB"));
    }

  private:
    QTemporaryDir m_settings;
};

QTEST_MAIN(TestTables)
#include "tst_tables.moc"
