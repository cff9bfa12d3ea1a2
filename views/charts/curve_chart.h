// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QColor>
#include <QList>
#include <QPointF>
#include <QString>
#include <QtCharts/QChartView>

#include <optional>
#include <utility>

class QValueAxis;

namespace warpline {

/// One line of a chart. Points ascend in x and are few: as many as there are pixels, give or take, whoever
/// makes them thins them out so that peaks are kept.
struct Curve {
    enum class Style { Area, Line, Dashed };
    QString name;
    QColor color;
    Style style = Style::Line;
    QList<QPointF> points; ///< x in the owner's unit (a number of an event, seconds); y in bytes
};

/// Bytes over events or over time as a strip: some curves, what part of them is shown elsewhere (the span)
/// and one moment. The span can be dragged, moved and drawn anew, the moment set by a click. Colours follow
/// the theme.
class CurveChart : public QChartView {
    Q_OBJECT

  public:
    explicit CurveChart(QWidget* parent = nullptr);
    ~CurveChart() override;

    /// `most` is the largest y; the axis goes to the next round number of bytes.
    void setCurves(const QList<Curve>& curves, double xBegin, double xEnd, double most);
    [[nodiscard]] const QList<Curve>& curves() const { return m_curves; }
    void setSpan(double begin, double end);
    [[nodiscard]] std::pair<double, double> span() const { return {m_spanBegin, m_spanEnd}; }
    void setMoment(std::optional<double> x);
    /// Pixels left and right of the curves, so that they stand under or over those of a neighbour.
    void setMargins(int left, int right);
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] double xAt(double pixel) const;
    [[nodiscard]] double pixelAt(double x) const;

  signals:
    void momentChosen(double x);
    void spanChosen(double begin, double end);

  protected:
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

  private:
    enum class Drag { None, Pending, Draw, Move };
    void build();
    void placePlot();
    void applyTheme();

    QList<Curve> m_curves;
    QValueAxis* m_x;
    QValueAxis* m_y;
    double m_begin = 0;
    double m_end = 1;
    double m_most = 0;
    double m_spanBegin = 0;
    double m_spanEnd = 1;
    std::optional<double> m_moment;
    int m_left = 64;
    int m_right = 12;
    Drag m_drag = Drag::None;
    double m_pressed = 0; ///< x under the pointer when the button went down
    std::pair<double, double> m_dragged;
};

} // namespace warpline
