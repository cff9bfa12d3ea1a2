// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QList>
#include <QWidget>

class QAction;
class QLineEdit;
class QToolButton;

namespace warpline {

class Document;
class Overview;
class Ruler;
class TimelineCommands;
class TimelineState;
class TimelineView;
class TrackList;

/// The timeline with all that belongs to it: overview strip, ruler, track list and lanes.
class TimelinePanel : public QWidget {
    Q_OBJECT

  public:
    /// `document` outlives the panel.
    explicit TimelinePanel(Document* document, QWidget* parent = nullptr);
    ~TimelinePanel() override;

    /// What can be done in the timeline, for a palette of commands and the list of keys: texts, shortcuts and
    /// object names ("timeline.zoomIn"). Keys without a modifier work only while the timeline has the focus.
    [[nodiscard]] QList<QAction*> timelineActions() const;

    /// Zooms without motion, for tests and pictures.
    void setAnimated(bool animated);
    [[nodiscard]] TimelineView* view() const { return m_view; }
    [[nodiscard]] TimelineState* state() const { return m_state; }

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* makeSide();
    QWidget* makeMain();
    void takeLayout();

    TimelineState* m_state;
    TimelineView* m_view;
    TimelineCommands* m_commands;
    Overview* m_overview;
    Ruler* m_ruler;
    TrackList* m_tracks = nullptr;
    QLineEdit* m_filter = nullptr;
    QToolButton* m_showAll = nullptr;
};

} // namespace warpline
