// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/jobs.h"

#include <QTimer>

namespace warpline {

/// The search of one window: what is typed becomes, a moment later and off the GUI thread, the document's
/// hits; stepping goes from hit to hit in order of time, and around at the ends.
class SearchController : public QObject {
    Q_OBJECT

  public:
    explicit SearchController(Document* document, QObject* parent = nullptr);

    void setText(const QString& text);
    [[nodiscard]] QString text() const { return m_text; }
    void next() { step(1); }
    void previous() { step(-1); }
    /// Place of the hit last stepped to, -1 before the first step.
    [[nodiscard]] int current() const { return m_current; }
    /// "3 of 120", "120 hits", "no hits", "searching…", or nothing.
    [[nodiscard]] QString status() const;
    /// Why the text cannot be read as a query; else empty.
    [[nodiscard]] QString error() const { return m_error; }
    [[nodiscard]] bool pending() const { return m_delay.isActive() || m_job.busy(); }

  signals:
    void changed();
    /// A search has ended: its hits are the document's.
    void finished();
    void stepped(int hit);

  private:
    void run();
    void step(int by);
    [[nodiscard]] int nearest(int by) const;

    Document* m_document;
    QString m_text;
    QString m_error;
    int m_current = -1;
    int m_stepWhenDone = 0;
    QTimer m_delay;
    LatestJob m_job{this};
};

} // namespace warpline
