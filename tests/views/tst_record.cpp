// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/capture_bar.h"
#include "views/capture/capture_controller.h"
#include "views/capture/record_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace warpline;

/// The form that says what to record, and a recording that runs without a GPU.
class RecordTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    static QStringList words(const QString& line) {
        const Result<QStringList> result = RecordDialog::splitCommand(line);
        return result.ok() ? result.value() : QStringList{QStringLiteral("error")};
    }

  private slots:
    void initTestCase() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
        QCoreApplication::setOrganizationName(QStringLiteral("warpline"));
        QCoreApplication::setApplicationName(QStringLiteral("test"));
    }

    void commandsAreSplitAsShellsDo() {
        QCOMPARE(words(QStringLiteral("python train.py --lr 1e-3")),
                 (QStringList{QStringLiteral("python"), QStringLiteral("train.py"), QStringLiteral("--lr"),
                              QStringLiteral("1e-3")}));
        QCOMPARE(words(QStringLiteral("  a  'b c' \"d \\\" e\" f\\ g h'i'j ''")),
                 (QStringList{QStringLiteral("a"), QStringLiteral("b c"), QStringLiteral("d \" e"),
                              QStringLiteral("f g"), QStringLiteral("hij"), QString()}));
        QVERIFY(words(QString()).isEmpty());
        QVERIFY(!RecordDialog::splitCommand(QStringLiteral("python 'train.py")).ok());
    }

    void theFormSaysWhatIsMissing() {
        RecordDialog dialog;
        auto* start = dialog.findChild<QPushButton*>(QStringLiteral("recordStart"));
        auto* problem = dialog.findChild<QLabel*>(QStringLiteral("recordProblem"));
        auto* command = dialog.findChild<QLineEdit*>(QStringLiteral("recordCommand"));
        auto* folder = dialog.findChild<QLineEdit*>(QStringLiteral("recordFolder"));
        auto* output = dialog.findChild<QLineEdit*>(QStringLiteral("recordOutput"));
        command->clear();
        QVERIFY(!start->isEnabled());
        QVERIFY(problem->text().contains(QStringLiteral("Type the program")));
        command->setText(QStringLiteral("python train.py"));
        folder->setText(m_folder.path());
        output->setText(m_folder.filePath(QStringLiteral("run.wpl")));
        QVERIFY2(start->isEnabled(), qPrintable(problem->text()));
        QVERIFY(problem->text().isEmpty());
        folder->setText(QStringLiteral("/no/such/folder"));
        QVERIFY(problem->text().contains(QStringLiteral("/no/such/folder")));
        folder->setText(m_folder.path());
        dialog.findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("nonsense"));
        QVERIFY(problem->text().contains(QStringLiteral("NAME=value")));
        dialog.findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("A=1\nB=x=y"));
        const Result<capture::RecordConfig> config = dialog.config();
        QVERIFY(config.ok());
        QCOMPARE(config.value().command, (std::vector<std::string>{"python", "train.py"}));
        QCOMPARE(config.value().environment.size(), std::size_t{2});
        QCOMPARE(config.value().environment[1].second, std::string("x=y"));
        QVERIFY(config.value().gatherOutput);
        QVERIFY((config.value().kinds & wire::Kind::Kernels) != 0);
    }

    void theRemoteCommandSaysTheSame() {
        RecordDialog dialog;
        dialog.findChild<QLineEdit*>(QStringLiteral("recordCommand"))
            ->setText(QStringLiteral("python train.py 'a b'"));
        QCOMPARE(dialog.remoteCommand(),
                 QStringLiteral("ssh HOST warpline-cli record -o - -- python train.py 'a b' | warpline -"));
        for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
            if (box->text().startsWith(QStringLiteral("PyTorch")))
                box->setChecked(true);
        }
        QVERIFY(dialog.remoteCommand().contains(QStringLiteral(" --torch --memory-history -- ")));
    }

    void whatWasTypedIsKept() {
        {
            RecordDialog dialog;
            dialog.findChild<QLineEdit*>(QStringLiteral("recordCommand"))
                ->setText(QStringLiteral("./kept --x"));
            dialog.findChild<QLineEdit*>(QStringLiteral("recordFolder"))->setText(m_folder.path());
            dialog.findChild<QLineEdit*>(QStringLiteral("recordOutput"))
                ->setText(m_folder.filePath(QStringLiteral("kept.wpl")));
            QSignalSpy asked(&dialog, &RecordDialog::recordRequested);
            QTest::mouseClick(dialog.findChild<QPushButton*>(QStringLiteral("recordStart")), Qt::LeftButton);
            QCOMPARE(asked.count(), 1);
        }
        RecordDialog again;
        QCOMPARE(again.findChild<QLineEdit*>(QStringLiteral("recordCommand"))->text(),
                 QStringLiteral("./kept --x"));
    }

    void namesAreNotTakenTwice() {
        const QString first = CaptureController::freeName(m_folder.path(), QStringLiteral("r"));
        QVERIFY(first.endsWith(QStringLiteral("/r.wpl")));
        QFile file(first);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        QVERIFY(CaptureController::freeName(m_folder.path(), QStringLiteral("r"))
                    .endsWith(QStringLiteral("/r-2.wpl")));
    }

    void aProgramThatCannotBeStartedIsASentence() {
        Document document;
        CaptureController capture(&document);
        QSignalSpy failed(&capture, &CaptureController::failed);
        capture::RecordConfig config;
        config.command = {"/no/such/program"};
        config.output = m_folder.filePath(QStringLiteral("none.wpl")).toStdString();
        config.gatherOutput = true;
        capture.start(config);
        QVERIFY(failed.wait(10'000));
        const QString sentence = failed.first().first().toString();
        QVERIFY2(sentence.size() > 10 && sentence.endsWith(u'.'), qPrintable(sentence));
        QVERIFY(!capture.recording());
        QVERIFY(capture.canRepeat());
    }
};

QTEST_MAIN(RecordTest)
#include "tst_record.moc"
