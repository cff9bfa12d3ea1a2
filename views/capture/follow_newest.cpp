// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/follow_newest.h"

#include <algorithm>

namespace warpline {

namespace {

constexpr TimeNs kFollowed = 2'000'000'000; ///< what is in view while following

} // namespace

FollowNewest::FollowNewest(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(document, &Document::visibleChanged, this, [this] {
        if (m_active && m_following && !m_moving)
            setFollowing(false);
    });
}

void FollowNewest::begin() {
    m_active = true;
    m_following = true;
    emit followingChanged();
}

void FollowNewest::grow(Document::Prepared prepared) {
    m_moving = true;
    m_document->grow(std::move(prepared));
    m_moving = false;
    toTheEnd();
}

void FollowNewest::setFollowing(bool following) {
    if (following == m_following)
        return;
    m_following = following;
    toTheEnd();
    emit followingChanged();
}

void FollowNewest::toTheEnd() {
    if (!m_active || !m_following || m_document->empty())
        return;
    const TimeRange extent = m_document->extent();
    m_moving = true;
    m_document->setVisible({std::max(extent.begin, extent.end - kFollowed), extent.end});
    m_moving = false;
}

} // namespace warpline
