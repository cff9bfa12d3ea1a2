// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/ruler.h"

#include "views/text.h"
#include "views/theme.h"
#include "views/timeline/coordinates.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace warpline {

namespace {

constexpr double kTickPixels = 110; ///< as the grid lines of the lanes

struct Unit {
    double ns;
    const char* name;
};
constexpr std::array kUnits{Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "µs"}, Unit{1, "ns"}};

} // namespace

QString tickText(TimeNs time, TimeNs step, TimeNs largest) {
    if (time == 0)
        return QStringLiteral("0");
    const double most = std::abs(static_cast<double>(largest));
    std::size_t u = 0;
    while (u + 1 < kUnits.size() && most < kUnits[u].ns)
        ++u;
    int decimals = 0;
    double digit = kUnits[u].ns;
    while (decimals < 9 && digit > static_cast<double>(step) * 1.0001) {
        digit /= 10;
        ++decimals;
    }
    return QString::number(static_cast<double>(time) / kUnits[u].ns, 'f', decimals) % QLatin1Char(' ') %
           QString::fromUtf8(kUnits[u].name);
}

Ruler::Ruler(TimelineState* state, QWidget* parent) : QWidget(parent), m_state(state), m_font(laneFont()) {
    setObjectName(QStringLiteral("timelineRuler"));
    setAccessibleName(tr("Time scale"));
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    const auto repaint = [this] { update(); };
    connect(&state->document(), &Document::visibleChanged, this, repaint);
    connect(&state->document(), &Document::rangeChanged, this, repaint);
    connect(state, &TimelineState::marksChanged, this, repaint);
    connect(state, &TimelineState::pointerChanged, this, repaint);
    connect(state, &TimelineState::layoutChanged, this, [this] {
        setFixedHeight(wantedHeight());
        update();
    });
    setFixedHeight(wantedHeight());
}

int Ruler::wantedHeight() const {
    return kScaleHeight + (m_state->steps().empty() ? 0 : kStepsHeight);
}

coordinates::Scale Ruler::scale() const {
    return {m_state->document().visible(), static_cast<double>(m_scaleWidth)};
}

void Ruler::setScaleWidth(int width) {
    if (width == m_scaleWidth || width <= 0)
        return;
    m_scaleWidth = width;
    update();
}

void Ruler::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.background);
    if (!m_state->document().empty()) {
        paintTicks(painter);
        if (!m_state->steps().empty())
            paintSteps(painter);
        paintMarks(painter);
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.line);
}

void Ruler::paintTicks(QPainter& painter) {
    const Theme& theme = Theme::current();
    const coordinates::Scale s = scale();
    const TimeNs origin = m_state->origin();
    // Far from the origin and close by, the texts are long: then ticks stand further apart.
    double pixels = kTickPixels;
    TimeNs step = coordinates::tickStep(s.nsPerPixel(), pixels);
    const TimeNs last = std::max(std::abs(coordinates::subtract(s.range.begin, origin)),
                                 std::abs(coordinates::subtract(s.range.end, origin)));
    const TimeNs largest = std::max<TimeNs>(last, 1);
    const auto textOf = [&](TimeNs t) { return tickText(t, step, largest).toStdString(); };
    while (pixels < 400 && m_font.width(textOf(largest)) + 16 > static_cast<double>(step) / s.nsPerPixel()) {
        pixels *= 1.5;
        step = coordinates::tickStep(s.nsPerPixel(), pixels);
    }
    const TimeNs first = coordinates::subtract(s.range.begin, origin) / step - 1;
    for (int i = 0; i < 1000; ++i) {
        const TimeNs offset = (first + i) * step;
        const double x = std::round(s.x(coordinates::add(origin, offset)));
        if (x > width())
            break;
        painter.fillRect(QRectF(x, kScaleHeight - 7, 1, 7), theme.mute);
        painter.setPen(theme.mute);
        m_font.draw(painter, x + 5, m_font.baseline(2, kScaleHeight - 6), 300, textOf(offset));
    }
}

void Ruler::paintSteps(QPainter& painter) {
    const Theme& theme = Theme::current();
    const coordinates::Scale s = scale();
    painter.fillRect(QRect(0, kScaleHeight, width(), kStepsHeight), theme.pane);
    const auto selected = m_state->document().range();
    for (const StepBand& step : m_state->steps()) {
        const double left = std::max(s.x(step.range.begin), -1.0);
        const double right = std::min(s.x(step.range.end), width() + 1.0);
        if (right < 0 || left > width())
            continue;
        const QRectF band(std::round(left), kScaleHeight, std::max(1.0, std::round(right) - std::round(left)),
                          kStepsHeight);
        const bool isRange = selected && *selected == step.range;
        painter.fillRect(band, isRange ? theme.chip : theme.band);
        painter.fillRect(QRectF(band.left(), band.top(), 1, band.height()), theme.area);
        const std::string name = tr("Step %1").arg(step.number).toStdString();
        const std::string text = name + "  " + formatDuration(step.range.duration());
        const std::string& fitting = m_font.width(text) + 8 <= band.width() ? text : name;
        const double wide = m_font.width(fitting);
        if (wide + 8 > band.width())
            continue;
        painter.setPen(isRange ? theme.selection : theme.mute);
        m_font.draw(painter, band.center().x() - wide / 2, m_font.baseline(band.top(), band.height()),
                    wide + 1, fitting);
    }
}

void Ruler::paintMarks(QPainter& painter) {
    const Theme& theme = Theme::current();
    const coordinates::Scale s = scale();
    if (const auto range = m_state->document().range()) {
        const double left = std::clamp(s.x(range->begin), -2.0, width() + 2.0);
        const double right = std::clamp(s.x(range->end), -2.0, width() + 2.0);
        painter.fillRect(QRectF(left, kScaleHeight - 3, std::max(1.0, right - left), 2), theme.accent);
    }
    constexpr double kWidestNote = 240;
    const auto flag = [&](TimeNs time, const QColor& ground, const QColor& ink, const QString& note = {}) {
        const double x = s.x(time);
        if (x < 0 || x > width())
            return;
        std::string text = formatDuration(coordinates::subtract(time, m_state->origin()));
        if (!note.isEmpty())
            text += "  " + note.toStdString();
        const double wide = std::min(m_font.width(text), kWidestNote) + 8;
        const double left = std::clamp(x, 0.0, std::max(0.0, width() - wide));
        painter.fillRect(QRectF(left, 2, wide, kScaleHeight - 9), ground);
        painter.fillRect(QRectF(std::round(x), 2, 1, kScaleHeight - 2), ground);
        painter.setPen(ink);
        m_font.draw(painter, left + 4, m_font.baseline(2, kScaleHeight - 9), wide - 7, text);
    };
    for (const TimeMark& mark : m_state->marks())
        flag(mark.time, theme.warn, theme.background, mark.note);
    if (const auto pointer = m_state->pointer())
        flag(*pointer, theme.head, theme.text);
}

const StepBand* Ruler::stepAt(const QPointF& position) const {
    if (position.y() < kScaleHeight)
        return nullptr;
    const TimeNs time = scale().at(position.x());
    const auto& steps = m_state->steps();
    const auto it = std::find_if(steps.begin(), steps.end(),
                                 [&](const StepBand& step) { return step.range.contains(time); });
    return it == steps.end() ? nullptr : &*it;
}

void Ruler::selectStep(const StepBand& step) {
    m_state->document().setRange(step.range, m_state->document().sliceName(step.slice));
}

void Ruler::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || m_state->document().empty())
        return;
    m_pressed = event->position().x();
    m_dragging = false;
}

void Ruler::mouseMoveEvent(QMouseEvent* event) {
    if (m_state->document().empty())
        return;
    const coordinates::Scale s = scale();
    const double x = event->position().x();
    m_state->setPointer(s.at(x));
    if (!m_pressed || (!m_dragging && std::abs(x - *m_pressed) < QApplication::startDragDistance()))
        return;
    m_dragging = true;
    const TimeRange range{s.at(std::min(x, *m_pressed)), s.at(std::max(x, *m_pressed))};
    m_state->document().setRange(range, durationText(range.duration()));
}

void Ruler::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_pressed || event->button() != Qt::LeftButton)
        return;
    m_pressed.reset();
    if (m_dragging)
        return;
    if (const StepBand* step = stepAt(event->position()))
        selectStep(*step);
}

void Ruler::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const StepBand* step = stepAt(event->position())) {
        const TimeRange range = step->range;
        selectStep(*step);
        m_state->moveTo(coordinates::widened(range, 0.02));
    }
}

void Ruler::leaveEvent(QEvent*) {
    m_state->setPointer(std::nullopt);
}

void Ruler::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (m_state->document().empty())
        return;
    constexpr double notch = 120;
    const TimeRange visible = m_state->target();
    const TimeNs anchor =
        coordinates::Scale{visible, static_cast<double>(m_scaleWidth)}.at(event->position().x());
    m_state->jumpTo(coordinates::zoomed(visible, anchor, std::pow(1.25, event->angleDelta().y() / notch)));
}

} // namespace warpline
