// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/loader.h"

#include "model/import/import.h"
#include "views/memory/memory_item.h"
#include "views/text.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace warpline {

Loader::Loader(QObject* parent) : QObject(parent) {}

void Loader::open(const QStringList& paths) {
    if (paths.isEmpty())
        return;
    m_paths = paths;
    m_state = std::make_shared<State>();
    for (const QString& path : paths) {
        const QFileInfo info(path);
        m_state->sizes.push_back(info.isFile() ? static_cast<quint64>(info.size()) : 0);
        m_state->progress.push_back(std::make_unique<Progress>());
    }
    // One that comes by and by; a file, or one of several, is shown when it is whole.
    if (paths.size() == 1 && m_state->sizes.front() == 0)
        m_state->grew = [this, own = std::weak_ptr<State>(m_state)](Document::Prepared prepared) {
            QMetaObject::invokeMethod(
                this,
                [this, own, prepared = std::move(prepared)] {
                    if (m_state && m_state == own.lock())
                        emit grew(prepared);
                },
                Qt::QueuedConnection);
        };
    m_clock.start();
    m_job.start([paths, state = m_state](const std::stop_token& stop) { return work(paths, *state, stop); },
                [this](Result<Opened> result) {
                    m_state.reset();
                    if (!result.ok()) {
                        emit failed({{m_paths.front(), toQString(result.error().message), false}});
                        return;
                    }
                    const Opened& done = result.value();
                    if (done.prepared.items.empty() && done.prepared.memories.empty() &&
                        done.prepared.profiles.empty())
                        emit failed(done.failures);
                    else
                        emit opened(done.prepared, done.failures);
                });
    emit started();
}

void Loader::cancel() {
    if (!loading())
        return;
    m_job.cancel();
    m_state.reset();
    emit cancelled();
}

Result<Loader::Opened> Loader::work(const QStringList& paths, State& state, const std::stop_token& stop) {
    Opened done;
    warpline::Opened all;
    for (qsizetype i = 0; i < paths.size(); ++i) {
        state.current = static_cast<int>(i);
        ImportOptions options;
        options.stop = stop;
        options.progress = state.progress[static_cast<std::size_t>(i)].get();
        if (state.grew)
            options.partial = [&state](TracePtr trace) {
                warpline::Opened opened;
                opened.traces.push_back(std::move(trace));
                state.grew(Document::prepare(std::move(opened)));
            };
        Result<warpline::Opened> result = openFile(QFile::encodeName(paths[i]).toStdString(), options);
        if (stop.stop_requested())
            return Error::cancelled();
        if (!result.ok()) {
            const Error& error = result.error();
            done.failures.push_back(
                {paths[i], toQString(error.message), error.kind == Error::Kind::WrongKind});
            continue;
        }
        for (TracePtr& trace : result.value().traces)
            all.traces.push_back(std::move(trace));
        for (MemoryHistoryPtr& memory : result.value().memory)
            all.memory.push_back(std::move(memory));
        for (ProfilePtr& profile : result.value().profiles)
            all.profiles.push_back(std::move(profile));
    }
    if (!all.empty()) {
        state.progress.back()->stage = Progress::Stage::Analysing;
        done.prepared = Document::prepare(std::move(all));
    } else if (done.failures.empty()) {
        done.failures.push_back({paths.front(), tr("There is nothing to show in this file."), true});
    }
    return done;
}

Loader::Status Loader::status() const {
    Status status;
    if (!m_state)
        return status;
    const auto current = static_cast<std::size_t>(m_state->current.load());
    const QString& path = m_paths[static_cast<qsizetype>(current)];
    status.file = path == QLatin1String("-") ? tr("standard input") : QFileInfo(path).fileName();
    status.fileNumber = static_cast<int>(current) + 1;
    status.fileCount = static_cast<int>(m_paths.size());
    bool known = true;
    for (std::size_t i = 0; i < m_state->progress.size(); ++i) {
        const Progress& progress = *m_state->progress[i];
        const quint64 total = std::max<quint64>(progress.bytesTotal, m_state->sizes[i]);
        const quint64 done = progress.bytesDone;
        known = known && total > 0;
        status.bytesTotal += total;
        status.bytesDone += i < current ? total : total > 0 ? std::min(done, total) : done;
        status.events += progress.events;
    }
    if (!known)
        status.bytesTotal = 0;
    status.stage = m_state->progress[current]->stage;
    // From the average rate, once it is worth the name.
    const double seconds = static_cast<double>(m_clock.elapsed()) / 1000;
    if (status.stage == Progress::Stage::Reading && status.bytesTotal > 0 && status.bytesDone > 0 &&
        seconds > 0.5)
        status.secondsLeft = seconds * static_cast<double>(status.bytesTotal - status.bytesDone) /
                             static_cast<double>(status.bytesDone);
    return status;
}

} // namespace warpline
