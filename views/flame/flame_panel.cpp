// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_panel.h"

#include "model/export/flame_writer.h"
#include "views/flame/flame_details.h"
#include "views/memory/memory_focus.h"
#include "views/tables/choice_button.h"
#include "views/text.h"
#include "views/theme.h"

#include <QCheckBox>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QSplitter>
#include <QStackedLayout>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace warpline {

FlamePanel::FlamePanel(Document* document, MemoryFocus* memory, QWidget* parent)
    : QWidget(parent), m_document(document), m_memory(memory), m_view(new FlameView),
      m_details(new FlameDetails(m_view)) {
    setObjectName(QStringLiteral("flamePanel"));
    m_summary = new QLabel;
    m_summary->setObjectName(QStringLiteral("footer"));
    m_summary->setContentsMargins(8, 3, 8, 3);
    m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message = new QLabel;
    m_message->setObjectName(QStringLiteral("emptyReason"));
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setMargin(24);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_view);
    splitter->addWidget(m_details);
    splitter->setStretchFactor(0, 1);
    splitter->setSizes({1200, 280});
    auto* graph = new QWidget;
    auto* column = new QVBoxLayout(graph);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makePath());
    column->addWidget(splitter, 1);
    column->addWidget(m_summary);
    auto* body = new QWidget;
    m_stack = new QStackedLayout(body);
    m_stack->addWidget(graph);
    m_stack->addWidget(m_message);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeControls());
    layout->addWidget(body, 1);

    connect(m_view, &FlameView::zoomChanged, this, &FlamePanel::showPath);
    connect(m_view, &FlameView::searchChanged, this, &FlamePanel::showSearch);
    connect(m_view, &FlameView::activated, this, &FlamePanel::reveal);
    connect(m_view, &FlameView::chosen, this, &FlamePanel::choose);
    connect(m_details, &FlameDetails::timelineRequested, this, &FlamePanel::reveal);
    connect(document, &Document::sessionChanged, this, &FlamePanel::takeSession);
    connect(document, &Document::rangeChanged, this, &FlamePanel::takeRange);
    connect(document, &Document::filterChanged, this, &FlamePanel::takeFilter);
    if (memory != nullptr) {
        const auto again = [this] {
            if (isOfHistory(measure()))
                scheduleRefresh();
        };
        for (const auto signal :
             {&MemoryFocus::placeChanged, &MemoryFocus::momentChanged, &MemoryFocus::marksChanged})
            connect(memory, signal, this, again);
    }
    takeSession();
}

QWidget* FlamePanel::makeControls() {
    auto* row = new QWidget;
    row->setObjectName(QStringLiteral("controlsRow"));
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(8, 3, 8, 3);
    layout->setSpacing(8);
    m_weight = new ChoiceButton(tr("width"), {}, row);
    m_shape = new ChoiceButton(tr("read"), {tr("top-down"), tr("bottom-up")}, row);
    m_shape->setToolTip(tr("Top-down: below a frame what it calls. Bottom-up: below a frame who calls it."));
    m_frames = new ChoiceButton(tr("frames"), {tr("all"), tr("modules"), tr("Python lines")}, row);
    m_range = new ChoiceButton(tr("in"), {tr("Whole trace")}, row);
    m_source = new ChoiceButton(tr("file"), {}, row);
    m_against = new ChoiceButton(tr("against"), {}, row);
    m_against->setToolTip(tr("Colours say what grew (warm) and what shrank (cool) since the other file."));
    const auto box = [&](const QString& text, const QString& tip, bool on) {
        auto* check = new QCheckBox(text, row);
        check->setToolTip(tip);
        check->setChecked(on);
        connect(check, &QCheckBox::toggled, this, &FlamePanel::scheduleRefresh);
        return check;
    };
    m_merge =
        box(tr("merge modules"), tr("Block_0 to Block_5, called from one place, as one Block ×6"), false);
    m_hide = box(tr("hide plumbing"),
                 tr("Leave _call_impl, <built-in …> and the like out; what they weigh goes to their callers"),
                 true);
    m_backward = box(tr("backward with forward"),
                     tr("A backward op stands under the forward op that it computes the gradient of"), true);
    m_threads = box(tr("by thread"), tr("Threads as the roots"), false);
    m_search = new QLineEdit(row);
    m_search->setObjectName(QStringLiteral("flameSearch"));
    m_search->setPlaceholderText(tr("Search: name or /regex/"));
    m_search->setAccessibleName(tr("Search frames"));
    m_search->setClearButtonEnabled(true);
    m_search->setMinimumWidth(110);
    m_search->setMaximumWidth(190);
    connect(m_search, &QLineEdit::textChanged, m_view, &FlameView::setSearch);
    m_export = new QToolButton(row);
    m_export->setObjectName(QStringLiteral("choice"));
    m_export->setText(tr("Export ▾"));
    m_export->setPopupMode(QToolButton::InstantPopup);
    m_export->setAutoRaise(true);
    fillExportMenu();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_weight, m_shape, m_frames, m_range, m_source,
                                                           m_against, m_merge, m_hide, m_backward, m_threads})
        layout->addWidget(widget);
    layout->addStretch(1);
    layout->addWidget(m_search);
    layout->addWidget(m_export);
    for (ChoiceButton* choice : {m_weight, m_shape, m_frames, m_range, m_source, m_against})
        connect(choice, &ChoiceButton::chosen, this, &FlamePanel::scheduleRefresh);
    return row;
}

QWidget* FlamePanel::makePath() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(8, 2, 8, 2);
    layout->setSpacing(2);
    m_path = new QHBoxLayout;
    m_path->setSpacing(2);
    m_found = new QLabel(row);
    m_found->setObjectName(QStringLiteral("flameFound"));
    m_found->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addLayout(m_path);
    layout->addStretch(1);
    layout->addWidget(m_found);
    return row;
}

void FlamePanel::fillExportMenu() {
    auto* menu = new QMenu(m_export);
    connect(menu->addAction(tr("Copy as collapsed stacks")), &QAction::triggered, this, [this] {
        if (m_view->tree()) {
            FlameExport options;
            options.format = FlameFormat::Collapsed;
            QGuiApplication::clipboard()->setText(toQString(flameText(*m_view->tree(), options)));
        }
    });
    menu->addSeparator();
    connect(menu->addAction(tr("Save as SVG…")), &QAction::triggered, this,
            [this] { save(QStringLiteral("svg"), tr("Pictures (*.svg)")); });
    connect(menu->addAction(tr("Save as collapsed stacks…")), &QAction::triggered, this, [this] {
        save(QStringLiteral("collapsed"), tr("Collapsed stacks (*.collapsed *.folded *.txt)"));
    });
    connect(menu->addAction(tr("Save as speedscope JSON…")), &QAction::triggered, this,
            [this] { save(QStringLiteral("speedscope.json"), tr("speedscope (*.speedscope.json)")); });
    connect(menu->addAction(tr("Save the tree as JSON…")), &QAction::triggered, this,
            [this] { save(QStringLiteral("json"), tr("JSON (*.json)")); });
    m_export->setMenu(menu);
}

void FlamePanel::save(const QString& suffix, const QString& filter) {
    if (!m_view->tree())
        return;
    const QString path = QFileDialog::getSaveFileName(this, tr("Save the flame graph"),
                                                      QStringLiteral("flame.") + suffix, filter);
    if (path.isEmpty())
        return;
    FlameExport options;
    options.format = flameFormatOf(path.toStdString()).value_or(FlameFormat::Collapsed);
    options.title =
        tr("%1 of %2").arg(measureName(measure()), sourceLabel(*m_document, request().source)).toStdString();
    options.root = m_view->zoomed();
    options.width = m_view->viewport()->width();
    options.icicle = m_view->icicle();
    options.dark = Theme::current().dark;
    const Result<Done> written = writeFlame(*m_view->tree(), QFile::encodeName(path).toStdString(), options);
    if (!written.ok())
        QMessageBox::warning(this, tr("Warpline"), toQString(written.error().message));
}

FlameRequest FlamePanel::request() const {
    FlameRequest request;
    request.measure = measure();
    request.shape.bottomUp = m_shape->current() == 1;
    request.shape.frames = static_cast<FlameShape::Frames>(m_frames->current());
    request.shape.byThread = m_threads->isChecked();
    request.shape.mergeModules = m_merge->isChecked();
    request.shape.hidePlumbing = m_hide->isChecked();
    request.shape.backwardWithForward = m_backward->isChecked();
    if (m_range->current() == 0)
        request.range = m_document->range();
    request.source = std::max(0, m_source->current());
    request.against = m_against->current() - 1;
    if (request.against >= request.source)
        ++request.against; // a file is not compared with itself, and not listed
    if (m_against->current() <= 0)
        request.against = -1;
    request.op = m_document->selection().op;
    return request;
}

FlameMeasure FlamePanel::measure() const {
    const auto at = static_cast<std::size_t>(m_weight->current());
    return at < m_measures.size() ? m_measures[at] : FlameMeasure::GpuTime;
}

void FlamePanel::setMeasure(FlameMeasure measure) {
    for (std::size_t i = 0; i < m_measures.size(); ++i) {
        if (m_measures[i] == measure)
            m_weight->setCurrent(static_cast<int>(i));
    }
    scheduleRefresh();
}

void FlamePanel::takeSession() {
    m_job.cancel();
    m_revealJob.cancel();
    m_view->setTree(nullptr);
    QStringList files;
    bool anyDevice = false;
    for (std::size_t i = 0; i < m_document->items().size(); ++i) {
        files.append(sourceLabel(*m_document, static_cast<int>(i)));
        for (const Process& process : m_document->items()[i].trace->processes)
            anyDevice = anyDevice || process.device;
    }
    m_traces = static_cast<int>(files.size());
    for (const ProfilePtr& profile : m_document->profiles()) {
        const QString path = toQString(profile->path);
        const QString name = toQString(profile->name);
        const QString file = path.mid(path.lastIndexOf(u'/') + 1);
        files.append(name.isEmpty() || name == file ? file : tr("%1 · %2").arg(file, name));
    }
    m_source->setOptions(files);
    m_source->setVisible(files.size() > 1);
    m_against->setOptions({tr("nothing")}); // refresh() names the others of the chosen file
    m_against->setVisible(m_traces > 1);
    // Without a trace a snapshot has bytes to show and nothing else.
    const bool memory = m_memory != nullptr && !m_document->memories().empty();
    m_measures.clear();
    if (m_traces > 0 || !memory || !m_document->profiles().empty())
        m_measures = {FlameMeasure::GpuTime, FlameMeasure::CpuTime, FlameMeasure::Calls,
                      FlameMeasure::Allocated};
    if (memory)
        m_measures.insert(m_measures.end(), {FlameMeasure::Live, FlameMeasure::Between});
    QStringList names;
    for (const FlameMeasure measure : m_measures)
        names.append(measureName(measure));
    m_weight->setOptions(names);
    // Of a trace without a GPU the CPU's time is what there is.
    m_weight->setCurrent(anyDevice || m_traces == 0 ? 0 : 1);
    takeRange();
}

void FlamePanel::takeRange() {
    const QString name = m_document->rangeName().isEmpty() ? tr("Selection") : m_document->rangeName();
    m_range->setOptions(m_document->range() ? QStringList{name, tr("Whole trace")}
                                            : QStringList{tr("Whole trace")});
    scheduleRefresh();
}

void FlamePanel::scheduleRefresh() {
    m_stale = visibleRegion().isEmpty();
    if (!m_stale)
        refresh();
}

void FlamePanel::catchUp() {
    if (!visibleRegion().isEmpty() && std::exchange(m_stale, false))
        refresh();
}

void FlamePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    QTimer::singleShot(0, this, &FlamePanel::catchUp);
}

void FlamePanel::showControls() {
    const FlameRequest wanted = request();
    const bool history = isOfHistory(wanted.measure);
    // A profile of another program has one weight and neither times nor threads nor backward ops.
    const bool ofTrace = wanted.source < m_traces || m_document->profiles().empty();
    m_weight->setVisible(ofTrace || (m_memory != nullptr && m_memory->hasMemory()));
    for (QWidget* control : std::initializer_list<QWidget*>{m_range, m_backward, m_threads})
        control->setVisible(ofTrace && !history);
    m_source->setVisible(m_source->options().size() > 1 && !history);
    m_against->setVisible(m_traces > 1 && !history);
    m_details->setOfBlocks(history);
    // The names of the other files change with the file.
    QStringList others{tr("nothing")};
    for (int i = 0; i < m_traces; ++i) {
        if (i != wanted.source)
            others.append(sourceLabel(*m_document, i));
    }
    if (others != m_against->options()) {
        const int chosen = m_against->current();
        m_against->setOptions(others);
        m_against->setCurrent(chosen);
    }
}

void FlamePanel::refresh() {
    showControls();
    m_shown = m_document->selection();
    const FlameRequest wanted = request();
    const auto& items = m_document->items();
    const auto show = [this](const Result<FlameData>& result) { showResult(result); };
    if (isOfHistory(wanted.measure)) {
        const auto memory = memoryWanted(*m_memory, wanted.measure);
        if (!memory)
            return showMessage(emptyReason(wanted.measure));
        m_job.start(
            [memory = *memory, wanted](const std::stop_token& stop) {
                return flameOfMemory(memory, wanted.measure, wanted.shape, stop);
            },
            show);
    } else if (const auto profile = static_cast<std::size_t>(wanted.source - m_traces);
               wanted.source >= m_traces && profile < m_document->profiles().size()) {
        m_job.start([profile = m_document->profiles()[profile], wanted](
                        const std::stop_token& stop) { return flameOfProfile(profile, wanted.shape, stop); },
                    show);
    } else if (static_cast<std::size_t>(wanted.source) < items.size()) {
        std::optional<Document::Item> base;
        if (wanted.against >= 0 && static_cast<std::size_t>(wanted.against) < items.size())
            base = items[static_cast<std::size_t>(wanted.against)];
        m_job.start([item = items[static_cast<std::size_t>(wanted.source)], base,
                     wanted](const std::stop_token& stop) { return flameOfTrace(item, base, wanted, stop); },
                    show);
    } else {
        return showMessage(emptyReason(wanted.measure));
    }
    if (!m_view->tree()) {
        m_message->setText(tr("Working…"));
        m_stack->setCurrentWidget(m_message);
    }
}

void FlamePanel::showMessage(const QString& sentence) {
    m_job.cancel();
    m_view->setTree(nullptr);
    m_message->setText(sentence);
    m_stack->setCurrentWidget(m_message);
}

void FlamePanel::showResult(const Result<FlameData>& result) {
    if (result.ok())
        return showTree(result.value());
    m_message->setText(toQString(result.error().message));
    m_stack->setCurrentWidget(m_message);
}

void FlamePanel::showTree(const FlameData& shown) {
    m_view->setTree(shown.tree);
    m_details->setWeightName(shown.name);
    const bool nothing = shown.tree->total() == 0;
    m_message->setText(!nothing             ? QString()
                       : shown.coverageSays ? emptyReason(shown.measure)
                                            : tr("Nothing in this profile weighs anything."));
    m_stack->setCurrentIndex(nothing ? 1 : 0);
    QStringList parts{tr("%1 %2").arg(shown.name, m_view->weightText(shown.tree->total()))};
    const FlameCoverage& c = shown.coverage;
    const auto share = [&](std::int64_t part) {
        return percentText(c.total > 0 ? static_cast<double>(part) / static_cast<double>(c.total) : 0);
    };
    if (c.total > 0 && shown.coverageSays) {
        parts.append(tr("%1 under a line of the program or a module").arg(share(c.scriptOrModule)));
        if (c.missing > 0)
            parts.append(tr("%1 without a stack").arg(share(c.missing)));
        if (c.backward > 0)
            parts.append(tr("%1 backward").arg(share(c.backward)));
    }
    if (!m_shown.op.isEmpty() && !isOfHistory(shown.measure) && shown.coverageSays)
        parts.append(tr("only under %1").arg(m_shown.op));
    if (shown.tree->difference)
        parts.append(tr("before %1").arg(m_view->weightText(shown.tree->nodes.front().baseTotal)));
    m_summary->setText(parts.join(QStringLiteral("   ·   ")));
    takeFrame();
    showPath();
    showSearch();
}

QString FlamePanel::summary() const {
    return m_summary->text();
}

QString FlamePanel::message() const {
    return m_stack->currentWidget() == m_message ? m_message->text() : QString();
}

void FlamePanel::showPath() {
    while (QLayoutItem* item = m_path->takeAt(0)) {
        if (item->widget() != nullptr)
            item->widget()->deleteLater();
        delete item;
    }
    if (!m_view->tree())
        return;
    const auto crumb = [&](std::uint32_t node, const QString& text) {
        auto* button = new QToolButton(this);
        button->setObjectName(QStringLiteral("choice"));
        button->setText(button->fontMetrics().elidedText(text, Qt::ElideMiddle, 180));
        button->setToolTip(text);
        connect(button, &QToolButton::clicked, m_view, [this, node] { m_view->zoomTo(node); });
        m_path->addWidget(button);
    };
    crumb(FlameTree::kRoot, tr("all"));
    const std::vector<std::uint32_t> path = m_view->tree()->path(m_view->zoomed());
    constexpr std::size_t kMostCrumbs = 5;
    const std::size_t first = path.size() > kMostCrumbs ? path.size() - kMostCrumbs : 0;
    for (std::size_t i = first; i < path.size(); ++i) {
        auto* mark =
            new QLabel(i == first && first > 0 ? QStringLiteral("› … ›") : QStringLiteral("›"), this);
        mark->setForegroundRole(QPalette::PlaceholderText);
        m_path->addWidget(mark);
        crumb(path[i], shortFrame(toQString(m_view->tree()->label(path[i]))));
    }
}

void FlamePanel::showSearch() {
    QString text;
    if (!m_view->searchError().isEmpty())
        text = m_view->searchError();
    else if (!m_view->search().isEmpty() && m_view->tree()) {
        const FlameView::Matches& found = m_view->matches();
        const double all = static_cast<double>(std::max<std::int64_t>(1, m_view->tree()->total()));
        text = found.places == 0
                   ? tr("No frame's name holds “%1”.").arg(m_view->search())
                   : tr("“%1” matches %2 of all (%3) in %4 places")
                         .arg(m_view->search(), percentText(static_cast<double>(found.total) / all),
                              m_view->weightText(found.total),
                              countText(static_cast<std::int64_t>(found.places)));
    }
    m_found->setText(text);
    m_found->setStyleSheet(QStringLiteral("color: %1").arg(Theme::current().warn.name()));
}

void FlamePanel::reveal(std::uint32_t node) {
    const FlameRequest wanted = request();
    const FlameTreePtr tree = m_view->tree();
    if (!tree || node == FlameTree::kRoot)
        return;
    if (isOfHistory(wanted.measure)) {
        choose(node);
        emit blocksRequested();
        return;
    }
    if (static_cast<std::size_t>(wanted.source) >= m_document->items().size())
        return;
    m_revealJob.start(
        [item = m_document->items()[static_cast<std::size_t>(wanted.source)], frame = tree->nodes[node].frame,
         range = wanted.range](const std::stop_token& stop) { return longestOf(item, frame, range, stop); },
        [this, source = wanted.source](const Result<SliceId>& result) {
            if (result.ok() && result.value())
                m_document->reveal({source, result.value()});
        });
}

QString FlamePanel::emptyReason(FlameMeasure measure) const {
    if (m_document->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    if (measure == FlameMeasure::Live)
        return tr("Nothing is allocated at %1. Choose another moment in the memory view.")
            .arg(m_memory != nullptr ? m_memory->momentName() : QString());
    if (measure == FlameMeasure::Between)
        return tr("Nothing was allocated between the marks. Set others in the memory view.");
    if (m_document->items().empty())
        return tr("No trace is open, and a memory snapshot says nothing of time. Open the trace of the same "
                  "run beside it.");
    if (!request().op.isEmpty())
        return tr("Nothing of this lies under %1 here. Take its chip off above to see the rest.")
            .arg(request().op);
    if (request().range)
        return tr(
            "Nothing of this lies in the selected range. Choose in: Whole trace, or select another range.");
    switch (measure) {
    case FlameMeasure::GpuTime:
        return tr("No GPU work in this trace: record with activities=[…, ProfilerActivity.CUDA] on a machine "
                  "with a GPU.");
    case FlameMeasure::Allocated:
        return tr("No allocator events in this trace: record with profile_memory=True.");
    default:
        return tr("No host events in this trace: record with activities=[ProfilerActivity.CPU, …] and "
                  "with_stack=True.");
    }
}

} // namespace warpline
