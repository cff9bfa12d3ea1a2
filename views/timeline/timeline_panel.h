// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QList>
#include <QWidget>

class QAction;

namespace warpline {

class Document;

/// The timeline with all that belongs to it: overview strip, ruler, track list and lanes.
class TimelinePanel : public QWidget {
    Q_OBJECT

  public:
    /// `document` outlives the panel.
    explicit TimelinePanel(Document* document, QWidget* parent = nullptr);
    ~TimelinePanel() override;

    /// What can be done in the timeline, for a palette of commands and the list of keys: texts, shortcuts and
    /// object names ("timeline.zoomIn"). Keys without a modifier work only while the timeline has the focus.
    /// Named apart from QWidget::actions().
    [[nodiscard]] QList<QAction*> timelineActions() const;

  private:
    Document* m_document;
};

} // namespace warpline
