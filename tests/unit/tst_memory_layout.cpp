// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_peaks.h"
#include "model/query/memory_blocks.h"
#include "model/query/memory_layout.h"
#include "tests/support/memory_files.h"
#include "tests/support/pickle.h"

#include <QtTest>
#include <random>

using namespace warpline;

/// Frames, bands, curves and peaks against what a plain walk gives.
class TestMemoryLayout : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void framesAreExact();
    void preparedFrames();
    void timeAxis();
    void bandsFollowTheBlocks();
    void hitAndPosition();
    void labels();
    void curves();
    void peaks();
    void blockLists();
    void filters();

  private:
    MemoryHistoryPtr m_small;
    MemoryHistoryPtr m_large;
    std::shared_ptr<const MemoryLayout> m_layout;
};

namespace {

/// Allocations and frees at random, with a free missing now and then.
MemoryHistoryPtr randomHistory(int events, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::int64_t, std::int64_t>> live;
    std::string text;
    std::int64_t time = 1790000000000000;
    for (int i = 0; i < events; ++i) {
        time += random() % 50;
        if (live.size() > 20 && random() % 100 < 49) {
            const std::size_t k = random() % live.size();
            text += pickle::entry("free_completed", live[k].first, live[k].second, time);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
        } else {
            const bool again = random() % 97 == 0 && !live.empty();
            const std::int64_t address = again ? live[random() % live.size()].first : 4096 * (i + 1);
            const auto size = static_cast<std::int64_t>(1 + random() % 100000);
            if (!again)
                live.emplace_back(address, size);
            text += pickle::entry("alloc", address, size, time);
        }
    }
    return test::memoryOfText(pickle::snapshot(text));
}

BlockId plainBlockAt(const MemoryDevice& d, Moment m, std::int64_t byte) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < d.blocks.count(); ++i) {
        if (!d.blocks.aliveAt(i, m))
            continue;
        at += d.blocks.size[i];
        if (byte < at)
            return BlockId::fromIndex(i);
    }
    return {};
}

/// Where a block lies at a moment: [first, second), or nothing.
std::pair<std::int64_t, std::int64_t> plainRange(const MemoryDevice& d, Moment m, BlockId block) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < d.blocks.count(); ++i) {
        if (!d.blocks.aliveAt(i, m))
            continue;
        if (BlockId::fromIndex(i) == block)
            return {at, at + d.blocks.size[i]};
        at += d.blocks.size[i];
    }
    return {0, 0};
}

/// Every pixel shows the block at its centre; where blocks are thinner than pixels, one that lies within two
/// pixels.
void checkFrame(const MemoryDevice& d, const LayoutFrame& f, ByteRange bytes, int every) {
    for (int c = 0; c < f.columns; c += every)
        for (int r = 0; r < f.rows; r += 3) {
            const auto height = static_cast<double>(bytes.end - bytes.begin);
            const std::int64_t byte =
                bytes.begin + static_cast<std::int64_t>(height * (f.rows - 1 - r + 0.5) / f.rows);
            const BlockId want = plainBlockAt(d, f.moments[static_cast<std::size_t>(c)], byte);
            const BlockId got = f.cells[static_cast<std::size_t>(r * f.columns + c)];
            if (got == want)
                continue;
            const auto [begin, end] = plainRange(d, f.moments[static_cast<std::size_t>(c)], got);
            const auto slack = static_cast<std::int64_t>(2 * height / f.rows) + 1;
            const std::string where = "column " + std::to_string(c) + ", row " + std::to_string(r) +
                                      ": block " + std::to_string(got.value) + " for " +
                                      std::to_string(want.value);
            const std::int64_t top = d.curves.requested[f.moments[static_cast<std::size_t>(c)]];
            const bool near =
                got ? end > begin && byte >= begin - slack && byte < end + slack : byte >= top - slack;
            QVERIFY2(near, where.c_str());
        }
}

} // namespace

void TestMemoryLayout::initTestCase() {
    m_small = randomHistory(3000, 1);
    m_large = randomHistory(200000, 2);
    QVERIFY(m_small && m_large);
    QVERIFY(m_small->devices[0].implicitFrees > 0);
    m_layout = MemoryLayout::build(m_small, 0);
}

void TestMemoryLayout::framesAreExact() {
    const MemoryDevice& d = m_small->devices[0];
    LayoutFrame f;
    for (const auto& [begin, end] : {std::pair<int, int>{0, 3001}, {1000, 1200}, {2990, 3001}, {5, 6}}) {
        for (const ByteRange bytes :
             {ByteRange{0, m_layout->peak()}, ByteRange{m_layout->peak() / 3, m_layout->peak() / 2},
              ByteRange{-1000, m_layout->peak() * 2}}) {
            m_layout->frame({MemoryAxis::Events, begin, end}, bytes, 70, 60, f);
            QCOMPARE(f.columns * f.rows, static_cast<int>(f.cells.size()));
            checkFrame(d, f, bytes, 7);
            if (QTest::currentTestFailed())
                return;
        }
    }
    // The fullest moment of each column, so that the peak shows.
    m_layout->frame({MemoryAxis::Events, 0, 3001}, {0, m_layout->peak()}, 10, 10, f);
    QCOMPARE(*std::max_element(f.totals.begin(), f.totals.end()), m_layout->peak());
}

void TestMemoryLayout::preparedFrames() {
    const auto layout = MemoryLayout::build(m_large, 0);
    LayoutFrame f;
    layout->frame({MemoryAxis::Events, 0, 200001}, {0, layout->peak()}, 100, MemoryLayout::kPreparedRows, f);
    checkFrame(m_large->devices[0], f, {0, layout->peak()}, 37);
    QCOMPARE(*std::max_element(f.totals.begin(), f.totals.end()), layout->peak());
    layout->frame({MemoryAxis::Events, 0, 200001}, {0, layout->peak() / 8}, 40, 500,
                  f); // too fine for what is prepared
    checkFrame(m_large->devices[0], f, {0, layout->peak() / 8}, 13);
    QVERIFY(layout->bytes() < 40 * m_large->devices[0].events.count());
}

void TestMemoryLayout::timeAxis() {
    const MemoryDevice& d = m_small->devices[0];
    const TimeRange all = d.extent();
    LayoutFrame f;
    m_layout->frame({MemoryAxis::Time, all.begin, all.end + 1}, {0, m_layout->peak()}, 50, 40, f);
    checkFrame(d, f, {0, m_layout->peak()}, 7);
    QCOMPARE(*std::max_element(f.totals.begin(), f.totals.end()), m_layout->peak());
    // Before and after the history its ends show.
    m_layout->frame({MemoryAxis::Time, all.begin - 1000, all.begin - 10}, {0, m_layout->peak()}, 4, 4, f);
    QCOMPARE(f.moments[0], Moment(0));
    m_layout->frame({MemoryAxis::Time, all.end + 10, all.end + 1000}, {0, m_layout->peak()}, 4, 4, f);
    QCOMPARE(f.moments[3], d.lastMoment());
}

void TestMemoryLayout::bandsFollowTheBlocks() {
    const MemoryDevice& d = m_small->devices[0];
    std::vector<Moment> moments;
    for (Moment m = 0; m <= d.lastMoment(); m += 37)
        moments.push_back(m);
    for (std::size_t row = 0; row < d.blocks.count(); row += 61) {
        const BlockBand band = m_layout->band(BlockId::fromIndex(row), moments);
        for (std::size_t c = 0; c < moments.size(); ++c) {
            const auto at = m_layout->position(BlockId::fromIndex(row), moments[c]);
            const bool inside = static_cast<int>(c) >= band.first && static_cast<int>(c) < band.last;
            QCOMPARE(at.has_value(), inside);
            QCOMPARE(band.columns[c].begin, at ? at->begin : 0);
            QCOMPARE(band.columns[c].end, at ? at->end : 0);
        }
    }
}

void TestMemoryLayout::hitAndPosition() {
    const MemoryDevice& d = m_small->devices[0];
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        const auto m = static_cast<Moment>(random() % (d.lastMoment() + 1));
        const auto byte = static_cast<std::int64_t>(random() % static_cast<unsigned long>(m_layout->peak()));
        const BlockId hit = m_layout->blockAt(m, byte);
        QCOMPARE(hit.value, plainBlockAt(d, m, byte).value);
        if (hit) {
            const auto at = m_layout->position(hit, m);
            QVERIFY(at && at->begin <= byte && byte < at->end);
        }
    }
    QVERIFY(!m_layout->blockAt(100, -1) && !m_layout->blockAt(100, INT64_MAX));
    QVERIFY(!m_layout->position({}, 0) && !m_layout->position(BlockId{0xFFFFFFF0u}, 0));
}

void TestMemoryLayout::labels() {
    LayoutFrame f;
    m_layout->frame({MemoryAxis::Events, 0, 3001}, {0, m_layout->peak()}, 200, 200, f);
    const auto spots = labelSpots(f, 8, 4, 10);
    QVERIFY(!spots.empty() && spots.size() <= 10);
    for (const LabelSpot& s : spots) {
        QVERIFY(s.columns >= 8 && s.rows >= 4);
        for (int r = s.row; r < s.row + s.rows; ++r)
            for (int c = s.column; c < s.column + s.columns; ++c)
                QCOMPARE(f.cells[static_cast<std::size_t>(r * f.columns + c)].value, s.block.value);
    }
}

void TestMemoryLayout::curves() {
    const Column<std::int64_t>& curve = m_large->devices[0].curves.requested;
    const CurveIndex index(curve.view());
    std::mt19937 random(5);
    for (int i = 0; i < 300; ++i) {
        auto a = static_cast<Moment>(random() % curve.size());
        auto b = static_cast<Moment>(i % 3 == 0 ? a + random() % 70 : random() % curve.size());
        b = std::min(b, static_cast<Moment>(curve.size() - 1));
        if (a > b)
            std::swap(a, b);
        const auto e = index.extremes(a, b);
        const auto [low, high] = std::minmax_element(curve.begin() + a, curve.begin() + b + 1);
        QCOMPARE(e.min, *low);
        QCOMPARE(e.max, *high);
        QCOMPARE(e.minAt, Moment(low - curve.begin()));
        QCOMPARE(e.maxAt, Moment(std::max_element(curve.begin() + a, curve.begin() + b + 1) - curve.begin()));
    }
}

void TestMemoryLayout::peaks() {
    const MemoryDevice& d = m_small->devices[0];
    const auto& curve = d.curves.requested;
    const auto found = localPeaks(d, MemoryCurve::Requested, 10000, 1);
    // By the definition, for each summit.
    std::vector<std::pair<Moment, std::int64_t>> want;
    const std::int64_t highest = *std::max_element(curve.begin(), curve.end());
    const std::int64_t lowest = *std::min_element(curve.begin(), curve.end());
    bool globalSeen = false;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        std::size_t after = i;
        while (after + 1 < curve.size() && curve[after + 1] == curve[i])
            ++after;
        const bool rose = i == 0 || curve[i] > curve[i - 1];
        const bool falls = after + 1 == curve.size() || curve[after + 1] < curve[i];
        if (!rose || !falls)
            continue;
        std::int64_t left = curve[i], right = curve[i];
        bool leftHigher = false, rightHigher = false;
        for (std::size_t k = i; k-- > 0;) {
            if (curve[k] >= curve[i]) { // an equal one before it is the higher of the two
                leftHigher = true;
                break;
            }
            left = std::min(left, curve[k]);
        }
        for (std::size_t k = after + 1; k < curve.size(); ++k) {
            if (curve[k] > curve[i]) {
                rightHigher = true;
                break;
            }
            right = std::min(right, curve[k]);
        }
        std::int64_t base = leftHigher && rightHigher ? std::max(left, right)
                            : leftHigher              ? left
                            : rightHigher             ? right
                                                      : lowest;
        if (curve[i] == highest && !globalSeen) {
            globalSeen = true;
            base = lowest;
        }
        if (curve[i] - base >= 1 || base == lowest)
            want.emplace_back(static_cast<Moment>(i), curve[i] - base);
    }
    QCOMPARE(found.size(), want.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        QCOMPARE(found[i].moment, want[i].first);
        QCOMPARE(found[i].prominence, want[i].second);
        QCOMPARE(found[i].bytes, curve[found[i].moment]);
    }
    const auto few = localPeaks(d, MemoryCurve::Requested, 3);
    QVERIFY(few.size() <= 3);
    QVERIFY(std::any_of(few.begin(), few.end(),
                        [&](const LocalPeak& p) { return p.moment == d.peakRequested.moment; }));
}

void TestMemoryLayout::blockLists() {
    const MemoryDevice& d = m_small->devices[0];
    BlockFilter filter;
    filter.aliveAt = 1500;
    filter.minSize = 50000;
    const auto rows = listBlocks(*m_small, d, filter, BlockSort::Size, true);
    QVERIFY(!rows.empty());
    std::size_t count = 0;
    for (std::size_t i = 0; i < d.blocks.count(); ++i)
        count += d.blocks.aliveAt(i, 1500) && d.blocks.size[i] >= 50000 ? 1 : 0;
    QCOMPARE(rows.size(), count);
    for (std::size_t i = 1; i < rows.size(); ++i)
        QVERIFY(d.blocks.size[rows[i - 1]] >= d.blocks.size[rows[i]]);
    filter = {};
    filter.address = d.blocks.address[7] + 1;
    const auto at = listBlocks(*m_small, d, filter, BlockSort::Birth, false);
    QVERIFY(std::find(at.begin(), at.end(), 7u) != at.end());
}

void TestMemoryLayout::filters() {
    const BlockFilter f = parseBlockFilter("size>1MiB size<=2GiB life<10us age>=3ms addr:0x7f00 conv  2d");
    QCOMPARE(*f.minSize, (std::int64_t(1) << 20) + 1);
    QCOMPARE(*f.maxSize, std::int64_t(2) << 30);
    QCOMPARE(*f.maxLifetime, std::int64_t(9999));
    QCOMPARE(*f.minAge, std::int64_t(3000000));
    QCOMPARE(*f.address, std::uint64_t(0x7f00));
    QCOMPARE(f.stackText, std::string("conv 2d"));
    QCOMPARE(parseBlockFilter("size> size>x").stackText, std::string("size> size>x"));
}

QTEST_GUILESS_MAIN(TestMemoryLayout)
#include "tst_memory_layout.moc"
