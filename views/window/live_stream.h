// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/capture/follow_newest.h"
#include "views/window/loader.h"

#include <QObject>
#include <QString>

namespace warpline {

/// A recording that comes through a pipe (`warpline -`) is shown while it comes: its newest events as a
/// session that grows, until the loader has all of it.
class LiveStream : public QObject {
    Q_OBJECT

  public:
    LiveStream(Document* document, Loader* loader, QObject* parent = nullptr);

    [[nodiscard]] bool receiving() const { return m_receiving; }
    /// "Receiving a recording: 12,345 events so far", empty while nothing comes.
    [[nodiscard]] QString text() const;

  signals:
    /// Something is there to be shown.
    void begun();
    void changed();
    /// No more comes. `stopped`: before its end, what is shown are the newest events only.
    void ended(bool stopped);

  private:
    void take(const Document::Prepared& prepared);
    void finish(bool stopped);

    Document* m_document;
    Loader* m_loader;
    FollowNewest m_follow;
    bool m_receiving = false;
};

} // namespace warpline
