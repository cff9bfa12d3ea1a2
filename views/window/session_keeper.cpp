// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/session_keeper.h"

#include "views/flame/flame_panel.h"
#include "views/memory/memory_panel.h"
#include "views/tables/ops_panel.h"
#include "views/text.h"
#include "views/timeline/coordinates.h"
#include "views/timeline/timeline_panel.h"
#include "views/timeline/timeline_state.h"
#include "views/window/session_names.h"
#include "views/window/top_bar.h"
#include "views/window/workbench.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace warpline {

namespace {

using coordinates::add;
using coordinates::subtract;

QString local(const std::string& path) {
    return QFile::decodeName(QByteArray::fromStdString(path));
}

std::string encoded(const QString& path) {
    return QFile::encodeName(path).toStdString();
}

bool isSession(const QString& path) {
    // A pipe would wait for its writer, and lose what was looked at.
    if (!QFileInfo(path).isFile())
        return false;
    QFile file(path);
    constexpr qint64 kHead = 4096;
    return file.open(QIODevice::ReadOnly) && looksLikeSession(file.read(kHead).toStdString());
}

std::string jsonOf(const QJsonObject& object) {
    return QJsonDocument(object).toJson(QJsonDocument::Compact).toStdString();
}

/// A setting by its name; empty where the file has none.
QJsonObject settingOf(const SessionFile& file, std::string_view name) {
    for (const auto& [key, value] : file.settings) {
        if (key == name)
            return QJsonDocument::fromJson(QByteArray::fromStdString(value)).object();
    }
    return {};
}

/// Checksums are for what was asked already: only whether the files are there.
std::vector<SourceTrouble> missingOf(SessionFile file) {
    for (SessionFile::SourceRef& source : file.sources)
        source.checksum.clear();
    std::vector<SourceTrouble> troubles = checkSources(file);
    std::erase_if(troubles, [](const SourceTrouble& t) { return t.kind != SourceTrouble::Kind::Missing; });
    return troubles;
}

} // namespace

SessionKeeper::SessionKeeper(Document* document, Workbench* workbench, SearchField* search, QObject* parent)
    : QObject(parent), m_document(document), m_workbench(workbench), m_search(search) {}

// --- opening ---

QStringList SessionKeeper::sourcesOf(const QStringList& paths, std::vector<OpenFailure>& failures) {
    QStringList out;
    QStringList gone;
    std::vector<std::string> opened;
    std::optional<SessionFile> session;
    QString sessionPath;
    for (const QString& path : paths) {
        // Of several sessions the first one says how all is looked at.
        if (session || path == QLatin1String("-") || !isSession(path)) {
            out.append(path);
            continue;
        }
        Result<SessionFile> read = readSession(encoded(path));
        if (!read.ok()) {
            failures.push_back({path, toQString(read.error().message), false});
            continue;
        }
        SessionFile file = std::move(read).value();
        const std::vector<SourceTrouble> missing = missingOf(file);
        std::optional<QStringList> found = QStringList(static_cast<qsizetype>(missing.size()));
        if (!missing.empty() && m_ask)
            found = m_ask(missing, file);
        if (!found)
            return {};
        for (const SessionFile::SourceRef& source : file.sources)
            opened.push_back(source.path);
        for (std::size_t i = 0; i < missing.size(); ++i) {
            const QString at = found->value(static_cast<qsizetype>(i));
            opened[missing[i].source] = encoded(at);
            if (at.isEmpty())
                gone.append(toQString(missing[i].message));
        }
        for (const std::string& source : opened) {
            if (!source.empty())
                out.append(local(source));
        }
        if (file.sources.empty())
            failures.push_back({path, tr("%1: this session has no files in it.").arg(path), false});
        else if (out.isEmpty())
            failures.push_back({path, gone.join(u'\n'), false});
        sessionPath = path;
        session = std::move(file);
    }
    m_check.cancel();
    m_changed.clear();
    m_kept = {};
    m_missing = gone;
    m_paths = std::move(opened);
    m_path = sessionPath;
    m_pending = std::move(session);
    return out;
}

void SessionKeeper::keepState() {
    m_pending = collect();
    m_paths.clear();
    for (const SessionFile::SourceRef& source : m_pending->sources)
        m_paths.push_back(source.path);
}

bool SessionKeeper::restore() {
    if (!m_pending)
        return false;
    const SessionFile file = std::move(*std::exchange(m_pending, std::nullopt));
    m_kept = file;
    m_workbench->setLayoutState(QByteArray::fromStdString(file.layout));
    const TimeNs moved = movedBy(file);
    const auto shifted = [moved](TimeRange range) {
        return TimeRange{add(range.begin, moved), add(range.end, moved)};
    };
    restoreTracks(file);
    std::vector<TimeMark> marks;
    for (const SessionFile::Mark& mark : file.marks)
        marks.push_back({add(mark.time, moved), toQString(mark.note)});
    m_workbench->timeline()->state()->setMarks(std::move(marks));
    if (file.visible)
        m_document->setVisible(shifted(*file.visible));
    restoreSelection(file, moved);
    m_workbench->ops()->applyViewSettings(settingOf(file, "ops"));
    m_workbench->memory()->applyViewSettings(settingOf(file, "memory"));
    m_workbench->flame()->applyViewSettings(settingOf(file, "flame"));
    m_search->setText(toQString(file.selection.search));

    // What has changed is found out by reading all of it; that need not be waited for.
    SessionFile present;
    for (std::size_t i = 0; i < file.sources.size() && i < m_paths.size(); ++i) {
        if (m_paths[i].empty() || file.sources[i].checksum.empty())
            continue;
        present.sources.push_back(file.sources[i]);
        present.sources.back().path = m_paths[i];
    }
    if (present.sources.empty())
        return true;
    m_check.start(
        [present = std::move(present)](const std::stop_token&) -> Result<std::vector<SourceTrouble>> {
            return checkSources(present);
        },
        [this](const Result<std::vector<SourceTrouble>>& result) {
            if (!result.ok())
                return;
            for (const SourceTrouble& trouble : result.value())
                m_changed.append(toQString(trouble.message));
            if (!m_changed.isEmpty())
                emit noticeChanged();
        });
    return true;
}

QString SessionKeeper::notice() const {
    return (m_missing + m_changed).join(QStringLiteral("  "));
}

TimeNs SessionKeeper::movedBy(const SessionFile& file) const {
    for (std::uint32_t source = 0; source < file.sources.size(); ++source) {
        if (const int item = itemOf(source); item >= 0)
            return subtract(m_document->items()[static_cast<std::size_t>(item)].shift,
                            file.sources[source].shift);
        if (const int memory = memoryOf(source); memory >= 0)
            return subtract(m_document->memories()[static_cast<std::size_t>(memory)].shift,
                            file.sources[source].shift);
    }
    return 0;
}

int SessionKeeper::itemOf(std::uint32_t source) const {
    const auto& items = m_document->items();
    for (std::size_t i = 0; source < m_paths.size() && i < items.size(); ++i) {
        if (items[i].trace->path == m_paths[source])
            return static_cast<int>(i);
    }
    return -1;
}

int SessionKeeper::memoryOf(std::uint32_t source) const {
    const auto& memories = m_document->memories();
    for (std::size_t i = 0; source < m_paths.size() && i < memories.size(); ++i) {
        if (memories[i].history->path == m_paths[source])
            return static_cast<int>(i);
    }
    return -1;
}

void SessionKeeper::restoreTracks(const SessionFile& file) {
    m_workbench->timeline()->state()->changeLayout([&](TrackLayout& layout) {
        const auto apply = [&](const std::vector<SessionFile::TrackRef>& tracks, auto set) {
            for (const SessionFile::TrackRef& track : tracks) {
                if (const auto row = sessionNames::rowOf(layout, track, itemOf(track.source)))
                    set(row->id);
            }
        };
        apply(file.pinned, [&](const RowId& id) { layout.setPinned(id, true); });
        apply(file.hidden, [&](const RowId& id) { layout.setHidden(id, true); });
    });
}

void SessionKeeper::restoreSelection(const SessionFile& file, TimeNs moved) {
    const SessionFile::Selection& kept = file.selection;
    const QJsonObject more = settingOf(file, "selection");
    Selection next;
    if (kept.range) {
        next.range = TimeRange{add(kept.range->begin, moved), add(kept.range->end, moved)};
        next.rangeName = more[QStringLiteral("range_name")].toString();
    }
    next.op = toQString(kept.op);
    next.kernel = toQString(kept.kernel);
    if (!kept.frame.empty())
        next.frame.path = toQString(kept.frame).split(u'\n');
    if (const QJsonValue source = more[QStringLiteral("frame_source")]; source.isDouble()) {
        next.frame.memory = memoryOf(static_cast<std::uint32_t>(source.toInt()));
        if (next.frame.memory < 0)
            next.frame = {};
    }
    const TrackLayout& layout = m_workbench->timeline()->state()->layout();
    for (const SessionFile::TrackRef& track : kept.tracks) {
        const auto row = sessionNames::rowOf(layout, track, itemOf(track.source));
        if (row && row->id.kind == RowKind::Track)
            next.tracks.push_back({row->id.source, row->track});
    }
    if (const QJsonObject slice = more[QStringLiteral("event")].toObject(); !slice.isEmpty()) {
        const int item = itemOf(static_cast<std::uint32_t>(slice[QStringLiteral("source")].toInt()));
        if (item >= 0)
            next.slice = {item,
                          sessionNames::sliceOf(*m_document->items()[static_cast<std::size_t>(item)].trace,
                                                slice[QStringLiteral("name")].toString().toStdString(),
                                                slice[QStringLiteral("start_ns")].toInteger())};
    }
    if (!kept.block.empty()) {
        const QJsonObject at = more[QStringLiteral("block")].toObject();
        const int memory = memoryOf(static_cast<std::uint32_t>(at[QStringLiteral("source")].toInt()));
        if (memory >= 0)
            next.block = sessionNames::blockOf(m_document->memories()[static_cast<std::size_t>(memory)],
                                               memory, at[QStringLiteral("device")].toInt(), kept.block);
    }
    m_document->setSelection(std::move(next));
}

// --- saving ---

std::uint32_t SessionKeeper::sourceOf(const std::string& path) const {
    SessionFile file;
    collectSources(file);
    for (std::size_t i = 0; i < file.sources.size(); ++i) {
        if (file.sources[i].path == path)
            return static_cast<std::uint32_t>(i);
    }
    return 0;
}

void SessionKeeper::collectSources(SessionFile& file) const {
    const auto append = [&](const std::string& path, TimeNs shift) {
        const bool there =
            std::any_of(file.sources.begin(), file.sources.end(),
                        [&](const SessionFile::SourceRef& source) { return source.path == path; });
        if (!there)
            file.sources.push_back({path, {}, 0, shift});
    };
    for (const Document::Item& item : m_document->items())
        append(item.trace->path, item.shift);
    for (const MemoryItem& item : m_document->memories())
        append(item.history->path, item.shift);
    for (const ProfilePtr& profile : m_document->profiles())
        append(profile->path, 0);
}

void SessionKeeper::collectTracks(SessionFile& file) const {
    const TrackLayout& layout = m_workbench->timeline()->state()->layout();
    const Selection& selection = m_document->selection();
    const std::vector<Row> rows = layout.everyRow();
    for (const Row& row : rows) {
        const std::string& path = m_document->items()[static_cast<std::size_t>(row.id.source)].trace->path;
        const auto ref = [&] { return sessionNames::refOf(row, sourceOf(path)); };
        if (layout.isPinned(row.id))
            file.pinned.push_back(ref());
        if (layout.isHidden(row.id))
            file.hidden.push_back(ref());
        const TrackRef track{row.id.source, row.track};
        if (row.id.kind == RowKind::Track &&
            std::find(selection.tracks.begin(), selection.tracks.end(), track) != selection.tracks.end())
            file.selection.tracks.push_back(ref());
    }
}

void SessionKeeper::collectSelection(SessionFile& file) const {
    const Selection& s = m_document->selection();
    SessionFile::Selection& out = file.selection;
    QJsonObject more;
    out.range = s.range;
    out.step = s.step;
    out.op = s.op.toStdString();
    out.kernel = s.kernel.toStdString();
    out.frame = s.frame.path.join(u'\n').toStdString();
    out.search = m_search->text().toStdString();
    const auto sourceOfMemory = [this](int memory) {
        return static_cast<int>(
            sourceOf(m_document->memories()[static_cast<std::size_t>(memory)].history->path));
    };
    if (s.range)
        more[QStringLiteral("range_name")] = s.rangeName;
    if (s.frame && s.frame.memory >= 0)
        more[QStringLiteral("frame_source")] = sourceOfMemory(s.frame.memory);
    if (s.slice) {
        const Trace& trace = *m_document->items()[static_cast<std::size_t>(s.slice.source)].trace;
        more[QStringLiteral("event")] =
            QJsonObject{{QStringLiteral("source"), static_cast<int>(sourceOf(trace.path))},
                        {QStringLiteral("name"), m_document->sliceName(s.slice)},
                        {QStringLiteral("start_ns"), static_cast<qint64>(trace.range(s.slice.slice).begin)}};
    }
    if (s.block) {
        out.block =
            sessionNames::textOf(m_document->memories()[static_cast<std::size_t>(s.block.memory)], s.block);
        more[QStringLiteral("block")] =
            QJsonObject{{QStringLiteral("source"), sourceOfMemory(s.block.memory)},
                        {QStringLiteral("device"), s.block.device}};
    }
    if (!more.isEmpty())
        file.settings.emplace_back("selection", jsonOf(more));
}

SessionFile SessionKeeper::collect() const {
    SessionFile file;
    collectSources(file);
    file.layout = m_workbench->layoutState().toStdString();
    if (!m_document->items().empty())
        file.visible = m_document->visible();
    collectTracks(file);
    for (const TimeMark& mark : m_workbench->timeline()->state()->marks())
        file.marks.push_back({mark.time, std::nullopt, mark.note.toStdString(), {}});
    collectSelection(file);
    file.settings.emplace_back("ops", jsonOf(m_workbench->ops()->viewSettings()));
    file.settings.emplace_back("memory", jsonOf(m_workbench->memory()->viewSettings()));
    file.settings.emplace_back("flame", jsonOf(m_workbench->flame()->viewSettings()));
    // What a later version had kept beside goes on with the session.
    file.unknown = m_kept.unknown;
    for (const auto& [key, value] : m_kept.settings) {
        const bool ours = std::any_of(file.settings.begin(), file.settings.end(),
                                      [&key = key](const auto& own) { return own.first == key; });
        if (!ours && key != "selection")
            file.settings.emplace_back(key, value);
    }
    return file;
}

void SessionKeeper::save(const QString& path) {
    m_write.start(
        [file = collect(), path](const std::stop_token&) { return writeSession(file, encoded(path)); },
        [this, path](const Result<Done>& result) {
            if (!result.ok()) {
                emit saveFailed(toQString(result.error().message));
                return;
            }
            m_path = path;
            emit saved(path);
        });
}

} // namespace warpline
