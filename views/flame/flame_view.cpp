// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_view.h"

#include "views/flame/flame_colors.h"
#include "views/text.h"
#include "views/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace warpline {

namespace {

constexpr double kLeastWidth = 2; ///< pixels; what is narrower joins its neighbours in a grey box
constexpr double kMargin = 8;
constexpr double kGap = 1;

} // namespace

FlameView::FlameView(QWidget* parent) : QAbstractScrollArea(parent), m_font(laneFont()) {
    setObjectName(QStringLiteral("flameView"));
    setAccessibleName(tr("Flame graph"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    verticalScrollBar()->setSingleStep(kRowHeight);
}

FlameView::~FlameView() = default;

void FlameView::setTree(FlameTreePtr tree) {
    const FlameTreePtr before = std::exchange(m_tree, std::move(tree));
    const bool same =
        before && m_tree && before->frames == m_tree->frames && before->bottomUp == m_tree->bottomUp;
    m_zoomed = same && m_zoomed != 0 ? m_tree->find(*before, m_zoomed) : 0;
    m_selected = same && m_selected != 0 ? m_tree->find(*before, m_selected) : 0;
    m_hovered.reset();
    m_pressed.reset();
    setSearch(std::exchange(m_search, QString()));
    dropLayout();
    emit zoomChanged();
    describe();
    emit selectionChanged();
}

void FlameView::dropLayout() {
    m_layout.reset();
    const int rows = m_tree ? static_cast<int>(layout().rows()) : 0;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, rows * kRowHeight + 16 - viewport()->height()));
    if (!m_icicle && m_tree)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    viewport()->update();
}

const FlameLayout& FlameView::layout() {
    static const FlameTree none;
    if (!m_layout) {
        m_layout = std::make_unique<FlameLayout>(
            m_tree ? *m_tree : none, m_zoomed, std::max(1.0, viewport()->width() - 2 * kMargin), kLeastWidth);
    }
    return *m_layout;
}

void FlameView::zoomTo(std::uint32_t node) {
    if (!m_tree || node >= m_tree->nodes.size() || node == m_zoomed)
        return;
    m_zoomed = node;
    dropLayout();
    keepInView(node);
    emit zoomChanged();
}

void FlameView::select(std::uint32_t node) {
    if (!m_tree || node >= m_tree->nodes.size() || node == m_selected)
        return;
    m_selected = node;
    describe();
    viewport()->update();
    emit selectionChanged();
}

void FlameView::choose(std::uint32_t node) {
    select(node);
    emit chosen(m_selected);
}

void FlameView::describe() {
    QString text = tr("Nothing selected");
    if (m_tree && m_selected != 0) {
        const FlameTree::Node& n = m_tree->nodes[m_selected];
        const double all = static_cast<double>(std::max<std::int64_t>(1, m_tree->total()));
        text = tr("%1, %2, %3 of all")
                   .arg(toQString(m_tree->label(m_selected)), weightText(n.total),
                        percentText(static_cast<double>(n.total) / all));
    }
    viewport()->setAccessibleDescription(text);
    setAccessibleDescription(text);
}

void FlameView::setIcicle(bool icicle) {
    if (icicle == m_icicle)
        return;
    m_icicle = icicle;
    dropLayout();
}

void FlameView::setSearch(const QString& text) {
    if (text == m_search)
        return;
    m_search = text;
    m_marked.clear();
    m_matches = {};
    m_searchError.clear();
    if (m_tree && !text.trimmed().isEmpty()) {
        Result<FlameMatches> found = flameMatches(*m_tree, text.trimmed().toStdString());
        m_searchError = found.ok() ? QString() : toQString(found.error().message);
        if (found.ok()) {
            m_matches = {found.value().total, found.value().places};
            m_marked = std::move(found).value().marked;
        }
    }
    viewport()->update();
    emit searchChanged();
}

QString FlameView::weightText(std::int64_t weight) const {
    return toQString(formatWeight(weight, m_tree ? m_tree->unit : WeightUnit::Count));
}

QColor FlameView::colorOf(std::uint32_t node) const {
    const FlameTree::Node& n = m_tree->nodes[node];
    if (m_tree->difference)
        return differenceColor(Theme::current(), n.baseTotal, n.total);
    return n.frame ? frameColor(Theme::current(), *m_tree->frames, n.frame) : Theme::current().head;
}

double FlameView::yOf(std::uint32_t row) const {
    const int scroll = verticalScrollBar()->value();
    if (m_icicle)
        return 8.0 + static_cast<double>(row) * kRowHeight - scroll;
    const double height =
        std::max(viewport()->height(), verticalScrollBar()->maximum() + viewport()->height());
    return height - 8.0 - (static_cast<double>(row) + 1) * kRowHeight - scroll;
}

std::string FlameView::labelOf(std::uint32_t node) const {
    if (node != FlameTree::kRoot)
        return shortFrame(toQString(m_tree->label(node))).toStdString();
    return tr("all · %1").arg(weightText(m_tree->total())).toStdString();
}

std::optional<QRectF> FlameView::rectOf(std::uint32_t node) {
    if (!m_tree)
        return std::nullopt;
    const FlameBox* box = layout().boxOf(node);
    if (box == nullptr)
        return std::nullopt;
    return QRectF(kMargin + box->x, yOf(box->row), box->width, kRowHeight);
}

std::optional<std::uint32_t> FlameView::nodeAt(const QPointF& position) {
    if (!m_tree)
        return std::nullopt;
    const double offset = m_icicle ? position.y() - yOf(0) : yOf(0) + kRowHeight - position.y();
    if (offset < 0)
        return std::nullopt;
    const FlameBox* box =
        layout().boxAt(position.x() - kMargin, static_cast<std::uint32_t>(offset / kRowHeight));
    return box == nullptr ? std::nullopt : std::optional(box->node);
}

void FlameView::paintBox(QPainter& painter, const FlameBox& box) {
    const Theme& theme = Theme::current();
    const QRectF rect(kMargin + box.x, yOf(box.row), std::max(box.width - kGap, 1.0), kRowHeight - kGap);
    if (box.hidden > 0) {
        painter.fillRect(rect, theme.line);
        painter.setPen(theme.mute);
        m_font.draw(painter, rect.left() + 4, m_font.baseline(rect.top(), rect.height()), rect.width() - 8,
                    tr("%1 smaller").arg(box.hidden).toStdString());
        return;
    }
    QColor fill = colorOf(box.node);
    const bool dimmed = !m_marked.empty() && m_marked[box.node] == 0;
    if (dimmed) {
        // Searching fades what does not match towards the ground.
        const auto mix = [&](int a, int b) { return (a * 2 + b * 3) / 5; };
        fill = QColor(mix(fill.red(), theme.background.red()), mix(fill.green(), theme.background.green()),
                      mix(fill.blue(), theme.background.blue()));
    }
    painter.fillRect(rect, fill);
    painter.setPen(dimmed ? theme.mute : theme.text);
    m_font.draw(painter, rect.left() + 4, m_font.baseline(rect.top(), rect.height()), rect.width() - 8,
                labelOf(box.node));
    const bool marked = !m_marked.empty() && !dimmed;
    if (marked || box.node == m_hovered) {
        painter.setPen(QPen(marked ? theme.warn : theme.mute, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (box.node == m_selected && m_selected != 0) {
        painter.setPen(QPen(theme.selection, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect.adjusted(1, 1, -1, -1));
    }
}

void FlameView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme& theme = Theme::current();
    painter.fillRect(viewport()->rect(), theme.background);
    if (!m_tree)
        return;
    for (const FlameBox& box : layout().boxes()) {
        const double y = yOf(box.row);
        if (y + kRowHeight > 0 && y < viewport()->height())
            paintBox(painter, box);
    }
    if (hasFocus() && m_selected == 0) {
        painter.setPen(QPen(theme.accent, 1, Qt::DotLine));
        painter.drawRect(QRectF(viewport()->rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void FlameView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    dropLayout();
}

void FlameView::mousePressEvent(QMouseEvent* event) {
    m_pressed = event->button() == Qt::LeftButton ? nodeAt(event->position()) : std::nullopt;
}

void FlameView::mouseReleaseEvent(QMouseEvent* event) {
    const std::optional<std::uint32_t> node = nodeAt(event->position());
    if (event->button() == Qt::BackButton && m_tree && m_zoomed != 0)
        zoomTo(m_tree->nodes[m_zoomed].parent);
    if (event->button() != Qt::LeftButton || !node || node != std::exchange(m_pressed, std::nullopt))
        return;
    zoomTo(*node);
    choose(*node);
}

void FlameView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto node = nodeAt(event->position()); node && event->button() == Qt::LeftButton)
        emit activated(*node);
}

void FlameView::mouseMoveEvent(QMouseEvent* event) {
    const std::optional<std::uint32_t> node = nodeAt(event->position());
    if (node == m_hovered)
        return;
    m_hovered = node;
    viewport()->update();
    if (node)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(8, 12), toolTip(*node), viewport());
    else
        QToolTip::hideText();
}

bool FlameView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && m_hovered) {
        m_hovered.reset();
        viewport()->update();
    }
    if (event->type() == QEvent::ToolTip)
        return true; // shown as the pointer moves
    return QAbstractScrollArea::viewportEvent(event);
}

QString FlameView::toolTip(std::uint32_t node) const {
    const FlameTree::Node& n = m_tree->nodes[node];
    const auto share = [&](std::int64_t part, std::int64_t whole) {
        return percentText(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
    };
    QStringList lines{QStringLiteral("<b>%1</b>").arg(toQString(m_tree->label(node)).toHtmlEscaped())};
    if (n.frame)
        lines.append(QString::fromLatin1(frameKindName(m_tree->frames->at(n.frame).kind)));
    QString total = tr("%1 · %2 of all").arg(weightText(n.total), share(n.total, m_tree->total()));
    if (node != FlameTree::kRoot)
        total += tr(" · %1 of its %2")
                     .arg(share(n.total, m_tree->nodes[n.parent].total),
                          m_tree->bottomUp ? tr("callee") : tr("caller"));
    lines.append(total);
    if (n.self != 0)
        lines.append(tr("itself %1 · %2 of all").arg(weightText(n.self), share(n.self, m_tree->total())));
    if (m_tree->difference)
        lines.append(tr("before %1, now %2").arg(weightText(n.baseTotal), weightText(n.total)));
    if (n.merged > 1)
        lines.append(tr("%1 modules of one class together").arg(n.merged));
    return lines.join(QStringLiteral("<br>"));
}

void FlameView::walk(int key) {
    if (!m_tree || m_tree->nodes.empty())
        return;
    const auto& nodes = m_tree->nodes;
    const bool deeper = (key == Qt::Key_Down) == m_icicle;
    std::uint32_t to = m_selected;
    if (key == Qt::Key_Down || key == Qt::Key_Up) {
        if (!deeper)
            to = nodes[m_selected].parent;
        else if (nodes[m_selected].childCount > 0)
            to = nodes[m_selected].firstChild;
    } else if (m_selected != FlameTree::kRoot) {
        const FlameTree::Node& parent = nodes[nodes[m_selected].parent];
        if (key == Qt::Key_Right && m_selected + 1 < parent.firstChild + parent.childCount)
            to = m_selected + 1;
        if (key == Qt::Key_Left && m_selected > parent.firstChild)
            to = m_selected - 1;
    }
    choose(to);
    if (!rectOf(to))
        zoomTo(nodes[to].parent);
    keepInView(to);
}

void FlameView::keepInView(std::uint32_t node) {
    const std::optional<QRectF> rect = rectOf(node);
    if (!rect)
        return;
    QScrollBar* bar = verticalScrollBar();
    if (rect->top() < 0)
        bar->setValue(bar->value() + static_cast<int>(std::floor(rect->top())) - 8);
    else if (rect->bottom() > viewport()->height())
        bar->setValue(bar->value() + static_cast<int>(std::ceil(rect->bottom())) - viewport()->height() + 8);
}

void FlameView::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
        walk(event->key());
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (event->modifiers() & Qt::ControlModifier)
            emit activated(m_selected);
        else
            zoomTo(m_selected);
        return;
    case Qt::Key_Escape:
    case Qt::Key_Backspace:
        if (m_tree && m_zoomed != FlameTree::kRoot)
            zoomTo(m_tree->nodes[m_zoomed].parent);
        else
            choose(FlameTree::kRoot);
        return;
    case Qt::Key_Home:
    case Qt::Key_F:
        zoomTo(FlameTree::kRoot);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void FlameView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

} // namespace warpline
