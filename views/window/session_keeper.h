// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/jobs.h"
#include "views/window/loader.h"

// Second, since moc reads <compare> only after another header of the standard library.
#include "model/store/session_file.h"

#include <QObject>
#include <QStringList>

#include <functional>
#include <optional>
#include <vector>

namespace warpline {

class SearchField;
class Workbench;

/// Session files in the window: what is open and how it is looked at becomes a file, and a file becomes that
/// again. Sources that are gone or have changed are told.
class SessionKeeper : public QObject {
    Q_OBJECT

  public:
    /// Where each missing source is now; an empty path leaves it out. None = the session is not opened.
    using Ask =
        std::function<std::optional<QStringList>(const std::vector<SourceTrouble>&, const SessionFile&)>;

    SessionKeeper(Document* document, Workbench* workbench, SearchField* search, QObject* parent = nullptr);

    /// Asks for missing sources; without it they are left out, and notice() says so.
    void setAsk(Ask ask) { m_ask = std::move(ask); }

    /// The files to be read for these: a session file stands for its sources, and is restored by restore()
    /// once they are open. Nothing where the user called it off; failures say why there is nothing else.
    QStringList sourcesOf(const QStringList& paths, std::vector<OpenFailure>& failures);
    /// What is read again is looked at as now.
    void keepState();
    /// After the document was set: looks at it as the session file has it. False without one.
    bool restore();

    /// The session file that is open, or was saved last; empty for none.
    [[nodiscard]] const QString& path() const { return m_path; }
    void forget() { m_path.clear(); }
    /// Which sources are missing, have changed or were not restored; empty where all is as it was.
    [[nodiscard]] QString notice() const;

    [[nodiscard]] SessionFile collect() const;
    /// Writes the session off the GUI thread, where checksums may take long.
    void save(const QString& path);

  signals:
    void noticeChanged();
    void saved(const QString& path);
    void saveFailed(const QString& sentence);

  private:
    void collectSources(SessionFile& file) const;
    void collectTracks(SessionFile& file) const;
    void collectSelection(SessionFile& file) const;
    void restoreTracks(const SessionFile& file);
    void restoreSelection(const SessionFile& file, TimeNs moved);
    /// How far the session's clock has moved since it was saved: where a source was left out.
    [[nodiscard]] TimeNs movedBy(const SessionFile& file) const;
    [[nodiscard]] int itemOf(std::uint32_t source) const;
    [[nodiscard]] int memoryOf(std::uint32_t source) const;
    [[nodiscard]] std::uint32_t sourceOf(const std::string& path) const;

    Document* m_document;
    Workbench* m_workbench;
    SearchField* m_search;
    Ask m_ask;
    QString m_path;
    std::optional<SessionFile> m_pending; ///< to be restored when its sources are open
    std::vector<std::string> m_paths;     ///< of each source of m_pending as it was opened; empty = left out
    SessionFile m_kept;                   ///< as it was read: keys of later versions are written again
    QStringList m_missing;
    QStringList m_changed;
    LatestJob m_check{this};
    LatestJob m_write{this};
};

} // namespace warpline
