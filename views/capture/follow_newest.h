// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QObject>

namespace warpline {

/// A session that grows while it is shown: its newest seconds stay in view until the user looks elsewhere.
class FollowNewest : public QObject {
    Q_OBJECT

  public:
    explicit FollowNewest(Document* document, QObject* parent = nullptr);

    /// From here on the session is one that grows.
    void begin();
    void end() { m_active = false; }
    /// Document::grow(), and to its end where that is followed.
    void grow(Document::Prepared prepared);

    [[nodiscard]] bool following() const { return m_following; }
    void setFollowing(bool following);

  signals:
    void followingChanged();

  private:
    void toTheEnd();

    Document* m_document;
    bool m_active = false;
    bool m_following = true;
    bool m_moving = false; ///< the change of the visible range is ours
};

} // namespace warpline
