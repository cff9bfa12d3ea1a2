// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/segments_view.h"

#include "views/memory/holders_panel.h"
#include "views/memory/memory_colors.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTimer>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr int kMargin = 12;
constexpr int kTop = 30; ///< the sums of everything

} // namespace

SegmentsView::SegmentsView(MemoryFocus* focus, QWidget* parent)
    : QAbstractScrollArea(parent), m_focus(focus), m_font(laneFont()) {
    setObjectName(QStringLiteral("segmentsView"));
    setAccessibleName(tr("Segments"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    verticalScrollBar()->setSingleStep(kRowHeight);
    connect(focus, &MemoryFocus::momentChanged, this, &SegmentsView::scheduleRefresh);
    connect(focus, &MemoryFocus::placeChanged, this, [this] {
        m_job.cancel();
        m_state.reset();
        layOut();
        scheduleRefresh();
    });
    connect(focus, &MemoryFocus::selectionChanged, viewport(), qOverload<>(&QWidget::update));
    connect(focus, &MemoryFocus::colourChanged, viewport(), qOverload<>(&QWidget::update));
}

void SegmentsView::scheduleRefresh() {
    m_stale = visibleRegion().isEmpty();
    if (!m_stale)
        refresh();
}

void SegmentsView::catchUp() {
    if (std::exchange(m_stale, false))
        refresh();
}

void SegmentsView::showEvent(QShowEvent* event) {
    QAbstractScrollArea::showEvent(event);
    QTimer::singleShot(0, this, &SegmentsView::catchUp);
}

void SegmentsView::refresh() {
    if (!m_focus->hasMemory()) {
        m_job.cancel();
        m_state.reset();
        layOut();
        return;
    }
    using State = std::shared_ptr<const MemoryState>;
    m_job.start(
        [history = m_focus->item().history, device = m_focus->deviceItem().device,
         live = m_focus->deviceItem().live,
         moment = m_focus->moment()](const std::stop_token&) -> Result<State> {
            return State(
                std::make_shared<const MemoryState>(memoryState(history->devices[device], *live, moment)));
        },
        [this](Result<State> result) {
            m_state = result.ok() ? std::move(result).value() : nullptr;
            layOut();
        });
}

void SegmentsView::layOut() {
    m_lines.clear();
    m_longest = 1;
    int y = kTop;
    if (m_state) {
        for (const SegmentState& segment : m_state->segments)
            m_longest = std::max(m_longest, segment.size);
        for (std::size_t p = 0; p < m_state->pools.size(); ++p) {
            const MemoryState::Pool& pool = m_state->pools[p];
            Line heading;
            heading.top = y;
            heading.height = kHeadingHeight;
            heading.heading = true;
            heading.pool = p;
            m_lines.push_back(heading);
            y += kHeadingHeight;
            for (std::size_t s = 0; s < m_state->segments.size(); ++s) {
                const SegmentState& segment = m_state->segments[s];
                if (segment.pool != pool.pool || ((segment.flags & SegmentFlag::Small) != 0) != pool.small)
                    continue;
                Line line;
                line.top = y;
                line.height = kRowHeight;
                line.pool = p;
                line.segment = s;
                m_lines.push_back(line);
                y += kRowHeight;
            }
        }
    }
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, y + 8 - viewport()->height()));
    setAccessibleDescription(summary());
    viewport()->update();
}

QString SegmentsView::sumText(const Fragmentation& sum) const {
    return tr("%1 reserved · %2 in use · %3 lost to rounding · %4 free in %5 pieces, the largest %6 · "
              "fragmentation %7")
        .arg(bytesText(sum.reserved), bytesText(sum.requested), bytesText(sum.rounding()),
             bytesText(sum.free), countText(static_cast<std::int64_t>(sum.freePieces)),
             bytesText(sum.largestFree), percentText(sum.index()));
}

QString SegmentsView::summary() const {
    if (!m_state)
        return {};
    return tr("%1 segments at %2: %3")
        .arg(countText(static_cast<std::int64_t>(m_state->segments.size())), m_focus->momentName(),
             sumText(m_state->all));
}

QRectF SegmentsView::rectOf(const Line& line, const SegmentPiece& piece) const {
    const SegmentState& segment = m_state->segments[line.segment];
    const double room = std::max(1, viewport()->width() - kSide - kMargin);
    // A bar's length is by the root of its size: segments differ by a factor of thousands, and the small ones
    // are to be read too. Within a bar bytes are to scale.
    const double bar =
        std::max(24.0, room * std::sqrt(static_cast<double>(segment.size) / static_cast<double>(m_longest)));
    const double scale = bar / static_cast<double>(std::max<std::int64_t>(1, segment.size));
    const double x = static_cast<double>(piece.address - segment.address) * scale;
    const int top = line.top - verticalScrollBar()->value() + (kRowHeight - kBarHeight) / 2;
    return {kSide + x, static_cast<double>(top), static_cast<double>(piece.size) * scale,
            static_cast<double>(kBarHeight)};
}

const SegmentPiece* SegmentsView::pieceAt(const QPointF& position) const {
    if (!m_state)
        return nullptr;
    const double y = position.y() + verticalScrollBar()->value();
    const auto line = std::upper_bound(m_lines.begin(), m_lines.end(), y,
                                       [](double at, const Line& l) { return at < l.top + l.height; });
    if (line == m_lines.end() || line->heading || y < line->top)
        return nullptr;
    const SegmentState& segment = m_state->segments[line->segment];
    for (std::uint32_t p = segment.firstPiece; p < segment.endPiece; ++p) {
        const QRectF rect = rectOf(*line, m_state->pieces[p]);
        if (position.x() >= rect.left() && position.x() < std::max(rect.right(), rect.left() + 1))
            return &m_state->pieces[p];
    }
    return nullptr;
}

void SegmentsView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme& theme = Theme::current();
    painter.fillRect(viewport()->rect(), theme.background);
    if (!m_state || m_state->segments.empty()) {
        painter.setPen(theme.mute);
        const QString text =
            !m_focus->hasMemory() ? noMemoryReason(m_focus->document())
            : !m_state            ? tr("Working…")
            : m_focus->item().history->fromTrace
                ? tr("A trace's records say nothing of segments: open a snapshot of the same run.")
                : tr("Nothing is reserved at %1.").arg(m_focus->momentName());
        painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                         text);
        return;
    }
    const int scroll = verticalScrollBar()->value();
    for (const Line& line : m_lines) {
        const int top = line.top - scroll;
        if (top + line.height < 0 || top > viewport()->height())
            continue;
        if (line.heading)
            paintHeading(painter, line);
        else
            paintSegment(painter, line);
    }
    painter.fillRect(QRect(0, 0, viewport()->width(), kTop - 2), theme.pane);
    painter.fillRect(QRect(0, kTop - 2, viewport()->width(), 1), theme.line);
    painter.setPen(theme.text);
    m_font.draw(painter, kMargin, m_font.baseline(0, kTop - 2), viewport()->width() - 2 * kMargin,
                summary().toStdString());
}

void SegmentsView::paintHeading(QPainter& painter, const Line& line) {
    const Theme& theme = Theme::current();
    const MemoryState::Pool& pool = m_state->pools[line.pool];
    const int top = line.top - verticalScrollBar()->value();
    const QString name =
        tr("Pool %1, %2 blocks")
            .arg(toQString(m_focus->device().poolName(pool.pool)), pool.small ? tr("small") : tr("large"));
    painter.setPen(theme.text);
    const std::string utf8 = name.toStdString();
    const double baseline = m_font.baseline(top + 6, kHeadingHeight - 6);
    const double used = m_font.draw(painter, kMargin, baseline, viewport()->width() - 2 * kMargin, utf8);
    painter.setPen(theme.mute);
    m_font.draw(painter, kMargin + used + 14, baseline, viewport()->width() - used - 2 * kMargin - 14,
                sumText(pool.sum).toStdString());
}

void SegmentsView::paintSegment(QPainter& painter, const Line& line) {
    const Theme& theme = Theme::current();
    const SegmentState& segment = m_state->segments[line.segment];
    const int top = line.top - verticalScrollBar()->value();
    painter.setPen(theme.mute);
    QString words = tr("%1 · %2 free").arg(bytesText(segment.size), bytesText(segment.free()));
    if ((segment.flags & SegmentFlag::Expandable) != 0)
        words += tr(" · exp.");
    m_font.draw(painter, kMargin, m_font.baseline(top, kRowHeight), kSide - kMargin - 8, words.toStdString());
    SegmentPiece whole;
    whole.address = segment.address;
    whole.size = segment.size;
    const QRectF bar = rectOf(line, whole);
    painter.fillRect(bar, theme.pane);
    const MemoryBlockTable& blocks = m_focus->device().blocks;
    double painted = -1; // blocks narrower than a pixel are painted once
    for (std::uint32_t p = segment.firstPiece; p < segment.endPiece; ++p) {
        const SegmentPiece& piece = m_state->pieces[p];
        if (piece.kind == SegmentPiece::Kind::Free)
            continue;
        QRectF rect = rectOf(line, piece);
        if (rect.right() < painted + 0.5)
            continue;
        rect.setWidth(std::max(rect.width(), 1.0));
        painted = rect.right();
        const QColor color = BlockColors::category(theme, blocks.category[piece.block.index()]);
        painter.fillRect(rect, color);
        if (piece.kind == SegmentPiece::Kind::Pending)
            painter.fillRect(rect, QBrush(theme.warn, Qt::BDiagPattern));
        if (rect.width() >= 4)
            painter.fillRect(QRectF(rect.right() - 1, rect.top(), 1, rect.height()), theme.background);
        if (rect.width() > 48) {
            painter.setPen(theme.text);
            m_font.draw(painter, rect.left() + 4, m_font.baseline(rect.top(), rect.height()),
                        rect.width() - 8, bytesText(piece.requested).toStdString());
        }
        if (piece.block == m_focus->selected()) {
            painter.setPen(QPen(theme.selection, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect.adjusted(1, 1, -1, -1));
        }
    }
    painter.setPen(
        QPen(theme.line, 1, (segment.flags & SegmentFlag::Expandable) != 0 ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
}

void SegmentsView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

void SegmentsView::mousePressEvent(QMouseEvent* event) {
    const SegmentPiece* piece = pieceAt(event->position());
    m_focus->select(piece != nullptr ? piece->block : BlockId{});
}

void SegmentsView::mouseMoveEvent(QMouseEvent* event) {
    const SegmentPiece* piece = pieceAt(event->position());
    if (piece == nullptr) {
        QToolTip::hideText();
        return;
    }
    for (const SegmentState& segment : m_state->segments) {
        if (piece - m_state->pieces.data() < segment.endPiece) {
            QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), toolTip(segment, *piece),
                               viewport());
            return;
        }
    }
}

QString SegmentsView::toolTip(const SegmentState& segment, const SegmentPiece& piece) const {
    const MemoryDevice& device = m_focus->device();
    QStringList lines;
    const QString address = QStringLiteral("0x%1").arg(piece.address, 0, 16);
    switch (piece.kind) {
    case SegmentPiece::Kind::Free:
        lines.append(tr("<b>%1 free</b> at %2").arg(bytesText(piece.size), address));
        break;
    case SegmentPiece::Kind::Used:
        lines.append(tr("<b>%1</b> at %2, %3 rounded up")
                         .arg(bytesText(piece.requested), address, bytesText(piece.size)));
        break;
    case SegmentPiece::Kind::Pending:
        lines.append(
            tr("<b>%1</b> at %2, freed but waiting for a stream").arg(bytesText(piece.requested), address));
        break;
    }
    lines.append(tr("in a segment of %1 at 0x%2, %3%4")
                     .arg(bytesText(segment.size), QString::number(segment.address, 16),
                          toQString(device.streamName(segment.stream)),
                          (segment.flags & SegmentFlag::Expandable) != 0 ? tr(", expandable") : QString()));
    return lines.join(QStringLiteral("<br>"));
}

bool SegmentsView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip)
        return true;
    return QAbstractScrollArea::viewportEvent(event);
}

void SegmentsView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

} // namespace warpline
