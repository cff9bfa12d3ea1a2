// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/allocation_view.h"

#include "model/analysis/memory_categories.h"
#include "model/analysis/memory_holders.h"
#include "model/query/memory_blocks.h"
#include "views/byte_axis.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/timeline/coordinates.h"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warpline {

namespace {

constexpr int kTickPixels = 110;

} // namespace

AllocationView::AllocationView(MemoryFocus* focus, QWidget* parent)
    : QWidget(parent), m_focus(focus), m_font(laneFont()) {
    setObjectName(QStringLiteral("allocationView"));
    setAccessibleName(tr("Allocation over time"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(240, 120);
    connect(focus, &MemoryFocus::placeChanged, this, &AllocationView::takePlace);
    connect(focus, &MemoryFocus::viewChanged, this, &AllocationView::invalidate);
    connect(focus, &MemoryFocus::colourChanged, this, &AllocationView::takeColours);
    const auto repaint = [this] {
        describe();
        update();
    };
    for (const auto signal :
         {&MemoryFocus::momentChanged, &MemoryFocus::selectionChanged, &MemoryFocus::marksChanged})
        connect(focus, signal, this, repaint);
    takePlace();
}

QRect AllocationView::plot() const {
    return {kLeft, kTop, std::max(1, width() - kLeft - kRight), std::max(1, height() - kTop - kBottom)};
}

void AllocationView::takePlace() {
    m_hovered = {};
    m_drag = Drag::None;
    takeColours();
    describe();
}

void AllocationView::takeColours() {
    m_colors = m_focus->hasMemory() ? BlockColors(Theme::current(), *m_focus->item().history,
                                                  m_focus->device(), m_focus->colour())
                                    : BlockColors();
    emit colorsChanged();
    invalidate();
}

void AllocationView::invalidate() {
    m_stale = true;
    update();
}

void AllocationView::describe() {
    QString text = tr("No memory history");
    if (m_focus->hasMemory()) {
        text = tr("%1 at %2").arg(bytesText(m_focus->bytesAtMoment()), m_focus->momentName());
        if (m_focus->selected())
            text += tr("; selected: %1").arg(labelOf(m_focus->selected()));
    }
    setAccessibleDescription(text);
}

const LayoutFrame& AllocationView::frame() {
    if (m_stale)
        render();
    return m_frame;
}

void AllocationView::render() {
    m_stale = false;
    m_labels.clear();
    if (!m_focus->hasMemory()) {
        m_image = {};
        m_frame = {};
        return;
    }
    const QRect area = plot();
    const double dpr = devicePixelRatioF();
    const int columns = std::clamp(static_cast<int>(std::lround(area.width() * dpr)), 1, 16384);
    const int rows = std::clamp(static_cast<int>(std::lround(area.height() * dpr)), 1, 16384);
    const MemoryLayout& layout = *m_focus->deviceItem().layout;
    const MemoryDevice& device = m_focus->device();
    // As high as what is in view needs, reserved bytes among it.
    const Moment first = momentAtPosition(device, m_focus->view().axis, m_focus->view().begin);
    const Moment last =
        std::max(first, momentAtPosition(device, m_focus->view().axis, m_focus->view().end - 1));
    m_top = std::max({layout.requested().extremes(first, last).max,
                      layout.reserved().extremes(first, last).max, std::int64_t{1}});
    m_top += m_top / 25;
    layout.frame(m_focus->view(), {0, m_top}, columns, rows, m_frame);

    // The memory of the picture before is used again: to take as much anew costs more than to fill it.
    if (m_image.size() != QSize(columns, rows))
        m_image = QImage(columns, rows, QImage::Format_RGB32);
    m_image.setDevicePixelRatio(dpr);
    const QRgb ground = Theme::current().background.rgb();
    bool edges = true; // in the row before
    for (int r = 0; r < rows; ++r) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(r));
        const BlockId* cells = m_frame.cells.data() + static_cast<std::ptrdiff_t>(r) * columns;
        const BlockId* above = r > 0 ? cells - columns : nullptr;
        const BlockId* below = r + 1 < rows ? cells + columns : nullptr;
        const BlockId* farBelow = r + 2 < rows ? below + columns : below;
        // Where blocks are thin, every other row is the same as the one above.
        if (!edges && above != nullptr &&
            std::memcmp(cells, above, static_cast<std::size_t>(columns) * sizeof *cells) == 0) {
            std::copy_n(reinterpret_cast<const QRgb*>(m_image.constScanLine(r - 1)), columns, line);
            continue;
        }
        edges = false;
        BlockId known;
        QRgb colour = ground;
        QRgb edge = ground;
        for (int c = 0; c < columns; ++c) {
            const BlockId block = cells[c];
            if (block != known) {
                known = block;
                colour = block ? m_colors.of(block) : ground;
                edge = block ? m_colors.edgeOf(block) : ground;
            }
            // A band of three pixels or more shows where it ends.
            const bool ends = above != nullptr && below != nullptr && above[c] != block &&
                              below[c] == block && farBelow[c] == block;
            line[c] = ends ? edge : colour;
            edges = edges || ends;
        }
    }
    // What follows costs as much as the image, and hovering paints without either of them changing.
    m_requested = lineOf(layout.requested());
    m_reserved = lineOf(layout.reserved());
    for (const LabelSpot& spot :
         labelSpots(m_frame, static_cast<int>(70 * dpr), static_cast<int>(15 * dpr), 60)) {
        const QRectF rect(area.left() + spot.column / dpr + 6, area.top() + spot.row / dpr,
                          spot.columns / dpr - 12, spot.rows / dpr);
        m_labels.push_back({rect, labelOf(spot.block).toStdString()});
    }
}

Moment AllocationView::momentAt(double x) const {
    const QRect area = plot();
    const MemoryView& view = m_focus->view();
    const double share = (x - area.left()) / area.width();
    const auto at = view.begin +
                    static_cast<std::int64_t>(
                        std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(view.end - view.begin)));
    return momentAtPosition(m_focus->device(), view.axis, std::min(at, view.end - 1));
}

double AllocationView::xOf(Moment moment) const {
    const QRect area = plot();
    const MemoryView& view = m_focus->view();
    const std::int64_t at = axisPosition(m_focus->device(), view.axis, moment);
    return area.left() +
           static_cast<double>(at - view.begin) / static_cast<double>(view.end - view.begin) * area.width();
}

double AllocationView::yOf(std::int64_t bytes) const {
    const QRect area = plot();
    return area.top() + area.height() * (1.0 - static_cast<double>(bytes) / static_cast<double>(m_top));
}

BlockId AllocationView::blockAt(const QPointF& position) {
    if (!m_focus->hasMemory() || !QRectF(plot()).contains(position))
        return {};
    const LayoutFrame& f = frame();
    const double dpr = devicePixelRatioF();
    const int column = std::clamp(static_cast<int>((position.x() - plot().left()) * dpr), 0, f.columns - 1);
    const int row = std::clamp(static_cast<int>((position.y() - plot().top()) * dpr), 0, f.rows - 1);
    return f.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(f.columns) +
                   static_cast<std::size_t>(column)];
}

void AllocationView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().background);
    if (!m_focus->hasMemory())
        return;
    if (m_stale)
        render();
    painter.drawImage(plot().topLeft(), m_image);
    paintAxes(painter);
    painter.save();
    painter.setClipRect(plot());
    paintMarks(painter);
    const Theme& theme = Theme::current();
    painter.setPen(QPen(theme.text, 1));
    painter.drawPolyline(m_requested);
    QPen dashed(theme.mute, 1);
    dashed.setDashPattern({4, 3});
    painter.setPen(dashed);
    painter.drawPolyline(m_reserved);
    paintLabels(painter);
    if (m_hovered && m_hovered != m_focus->selected())
        paintBand(painter, m_hovered, QPen(theme.text, 1));
    if (m_focus->selected())
        paintBand(painter, m_focus->selected(), QPen(theme.selection, 2));
    painter.restore();
    paintMoment(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 1));
        painter.drawLine(plot().bottomLeft() + QPoint(0, 1), plot().bottomRight() + QPoint(0, 1));
    }
}

void AllocationView::paintAxes(QPainter& painter) {
    const Theme& theme = Theme::current();
    const QRect area = plot();
    for (const ByteTick& tick : byteTicks(m_top, std::max(1, area.height() / 60))) {
        const double y = std::round(yOf(tick.bytes));
        QColor grid = theme.mute;
        grid.setAlpha(40);
        painter.fillRect(QRectF(area.left(), y, area.width(), 1), grid);
        painter.setPen(theme.mute);
        const std::string text = tick.label.toStdString();
        m_font.draw(painter, area.left() - 8 - m_font.width(text), m_font.baseline(y - 8, 16), kLeft, text);
    }
    painter.fillRect(QRect(area.left(), area.bottom() + 1, area.width(), 1), theme.line);
    painter.setPen(theme.mute);
    const MemoryView& view = m_focus->view();
    const double perPixel = static_cast<double>(view.end - view.begin) / area.width();
    const bool time = view.axis == MemoryAxis::Time;
    const std::int64_t step = time ? coordinates::tickStep(perPixel, kTickPixels)
                                   : std::max<std::int64_t>(1, eventStep(perPixel * kTickPixels));
    const std::int64_t origin = time ? m_focus->whole().begin : 0;
    const std::int64_t first = (view.begin - origin) / step;
    for (std::int64_t i = first; i < first + 1000; ++i) {
        const std::int64_t at = origin + i * step;
        if (at >= view.end)
            break;
        if (at < view.begin)
            continue;
        const double x = area.left() + static_cast<double>(at - view.begin) / perPixel;
        painter.fillRect(QRectF(std::round(x), area.bottom() + 1, 1, 4), theme.line);
        const std::string text = (time ? durationText(at - origin) : countText(at)).toStdString();
        m_font.draw(painter, std::min(x - m_font.width(text) / 2, area.right() - m_font.width(text)),
                    m_font.baseline(area.bottom() + 6, 18), 200, text);
    }
}

QPolygonF AllocationView::lineOf(const CurveIndex& curve) const {
    const QRect area = plot();
    const std::vector<MomentSpan> spans = momentColumns(m_focus->device(), m_focus->view(), area.width());
    const std::vector<CurveColumn> columns = curve.columns(spans);
    QPolygonF line;
    line.reserve(static_cast<qsizetype>(columns.size()) * 2);
    double before = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const double x = area.left() + static_cast<double>(c) + 0.5;
        const double high = yOf(columns[c].max);
        const double low = yOf(columns[c].min);
        // Steps: a column that goes both ways is a stroke from its lowest to its highest.
        if (c > 0 && std::abs(high - before) > 0.5)
            line.append(QPointF(x, before));
        line.append(QPointF(x, high));
        if (low - high > 1) {
            line.append(QPointF(x, low));
            line.append(QPointF(x, high));
        }
        before = yOf(columns[c].last);
        line.append(QPointF(x, before));
    }
    return line;
}

void AllocationView::paintBand(QPainter& painter, BlockId block, const QPen& pen) {
    const QRect area = plot();
    const double dpr = devicePixelRatioF();
    const BlockBand band = m_focus->deviceItem().layout->band(block, m_frame.moments);
    if (band.last <= band.first)
        return;
    // Neighbouring columns at one height are one rectangle of the outline.
    QPainterPath path;
    for (int c = band.first; c < band.last;) {
        const ByteRange range = band.columns[static_cast<std::size_t>(c)];
        int end = c + 1;
        while (end < band.last && band.columns[static_cast<std::size_t>(end)].begin == range.begin &&
               band.columns[static_cast<std::size_t>(end)].end == range.end)
            ++end;
        if (range.end > range.begin) {
            const double high = yOf(range.end);
            path.addRect(QRectF(area.left() + c / dpr, high, std::max(1.0, (end - c) / dpr),
                                std::max(1.0, yOf(range.begin) - high)));
        }
        c = end;
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path.simplified());
}

void AllocationView::paintMarks(QPainter& painter) {
    const Theme& theme = Theme::current();
    const MemoryFocus::Marks& marks = m_focus->marks();
    if (marks.both()) {
        QColor shade = theme.accent;
        shade.setAlpha(28);
        painter.fillRect(QRectF(QPointF(xOf(*marks.first), plot().top()),
                                QPointF(xOf(*marks.second), plot().bottom() + 1)),
                         shade);
    }
    for (const auto& [mark, name] : {std::pair(marks.first, "A"), std::pair(marks.second, "B")}) {
        if (!mark)
            continue;
        const double x = std::floor(xOf(*mark));
        painter.fillRect(QRectF(x, plot().top(), 1, plot().height()), theme.accent);
        painter.setPen(theme.accent);
        m_font.draw(painter, x + 4, m_font.baseline(plot().top(), 16), 20, name);
    }
}

void AllocationView::paintMoment(QPainter& painter) {
    const Theme& theme = Theme::current();
    const double x = std::floor(xOf(m_focus->moment()));
    if (x < plot().left() || x > plot().right() + 1)
        return;
    painter.fillRect(QRectF(x, kTop - 4, 1, plot().height() + 8), theme.warn);
    QString words = tr("%1 · %2").arg(m_focus->momentName(), bytesText(m_focus->bytesAtMoment()));
    if (m_focus->moment() == m_focus->device().peakRequested.moment && m_focus->moment() > 0)
        words += tr(" · event %1").arg(countText(std::int64_t{m_focus->moment()} - 1));
    const std::string text = words.toStdString();
    const double wide = m_font.width(text) + 12;
    const double left = std::clamp(x + 5, static_cast<double>(plot().left()), plot().right() - wide);
    painter.fillRect(QRectF(left, 2, wide, 17), theme.background);
    painter.setPen(theme.warn);
    m_font.draw(painter, left + 6, m_font.baseline(2, 17), wide, text);
}

QString AllocationView::labelOf(BlockId block) const {
    const MemoryHistory& history = *m_focus->item().history;
    const MemoryDevice& device = m_focus->device();
    const std::size_t row = block.index();
    QString what = toQString(memoryCategoryName(device.blocks.category[row]));
    if (const FrameId frame = programFrame(history, device.blocks.stack[row]))
        what = toQString(history.frameText(frame));
    return tr("%1 · %2").arg(bytesText(device.blocks.size[row]), what);
}

void AllocationView::paintLabels(QPainter& painter) {
    painter.setPen(Theme::current().text);
    for (const Label& label : m_labels)
        m_font.draw(painter, label.rect.left(), m_font.baseline(label.rect.top(), label.rect.height()),
                    label.rect.width(), label.text);
}

QString AllocationView::toolTip(BlockId block) const {
    const MemoryHistory& history = *m_focus->item().history;
    const MemoryDevice& device = m_focus->device();
    const MemoryBlockTable& blocks = device.blocks;
    const std::size_t row = block.index();
    QStringList lines{QStringLiteral("<b>%1</b>").arg(labelOf(block).toHtmlEscaped())};
    lines.append(tr("%1: %2").arg(toQString(memoryCategoryName(blocks.category[row])),
                                  toQString(categoryEvidence(history, device, block)).toHtmlEscaped()));
    const bool born = blocks.birth[row] != kBeforeHistory;
    const bool dies = blocks.death[row] != kAliveAtEnd;
    const std::int64_t life = blockLifetime(device, row);
    lines.append(tr("%1 – %2, %3")
                     .arg(born ? tr("event %1").arg(countText(std::int64_t{blocks.birth[row]} - 1))
                               : tr("before the history"),
                          dies ? tr("event %1").arg(countText(std::int64_t{blocks.death[row]} - 1))
                               : tr("alive at the end"),
                          device.hasTimes ? durationText(life) : tr("%1 events").arg(countText(life))));
    lines.append(tr("%1, pool %2")
                     .arg(toQString(device.streamName(blocks.stream[row])),
                          toQString(device.poolName(blocks.pool[row]))));
    return lines.join(QStringLiteral("<br>"));
}

void AllocationView::resizeEvent(QResizeEvent*) {
    invalidate();
}

void AllocationView::zoom(double factor, std::optional<double> x) {
    if (!m_focus->hasMemory())
        return;
    const MemoryView view = m_focus->view();
    const QRect area = plot();
    const double at = std::clamp(x.value_or(xOf(m_focus->moment())), static_cast<double>(area.left()),
                                 static_cast<double>(area.right()));
    const double share = (at - area.left()) / area.width();
    const auto length = static_cast<double>(view.end - view.begin);
    const double wanted = length / factor;
    const auto begin = static_cast<std::int64_t>(std::llround((length - wanted) * share));
    m_focus->setView(view.begin + begin,
                     view.begin + begin + static_cast<std::int64_t>(std::llround(wanted)));
}

void AllocationView::pan(double pixels) {
    if (!m_focus->hasMemory())
        return;
    const MemoryView view = m_focus->view();
    m_panRest += pixels * static_cast<double>(view.end - view.begin) / plot().width();
    const auto whole = static_cast<std::int64_t>(m_panRest);
    m_panRest -= static_cast<double>(whole);
    m_focus->setView(view.begin + whole, view.end + whole);
}

void AllocationView::wheelEvent(QWheelEvent* event) {
    const double angle = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0)
        pan(-angle);
    else
        zoom(std::pow(1.2, angle / 120.0), event->position().x());
    event->accept();
}

void AllocationView::mousePressEvent(QMouseEvent* event) {
    if (!m_focus->hasMemory())
        return;
    m_pressed = m_last = event->position();
    m_drag = event->button() == Qt::LeftButton     ? Drag::Press
             : event->button() == Qt::MiddleButton ? Drag::Pan
                                                   : Drag::None;
    m_panRest = 0;
}

void AllocationView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    if (m_drag == Drag::Press && (at - m_pressed).manhattanLength() >= QApplication::startDragDistance())
        m_drag = Drag::Range;
    if (m_drag == Drag::Range)
        m_focus->setMarks(momentAt(m_pressed.x()), momentAt(at.x()));
    if (m_drag == Drag::Pan)
        pan(m_last.x() - at.x());
    m_last = at;
    if (m_drag == Drag::Range || m_drag == Drag::Pan)
        return;
    const BlockId block = blockAt(at);
    if (block != m_hovered) {
        m_hovered = block;
        update();
    }
    if (block)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), toolTip(block), this);
    else
        QToolTip::hideText();
}

void AllocationView::mouseReleaseEvent(QMouseEvent* event) {
    if (m_drag == Drag::Press && event->button() == Qt::LeftButton && m_focus->hasMemory()) {
        m_focus->select(blockAt(event->position()));
        m_focus->setMoment(momentAt(event->position().x()));
    }
    m_drag = Drag::None;
}

void AllocationView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const BlockId block = blockAt(event->position()); block && event->button() == Qt::LeftButton)
        emit blockActivated(block);
}

void AllocationView::leaveEvent(QEvent*) {
    if (std::exchange(m_hovered, BlockId{}))
        update();
}

void AllocationView::stepBlock(int direction) {
    // Up and down through the bands at the moment.
    const MemoryLayout& layout = *m_focus->deviceItem().layout;
    std::int64_t at = direction > 0 ? 0 : m_focus->bytesAtMoment() - 1;
    if (m_focus->selected()) {
        if (const auto range = layout.position(m_focus->selected(), m_focus->moment()))
            at = direction > 0 ? range->end : range->begin - 1;
    }
    if (const BlockId next = layout.blockAt(m_focus->moment(), at); next && at >= 0)
        m_focus->select(next);
}

void AllocationView::keyPressEvent(QKeyEvent* event) {
    if (!m_focus->hasMemory() || (event->modifiers() & ~Qt::ShiftModifier) != 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const Moment moment = m_focus->moment();
    switch (event->key()) {
    case Qt::Key_W:
        return zoom(1.4);
    case Qt::Key_S:
        return zoom(1 / 1.4);
    case Qt::Key_A:
        return pan(-plot().width() / 6.0);
    case Qt::Key_D:
        return pan(plot().width() / 6.0);
    case Qt::Key_Left:
        return m_focus->setMoment(moment > 0 ? moment - 1 : 0);
    case Qt::Key_Right:
        return m_focus->setMoment(moment + 1);
    case Qt::Key_Up:
        return stepBlock(1);
    case Qt::Key_Down:
        return stepBlock(-1);
    case Qt::Key_P:
        m_focus->stepPeak(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
        return;
    case Qt::Key_M:
        return m_focus->toggleMark(moment);
    case Qt::Key_F: {
        const MemoryView whole = m_focus->whole();
        return m_focus->setView(whole.begin, whole.end);
    }
    case Qt::Key_Home:
        return m_focus->setMoment(m_focus->device().peakRequested.moment);
    case Qt::Key_Escape:
        if (m_focus->selected())
            m_focus->select({});
        else
            m_focus->clearMarks();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_focus->selected())
            emit blockActivated(m_focus->selected());
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool AllocationView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip)
        return true; // shown as the pointer moves
    if (event->type() == QEvent::NativeGesture) {
        auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            zoom(std::exp(gesture->value()), gesture->position().x());
            return true;
        }
    }
    return QWidget::event(event);
}

void AllocationView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        takeColours();
}

} // namespace warpline
