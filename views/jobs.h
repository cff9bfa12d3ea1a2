// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <QObject>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpline {

/// Work off the GUI thread of which only the newest request counts: a table over a range that is being
/// dragged, a search that is being typed, a file that is being opened. Starting again stops the request
/// before it; its result is never delivered. Results come in the GUI thread. One thread a job, started with
/// the first request and joined by the destructor, which therefore waits until the work notices its stop
/// token.
class LatestJob : public QObject {
    Q_OBJECT

  public:
    explicit LatestJob(QObject* parent = nullptr);
    ~LatestJob() override;

    /// `work` is Result<T>(std::stop_token) and runs in the job's thread; `done` is void(Result<T>) and runs
    /// in the thread of this object, unless the request was replaced or cancelled. What `work` holds is
    /// released in the job's thread. Exceptions of `work` become errors.
    template <class Work, class Done>
    void start(Work work, Done done) {
        using R = std::invoke_result_t<Work&, std::stop_token>;
        startErased(
            [work = std::move(work), done = std::move(done)](std::stop_token stop) mutable -> Delivery {
                auto result = std::make_shared<R>(guarded<R>(work, std::move(stop)));
                return [result, done]() mutable { done(std::move(*result)); };
            });
    }
    /// Stops the request; its result will not come.
    void cancel();
    /// A result is on its way.
    [[nodiscard]] bool busy() const { return m_busy; }

  signals:
    void busyChanged();

  protected:
    void customEvent(QEvent* event) override;

  private:
    using Delivery = std::function<void()>;
    using Work = std::function<Delivery(std::stop_token)>;
    struct Request {
        Work work;
        std::stop_source stop;
    };

    template <class R, class W>
    static R guarded(W& work, std::stop_token stop) {
        try {
            return work(std::move(stop));
        } catch (const std::bad_alloc&) {
            return Error::failed("There is not enough memory for this: close other files, or select less.");
        } catch (const std::exception& e) {
            return Error::failed(std::string("This could not be done: ") + e.what() + ".");
        }
    }

    void startErased(Work work);
    void discard(); ///< leaves what is not wanted any more to the thread; under the lock
    void loop(const std::stop_token& quit);
    void setBusy(bool busy);

    bool m_busy = false; ///< of the owner's thread only

    std::mutex m_mutex; ///< guards what follows
    std::condition_variable_any m_wake;
    std::optional<Request> m_pending;
    std::stop_source m_running{std::nostopstate};
    Delivery m_ready;
    std::vector<std::function<void()>> m_discarded; ///< released by the thread: a result may be large
    std::jthread m_thread;                          ///< last: joined before the rest goes
};

} // namespace warpline
