// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/live_stream.h"

#include "views/text.h"

namespace warpline {

LiveStream::LiveStream(Document* document, Loader* loader, QObject* parent)
    : QObject(parent), m_document(document), m_loader(loader), m_follow(document) {
    connect(loader, &Loader::grew, this, &LiveStream::take);
    connect(loader, &Loader::started, this, [this] { finish(true); });
    connect(loader, &Loader::opened, this, [this] { finish(false); });
    connect(loader, &Loader::failed, this, [this] { finish(false); });
    connect(loader, &Loader::cancelled, this, [this] { finish(true); });
}

void LiveStream::take(const Document::Prepared& prepared) {
    const bool first = !m_receiving;
    if (first) {
        m_document->clear();
        m_receiving = true;
        m_follow.begin();
    }
    m_follow.grow(prepared);
    if (first)
        emit begun();
    emit changed();
}

void LiveStream::finish(bool stopped) {
    if (!m_receiving)
        return;
    m_receiving = false;
    m_follow.end();
    emit ended(stopped);
}

QString LiveStream::text() const {
    if (!m_receiving)
        return {};
    const Loader::Status status = m_loader->status();
    QString text = tr("Receiving a recording: %1 so far").arg(fileSizeText(status.bytesDone));
    if (!m_document->items().empty()) {
        const Trace& trace = *m_document->items().front().trace;
        text += tr(", shown are the newest %1 events, %2")
                    .arg(countText(static_cast<std::int64_t>(trace.eventCount)),
                         durationText(trace.extent.duration()));
    }
    return text;
}

} // namespace warpline
