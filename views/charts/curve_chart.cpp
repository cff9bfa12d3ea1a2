// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/charts/curve_chart.h"

#include "views/byte_axis.h"
#include "views/theme.h"

#include <QApplication>
#include <QGraphicsLayout>
#include <QMouseEvent>
#include <QPainter>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr int kTop = 20;
constexpr int kBottom = 6;

} // namespace

CurveChart::CurveChart(QWidget* parent)
    : QChartView(parent), m_x(new QValueAxis(this)), m_y(new QValueAxis(this)) {
    setObjectName(QStringLiteral("curveChart"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMouseTracking(true);
    viewport()->setAccessibleName(tr("Curves"));
    QChart* c = chart();
    c->legend()->hide();
    c->setBackgroundRoundness(0);
    c->setMargins({});
    c->layout()->setContentsMargins(0, 0, 0, 0);
    c->setAnimationOptions(QChart::NoAnimation);
    c->addAxis(m_x, Qt::AlignBottom);
    c->addAxis(m_y, Qt::AlignLeft);
    // Scales are drawn with the foreground: Qt Charts would cut the labels to what it thinks is room.
    m_x->setVisible(false);
    m_y->setVisible(false);
    applyTheme();
}

CurveChart::~CurveChart() = default;

void CurveChart::setCurves(const QList<Curve>& curves, double xBegin, double xEnd, double most) {
    m_curves = curves;
    m_begin = xBegin;
    m_end = std::max(xEnd, xBegin + 1e-9);
    m_most = most;
    build();
}

void CurveChart::build() {
    QChart* c = chart();
    c->removeAllSeries();
    for (const Curve& curve : m_curves) {
        auto* line = new QLineSeries;
        line->replace(curve.points);
        QPen pen(curve.color, curve.style == Curve::Style::Area ? 1 : 1.2);
        pen.setCosmetic(true);
        if (curve.style == Curve::Style::Dashed)
            pen.setStyle(Qt::DashLine);
        QAbstractSeries* series = line;
        if (curve.style == Curve::Style::Area) {
            auto* area = new QAreaSeries(line);
            line->setParent(area);
            QColor fill = curve.color;
            fill.setAlphaF(0.35F);
            area->setBrush(fill);
            area->setPen(pen);
            series = area;
        } else {
            line->setPen(pen);
        }
        series->setName(curve.name);
        c->addSeries(series);
        series->attachAxis(m_x);
        series->attachAxis(m_y);
    }
    const double top = std::max(m_most, 1.0) * 1.04;
    m_y->setRange(0, top);
    m_x->setRange(m_begin, m_end);
    placePlot();
}

void CurveChart::applyTheme() {
    const Theme& theme = Theme::current();
    QChart* c = chart();
    c->setBackgroundBrush(theme.background);
    c->setBackgroundPen(Qt::NoPen);
    setBackgroundBrush(theme.background);
}

void CurveChart::setSpan(double begin, double end) {
    if (begin == m_spanBegin && end == m_spanEnd)
        return;
    m_spanBegin = begin;
    m_spanEnd = end;
    viewport()->update();
}

void CurveChart::setMoment(std::optional<double> x) {
    if (x == m_moment)
        return;
    m_moment = x;
    viewport()->update();
}

void CurveChart::setMargins(int left, int right) {
    m_left = left;
    m_right = right;
    placePlot();
}

QRectF CurveChart::plot() const {
    return {static_cast<double>(m_left), static_cast<double>(kTop),
            static_cast<double>(std::max(1, viewport()->width() - m_left - m_right)),
            static_cast<double>(std::max(1, viewport()->height() - kTop - kBottom))};
}

double CurveChart::xAt(double pixel) const {
    const QRectF r = plot();
    return m_begin + (std::clamp(pixel, r.left(), r.right()) - r.left()) / r.width() * (m_end - m_begin);
}

double CurveChart::pixelAt(double x) const {
    const QRectF r = plot();
    return r.left() + (x - m_begin) / (m_end - m_begin) * r.width();
}

void CurveChart::placePlot() {
    chart()->setPlotArea(plot());
}

void CurveChart::drawForeground(QPainter* painter, const QRectF&) {
    const Theme& theme = Theme::current();
    const QRectF r = plot();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing, false);
    // What is not shown below lies under a veil.
    QColor veil = theme.background;
    veil.setAlphaF(0.62F);
    const double left = std::clamp(pixelAt(m_spanBegin), r.left(), r.right());
    const double right = std::clamp(pixelAt(m_spanEnd), r.left(), r.right());
    painter->fillRect(QRectF(r.left(), r.top(), left - r.left(), r.height()), veil);
    painter->fillRect(QRectF(right, r.top(), r.right() - right, r.height()), veil);
    if (left > r.left() + 0.5 || right < r.right() - 0.5) {
        painter->setPen(QPen(theme.accent, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(
            QRectF(std::floor(left), r.top(), std::max(1.0, std::floor(right - left)), r.height() - 1));
    }
    if (m_moment && *m_moment >= m_begin && *m_moment <= m_end) {
        const double x = std::floor(pixelAt(*m_moment));
        painter->fillRect(QRectF(x, r.top(), 1, r.height()), theme.warn);
    }
    // The scale: round numbers of bytes.
    painter->setFont(laneFont());
    const QFontMetricsF metrics(laneFont());
    const double top = m_y->max();
    for (const ByteTick& tick : byteTicks(static_cast<std::int64_t>(top), 2)) {
        const double y = r.bottom() - static_cast<double>(tick.bytes) / top * r.height();
        painter->setPen(theme.mute);
        painter->drawText(
            QPointF(r.left() - 8 - metrics.horizontalAdvance(tick.label), y + metrics.ascent() / 2 - 1),
            tick.label);
    }
    // What the curves are, in words and with their own stroke.
    double x = r.left();
    for (const Curve& curve : m_curves) {
        QPen pen(curve.color, 2);
        if (curve.style == Curve::Style::Dashed)
            pen.setDashPattern({2, 1.5});
        painter->setPen(pen);
        painter->drawLine(QPointF(x, kTop / 2.0), QPointF(x + 14, kTop / 2.0));
        painter->setPen(theme.mute);
        painter->drawText(QPointF(x + 19, kTop / 2.0 + metrics.ascent() / 2 - 1), curve.name);
        x += 19 + metrics.horizontalAdvance(curve.name) + 18;
    }
    painter->restore();
}

void CurveChart::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    placePlot();
}

void CurveChart::changeEvent(QEvent* event) {
    QChartView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        applyTheme();
}

void CurveChart::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = xAt(event->position().x());
    m_dragged = {m_spanBegin, m_spanEnd};
    m_drag = Drag::Pending;
}

void CurveChart::mouseMoveEvent(QMouseEvent* event) {
    if (m_drag == Drag::None)
        return;
    const double x = xAt(event->position().x());
    if (m_drag == Drag::Pending) {
        if (std::abs(pixelAt(x) - pixelAt(m_pressed)) < QApplication::startDragDistance() / 2.0)
            return;
        const auto [begin, end] = m_dragged;
        const bool part = begin > m_begin || end < m_end;
        m_drag = part && m_pressed > begin && m_pressed < end ? Drag::Move : Drag::Draw;
    }
    if (m_drag == Drag::Draw) {
        emit spanChosen(std::min(x, m_pressed), std::max(x, m_pressed));
    } else {
        const double length = m_dragged.second - m_dragged.first;
        const double begin =
            std::clamp(m_dragged.first + x - m_pressed, m_begin, std::max(m_begin, m_end - length));
        emit spanChosen(begin, begin + length);
    }
}

void CurveChart::mouseReleaseEvent(QMouseEvent* event) {
    if (m_drag == Drag::Pending && event->button() == Qt::LeftButton)
        emit momentChosen(m_pressed);
    m_drag = Drag::None;
}

} // namespace warpline
