// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/timeline_commands.h"

#include "model/query/search.h"
#include "views/text.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/navigation.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace warpline {

namespace {

constexpr double kZoomStep = 1.5;
constexpr double kPanStep = 0.15;
constexpr double kFitMargin = 0.05;

} // namespace

TimelineCommands::TimelineCommands(TimelineState* state, TimelineView* view)
    : QObject(view), m_state(state), m_view(view) {
    addZooming();
    addMoving();
    addSelecting();
    addRows();
    view->setContextActions(
        {action(QStringLiteral("timeline.fit")), action(QStringLiteral("timeline.range")),
         action(QStringLiteral("timeline.linkForward")), action(QStringLiteral("timeline.linkBack")),
         action(QStringLiteral("timeline.nextSame")), action(QStringLiteral("timeline.previousSame")),
         action(QStringLiteral("timeline.copyName"))},
        {action(QStringLiteral("timeline.fold")), action(QStringLiteral("timeline.pin")),
         action(QStringLiteral("timeline.hide")), action(QStringLiteral("timeline.onlyTrack")),
         action(QStringLiteral("timeline.showAll"))});
}

QAction* TimelineCommands::add(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                               std::function<void()> run) {
    auto* action = new QAction(text, this);
    action->setObjectName(name);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, [this, run = std::move(run)] {
        if (!m_state->document().empty())
            run();
    });
    m_view->addAction(action);
    m_actions.append(action);
    return action;
}

QAction* TimelineCommands::action(const QString& name) const {
    const auto it = std::find_if(m_actions.begin(), m_actions.end(),
                                 [&](const QAction* a) { return a->objectName() == name; });
    return it == m_actions.end() ? nullptr : *it;
}

void TimelineCommands::addZooming() {
    add(QStringLiteral("timeline.zoomIn"), tr("Zoom in at the pointer"),
        {QKeySequence(Qt::Key_W), QKeySequence(Qt::Key_Plus), QKeySequence(Qt::Key_Equal)},
        [this] { zoom(kZoomStep); });
    add(QStringLiteral("timeline.zoomOut"), tr("Zoom out at the pointer"),
        {QKeySequence(Qt::Key_S), QKeySequence(Qt::Key_Minus)}, [this] { zoom(1 / kZoomStep); });
    add(QStringLiteral("timeline.panLeft"), tr("Move to earlier"), {QKeySequence(Qt::Key_A)},
        [this] { pan(-kPanStep); });
    add(QStringLiteral("timeline.panRight"), tr("Move to later"), {QKeySequence(Qt::Key_D)},
        [this] { pan(kPanStep); });
    add(QStringLiteral("timeline.fit"), tr("Fit the selection, again: the whole recording"),
        {QKeySequence(Qt::Key_F)}, [this] { fit(); });
    add(QStringLiteral("timeline.start"), tr("Go to the start"), {QKeySequence(Qt::Key_Home)}, [this] {
        const TimeRange visible = m_state->target();
        const TimeNs begin = m_state->document().extent().begin;
        m_state->moveTo({begin, coordinates::add(begin, visible.duration())});
    });
    add(QStringLiteral("timeline.end"), tr("Go to the end"), {QKeySequence(Qt::Key_End)}, [this] {
        const TimeRange visible = m_state->target();
        const TimeNs end = m_state->document().extent().end;
        m_state->moveTo({coordinates::subtract(end, visible.duration()), end});
    });
    add(QStringLiteral("timeline.pageUp"), tr("Scroll the tracks up"), {QKeySequence(Qt::Key_PageUp)},
        [this] { m_view->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub); });
    add(QStringLiteral("timeline.pageDown"), tr("Scroll the tracks down"), {QKeySequence(Qt::Key_PageDown)},
        [this] { m_view->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd); });
    // With a modifier it disturbs nobody, so it works from anywhere in the window.
    add(QStringLiteral("timeline.goToTime"), tr("Go to a time…"), {QKeySequence(Qt::CTRL | Qt::Key_G)},
        [this] { goToTime(); })
        ->setShortcutContext(Qt::WindowShortcut);
}

void TimelineCommands::addMoving() {
    using namespace navigation;
    add(QStringLiteral("timeline.next"), tr("Next event of the lane"), {QKeySequence(Qt::Key_Right)},
        [this] { step([this](SliceRef s) { return alongLane(*m_state, s, 1); }); });
    add(QStringLiteral("timeline.previous"), tr("Previous event of the lane"), {QKeySequence(Qt::Key_Left)},
        [this] { step([this](SliceRef s) { return alongLane(*m_state, s, -1); }); });
    add(QStringLiteral("timeline.up"), tr("Event in the lane above"), {QKeySequence(Qt::Key_Up)},
        [this] { step([this](SliceRef s) { return acrossLanes(*m_state, s, -1); }); });
    add(QStringLiteral("timeline.down"), tr("Event in the lane below"), {QKeySequence(Qt::Key_Down)},
        [this] { step([this](SliceRef s) { return acrossLanes(*m_state, s, 1); }); });
    add(QStringLiteral("timeline.linkForward"), tr("Follow the link to what it launched"),
        {QKeySequence(Qt::Key_BracketRight)},
        [this] { step([this](SliceRef s) { return alongLink(*m_state, s, true); }); });
    add(QStringLiteral("timeline.linkBack"), tr("Follow the link to what launched it"),
        {QKeySequence(Qt::Key_BracketLeft)},
        [this] { step([this](SliceRef s) { return alongLink(*m_state, s, false); }); });
    add(QStringLiteral("timeline.nextSame"), tr("Next event of the same name"),
        {QKeySequence(Qt::Key_Period)},
        [this] { step([this](SliceRef s) { return sameName(*m_state, s, 1); }); });
    add(QStringLiteral("timeline.previousSame"), tr("Previous event of the same name"),
        {QKeySequence(Qt::Key_Comma)},
        [this] { step([this](SliceRef s) { return sameName(*m_state, s, -1); }); });
}

void TimelineCommands::addSelecting() {
    add(QStringLiteral("timeline.mark"), tr("Set or take away a mark at the pointer"),
        {QKeySequence(Qt::Key_M)},
        [this] { m_state->toggleMark(m_state->pointer().value_or(m_view->anchor()), markSlack()); });
    add(QStringLiteral("timeline.note"), tr("Write a note at the mark…"),
        {QKeySequence(Qt::SHIFT | Qt::Key_M)}, [this] { writeNote(); });
    add(QStringLiteral("timeline.range"), tr("Select the stretch of time of the selection"),
        {QKeySequence(Qt::Key_R)}, [this] {
            Document& document = m_state->document();
            if (document.selected())
                document.setRange(document.sliceRange(document.selected()),
                                  document.sliceName(document.selected()));
        });
    add(QStringLiteral("timeline.clear"), tr("Clear: gesture, selection, range, search hits, marks"),
        {QKeySequence(Qt::Key_Escape)}, [this] { clear(); });
    add(QStringLiteral("timeline.copyName"), tr("Copy the name"), {QKeySequence(QKeySequence::Copy)}, [this] {
        const Document& document = m_state->document();
        if (document.selected())
            QGuiApplication::clipboard()->setText(document.sliceName(document.selected()));
    });
}

TimeNs TimelineCommands::markSlack() const {
    constexpr double near = 5;
    return coordinates::rounded(near * m_view->scene().scale().nsPerPixel());
}

void TimelineCommands::writeNote() {
    const TimeNs time = m_state->pointer().value_or(m_view->anchor());
    const TimeMark* near = m_state->markAt(time, markSlack());
    const TimeMark mark = near == nullptr ? TimeMark{time, {}} : *near;
    auto* dialog = new QInputDialog(m_view);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("markNote"));
    dialog->setWindowTitle(tr("Note at a mark"));
    dialog->setLabelText(tr("What is to be seen here:"));
    dialog->setTextValue(mark.note);
    connect(dialog, &QInputDialog::textValueSelected, this,
            [this, at = mark.time](const QString& text) { m_state->setNote(at, text.trimmed()); });
    dialog->open();
}

void TimelineCommands::addRows() {
    add(QStringLiteral("timeline.fold"), tr("Fold or unfold the track"),
        {QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)}, [this] {
            withCurrentRow(
                [](TrackLayout& layout, const Row& row) { layout.setFolded(row.id, !row.folded); });
        });
    add(QStringLiteral("timeline.pin"), tr("Pin the track to the top, or unpin it"),
        {QKeySequence(Qt::SHIFT | Qt::Key_P)}, [this] {
            withCurrentRow(
                [](TrackLayout& layout, const Row& row) { layout.setPinned(row.id, !row.pinned); });
        });
    add(QStringLiteral("timeline.hide"), tr("Hide the track"), {QKeySequence(Qt::SHIFT | Qt::Key_H)}, [this] {
        withCurrentRow([](TrackLayout& layout, const Row& row) { layout.setHidden(row.id, true); });
    });
    add(QStringLiteral("timeline.onlyTrack"), tr("Narrow the tables to this track, or take it out again"),
        {QKeySequence(Qt::SHIFT | Qt::Key_T)}, [this] { toggleTrack(); });
    add(QStringLiteral("timeline.showAll"), tr("Show all tracks"), {QKeySequence(Qt::SHIFT | Qt::Key_U)},
        [this] { m_state->changeLayout([](TrackLayout& layout) { layout.showAll(); }); });
    add(QStringLiteral("timeline.trackUp"), tr("Move the track up"), {QKeySequence(Qt::ALT | Qt::Key_Up)},
        [this] { withCurrentRow([](TrackLayout& layout, const Row& row) { layout.moveBy(row.id, -1); }); });
    add(QStringLiteral("timeline.trackDown"), tr("Move the track down"),
        {QKeySequence(Qt::ALT | Qt::Key_Down)},
        [this] { withCurrentRow([](TrackLayout& layout, const Row& row) { layout.moveBy(row.id, 1); }); });
}

void TimelineCommands::toggleTrack() {
    const Row* row = m_view->currentRow();
    if (row == nullptr || row->id.kind != RowKind::Track)
        return;
    std::vector<TrackRef> tracks = m_state->document().selection().tracks;
    const TrackRef track{row->id.source, row->track};
    if (std::erase(tracks, track) == 0)
        tracks.push_back(track);
    m_state->document().selectTracks(std::move(tracks));
}

void TimelineCommands::withCurrentRow(const std::function<void(TrackLayout&, const Row&)>& change) {
    const Row* current = m_view->currentRow();
    if (current == nullptr)
        return;
    const Row row = *current; // the layout's own is gone once it changes
    m_state->changeLayout([&](TrackLayout& layout) { change(layout, row); });
}

void TimelineCommands::zoom(double factor) {
    m_state->moveTo(coordinates::zoomed(m_state->target(), m_view->anchor(), factor));
}

void TimelineCommands::pan(double part) {
    m_state->moveTo(coordinates::panned(m_state->target(), part));
}

void TimelineCommands::fit() {
    const Document& document = m_state->document();
    const TimeRange whole = document.extent();
    TimeRange goal = whole;
    if (document.selected())
        goal = document.sliceRange(document.selected());
    else if (document.range())
        goal = *document.range();
    if (goal != whole) {
        if (goal.empty())
            goal.end = coordinates::add(goal.begin, 1);
        goal = coordinates::widened(goal, kFitMargin);
        goal = coordinates::movedInto(goal, coordinates::widened(whole, kFitMargin));
    }
    m_state->moveTo(m_state->target() == goal ? whole : goal);
}

void TimelineCommands::goToTime() {
    auto* dialog = new QInputDialog(m_view);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("goToTime"));
    dialog->setWindowTitle(tr("Go to a time"));
    dialog->setLabelText(tr("Time from the start of the recording, such as 12.5 ms, 800 us or 2 s:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) { goToTime(text); });
    dialog->open();
}

bool TimelineCommands::goToTime(const QString& text) {
    TimeNs offset = 0;
    const std::string utf8 = text.trimmed().toStdString();
    if (!parseDuration(utf8, offset))
        return false;
    const TimeRange extent = m_state->document().extent();
    const TimeNs time = std::clamp(coordinates::add(extent.begin, offset), extent.begin, extent.end);
    // A tenth of the recording at most, or a time in the whole of it would be nowhere in particular.
    const TimeNs width = std::max<TimeNs>(1, std::min(m_state->target().duration(), extent.duration() / 10));
    const TimeNs begin = coordinates::subtract(time, width / 2);
    m_state->moveTo({begin, coordinates::add(begin, width)});
    m_state->setPointer(time);
    return true;
}

void TimelineCommands::go(SliceRef slice) {
    if (!slice)
        return;
    m_state->document().select(slice);
    m_view->bringIntoView(slice);
}

void TimelineCommands::step(const std::function<SliceRef(SliceRef)>& next) {
    const SliceRef selected = m_state->document().selected();
    go(selected ? next(selected) : navigation::firstShown(*m_state, m_view->anchor()));
}

void TimelineCommands::clear() {
    Document& document = m_state->document();
    if (m_view->cancelGesture())
        return;
    if (document.selected())
        document.select({});
    else if (document.range())
        document.setRange(std::nullopt);
    else if (!document.hits().empty())
        document.setHits({});
    else
        m_state->clearMarks();
}

} // namespace warpline
