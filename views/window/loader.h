// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/jobs.h"

#include <QElapsedTimer>
#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

namespace warpline {

/// A file that could not be opened, and the sentence that says why.
struct OpenFailure {
    QString path;
    QString sentence;
    bool wrongKind = false; ///< a whole file of another kind, rather than a broken one

    /// The sentence without the path before it, for places that name the file themselves.
    [[nodiscard]] QString reason() const {
        return sentence.startsWith(path + QStringLiteral(": ")) ? sentence.mid(path.size() + 2) : sentence;
    }
};

/// Opens files off the GUI thread and makes them ready for the views. Opening again replaces what is being
/// opened. Of several files, those that cannot be opened are reported and the others are shown.
class Loader : public QObject {
    Q_OBJECT

  public:
    struct Status {
        QString file; ///< the one being read, without its folder
        int fileNumber = 0;
        int fileCount = 0;
        quint64 bytesDone = 0;
        quint64 bytesTotal = 0; ///< 0 = unknown (a pipe)
        quint64 events = 0;
        Progress::Stage stage = Progress::Stage::Reading;
        double secondsLeft = -1; ///< below 0 = not known yet
    };

    explicit Loader(QObject* parent = nullptr);

    void open(const QStringList& paths);
    /// Stops; nothing of it stays and no signal but cancelled() follows.
    void cancel();
    [[nodiscard]] bool loading() const { return m_state != nullptr; }
    [[nodiscard]] QStringList paths() const { return m_paths; }
    [[nodiscard]] Status status() const;

  signals:
    void started();
    /// Of a recording that comes through a pipe: what there is so far, again and again before opened().
    void grew(const warpline::Document::Prepared& prepared);
    /// At least one file is open.
    void opened(const warpline::Document::Prepared& prepared,
                const std::vector<warpline::OpenFailure>& failures);
    /// None could be opened; never empty.
    void failed(const std::vector<warpline::OpenFailure>& failures);
    void cancelled();

  private:
    /// Written by the job, read by status().
    struct State {
        std::vector<quint64> sizes; ///< of the files, 0 where unknown
        std::vector<std::unique_ptr<Progress>> progress;
        std::atomic<int> current{0};
        std::function<void(Document::Prepared)> grew; ///< called by the job
    };
    struct Opened {
        Document::Prepared prepared;
        std::vector<OpenFailure> failures;
    };
    static Result<Opened> work(const QStringList& paths, State& state, const std::stop_token& stop);

    QStringList m_paths;
    std::shared_ptr<State> m_state;
    QElapsedTimer m_clock;
    LatestJob m_job{this};
};

} // namespace warpline
