// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/timeline/timeline_panel.h"

#include "views/theme.h"
#include "views/timeline/legend.h"
#include "views/timeline/overview.h"
#include "views/timeline/ruler.h"
#include "views/timeline/timeline_commands.h"
#include "views/timeline/timeline_state.h"
#include "views/timeline/timeline_view.h"
#include "views/timeline/track_list.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

namespace warpline {

namespace {

constexpr int kSideWidth = 216;

/// The words beside the overview and the ruler.
class SideHeading : public QWidget {
  public:
    SideHeading(TimelineState* state, const Overview* overview, const Ruler* ruler)
        : m_state(state), m_overview(overview), m_ruler(ruler), m_font(laneFont()), m_bold(bold()) {
        const auto repaint = [this] { update(); };
        connect(&state->document(), &Document::rangeChanged, this, repaint);
        connect(overview, &Overview::contentsChanged, this, repaint);
        connect(state, &TimelineState::layoutChanged, this, [this] { fit(); });
        fit();
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Theme& theme = Theme::current();
        painter.fillRect(rect(), theme.pane);
        if (!m_state->document().empty()) {
            painter.setPen(theme.text);
            const auto draw = [&](LabelFont& font, int top, int high, const QString& text) {
                const std::string utf8 = text.toStdString();
                font.draw(painter, 12, font.baseline(top, high), width() - 20, utf8);
            };
            draw(m_font, 4, 20, TimelinePanel::tr("Overview"));
            painter.setPen(theme.mute);
            draw(m_font, 20, 20, m_overview->contents());
            draw(m_font, Overview::kHeight, Ruler::kScaleHeight,
                 TimelinePanel::tr("from %1").arg(m_state->originName()));
            painter.setPen(theme.text);
            if (!m_state->steps().empty())
                draw(m_bold, Overview::kHeight + Ruler::kScaleHeight, Ruler::kStepsHeight,
                     TimelinePanel::tr("Steps"));
        }
        painter.fillRect(QRect(0, Overview::kHeight - 1, width(), 1), theme.line);
        painter.fillRect(QRect(0, height() - 1, width(), 1), theme.line);
        painter.fillRect(QRect(width() - 1, 0, 1, height()), theme.line);
    }

  private:
    static QFont bold() {
        QFont font = laneFont();
        font.setWeight(QFont::DemiBold);
        return font;
    }
    void fit() {
        setFixedHeight(Overview::kHeight + m_ruler->wantedHeight());
        update();
    }

    TimelineState* m_state;
    const Overview* m_overview;
    const Ruler* m_ruler;
    LabelFont m_font;
    LabelFont m_bold;
};

QVBoxLayout* plainColumn(QWidget* parent) {
    auto* column = new QVBoxLayout(parent);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

} // namespace

TimelinePanel::TimelinePanel(Document* document, QWidget* parent)
    : QWidget(parent), m_state(new TimelineState(document, this)), m_view(new TimelineView(m_state)),
      m_commands(new TimelineCommands(m_state, m_view)), m_overview(new Overview(m_state)),
      m_ruler(new Ruler(m_state)) {
    setObjectName(QStringLiteral("timeline"));
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    QWidget* main = makeMain();
    splitter->addWidget(makeSide());
    splitter->addWidget(main);
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({kSideWidth, 1000});
    plainColumn(this)->addWidget(splitter);
    setFocusProxy(m_view);
    // Also the panel's own, so that it can be asked for them as any widget can.
    addActions(m_commands->actions());
    connect(m_state, &TimelineState::layoutChanged, this, &TimelinePanel::takeLayout);
    takeLayout();
}

TimelinePanel::~TimelinePanel() {
    // The parts read the state as long as they live.
    qDeleteAll(findChildren<QSplitter*>(Qt::FindDirectChildrenOnly));
}

QWidget* TimelinePanel::makeMain() {
    auto* main = new QWidget;
    QVBoxLayout* column = plainColumn(main);
    column->addWidget(m_overview);
    column->addWidget(m_ruler);
    column->addWidget(m_view, 1);
    column->addWidget(new Legend(m_state));
    connect(m_view, &TimelineView::scrolled, m_ruler,
            [this] { m_ruler->setScaleWidth(m_view->viewport()->width()); });
    return main;
}

QWidget* TimelinePanel::makeSide() {
    auto* side = new QWidget;
    side->setMinimumWidth(120);
    side->setMaximumWidth(480);
    m_tracks = new TrackList(m_state, m_view);
    m_filter = new QLineEdit;
    m_filter->setObjectName(QStringLiteral("timelineFilter"));
    m_filter->setAccessibleName(tr("Filter tracks by name"));
    m_filter->setPlaceholderText(tr("Filter tracks"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFrame(false);
    m_filter->setFont(laneFont());
    m_filter->setFixedHeight(Legend::kHeight);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_state->changeLayout([&](TrackLayout& layout) { layout.setFilter(text); });
    });
    m_showAll = new QToolButton;
    m_showAll->setObjectName(QStringLiteral("timelineShowAll"));
    m_showAll->setAutoRaise(true);
    m_showAll->setToolTip(tr("Show all tracks"));
    connect(m_showAll, &QToolButton::clicked, this,
            [this] { m_state->changeLayout([](TrackLayout& layout) { layout.showAll(); }); });
    auto* bottom = new QHBoxLayout;
    bottom->setContentsMargins(8, 0, 4, 0);
    bottom->addWidget(m_filter, 1);
    bottom->addWidget(m_showAll);
    QVBoxLayout* column = plainColumn(side);
    column->addWidget(new SideHeading(m_state, m_overview, m_ruler));
    column->addWidget(m_tracks, 1);
    column->addLayout(bottom);
    return side;
}

void TimelinePanel::takeLayout() {
    const TrackLayout& layout = m_state->layout();
    const auto hidden = static_cast<int>(layout.hiddenCount());
    m_showAll->setVisible(hidden > 0);
    m_showAll->setText(tr("%1 hidden · show").arg(hidden));
    if (m_filter->text().trimmed() != layout.filter())
        m_filter->setText(layout.filter());
}

QList<QAction*> TimelinePanel::timelineActions() const {
    return m_commands->actions();
}

void TimelinePanel::setAnimated(bool animated) {
    m_state->setAnimated(animated);
}

void TimelinePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        update();
}

} // namespace warpline
