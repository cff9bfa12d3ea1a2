// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/timeline_state.h"

#include "model/query/range_stats.h"
#include "views/slice_masks.h"
#include "views/timeline/coordinates.h"

#include <QApplication>
#include <QStyle>

#include <algorithm>

namespace warpline {

namespace {

constexpr int kMotionMs = 110;
constexpr int kBusyDelayMs = 60;

bool desktopWantsMotion() {
    return QApplication::style()->styleHint(QStyle::SH_Widget_Animation_Duration) > 0;
}

} // namespace

TimelineState::TimelineState(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    m_motion.setDuration(kMotionMs);
    m_motion.setStartValue(0.0);
    m_motion.setEndValue(1.0);
    m_motion.setEasingCurve(QEasingCurve::OutCubic);
    connect(&m_motion, &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        const double t = value.toDouble();
        m_moving = true;
        m_document->setVisible(t >= 1 ? m_motionTo : coordinates::between(m_motionFrom, m_motionTo, t));
        m_moving = false;
    });
    m_busyDelay.setSingleShot(true);
    m_busyDelay.setInterval(kBusyDelayMs);
    connect(&m_busyDelay, &QTimer::timeout, this, &TimelineState::startBusy);
    connect(document, &Document::sessionChanged, this, &TimelineState::takeSession);
    connect(document, &Document::visibleChanged, this, [this] {
        if (!m_moving)
            m_motion.stop();
        m_busyDelay.start();
    });
    connect(document, &Document::hitsChanged, this, &TimelineState::takeHits);
    connect(document, &Document::filterChanged, this, &TimelineState::takeHits);
    takeSession();
}

void TimelineState::takeSession() {
    ++m_sessionNumber;
    m_motion.stop();
    m_busyJob.cancel();
    m_busy.clear();
    if (!m_document->growing())
        m_marks.clear();
    m_pointer.reset();
    m_layout.setItems(m_document->items(), m_document->memories(), m_document->growing());
    takeHits();
    m_steps.clear();
    // Recordings of several ranks step together: the first one that has steps gives the bands.
    for (std::size_t i = 0; i < m_document->items().size() && m_steps.empty(); ++i) {
        const Document::Item& item = m_document->items()[i];
        for (const Step& step : item.trace->steps)
            m_steps.push_back({{coordinates::add(step.range.begin, item.shift),
                                coordinates::add(step.range.end, item.shift)},
                               step.number,
                               {static_cast<int>(i), step.slice}});
    }
    std::stable_sort(m_steps.begin(), m_steps.end(),
                     [](const StepBand& a, const StepBand& b) { return a.range.begin < b.range.begin; });
    m_busyDelay.start();
    emit layoutChanged();
    emit marksChanged();
    emit pointerChanged();
    emit busyChanged();
}

void TimelineState::takeHits() {
    m_namedJob.cancel();
    m_hits.set(m_document->items(), m_document->hits());
    emit hitsChanged();
    if (!m_document->hits().empty() || !m_document->selection().filters())
        return;
    m_namedJob.start([items = m_document->items(), selection = m_document->selection()](
                         const std::stop_token& stop) { return namedSlices(items, selection, stop); },
                     [this](const Result<std::vector<SliceRef>>& result) {
                         if (!result.ok() || !m_document->hits().empty())
                             return;
                         m_hits.set(m_document->items(), result.value());
                         emit hitsChanged();
                     });
}

TimeNs TimelineState::origin() const {
    const auto range = m_document->range();
    return range ? range->begin : m_document->extent().begin;
}

QString TimelineState::originName() const {
    if (!m_document->range())
        return tr("start");
    return m_document->rangeName().isEmpty() ? tr("start of the selection") : m_document->rangeName();
}

TimeRange TimelineState::target() const {
    return m_motion.state() == QAbstractAnimation::Running ? m_motionTo : m_document->visible();
}

void TimelineState::moveTo(TimeRange range) {
    if (m_document->empty())
        return;
    if (!m_animated || !desktopWantsMotion()) {
        jumpTo(range);
        return;
    }
    const TimeRange extent = m_document->extent();
    m_motionFrom = m_document->visible();
    m_motionTo = coordinates::movedInto(range, coordinates::widened(extent, 0.05));
    if (m_motionTo == m_motionFrom)
        return;
    m_motion.stop();
    m_motion.start();
}

void TimelineState::jumpTo(TimeRange range) {
    m_motion.stop();
    m_document->setVisible(range);
}

void TimelineState::setMarks(std::vector<TimeMark> marks) {
    std::stable_sort(marks.begin(), marks.end(),
                     [](const TimeMark& a, const TimeMark& b) { return a.time < b.time; });
    if (marks == m_marks)
        return;
    m_marks = std::move(marks);
    emit marksChanged();
}

const TimeMark* TimelineState::markAt(TimeNs time, TimeNs slack) const {
    const auto distance = [time](const TimeMark& mark) {
        return std::abs(coordinates::subtract(mark.time, time));
    };
    const auto near =
        std::min_element(m_marks.begin(), m_marks.end(),
                         [&](const TimeMark& a, const TimeMark& b) { return distance(a) < distance(b); });
    return near == m_marks.end() || distance(*near) > slack ? nullptr : &*near;
}

void TimelineState::toggleMark(TimeNs time, TimeNs slack) {
    std::vector<TimeMark> marks = m_marks;
    if (const TimeMark* near = markAt(time, slack))
        marks.erase(marks.begin() + (near - m_marks.data()));
    else
        marks.push_back({time, {}});
    setMarks(std::move(marks));
}

void TimelineState::setNote(TimeNs time, const QString& note) {
    std::vector<TimeMark> marks = m_marks;
    const auto at =
        std::find_if(marks.begin(), marks.end(), [time](const TimeMark& mark) { return mark.time == time; });
    if (at == marks.end())
        marks.push_back({time, note});
    else
        at->note = note;
    setMarks(std::move(marks));
}

void TimelineState::clearMarks() {
    if (m_marks.empty())
        return;
    m_marks.clear();
    emit marksChanged();
}

void TimelineState::setPointer(std::optional<TimeNs> time) {
    if (time == m_pointer)
        return;
    m_pointer = time;
    emit pointerChanged();
}

std::optional<double> TimelineState::busyShare(const RowId& row) const {
    const auto it = m_busy.find(row);
    return it == m_busy.end() ? std::nullopt : std::optional(it->second);
}

void TimelineState::startBusy() {
    struct Question {
        RowId row;
        Document::Item item;
        bool device;
        TrackId track;
    };
    std::vector<Question> questions;
    for (const std::vector<Row>* part : {&m_layout.pinnedRows(), &m_layout.rows()}) {
        for (const Row& row : *part) {
            if (row.id.source < 0)
                continue;
            const Document::Item& item = m_document->items()[static_cast<std::size_t>(row.id.source)];
            const bool device = row.id.kind == RowKind::Group && item.trace->processes[row.id.process].device;
            const bool stream = row.id.kind == RowKind::Track && row.trackKind == TrackKind::Stream;
            if (device || stream)
                questions.push_back({row.id, item, device, row.track});
        }
    }
    if (questions.empty())
        return;
    const TimeRange visible = m_document->visible();
    using Shares = std::map<RowId, double>;
    m_busyJob.start(
        [questions = std::move(questions), visible](std::stop_token stop) -> Result<Shares> {
            Shares shares;
            for (const Question& q : questions) {
                if (stop.stop_requested())
                    return Error::cancelled();
                // What lies outside of the recording is neither busy nor idle.
                const TimeRange own =
                    q.item.trace->extent.intersected({coordinates::subtract(visible.begin, q.item.shift),
                                                      coordinates::subtract(visible.end, q.item.shift)});
                if (own.empty())
                    continue;
                const TimeNs busy = q.device ? deviceBusyTime(*q.item.trace, q.row.process, own)
                                             : busyTime(*q.item.spans, q.track, own);
                shares[q.row] = static_cast<double>(busy) / static_cast<double>(own.duration());
            }
            return shares;
        },
        [this](Result<Shares> result) {
            if (!result.ok())
                return;
            m_busy = std::move(result).value();
            emit busyChanged();
        });
}

} // namespace warpline
