// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "capture/recorder/recorder.h"
#include "views/capture/follow_newest.h"
#include "views/document.h"
#include "views/jobs.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>
#include <optional>

namespace warpline {

/// A recording that runs, and the window's share in it: what is asked of the recorder, what it says, and the
/// newest events as a session that the views show while it grows. One at a time. Lives in the GUI thread.
class CaptureController : public QObject {
    Q_OBJECT

  public:
    explicit CaptureController(Document* document, QObject* parent = nullptr);
    ~CaptureController() override;

    /// Launches or attaches off the GUI thread; started() or failed() follows.
    void start(capture::RecordConfig config);
    /// The same once more, into a new file beside the last.
    void again();
    [[nodiscard]] bool canRepeat() const { return m_last.has_value(); }
    void stop();
    void setPaused(bool paused);
    [[nodiscard]] bool paused() const { return m_paused; }
    void mark();
    /// The newest seconds stay in view; off as soon as the user looks elsewhere.
    void setFollowing(bool following) { m_follow.setFollowing(following); }
    [[nodiscard]] bool following() const { return m_follow.following(); }

    [[nodiscard]] bool recording() const { return m_recorder != nullptr || m_starting.busy(); }
    [[nodiscard]] const capture::RecordStatus& status() const { return m_status; }
    [[nodiscard]] const QString& output() const { return m_output; }
    /// "train.py · 12.3 s · 246,000 kernels (20,113/s) · nothing dropped · 14.2 MB".
    [[nodiscard]] QString summary() const;
    /// What is being recorded: "python train.py", "process 4711".
    [[nodiscard]] QString title() const;

    /// Where a recording of this command goes: a name that is not taken yet.
    static QString freeName(const QString& folder, const QString& stem);

  signals:
    void started();
    void failed(const QString& sentence);
    void statusChanged();
    /// The recording has ended and the file (may be empty: live only) is whole.
    void finished(const QString& file);
    void followingChanged();

  private:
    struct Snapshot {
        std::uint64_t revision = 0;
        Document::Prepared prepared;
    };
    void poll();
    void takeSnapshot();

    Document* m_document;
    std::shared_ptr<capture::Recorder> m_recorder;
    std::optional<capture::RecordConfig> m_last;
    capture::RecordStatus m_status;
    QString m_output;
    QTimer m_timer;
    LatestJob m_starting{this};
    LatestJob m_snapshot{this};
    FollowNewest m_follow;
    std::uint64_t m_shown = 0; ///< revision of what the document holds
    int m_marks = 0;
    bool m_paused = false;
};

} // namespace warpline
