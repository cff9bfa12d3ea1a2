// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_panel.h"

#include "model/export/flame_writer.h"
#include "views/flame/flame_details.h"
#include "views/flame/lazy_stacks.h"
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

#include <array>

namespace warpline {

namespace {

constexpr std::array kWeights{FlameWeight::GpuTime, FlameWeight::CpuTime, FlameWeight::Calls,
                              FlameWeight::Allocated};

QString weightName(FlameWeight weight) {
    switch (weight) {
    case FlameWeight::GpuTime:
        return FlamePanel::tr("GPU time");
    case FlameWeight::CpuTime:
        return FlamePanel::tr("CPU time");
    case FlameWeight::Calls:
        return FlamePanel::tr("Calls");
    case FlameWeight::Allocated:
        return FlamePanel::tr("Bytes allocated");
    }
    return {};
}

struct Weighed {
    TraceStacksPtr stacks;
    std::vector<StackWeight> weights;
};

Result<Weighed> weigh(const Document::Item& item, const FlameRequest& request, const std::stop_token& stop) {
    Result<TraceStacksPtr> stacks = item.stacks->get(stop);
    if (!stacks.ok())
        return stacks.error();
    std::optional<TimeRange> own;
    if (request.range)
        own = TimeRange{request.range->begin - item.shift, request.range->end - item.shift};
    Result<std::vector<StackWeight>> weights =
        stackWeights(*stacks.value(), request.weight, own, request.shape.byThread, stop);
    if (!weights.ok())
        return weights.error();
    return Weighed{std::move(stacks).value(), std::move(weights).value()};
}

Result<FlameTree> treeOf(const Weighed& weighed, const FlameRequest& request, const std::stop_token& stop) {
    return flameTree(weighed.stacks->framesPtr(), weighed.stacks->stacks(), weighed.weights,
                     unitOf(request.weight), request.shape, stop);
}

} // namespace

FlamePanel::FlamePanel(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document), m_view(new FlameView), m_details(new FlameDetails(m_view)) {
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
    connect(m_details, &FlameDetails::timelineRequested, this, &FlamePanel::reveal);
    connect(document, &Document::sessionChanged, this, &FlamePanel::takeSession);
    connect(document, &Document::rangeChanged, this, &FlamePanel::takeRange);
    takeSession();
}

QWidget* FlamePanel::makeControls() {
    auto* row = new QWidget;
    row->setObjectName(QStringLiteral("controlsRow"));
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(8, 3, 8, 3);
    layout->setSpacing(8);
    QStringList weights;
    for (const FlameWeight weight : kWeights)
        weights.append(weightName(weight));
    m_weight = new ChoiceButton(tr("width"), weights, row);
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
    options.title = tr("%1 of %2")
                        .arg(weightName(request().weight), sourceLabel(*m_document, request().source))
                        .toStdString();
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
    request.weight = kWeights[static_cast<std::size_t>(m_weight->current())];
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
    return request;
}

void FlamePanel::setWeight(FlameWeight weight) {
    for (std::size_t i = 0; i < kWeights.size(); ++i) {
        if (kWeights[i] == weight)
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

void FlamePanel::refresh() {
    const FlameRequest wanted = request();
    const auto& items = m_document->items();
    // A profile of another program has one weight and neither times nor threads nor backward ops.
    const bool ofTrace = wanted.source < m_traces;
    for (QWidget* control : std::initializer_list<QWidget*>{m_weight, m_range, m_backward, m_threads})
        control->setVisible(ofTrace || m_document->profiles().empty());
    const auto profile = static_cast<std::size_t>(wanted.source - m_traces);
    if (wanted.source >= m_traces && profile < m_document->profiles().size()) {
        showProfile(m_document->profiles()[profile], wanted.shape);
        return;
    }
    if (static_cast<std::size_t>(wanted.source) >= items.size()) {
        m_job.cancel();
        m_view->setTree(nullptr);
        m_message->setText(emptyReason(wanted.weight));
        m_stack->setCurrentWidget(m_message);
        return;
    }
    // The names of the other files change with the file.
    QStringList others{tr("nothing")};
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (static_cast<int>(i) != wanted.source)
            others.append(sourceLabel(*m_document, static_cast<int>(i)));
    }
    if (others != m_against->options()) {
        const int chosen = m_against->current();
        m_against->setOptions(others);
        m_against->setCurrent(chosen);
    }
    const Document::Item item = items[static_cast<std::size_t>(wanted.source)];
    std::optional<Document::Item> base;
    if (wanted.against >= 0 && static_cast<std::size_t>(wanted.against) < items.size())
        base = items[static_cast<std::size_t>(wanted.against)];
    m_job.start(
        [item, base, wanted](const std::stop_token& stop) -> Result<Data> {
            Result<Weighed> weighed = weigh(item, wanted, stop);
            if (!weighed.ok())
                return weighed.error();
            Result<FlameTree> tree = treeOf(weighed.value(), wanted, stop);
            if (!tree.ok())
                return tree.error();
            Data out;
            out.weight = wanted.weight;
            out.coverage = flameCoverage(weighed.value().stacks->frames(), weighed.value().stacks->stacks(),
                                         weighed.value().weights);
            if (base) {
                Result<Weighed> before = weigh(*base, wanted, stop);
                if (!before.ok())
                    return before.error();
                Result<FlameTree> other = treeOf(before.value(), wanted, stop);
                if (!other.ok())
                    return other.error();
                tree = flameDifference(other.value(), tree.value(), stop);
                if (!tree.ok())
                    return tree.error();
            }
            out.tree = std::make_shared<const FlameTree>(std::move(tree).value());
            return out;
        },
        [this](Result<Data> result) {
            if (!result.ok()) {
                m_message->setText(toQString(result.error().message));
                m_stack->setCurrentWidget(m_message);
                return;
            }
            showTree(result.value());
        });
    if (!m_view->tree()) {
        m_message->setText(tr("Working…"));
        m_stack->setCurrentWidget(m_message);
    }
}

void FlamePanel::showProfile(const ProfilePtr& profile, const FlameShape& shape) {
    m_job.start(
        [profile, shape](const std::stop_token& stop) -> Result<Data> {
            Result<FlameTree> tree = flameTree(*profile, shape, stop);
            if (!tree.ok())
                return tree.error();
            Data out;
            out.profile = profile;
            out.coverage = flameCoverage(*profile->frames, *profile->stacks, profile->weights);
            out.tree = std::make_shared<const FlameTree>(std::move(tree).value());
            return out;
        },
        [this](Result<Data> result) {
            if (result.ok())
                return showTree(result.value());
            m_message->setText(toQString(result.error().message));
            m_stack->setCurrentWidget(m_message);
        });
}

void FlamePanel::showTree(const Data& shown) {
    m_view->setTree(shown.tree);
    const QString weight = !shown.profile                      ? weightName(shown.weight)
                           : shown.profile->weightName.empty() ? tr("Weight")
                                                               : toQString(shown.profile->weightName);
    m_details->setWeightName(weight);
    const bool nothing = shown.tree->total() == 0;
    m_message->setText(!nothing        ? QString()
                       : shown.profile ? tr("Nothing in this profile weighs anything.")
                                       : emptyReason(shown.weight));
    m_stack->setCurrentIndex(nothing ? 1 : 0);
    QStringList parts{tr("%1 %2").arg(weight, m_view->weightText(shown.tree->total()))};
    const FlameCoverage& c = shown.coverage;
    const auto share = [&](std::int64_t part) {
        return percentText(c.total > 0 ? static_cast<double>(part) / static_cast<double>(c.total) : 0);
    };
    if (c.total > 0 && !shown.profile) {
        parts.append(tr("%1 under a line of the program or a module").arg(share(c.scriptOrModule)));
        if (c.missing > 0)
            parts.append(tr("%1 without a stack").arg(share(c.missing)));
        if (c.backward > 0)
            parts.append(tr("%1 backward").arg(share(c.backward)));
    }
    if (shown.tree->difference)
        parts.append(tr("before %1").arg(m_view->weightText(shown.tree->nodes.front().baseTotal)));
    m_summary->setText(parts.join(QStringLiteral("   ·   ")));
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
        crumb(path[i], toQString(m_view->tree()->label(path[i])));
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
    if (!tree || node == FlameTree::kRoot ||
        static_cast<std::size_t>(wanted.source) >= m_document->items().size())
        return;
    const Document::Item item = m_document->items()[static_cast<std::size_t>(wanted.source)];
    const FrameId frame = tree->nodes[node].frame;
    // The longest event whose own frame this is, in the range; modules that came together count as each.
    m_revealJob.start(
        [item, frame, wanted](const std::stop_token& stop) -> Result<SliceId> {
            Result<TraceStacksPtr> stacks = item.stacks->get(stop);
            if (!stacks.ok())
                return stacks.error();
            const TraceStacks& s = *stacks.value();
            const Trace& trace = *item.trace;
            SliceId best;
            for (std::size_t row = 0; row < trace.slices.size(); ++row) {
                if ((row & 0xffff) == 0 && stop.stop_requested())
                    return Error::cancelled();
                const SliceId id = SliceId::fromIndex(row);
                const StackId stack = s.stackOf(id);
                if (!stack)
                    continue;
                const FrameId own = s.stacks().frame(stack);
                if (own != frame && s.frames().at(own).family != frame)
                    continue;
                if (wanted.range && !wanted.range->contains(trace.slices.start[row] + item.shift))
                    continue;
                if (!best || trace.slices.duration[row] > trace.slices.duration[best.index()])
                    best = id;
            }
            return best;
        },
        [this, source = wanted.source](const Result<SliceId>& result) {
            if (result.ok() && result.value())
                m_document->reveal({source, result.value()});
        });
}

QString FlamePanel::emptyReason(FlameWeight weight) const {
    if (m_document->empty())
        return tr("Nothing is open. Open a trace with Ctrl+O.");
    if (m_document->items().empty())
        return tr("No trace is open, and a memory snapshot says nothing of time. Open the trace of the same "
                  "run beside it.");
    if (request().range)
        return tr(
            "Nothing of this lies in the selected range. Choose in: Whole trace, or select another range.");
    switch (weight) {
    case FlameWeight::GpuTime:
        return tr("No GPU work in this trace: record with activities=[…, ProfilerActivity.CUDA] on a machine "
                  "with a GPU.");
    case FlameWeight::CpuTime:
    case FlameWeight::Calls:
        return tr("No host events in this trace: record with activities=[ProfilerActivity.CPU, …] and "
                  "with_stack=True.");
    case FlameWeight::Allocated:
        return tr("No allocator events in this trace: record with profile_memory=True.");
    }
    return {};
}

} // namespace warpline
