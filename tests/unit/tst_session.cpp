// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/session.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

using namespace warpline;
using warpline::test::TraceBuilder;

namespace {

constexpr TimeNs kDay = 86'400'000'000'000;

TracePtr recording(const char* path, TimeNs begin, TimeNs duration, bool absolute = true) {
    TraceBuilder builder;
    const TrackId track = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    builder.add(track, "cpu_op", "op", begin, duration);
    builder.trace().path = path;
    builder.trace().absoluteTime = absolute;
    return builder.finish();
}

TimeRange placed(const Source& s) {
    return {s.trace->extent.begin + s.shift, s.trace->extent.end + s.shift};
}

} // namespace

class TestSession : public QObject {
    Q_OBJECT

  private slots:
    void ranksOnOneClockStay();
    void strangersBeginTogether();
    void overlappingStrangersMoveAsOne();
    void datesAndDistancesAreNotOneClock();
    void recordingsWithoutTimeStay();
    void nothing();
};

void TestSession::ranksOnOneClockStay() {
    const SessionPtr s =
        Session::of({recording("a", 1000, 500), recording("b", 1200, 500), recording("c", 900, 150)});
    QCOMPARE(s->sources.size(), std::size_t{3});
    for (const Source& source : s->sources)
        QCOMPARE(source.shift, TimeNs{0});
    QVERIFY(s->notes.empty());
    QCOMPARE(s->extent.begin, TimeNs{900});
    QCOMPARE(s->extent.end, TimeNs{1700});
    // A chain is one clock as well: the third meets the first only through the second.
    const SessionPtr chain =
        Session::of({recording("a", 0, 100), recording("b", 90, 100), recording("c", 180, 100)});
    QVERIFY(chain->notes.empty());
    QCOMPARE(chain->extent.end, TimeNs{280});
}

void TestSession::strangersBeginTogether() {
    const SessionPtr s =
        Session::of({recording("runs/a.json", 5000, 100), recording("runs/b.json", 5000 + kDay, 300)});
    QCOMPARE(s->sources[0].shift, TimeNs{0});
    QCOMPARE(s->sources[1].shift, -kDay);
    QCOMPARE(s->extent.begin, TimeNs{5000});
    QCOMPARE(s->extent.end, TimeNs{5300});
    QCOMPARE(s->notes.size(), std::size_t{1});
    QCOMPARE(s->notes[0],
             std::string("b.json does not overlap a.json in time, so it was moved by -86,400 s and both "
                         "begin together."));
}

void TestSession::overlappingStrangersMoveAsOne() {
    const SessionPtr s =
        Session::of({recording("a", 0, 100), recording("b0", kDay + 50, 100), recording("b1", kDay, 100)});
    QCOMPARE(placed(s->sources[2]).begin, TimeNs{0});
    QCOMPARE(placed(s->sources[1]).begin, TimeNs{50}); // still 50 ns after its sibling
    QCOMPARE(s->notes.size(), std::size_t{2});
}

void TestSession::datesAndDistancesAreNotOneClock() {
    const SessionPtr s = Session::of({recording("a", 1000, 100), recording("b", 1050, 100, false)});
    QCOMPARE(placed(s->sources[1]).begin, TimeNs{1000});
    QCOMPARE(s->notes.size(), std::size_t{1});
    QVERIFY(s->notes[0].find("another clock") != std::string::npos);
}

void TestSession::recordingsWithoutTimeStay() {
    TraceBuilder builder;
    const SessionPtr s = Session::of({builder.finish(), recording("b", 700, 100), recording("c", 750, 100)});
    QCOMPARE(s->sources.size(), std::size_t{3});
    QVERIFY(s->notes.empty());
    QCOMPARE(s->extent.begin, TimeNs{700});
    QCOMPARE(s->extent.end, TimeNs{850});
}

void TestSession::nothing() {
    const SessionPtr s = Session::of({});
    QVERIFY(s->sources.empty());
    QVERIFY(s->extent.empty());
}

QTEST_APPLESS_MAIN(TestSession)
#include "tst_session.moc"
