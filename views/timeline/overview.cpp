// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/overview.h"

#include "model/query/range_stats.h"
#include "views/theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr double kEdgePixels = 5;
constexpr double kNarrowest = 6; ///< of the window, so that it can be seen and taken

bool hasWork(const Trace& trace, std::uint32_t process) {
    return std::any_of(trace.tracks.begin(), trace.tracks.end(), [&](const Track& track) {
        return track.process == process && track.kind == TrackKind::Stream;
    });
}

/// Without a GPU: the share of each column in which the threads' outermost events run, the busiest thread's.
std::vector<float> threadColumns(const Document::Item& item, TimeRange range, int columns) {
    std::vector<float> most(static_cast<std::size_t>(columns), 0.0F);
    std::vector<Span> spans;
    const coordinates::Scale scale{range, static_cast<double>(columns)};
    const auto perColumn = static_cast<float>(scale.nsPerPixel());
    for (const Track& track : item.trace->tracks) {
        if (track.laneCount == 0 || track.kind == TrackKind::Overhead)
            continue;
        std::vector<float> own(most.size(), 0.0F);
        spans.clear();
        item.spans->spans(LaneId::fromIndex(track.firstLane), range, columns, spans);
        for (const Span& span : spans) {
            const int x0 = std::clamp(static_cast<int>(scale.x(span.start)), 0, columns - 1);
            const int x1 = std::clamp(static_cast<int>(scale.x(span.end)), x0, columns - 1);
            const float share = static_cast<float>(span.busy) / perColumn / static_cast<float>(x1 - x0 + 1);
            for (int x = x0; x <= x1; ++x)
                own[static_cast<std::size_t>(x)] += std::min(share, 1.0F);
        }
        for (std::size_t x = 0; x < most.size(); ++x)
            most[x] = std::max(most[x], std::min(own[x], 1.0F));
    }
    return most;
}

} // namespace

Overview::Overview(TimelineState* state, QWidget* parent) : QWidget(parent), m_state(state) {
    setObjectName(QStringLiteral("timelineOverview"));
    setAccessibleName(tr("Overview"));
    setFixedHeight(kHeight);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    m_delay.setSingleShot(true);
    m_delay.setInterval(30);
    connect(&m_delay, &QTimer::timeout, this, &Overview::startBusy);
    connect(&state->document(), &Document::visibleChanged, this, [this] { update(); });
    connect(&state->document(), &Document::rangeChanged, this, [this] { update(); });
    connect(&state->document(), &Document::sessionChanged, this, &Overview::takeSession);
    takeSession();
}

coordinates::Scale Overview::scale() const {
    return {m_state->document().extent(), static_cast<double>(std::max(1, width()))};
}

QString Overview::contents() const {
    const QString busy = m_hasDevice ? tr("GPU busy") : tr("Busiest thread");
    return m_memory.empty() ? busy : tr("%1, memory").arg(busy);
}

void Overview::takeSession() {
    m_busy.clear();
    m_series = nullptr;
    // Nothing is folded yet, so every allocator has its row. Of several devices the one that holds most.
    for (const Row& row : m_state->layout().rows()) {
        if (row.id.kind != RowKind::Memory || row.id.index == 0)
            continue;
        const StepSeries& series = m_state->layout().seriesOf(row).front().values;
        if (m_series == nullptr || series.max() > m_series->max()) {
            m_series = &series;
            m_seriesShift = m_state->document().items()[static_cast<std::size_t>(row.id.source)].shift;
        }
    }
    refresh();
}

void Overview::refresh() {
    m_memory.clear();
    m_hasDevice = false;
    if (!m_state->document().empty()) {
        if (m_series != nullptr) {
            const TimeRange extent = m_state->document().extent();
            m_series->columns({coordinates::subtract(extent.begin, m_seriesShift),
                               coordinates::subtract(extent.end, m_seriesShift)},
                              std::max(1, width()), m_memory);
            m_memoryMax = std::max(m_series->max(), 1.0);
        }
        for (const Document::Item& item : m_state->document().items()) {
            for (std::uint32_t p = 0; p < item.trace->processes.size(); ++p)
                m_hasDevice = m_hasDevice || (item.trace->processes[p].device && hasWork(*item.trace, p));
        }
        m_delay.start();
    } else {
        m_job.cancel();
    }
    emit contentsChanged();
    update();
}

void Overview::startBusy() {
    if (m_state->document().empty())
        return;
    const std::vector<Document::Item> items = m_state->document().items();
    const TimeRange extent = m_state->document().extent();
    const int columns = std::max(1, width());
    const bool device = m_hasDevice;
    using Shares = std::vector<float>;
    m_job.start(
        [items, extent, columns, device](std::stop_token stop) -> Result<Shares> {
            Shares sum(static_cast<std::size_t>(columns), 0.0F);
            int parts = 0;
            const auto addPart = [&](const Shares& part) {
                for (std::size_t i = 0; i < std::min(sum.size(), part.size()); ++i)
                    sum[i] += part[i];
                ++parts;
            };
            for (const Document::Item& item : items) {
                const TimeRange own{coordinates::subtract(extent.begin, item.shift),
                                    coordinates::subtract(extent.end, item.shift)};
                if (!device)
                    addPart(threadColumns(item, own, columns));
                for (std::uint32_t p = 0; device && p < item.trace->processes.size(); ++p) {
                    if (stop.stop_requested())
                        return Error::cancelled();
                    if (item.trace->processes[p].device && hasWork(*item.trace, p))
                        addPart(deviceBusyColumns(*item.spans, p, own, columns));
                }
            }
            for (float& share : sum)
                share /= static_cast<float>(std::max(parts, 1));
            return sum;
        },
        [this](Result<Shares> result) {
            if (!result.ok())
                return;
            m_busy = std::move(result).value();
            update();
        });
}

QRectF Overview::window() const {
    const coordinates::Scale s = scale();
    const TimeRange visible = m_state->document().visible();
    double left = std::clamp(s.x(visible.begin), 0.0, static_cast<double>(width()));
    double right = std::clamp(s.x(visible.end), 0.0, static_cast<double>(width()));
    if (right - left < kNarrowest) {
        const double middle = (left + right) / 2;
        left = middle - kNarrowest / 2;
        right = middle + kNarrowest / 2;
    }
    return {left, 0, right - left, static_cast<double>(height() - 1)};
}

void Overview::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.pane);
    const int floor = height() - 4;
    const int room = floor - 5;
    const auto columns = static_cast<int>(m_busy.size());
    for (int x = 0; x < std::min(width(), columns); ++x) {
        const float share = m_busy[static_cast<std::size_t>(x)];
        if (share <= 0)
            continue;
        const int high = std::max(1, static_cast<int>(std::lround(share * static_cast<float>(room))));
        painter.fillRect(QRect(x, floor - high, 1, high), theme.area2);
    }
    int before = -1;
    for (int x = 0; x < std::min(width(), static_cast<int>(m_memory.size())); ++x) {
        const StepSeries::Column& column = m_memory[static_cast<std::size_t>(x)];
        if (!column.filled)
            continue;
        const auto yOf = [&](double value) {
            return floor - static_cast<int>(std::lround(std::max(0.0, value) / m_memoryMax * room));
        };
        const int high = yOf(column.max);
        const int low = yOf(column.min);
        const int top = before >= 0 ? std::min(high, before) : high;
        const int bottom = before >= 0 ? std::max(low, before) : low;
        painter.fillRect(QRect(x, top, 1, bottom - top + 1), theme.area);
        before = low;
    }
    if (!m_state->document().empty()) {
        const coordinates::Scale s = scale();
        if (const auto range = m_state->document().range()) {
            const double left = s.x(range->begin);
            painter.fillRect(QRectF(left, height() - 4, std::max(1.0, s.x(range->end) - left), 3),
                             theme.accent);
        }
        const QRectF box = window();
        QColor veil = theme.background;
        veil.setAlpha(150);
        painter.fillRect(QRectF(0, 0, box.left(), height()), veil);
        painter.fillRect(QRectF(box.right(), 0, width() - box.right(), height()), veil);
        QColor tint = theme.accent;
        tint.setAlpha(theme.dark ? 40 : 26);
        painter.fillRect(box, tint);
        painter.setPen(theme.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        for (const double x : {box.left(), box.right() - 3})
            painter.fillRect(QRectF(x, height() / 2.0 - 7, 3, 14), theme.accent);
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.line);
}

void Overview::resizeEvent(QResizeEvent*) {
    refresh();
}

Overview::Gesture Overview::gestureAt(double x) const {
    const QRectF box = window();
    // A narrow window is for moving: its edges would leave nothing to take.
    if (box.width() > 4 * kEdgePixels || !box.contains(QPointF(x, 1))) {
        if (std::abs(x - box.left()) <= kEdgePixels)
            return Gesture::Begin;
        if (std::abs(x - box.right()) <= kEdgePixels)
            return Gesture::End;
    }
    return Gesture::Move;
}

void Overview::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || m_state->document().empty())
        return;
    const double x = event->position().x();
    m_gesture = gestureAt(x);
    if (m_gesture != Gesture::Move)
        return;
    const TimeRange visible = m_state->target();
    const TimeNs time = scale().at(x);
    const bool inside = window().contains(QPointF(x, 1));
    m_grabbed = inside ? coordinates::subtract(time, visible.begin) : visible.duration() / 2;
    if (!inside) {
        const TimeNs begin = coordinates::subtract(time, m_grabbed);
        m_state->jumpTo({begin, coordinates::add(begin, visible.duration())});
    }
}

void Overview::mouseMoveEvent(QMouseEvent* event) {
    if (m_state->document().empty())
        return;
    const double x = event->position().x();
    const TimeNs time = scale().at(x);
    TimeRange visible = m_state->document().visible();
    switch (m_gesture) {
    case Gesture::None: {
        const Gesture here = gestureAt(x);
        setCursor(here == Gesture::Move ? Qt::ArrowCursor : Qt::SizeHorCursor);
        return;
    }
    case Gesture::Move: {
        const TimeNs begin = coordinates::subtract(time, m_grabbed);
        visible = {begin, coordinates::add(begin, visible.duration())};
        break;
    }
    case Gesture::Begin:
        visible.begin = std::min(time, visible.end - 1);
        break;
    case Gesture::End:
        visible.end = std::max(time, visible.begin + 1);
        break;
    }
    m_state->jumpTo(visible);
}

void Overview::mouseReleaseEvent(QMouseEvent*) {
    m_gesture = Gesture::None;
}

void Overview::mouseDoubleClickEvent(QMouseEvent*) {
    m_state->moveTo(m_state->document().extent());
}

void Overview::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (m_state->document().empty())
        return;
    const TimeRange visible = m_state->target();
    const TimeNs middle = visible.begin + visible.duration() / 2;
    m_state->jumpTo(coordinates::zoomed(visible, middle, std::pow(1.25, event->angleDelta().y() / 120.0)));
}

} // namespace warpline
