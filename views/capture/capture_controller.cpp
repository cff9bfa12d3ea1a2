// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/capture/capture_controller.h"

#include "views/memory/memory_item.h"
#include "views/text.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>

namespace warpline {

namespace {

constexpr int kPollMs = 200;

} // namespace

CaptureController::CaptureController(Document* document, QObject* parent)
    : QObject(parent), m_document(document), m_follow(document) {
    m_timer.setInterval(kPollMs);
    connect(&m_timer, &QTimer::timeout, this, &CaptureController::poll);
    connect(&m_follow, &FollowNewest::followingChanged, this, &CaptureController::followingChanged);
}

CaptureController::~CaptureController() {
    m_timer.stop();
}

QString CaptureController::freeName(const QString& folder, const QString& stem) {
    for (int number = 1;; ++number) {
        const QString path = QDir(folder).filePath(
            number == 1 ? stem + QStringLiteral(".wpl") : QStringLiteral("%1-%2.wpl").arg(stem).arg(number));
        if (!QFileInfo::exists(path))
            return path;
    }
}

void CaptureController::start(capture::RecordConfig config) {
    if (recording())
        return;
    m_last = config;
    m_output = QFile::decodeName(QByteArray::fromStdString(config.output));
    m_status = {};
    m_shown = 0;
    m_marks = 0;
    m_paused = false;
    using Started = std::shared_ptr<capture::Recorder>;
    m_starting.start(
        [config = std::move(config)](const std::stop_token&) mutable -> Result<Started> {
            Result<std::unique_ptr<capture::Recorder>> recorder = capture::Recorder::start(std::move(config));
            if (!recorder.ok())
                return recorder.error();
            return Started(std::move(recorder).value());
        },
        [this](Result<Started> result) {
            if (!result.ok()) {
                emit failed(toQString(result.error().message));
                return;
            }
            m_recorder = std::move(result).value();
            m_timer.start();
            m_follow.begin();
            emit started();
            poll();
        });
}

void CaptureController::again() {
    if (!m_last || recording())
        return;
    capture::RecordConfig config = *m_last;
    if (!config.output.empty() && config.output != "-") {
        const QFileInfo before(QFile::decodeName(QByteArray::fromStdString(config.output)));
        QString stem = before.completeBaseName();
        const qsizetype dash = stem.lastIndexOf(u'-');
        bool numbered = false;
        stem.mid(dash + 1).toInt(&numbered);
        if (dash > 0 && numbered)
            stem.truncate(dash);
        config.output = QFile::encodeName(freeName(before.absolutePath(), stem)).toStdString();
    }
    start(std::move(config));
}

void CaptureController::stop() {
    if (m_recorder)
        m_recorder->stop();
}

void CaptureController::setPaused(bool paused) {
    if (!m_recorder || paused == m_paused)
        return;
    m_paused = paused;
    if (paused)
        m_recorder->pause();
    else
        m_recorder->resume();
    emit statusChanged();
}

void CaptureController::mark() {
    if (m_recorder)
        m_recorder->mark(tr("mark %1").arg(++m_marks).toStdString());
}

void CaptureController::poll() {
    if (!m_recorder)
        return;
    m_status = m_recorder->status();
    emit statusChanged();
    if (m_recorder->finished()) {
        m_timer.stop();
        m_snapshot.cancel();
        m_recorder.reset();
        m_follow.end();
        if (m_status.state == capture::RecordStatus::State::Failed)
            emit failed(toQString(m_status.reason));
        else
            emit finished(m_output);
        return;
    }
    // Views are made anew as fast as that goes, and no faster: a recording of a million events is arranged in
    // half a second, one of a thousand at once.
    if (!m_snapshot.busy() && m_recorder->revision() != m_shown)
        takeSnapshot();
}

void CaptureController::takeSnapshot() {
    m_snapshot.start(
        [recorder = m_recorder](const std::stop_token& stop) -> Result<Snapshot> {
            Snapshot snapshot;
            snapshot.revision = recorder->revision();
            Opened opened;
            if (TracePtr trace = recorder->latest())
                opened.traces.push_back(std::move(trace));
            if (stop.stop_requested())
                return Error::cancelled();
            if (!opened.empty())
                snapshot.prepared = Document::prepare(std::move(opened));
            return snapshot;
        },
        [this](Result<Snapshot> result) {
            if (!result.ok() || !m_recorder)
                return;
            m_shown = result.value().revision;
            if (result.value().prepared.items.empty())
                return;
            m_follow.grow(std::move(result).value().prepared);
        });
}

QString CaptureController::title() const {
    if (!m_last)
        return {};
    if (m_last->attach > 0)
        return tr("process %1").arg(m_last->attach);
    QStringList words;
    for (const std::string& word : m_last->command)
        words.append(toQString(word));
    return words.join(u' ');
}

QString CaptureController::summary() const {
    using State = capture::RecordStatus::State;
    QStringList parts;
    switch (m_status.state) {
    case State::Starting:
        parts.append(tr("waiting for the program to use CUDA"));
        break;
    case State::Waiting:
        parts.append(tr("connected, waiting to begin"));
        break;
    case State::Recording:
        parts.append(m_paused ? tr("paused") : durationText(m_status.durationNs));
        break;
    case State::Finished:
        parts.append(tr("finished: %1").arg(toQString(m_status.reason)));
        break;
    case State::Failed:
        parts.append(toQString(m_status.reason));
        break;
    }
    if (m_status.counts.records > 0) {
        parts.append(tr("%1 kernels (%2/s)")
                         .arg(countText(static_cast<std::int64_t>(m_status.counts.kernels)),
                              countText(static_cast<std::int64_t>(m_status.kernelsPerSecond))));
        parts.append(tr("%1 records").arg(countText(static_cast<std::int64_t>(m_status.counts.records))));
        parts.append(m_status.dropped == 0
                         ? tr("nothing dropped")
                         : tr("%1 dropped").arg(countText(static_cast<std::int64_t>(m_status.dropped))));
    }
    if (m_status.processes.size() > 1)
        parts.append(tr("%1 processes").arg(m_status.processes.size()));
    if (m_status.fileBytes > 0)
        parts.append(fileSizeText(m_status.fileBytes));
    return parts.join(QStringLiteral("  ·  "));
}

} // namespace warpline
