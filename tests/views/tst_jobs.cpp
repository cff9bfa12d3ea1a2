// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "views/jobs.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace warpline;

class TestJobs : public QObject {
    Q_OBJECT

  private slots:
    void deliversInThisThread() {
        LatestJob job;
        const std::thread::id here = std::this_thread::get_id();
        std::thread::id worked;
        std::thread::id delivered;
        int value = 0;
        job.start(
            [&worked](const std::stop_token&) -> Result<int> {
                worked = std::this_thread::get_id();
                return 42;
            },
            [&](const Result<int>& result) {
                delivered = std::this_thread::get_id();
                value = result.value();
            });
        QVERIFY(job.busy());
        QTRY_VERIFY(!job.busy());
        QCOMPARE(value, 42);
        QVERIFY(worked != here);
        QVERIFY(delivered == here);
    }

    void onlyTheNewestCounts() {
        LatestJob job;
        std::atomic<int> stopped{0};
        std::vector<int> delivered;
        constexpr int kRequests = 200;
        for (int i = 0; i < kRequests; ++i) {
            job.start(
                [i, &stopped](const std::stop_token& stop) -> Result<int> {
                    // As long as work that is dragged along: it ends at once when it is told to.
                    for (int n = 0; n < 20 && !stop.stop_requested(); ++n)
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    if (stop.stop_requested())
                        ++stopped;
                    return i;
                },
                [&](const Result<int>& result) { delivered.push_back(result.value()); });
            if (i % 10 == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
        QTRY_COMPARE(delivered, std::vector<int>{kRequests - 1});
        QTest::qWait(30);
        QCOMPARE(delivered.size(), std::size_t{1});
        QVERIFY(stopped > 0);
    }

    void aReadyResultIsDroppedWhenReplaced() {
        LatestJob job;
        std::atomic<bool> first{false};
        std::vector<int> delivered;
        job.start(
            [&first](const std::stop_token&) -> Result<int> {
                first = true;
                return 1;
            },
            [&](const Result<int>& r) { delivered.push_back(r.value()); });
        while (!first)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // its event now waits in the queue
        job.start([](const std::stop_token&) -> Result<int> { return 2; },
                  [&](const Result<int>& r) { delivered.push_back(r.value()); });
        QTRY_COMPARE(delivered, std::vector<int>{2});
        QTest::qWait(20);
        QCOMPARE(delivered, std::vector<int>{2});
    }

    void cancelDeliversNothing() {
        LatestJob job;
        QSignalSpy busy(&job, &LatestJob::busyChanged);
        bool delivered = false;
        job.start(
            [](const std::stop_token& stop) -> Result<int> {
                while (!stop.stop_requested())
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                return 1;
            },
            [&](const Result<int>&) { delivered = true; });
        job.cancel();
        QVERIFY(!job.busy());
        QCOMPARE(busy.count(), 2);
        QTest::qWait(30);
        QVERIFY(!delivered);
        // And it is fit for use again.
        job.start([](const std::stop_token&) -> Result<int> { return 1; },
                  [&](const Result<int>&) { delivered = true; });
        QTRY_VERIFY(delivered);
    }

    void destructionStopsAndWaits() {
        std::atomic<bool> ended{false};
        {
            LatestJob job;
            std::atomic<bool> running{false};
            job.start(
                [&](const std::stop_token& stop) -> Result<int> {
                    running = true;
                    while (!stop.stop_requested())
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    ended = true;
                    return 1;
                },
                [](const Result<int>&) { QFAIL("delivered after the end"); });
            while (!running)
                std::this_thread::yield();
        }
        QVERIFY(ended);
        QTest::qWait(20);
    }

    void exceptionsBecomeErrors() {
        LatestJob job;
        std::string message;
        const auto done = [&](const Result<int>& r) { message = r.ok() ? "ok" : r.error().message; };
        job.start([](const std::stop_token&) -> Result<int> { throw std::runtime_error("odd"); }, done);
        QTRY_COMPARE(message, std::string("This could not be done: odd."));
        job.start([](const std::stop_token&) -> Result<int> { throw std::bad_alloc(); }, done);
        QTRY_VERIFY(message.find("memory") != std::string::npos);
    }

    void whatTheWorkHoldsIsReleasedInItsThread() {
        // Whether it ran, was replaced before it ran, or ran and was replaced before it was delivered.
        struct Held {
            std::atomic<int>* released;
            std::atomic<int>* releasedHere;
            std::thread::id here;
            Held(std::atomic<int>* all, std::atomic<int>* local)
                : released(all), releasedHere(local), here(std::this_thread::get_id()) {}
            Held(const Held&) = delete;
            Held& operator=(const Held&) = delete;
            ~Held() {
                ++*released;
                if (std::this_thread::get_id() == here)
                    ++*releasedHere;
            }
        };
        std::atomic<int> released{0};
        std::atomic<int> releasedHere{0};
        constexpr int kRequests = 50;
        LatestJob job;
        bool last = false;
        for (int i = 0; i < kRequests; ++i) {
            auto held = std::make_shared<Held>(&released, &releasedHere);
            job.start([held = std::move(held)](const std::stop_token&) -> Result<int> { return 1; },
                      [&last, i](const Result<int>&) { last = i == kRequests - 1; });
        }
        QTRY_VERIFY(last);
        QTRY_COMPARE(released.load(), kRequests);
        QCOMPARE(releasedHere.load(), 0);
    }
};

QTEST_GUILESS_MAIN(TestJobs)
#include "tst_jobs.moc"
