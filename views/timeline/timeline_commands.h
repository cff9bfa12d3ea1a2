// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/timeline/timeline_view.h"

#include <QAction>
#include <QList>
#include <QObject>

#include <functional>

namespace warpline {

/// Everything that keys do in the timeline, each as an action with a text, its keys and a name. Keys work
/// while the timeline has the focus, so that typing in a field stays typing.
class TimelineCommands : public QObject {
    Q_OBJECT

  public:
    /// Both outlive the commands; the view takes the actions.
    TimelineCommands(TimelineState* state, TimelineView* view);

    [[nodiscard]] const QList<QAction*>& actions() const { return m_actions; }
    [[nodiscard]] QAction* action(const QString& name) const;

    void zoom(double factor);
    void pan(double part);
    /// The selection (or the selected range) fills the view; when it does already, the whole recording.
    void fit();
    void goToTime();
    /// How near to a mark counts as at it.
    [[nodiscard]] TimeNs markSlack() const;
    void writeNote();
    void toggleTrack();
    /// Goes to a time as it is typed, counted from the start of the recording; false where it is none.
    bool goToTime(const QString& text);

  private:
    QAction* add(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                 std::function<void()> run);
    void addZooming();
    void addMoving();
    void addSelecting();
    void addRows();
    /// Goes to a slice: selects it and brings it into view.
    void go(SliceRef slice);
    /// Runs `next` from the selection; without one, begins at what is in view.
    void step(const std::function<SliceRef(SliceRef)>& next);
    void withCurrentRow(const std::function<void(TrackLayout&, const Row&)>& change);
    void clear();

    TimelineState* m_state;
    TimelineView* m_view;
    QList<QAction*> m_actions;
};

} // namespace warpline
