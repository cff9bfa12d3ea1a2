// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
// The frame that the flame graph shares with the other views, and what a session file keeps of the graph.
#include "views/flame/flame_panel.h"
#include "views/memory/memory_focus.h"
#include "views/tables/choice_button.h"
#include "views/text.h"

#include <QCheckBox>
#include <QJsonObject>
#include <QLineEdit>

namespace warpline {

namespace {

bool isDeviceWork(FrameKind kind) {
    return kind == FrameKind::Kernel || kind == FrameKind::Copy || kind == FrameKind::Set;
}

} // namespace

void FlamePanel::choose(std::uint32_t node) {
    const FlameTreePtr tree = m_view->tree();
    // A profile of another program shares no frames with the traces.
    const FlameRequest wanted = request();
    if (!tree || (!isOfHistory(wanted.measure) && wanted.source >= m_traces))
        return;
    Selection next = m_document->selection();
    FrameRef frame{pathOfNode(*tree, node), -1};
    if (isOfHistory(wanted.measure) && frame)
        frame.memory = static_cast<int>(m_memory->places()[static_cast<std::size_t>(m_memory->place())].item);
    const bool work = frame && isDeviceWork(tree->frames->at(tree->nodes[node].frame).kind);
    // A kernel lies on no thread: it is one choice, the frames that launched it are another.
    if (work || next.frame)
        next.kernel = work ? frame.path.takeLast() : QString();
    next.frame = frame;
    next.view = ViewKind::Flame;
    m_choosing = true; // the graph shows it already, just as it was chosen
    m_document->setSelection(std::move(next));
    m_choosing = false;
}

void FlamePanel::takeFilter() {
    const Selection& now = m_document->selection();
    if (now.op != m_shown.op && !isOfHistory(measure())) {
        m_shown = now;
        scheduleRefresh();
        return;
    }
    m_shown = now;
    if (!m_choosing)
        takeFrame();
}

void FlamePanel::takeFrame() {
    const FlameTreePtr tree = m_view->tree();
    if (!tree || tree->nodes.empty())
        return;
    const Selection& s = m_document->selection();
    const bool ofHistory = isOfHistory(measure());
    if (!ofHistory && std::max(0, m_source->current()) >= m_traces)
        return; // a profile's frames are its own
    const int memory =
        ofHistory && m_memory->hasMemory()
            ? static_cast<int>(m_memory->places()[static_cast<std::size_t>(m_memory->place())].item)
            : -1;
    QStringList path = s.frame.path;
    if (!path.isEmpty() && s.frame.memory != memory)
        return; // of the other kind of stacks
    if (!path.isEmpty() && !s.kernel.isEmpty())
        path.append(s.kernel);
    std::uint32_t node = nodeOfPath(*tree, path);
    if (node == FlameTree::kRoot && !s.kernel.isEmpty())
        node = nodeOfPath(*tree, s.frame.path);
    if (node == m_view->selected())
        return;
    m_view->select(node);
    m_view->zoomTo(node);
}

void FlamePanel::showFrame() {
    const FrameRef& frame = m_document->selection().frame;
    if (!frame)
        return;
    // As a line is looked for: from the outermost frame down, all kinds of frames.
    m_shape->setCurrent(0);
    m_frames->setCurrent(0);
    if (isOfHistory(measure()) != (frame.memory >= 0))
        setMeasure(frame.memory >= 0 ? FlameMeasure::Live : FlameMeasure::GpuTime);
    scheduleRefresh();
}

QJsonObject FlamePanel::viewSettings() const {
    return {{QStringLiteral("width"), m_weight->current()},
            {QStringLiteral("direction"), m_shape->current()},
            {QStringLiteral("frames"), m_frames->current()},
            {QStringLiteral("merge"), m_merge->isChecked()},
            {QStringLiteral("hide_plumbing"), m_hide->isChecked()},
            {QStringLiteral("backward_with_forward"), m_backward->isChecked()},
            {QStringLiteral("by_thread"), m_threads->isChecked()},
            {QStringLiteral("file"), m_source->current()},
            {QStringLiteral("against"), m_against->current()},
            {QStringLiteral("whole"), m_document->range() && m_range->current() == 1},
            {QStringLiteral("search"), m_search->text()}};
}

void FlamePanel::applyViewSettings(const QJsonObject& settings) {
    if (settings.isEmpty())
        return;
    // What a file does not say stays as it is.
    const auto choose = [&](const char* key, ChoiceButton* choice) {
        choice->setCurrent(settings[QLatin1String(key)].toInt(choice->current()));
    };
    const auto flag = [&](const char* key, QCheckBox* box) {
        box->setChecked(settings[QLatin1String(key)].toBool(box->isChecked()));
    };
    choose("width", m_weight);
    choose("direction", m_shape);
    choose("frames", m_frames);
    choose("file", m_source);
    showControls(); // fills what can be compared
    choose("against", m_against);
    m_range->setCurrent(settings[QStringLiteral("whole")].toBool() ? 1 : 0);
    flag("merge", m_merge);
    flag("hide_plumbing", m_hide);
    flag("backward_with_forward", m_backward);
    flag("by_thread", m_threads);
    m_search->setText(settings[QStringLiteral("search")].toString());
    scheduleRefresh();
}

} // namespace warpline
