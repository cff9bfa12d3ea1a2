// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/filter_chips.h"

#include "views/memory/blocks_panel.h"
#include "views/text.h"
#include "views/timeline/label_font.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>

#include <algorithm>

namespace warpline {

namespace {

constexpr int kGap = 8;
constexpr int kHeight = 26;
constexpr int kFrame = 18;      ///< padding and border of a chip, both sides
constexpr int kLeastChip = 140; ///< what is narrower, and cut, says nothing
constexpr int kMostChip = 240;
constexpr int kMoreWidth = 44;

QString closing() {
    return QStringLiteral("   ×");
}

} // namespace

FilterChip::FilterChip(QWidget* parent) : QToolButton(parent) {
    setObjectName(QStringLiteral("rangeChip"));
    setFocusPolicy(Qt::TabFocus);
    hide();
}

void FilterChip::setLabel(const QString& label) {
    m_label = label;
    setAccessibleName(tr("Take off the filter %1").arg(label));
}

int FilterChip::naturalWidth() const {
    return std::min(kMostChip, fontMetrics().horizontalAdvance(m_label + closing()) + kFrame + 2);
}

void FilterChip::fit(int width) {
    const int room = width - kFrame - fontMetrics().horizontalAdvance(closing());
    setText(fontMetrics().elidedText(m_label, Qt::ElideMiddle, std::max(room, 8)) + closing());
}

void FilterChip::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        click();
        return;
    case Qt::Key_Left:
        focusNextPrevChild(false);
        return;
    case Qt::Key_Right:
        focusNextPrevChild(true);
        return;
    default:
        QToolButton::keyPressEvent(event);
    }
}

FilterChips::FilterChips(Document* document, QLineEdit* search, QWidget* parent)
    : QWidget(parent), m_document(document), m_search(search), m_more(new QToolButton(this)) {
    setObjectName(QStringLiteral("filterChips"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    for (int i = 0; i < kKinds; ++i) {
        auto* chip = new FilterChip(this);
        m_chips[static_cast<std::size_t>(i)] = chip;
        connect(chip, &QToolButton::clicked, this, [this, i] { takeOff(static_cast<Kind>(i)); });
    }
    m_more->setObjectName(QStringLiteral("rangeChip"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_more->setFocusPolicy(Qt::TabFocus);
    m_more->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; width: 0; }"));
    m_more->setMenu(new QMenu(m_more));
    m_more->hide();
    for (const auto signal : {&Document::rangeChanged, &Document::filterChanged, &Document::sessionChanged})
        connect(document, signal, this, &FilterChips::refresh);
    connect(search, &QLineEdit::textChanged, this, &FilterChips::refresh);
    refresh();
}

void FilterChips::setBlocks(BlocksPanel* blocks) {
    m_blocks = blocks;
    connect(blocks, &BlocksPanel::narrowed, this, &FilterChips::refresh);
    refresh();
}

QSize FilterChips::sizeHint() const {
    return {kMostChip, kHeight};
}

QSize FilterChips::minimumSizeHint() const {
    return {kMoreWidth, kHeight};
}

bool FilterChips::active(Kind kind) const {
    const Selection& s = m_document->selection();
    switch (kind) {
    case Kind::Range:
        return s.range.has_value();
    case Kind::Op:
        return !s.op.isEmpty();
    case Kind::Kernel:
        return !s.kernel.isEmpty();
    case Kind::Frame:
        return static_cast<bool>(s.frame);
    case Kind::Tracks:
        return !s.tracks.empty();
    case Kind::Search:
        return !m_search->text().trimmed().isEmpty() && !m_document->empty();
    case Kind::Blocks:
        return m_blocks != nullptr && !m_document->memories().empty() &&
               (!m_blocks->query().trimmed().isEmpty() || !m_blocks->onlyName().isEmpty());
    }
    return false;
}

QString FilterChips::tracksText() const {
    const std::vector<TrackRef>& tracks = m_document->selection().tracks;
    if (tracks.size() > 1)
        return tr("%1 tracks").arg(tracks.size());
    const TrackRef& only = tracks.front();
    if (only.source < 0 || static_cast<std::size_t>(only.source) >= m_document->items().size())
        return {};
    const Trace& trace = *m_document->items()[static_cast<std::size_t>(only.source)].trace;
    return toQString(trace.trackName(only.track));
}

QString FilterChips::labelOf(Kind kind) const {
    const Selection& s = m_document->selection();
    switch (kind) {
    case Kind::Range:
        return s.rangeName.isEmpty() ? durationText(s.range->duration()) : s.rangeName;
    case Kind::Op:
        return s.op;
    case Kind::Kernel:
        return toQString(shortName(SliceKind::Kernel, s.kernel.toStdString()));
    case Kind::Frame:
        return tr("under %1").arg(shortFrame(s.frame.name()));
    case Kind::Tracks:
        return tr("on %1").arg(tracksText());
    case Kind::Search:
        return tr("“%1”").arg(m_search->text().trimmed());
    case Kind::Blocks: {
        QStringList parts{m_blocks->query().trimmed(), m_blocks->onlyName()};
        parts.removeAll(QString());
        return tr("blocks %1").arg(parts.join(QStringLiteral(", ")));
    }
    }
    return {};
}

QString FilterChips::detailOf(Kind kind) const {
    const Selection& s = m_document->selection();
    switch (kind) {
    case Kind::Range:
        return tr("%1 to %2, %3.")
            .arg(timeLabel(*m_document, s.range->begin), timeLabel(*m_document, s.range->end),
                 durationText(s.range->duration()));
    case Kind::Op:
        return tr("Kernels, flames and blocks under %1 only.").arg(s.op);
    case Kind::Kernel:
        return tr("Ops and blocks around the launches of %1 only.").arg(s.kernel);
    case Kind::Frame:
        return tr("Ops, kernels and blocks under this frame only:\n%1").arg(s.frame.path.join(u'\n'));
    case Kind::Tracks:
        return tr("Ops, kernels and blocks of the chosen tracks only.");
    case Kind::Search:
        return tr("The hits are marked in the timeline.");
    case Kind::Blocks:
        return tr("The list of blocks is narrowed.");
    }
    return {};
}

void FilterChips::takeOff(Kind kind) {
    Selection next = m_document->selection();
    switch (kind) {
    case Kind::Range:
        next.range.reset();
        break;
    case Kind::Op:
        next.op.clear();
        break;
    case Kind::Kernel:
        next.kernel.clear();
        break;
    case Kind::Frame:
        next.frame = {};
        break;
    case Kind::Tracks:
        next.tracks.clear();
        break;
    case Kind::Search:
        m_search->clear();
        return;
    case Kind::Blocks:
        if (m_blocks != nullptr) {
            m_blocks->setQuery({});
            m_blocks->showOnly({}, {});
        }
        return;
    }
    m_document->setSelection(std::move(next));
}

void FilterChips::takeOffLast() {
    for (int i = kKinds - 1; i >= 0; --i) {
        if (active(static_cast<Kind>(i)))
            return takeOff(static_cast<Kind>(i));
    }
}

void FilterChips::takeOffAll() {
    Selection next = m_document->selection();
    next.range.reset();
    next.op.clear();
    next.kernel.clear();
    next.frame = {};
    next.tracks.clear();
    m_document->setSelection(std::move(next)); // one step, so that one step brings it back
    takeOff(Kind::Search);
    takeOff(Kind::Blocks);
}

void FilterChips::refresh() {
    bool focused = false;
    for (int i = 0; i < kKinds; ++i) {
        FilterChip* chip = m_chips[static_cast<std::size_t>(i)];
        const auto kind = static_cast<Kind>(i);
        if (active(kind)) {
            chip->setLabel(labelOf(kind));
            chip->setToolTip(tr("%1\nClick to take it off.").arg(detailOf(kind)));
        } else {
            focused = focused || chip->hasFocus();
        }
    }
    place();
    // Who takes chips off one by one with the keyboard goes on with the next.
    for (FilterChip* chip : m_chips) {
        if (focused && chip->isVisible()) {
            chip->setFocus();
            break;
        }
    }
}

void FilterChips::place() {
    std::vector<FilterChip*> shown;
    for (int i = 0; i < kKinds; ++i) {
        FilterChip* chip = m_chips[static_cast<std::size_t>(i)];
        if (active(static_cast<Kind>(i)))
            shown.push_back(chip);
        else
            chip->hide();
    }
    // The narrow ones have the width they need; the wide ones share what is left.
    const auto fits = [&](std::size_t count, int room) {
        int needed = 0;
        for (std::size_t i = 0; i < count; ++i)
            needed += std::min(kLeastChip, shown[i]->naturalWidth()) + (i > 0 ? kGap : 0);
        return needed <= room;
    };
    std::size_t count = shown.size();
    int room = width();
    if (!fits(count, room)) {
        room -= kMoreWidth + kGap;
        while (count > 0 && !fits(count, room))
            --count;
    }
    std::vector<int> widths(count);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return shown[a]->naturalWidth() < shown[b]->naturalWidth();
    });
    int left = room - static_cast<int>(count > 0 ? count - 1 : 0) * kGap;
    for (std::size_t i = 0; i < count; ++i) {
        const int share = left / static_cast<int>(count - i);
        widths[order[i]] = std::min(share, shown[order[i]]->naturalWidth());
        left -= widths[order[i]];
    }
    int x = 0;
    for (std::size_t i = 0; i < count; ++i) {
        shown[i]->fit(widths[i]);
        shown[i]->setGeometry(x, 0, widths[i], kHeight);
        shown[i]->show();
        x += widths[i] + kGap;
    }
    m_more->setVisible(count < shown.size());
    m_more->menu()->clear();
    for (std::size_t i = count; i < shown.size(); ++i) {
        shown[i]->hide();
        connect(m_more->menu()->addAction(tr("Take off: %1").arg(shown[i]->label())), &QAction::triggered,
                shown[i], &QToolButton::click);
    }
    m_more->setText(QStringLiteral("+%1").arg(shown.size() - count));
    m_more->setAccessibleName(tr("%1 more filters").arg(shown.size() - count));
    m_more->setGeometry(x, 0, kMoreWidth, kHeight);
}

void FilterChips::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

void FilterChips::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        place();
}

} // namespace warpline
