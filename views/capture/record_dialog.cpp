// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/record_dialog.h"

#include "views/capture/capture_controller.h"
#include "views/text.h"
#include "views/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTableWidget>
#include <QTabWidget>
#include <QVBoxLayout>

namespace warpline {

namespace {

QString settingsKey(const char* name) {
    return QStringLiteral("record/") + QLatin1String(name);
}

/// A word as a shell takes it back whole.
QString quoted(const QString& word) {
    bool plain = !word.isEmpty();
    for (const QChar c : word)
        plain = plain && (c.isLetterOrNumber() || QStringLiteral("-_./=:,+@%").contains(c));
    return plain ? word : QChar(u'\'') + QString(word).replace(u'\'', QStringLiteral("'\\''")) + QChar(u'\'');
}

QWidget* inRow(std::initializer_list<QWidget*> widgets) {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    for (QWidget* widget : widgets)
        layout->addWidget(widget);
    return row;
}

} // namespace

RecordDialog::RecordDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("recordDialog"));
    setWindowTitle(tr("Record"));
    m_pages = new QTabWidget(this);
    m_pages->setDocumentMode(true);
    m_pages->addTab(makeLaunch(), tr("Launch a program"));
    m_pages->addTab(makeAttach(), tr("Attach to a running one"));
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("recordProblem"));
    m_problem->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_record = buttons->addButton(tr("● Record"), QDialogButtonBox::AcceptRole);
    m_record->setObjectName(QStringLiteral("recordStart"));
    m_record->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &RecordDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(12);
    layout->addWidget(m_pages, 1);
    layout->addWidget(makeWhat());
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
    resize(720, 660);
    restore();
    connect(m_pages, &QTabWidget::currentChanged, this, [this] {
        if (attaching())
            listPrograms();
        refresh();
    });
    for (QLineEdit* line : {m_command, m_folder, m_range, m_output})
        connect(line, &QLineEdit::textChanged, this, &RecordDialog::refresh);
    connect(m_environment, &QPlainTextEdit::textChanged, this, &RecordDialog::refresh);
    connect(m_programs, &QTableWidget::itemSelectionChanged, this, &RecordDialog::refresh);
    for (QCheckBox* box : {m_calls, m_nvtx, m_sync, m_memory, m_torch, m_history, m_ring})
        connect(box, &QCheckBox::toggled, this, &RecordDialog::refresh);
    for (QSpinBox* box : {m_delay, m_duration, m_limit})
        connect(box, &QSpinBox::valueChanged, this, &RecordDialog::refresh);
    connect(m_begin, &QComboBox::currentIndexChanged, this, &RecordDialog::refresh);
    refresh();
}

QWidget* RecordDialog::makeLaunch() {
    auto* page = new QWidget;
    auto* form = new QFormLayout(page);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_command = new QLineEdit(page);
    m_command->setObjectName(QStringLiteral("recordCommand"));
    m_command->setPlaceholderText(tr("python train.py --steps 100"));
    form->addRow(tr("&Program"), m_command);
    m_folder = new QLineEdit(page);
    m_folder->setObjectName(QStringLiteral("recordFolder"));
    auto* choose = new QPushButton(tr("Choose…"), page);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString folder =
            QFileDialog::getExistingDirectory(this, tr("Folder to run in"), m_folder->text());
        if (!folder.isEmpty())
            m_folder->setText(folder);
    });
    form->addRow(tr("&Folder"), inRow({m_folder, choose}));
    m_environment = new QPlainTextEdit(page);
    m_environment->setPlaceholderText(tr("NAME=value, a line each, beside this program's own environment"));
    m_environment->setTabChangesFocus(true);
    m_environment->setMaximumHeight(64);
    form->addRow(tr("&Environment"), m_environment);
    m_remote = new QLineEdit(page);
    m_remote->setReadOnly(true);
    m_remote->setObjectName(QStringLiteral("recordRemote"));
    m_remote->setToolTip(tr("The same on another machine, shown here while it runs"));
    form->addRow(tr("On a server"), m_remote);
    return page;
}

QWidget* RecordDialog::makeAttach() {
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    m_programs = new QTableWidget(0, 4, page);
    m_programs->setObjectName(QStringLiteral("recordPrograms"));
    m_programs->setAccessibleName(tr("Programs that use a GPU"));
    m_programs->setHorizontalHeaderLabels(
        {tr("Process"), tr("User"), tr("Command"), tr("Can be attached to")});
    m_programs->horizontalHeader()->setStretchLastSection(true);
    m_programs->verticalHeader()->hide();
    m_programs->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_programs->setSelectionMode(QAbstractItemView::SingleSelection);
    m_programs->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_programs->setShowGrid(false);
    auto* again = new QPushButton(tr("Look again"), page);
    connect(again, &QPushButton::clicked, this, &RecordDialog::listPrograms);
    layout->addWidget(m_programs, 1);
    layout->addWidget(again, 0, Qt::AlignLeft);
    return page;
}

QWidget* RecordDialog::makeWhat() {
    auto* box = new QWidget(this);
    auto* form = new QFormLayout(box);
    form->setContentsMargins(0, 0, 0, 0);
    const auto check = [&](const QString& text, const QString& tip, bool on) {
        auto* c = new QCheckBox(text, box);
        c->setToolTip(tip);
        c->setChecked(on);
        return c;
    };
    auto* kernels = check(tr("Kernels, copies, sets"), tr("Always recorded"), true);
    kernels->setEnabled(false);
    m_calls =
        check(tr("Runtime calls"), tr("The calls that matter: launches, copies, waits, allocations"), true);
    m_nvtx = check(tr("NVTX ranges"), tr("Ranges and marks of the program, by domain"), true);
    m_sync = check(tr("Waits"), tr("Waits for events, streams and contexts"), true);
    m_memory = check(tr("Driver memory"), tr("cudaMalloc, cudaFree and pools"), true);
    form->addRow(tr("What"), inRow({kernels, m_calls, m_nvtx, m_sync, m_memory}));
    m_torch = check(tr("PyTorch ops"), tr("Ops and steps as ranges, no line of the program changed"), false);
    m_history = check(tr("PyTorch allocator history"),
                      tr("With stacks; the snapshot is opened beside the recording"), false);
    form->addRow(QString(), inRow({m_torch, m_history}));
    m_begin = new QComboBox(box);
    m_begin->setObjectName(QStringLiteral("recordBegin"));
    m_begin->addItems(
        {tr("at once"), tr("after a delay"), tr("at cudaProfilerStart"), tr("at an NVTX range")});
    m_delay = new QSpinBox(box);
    m_delay->setRange(0, 86'400);
    m_delay->setSuffix(tr(" s"));
    m_delay->setToolTip(tr("Delay"));
    m_range = new QLineEdit(box);
    m_range->setPlaceholderText(tr("how the range's name begins"));
    form->addRow(tr("&Begin"), inRow({m_begin, m_delay, m_range}));
    m_duration = new QSpinBox(box);
    m_duration->setRange(0, 86'400);
    m_duration->setSuffix(tr(" s"));
    m_duration->setSpecialValueText(tr("until it ends"));
    m_limit = new QSpinBox(box);
    m_limit->setRange(0, 1'000'000);
    m_limit->setSuffix(tr(" MB"));
    m_limit->setSpecialValueText(tr("no limit of size"));
    m_ring = check(tr("keep the newest"), tr("At the limit the oldest goes, in place of the recording's end"),
                   false);
    form->addRow(tr("&Length"), inRow({m_duration, m_limit, m_ring}));
    m_output = new QLineEdit(box);
    m_output->setObjectName(QStringLiteral("recordOutput"));
    form->addRow(tr("&Save as"), m_output);
    return box;
}

void RecordDialog::showPage(Page page) {
    m_pages->setCurrentIndex(static_cast<int>(page));
    if (page == Page::Attach)
        listPrograms();
    else
        m_command->setFocus();
}

bool RecordDialog::attaching() const {
    return m_pages->currentIndex() == static_cast<int>(Page::Attach);
}

void RecordDialog::listPrograms() {
    using Programs = std::vector<capture::GpuProgram>;
    m_programsJob.start([](const std::stop_token&) -> Result<Programs> { return capture::gpuPrograms(); },
                        [this](Result<Programs> result) {
                            m_found = result.ok() ? std::move(result).value() : Programs();
                            m_programs->setRowCount(static_cast<int>(m_found.size()));
                            for (int row = 0; row < m_programs->rowCount(); ++row) {
                                const capture::GpuProgram& p = m_found[static_cast<std::size_t>(row)];
                                const QStringList texts{QString::number(p.pid), toQString(p.user),
                                                        toQString(p.command),
                                                        p.whyNot.empty() ? tr("yes") : toQString(p.whyNot)};
                                for (int column = 0; column < 4; ++column) {
                                    auto* item = new QTableWidgetItem(texts[column]);
                                    item->setToolTip(texts[column]);
                                    if (!p.whyNot.empty())
                                        item->setForeground(Theme::current().mute);
                                    m_programs->setItem(row, column, item);
                                }
                            }
                            m_programs->setColumnWidth(2, 300);
                            refresh();
                        });
}

std::uint64_t RecordDialog::kinds() const {
    namespace Kind = wire::Kind;
    std::uint64_t kinds = Kind::Kernels | Kind::Copies | Kind::Sets | Kind::Overhead;
    kinds |= m_calls->isChecked() ? Kind::Calls : 0;
    kinds |= m_nvtx->isChecked() || m_torch->isChecked() ? Kind::Nvtx : 0;
    kinds |= m_sync->isChecked() ? Kind::Sync : 0;
    kinds |= m_memory->isChecked() ? Kind::Memory : 0;
    return kinds;
}

Result<QStringList> RecordDialog::splitCommand(const QString& line) {
    QStringList words;
    QString word;
    bool inWord = false;
    QChar quote;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar c = line[i];
        if (!quote.isNull()) {
            if (c == quote)
                quote = QChar();
            else if (c == u'\\' && quote == u'"' && i + 1 < line.size() &&
                     (line[i + 1] == u'"' || line[i + 1] == u'\\'))
                word += line[++i];
            else
                word += c;
        } else if (c == u'\'' || c == u'"') {
            quote = c;
            inWord = true;
        } else if (c == u'\\' && i + 1 < line.size()) {
            word += line[++i];
            inWord = true;
        } else if (c.isSpace()) {
            if (inWord)
                words.append(word);
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (!quote.isNull())
        return Error::failed("The program has a quote that is not closed.");
    if (inWord)
        words.append(word);
    return words;
}

Result<capture::RecordConfig> RecordDialog::config() const {
    capture::RecordConfig config;
    if (attaching()) {
        const auto rows = m_programs->selectionModel()->selectedRows();
        if (rows.isEmpty())
            return Error::failed(m_found.empty() ? "No program of this machine uses a GPU now."
                                                 : "Choose a program to attach to.");
        const capture::GpuProgram& program = m_found[static_cast<std::size_t>(rows.first().row())];
        if (!program.whyNot.empty())
            return Error::failed(program.whyNot);
        config.attach = program.pid;
    } else {
        const Result<QStringList> words = splitCommand(m_command->text());
        if (!words.ok())
            return words.error();
        if (words.value().isEmpty())
            return Error::failed("Type the program to record, with its arguments.");
        for (const QString& word : words.value())
            config.command.push_back(word.toStdString());
        const QString folder = m_folder->text().trimmed();
        if (!folder.isEmpty() && !QFileInfo(folder).isDir())
            return Error::failed("There is no folder " + folder.toStdString() + ".");
        config.folder = QFile::encodeName(folder).toStdString();
        for (const QString& line : m_environment->toPlainText().split(u'\n', Qt::SkipEmptyParts)) {
            const qsizetype equals = line.indexOf(u'=');
            if (equals <= 0)
                return Error::failed("The environment needs NAME=value, and \"" + line.toStdString() +
                                     "\" is not.");
            config.environment.emplace_back(line.left(equals).trimmed().toStdString(),
                                            line.mid(equals + 1).toStdString());
        }
        config.gatherOutput = true;
    }
    config.kinds = kinds();
    config.begin = static_cast<capture::BeginWhen>(m_begin->currentIndex());
    config.delayMs = m_delay->value() * 1000LL;
    config.rangeName = m_range->text().toStdString();
    config.durationMs = m_duration->value() * 1000LL;
    const std::uint64_t limit = static_cast<std::uint64_t>(m_limit->value()) * 1'000'000U;
    (m_ring->isChecked() ? config.ringBytes : config.sizeLimit) = limit;
    config.torch = m_torch->isChecked();
    config.memoryHistory = m_history->isChecked();
    const QString output = m_output->text().trimmed();
    if (output.isEmpty())
        return Error::failed("Say where to save the recording.");
    if (!QFileInfo(output).absoluteDir().exists())
        return Error::failed("There is no folder " + QFileInfo(output).absolutePath().toStdString() + ".");
    config.output = QFile::encodeName(output).toStdString();
    return config;
}

QString RecordDialog::remoteCommand() const {
    QStringList parts{QStringLiteral("ssh HOST warpline-cli record -o -")};
    if (m_torch->isChecked())
        parts.append(QStringLiteral("--torch"));
    if (m_history->isChecked())
        parts.append(QStringLiteral("--memory-history"));
    if (m_duration->value() > 0)
        parts.append(QStringLiteral("--duration %1s").arg(m_duration->value()));
    parts.append(QStringLiteral("--"));
    const Result<QStringList> words = splitCommand(m_command->text());
    if (words.ok() && !words.value().isEmpty()) {
        for (const QString& word : words.value())
            parts.append(quoted(word));
    } else {
        parts.append(QStringLiteral("PROGRAM"));
    }
    return parts.join(u' ') + QStringLiteral(" | warpline -");
}

void RecordDialog::refresh() {
    m_delay->setVisible(m_begin->currentIndex() == static_cast<int>(capture::BeginWhen::Delay));
    m_range->setVisible(m_begin->currentIndex() == static_cast<int>(capture::BeginWhen::Range));
    m_ring->setEnabled(m_limit->value() > 0);
    m_remote->setText(remoteCommand());
    m_remote->setCursorPosition(0);
    const Result<capture::RecordConfig> now = config();
    m_record->setEnabled(now.ok());
    m_problem->setText(now.ok() ? QString() : toQString(now.error().message));
}

void RecordDialog::accept() {
    const Result<capture::RecordConfig> now = config();
    if (!now.ok())
        return;
    keep();
    emit recordRequested(now.value());
    QDialog::accept();
}

void RecordDialog::restore() {
    const QSettings settings;
    m_command->setText(settings.value(settingsKey("command")).toString());
    m_folder->setText(settings.value(settingsKey("folder"), QDir::currentPath()).toString());
    m_environment->setPlainText(settings.value(settingsKey("environment")).toString());
    m_torch->setChecked(settings.value(settingsKey("torch"), false).toBool());
    m_history->setChecked(settings.value(settingsKey("history"), false).toBool());
    m_duration->setValue(settings.value(settingsKey("duration"), 0).toInt());
    const QString folder = settings.value(settingsKey("saved"), QDir::homePath()).toString();
    m_output->setText(CaptureController::freeName(folder, QStringLiteral("recording")));
}

void RecordDialog::keep() const {
    QSettings settings;
    settings.setValue(settingsKey("command"), m_command->text());
    settings.setValue(settingsKey("folder"), m_folder->text());
    settings.setValue(settingsKey("environment"), m_environment->toPlainText());
    settings.setValue(settingsKey("torch"), m_torch->isChecked());
    settings.setValue(settingsKey("history"), m_history->isChecked());
    settings.setValue(settingsKey("duration"), m_duration->value());
    settings.setValue(settingsKey("saved"), QFileInfo(m_output->text()).absolutePath());
}

} // namespace warpline
