// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/jobs.h"

#include <QCoreApplication>
#include <QEvent>

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace warpline {

// The result is handed over under a std::mutex, and the event that announces it carries nothing: Qt's own
// queue is then only a bell, and a thread sanitizer can follow the hand-over even with an uninstrumented Qt.

namespace {

/// Where there are more jobs than processors the window still answers first. Threads that the job starts
/// inherit it.
void yieldToTheWindow() {
#if defined(__linux__)
    constexpr int kNice = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice); // on Linux of this thread alone
#endif
}

} // namespace

LatestJob::LatestJob(QObject* parent) : QObject(parent) {}

LatestJob::~LatestJob() {
    cancel();
    m_thread.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

void LatestJob::startErased(Work work) {
    {
        const std::scoped_lock lock(m_mutex);
        m_running.request_stop();
        discard();
        m_pending = Request{std::move(work), std::stop_source()};
    }
    if (!m_thread.joinable())
        m_thread = std::jthread([this](const std::stop_token& quit) { loop(quit); });
    m_wake.notify_one();
    setBusy(true);
}

void LatestJob::cancel() {
    {
        const std::scoped_lock lock(m_mutex);
        m_running.request_stop();
        discard();
    }
    m_wake.notify_one();
    setBusy(false);
}

void LatestJob::discard() {
    if (m_ready)
        m_discarded.push_back(std::exchange(m_ready, nullptr));
    if (m_pending)
        m_discarded.push_back([work = std::move(m_pending->work)] {});
    m_pending.reset();
}

void LatestJob::loop(const std::stop_token& quit) {
    yieldToTheWindow();
    for (;;) {
        std::optional<Request> request;
        std::vector<Delivery> discarded;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, quit, [this] { return m_pending.has_value() || !m_discarded.empty(); });
            if (quit.stop_requested())
                return;
            discarded.swap(m_discarded);
            request.swap(m_pending);
            if (request)
                m_running = request->stop;
        }
        discarded.clear();
        if (!request)
            continue;
        Delivery delivery = request->work(request->stop.get_token());
        request->work = nullptr;
        {
            const std::scoped_lock lock(m_mutex);
            if (request->stop.stop_requested())
                continue; // `delivery` goes at the end of the scope, after the lock
            m_ready = std::move(delivery);
        }
        QCoreApplication::postEvent(this, new QEvent(QEvent::User));
    }
}

void LatestJob::customEvent(QEvent*) {
    Delivery ready;
    {
        const std::scoped_lock lock(m_mutex);
        ready = std::exchange(m_ready, nullptr);
    }
    if (!ready)
        return; // replaced after the event was sent
    setBusy(false);
    ready();
}

void LatestJob::setBusy(bool busy) {
    if (m_busy == busy)
        return;
    m_busy = busy;
    emit busyChanged();
}

} // namespace warpline
