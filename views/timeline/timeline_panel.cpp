// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/timeline_panel.h"

#include <QAction>

namespace warpline {

TimelinePanel::TimelinePanel(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {}
TimelinePanel::~TimelinePanel() = default;

QList<QAction*> TimelinePanel::timelineActions() const {
    return {};
}

} // namespace warpline
