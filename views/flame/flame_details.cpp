// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/flame_details.h"

#include "views/flame/flame_colors.h"
#include "views/tables/details_text.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/timeline/label_font.h"

#include <QDesktopServices>
#include <QEvent>
#include <QFileInfo>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <unordered_map>

namespace warpline {

namespace {

constexpr std::size_t kHeaviest = 8;
constexpr qsizetype kLongestName = 34;

/// A name in one line: kernels without "void" and namespaces, and no longer than fits.
QString cutName(const FrameTable& frames, FrameId id) {
    const SliceKind kind = frames.at(id).kind == FrameKind::Kernel ? SliceKind::Kernel : SliceKind::Other;
    const QString name = shortFrame(toQString(shortName(kind, frames.name(id))));
    return name.size() <= kLongestName ? name : name.left(kLongestName - 1) + QChar(u'…');
}

} // namespace

std::vector<std::pair<FrameId, std::int64_t>> heaviestBelow(const FlameTree& tree, std::uint32_t node,
                                                            std::size_t most) {
    std::unordered_map<FrameId, std::int64_t> self;
    // Children of a node stand together, but not those of several: walked breadth first.
    std::vector<std::uint32_t> open{node};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const FlameTree::Node& n = tree.nodes[open[i]];
        if (n.self != 0 && open[i] != node)
            self[n.frame] += n.self;
        for (std::uint32_t child = 0; child < n.childCount; ++child)
            open.push_back(n.firstChild + child);
    }
    std::vector<std::pair<FrameId, std::int64_t>> rows(self.begin(), self.end());
    const std::size_t kept = std::min(most, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                      [](const auto& a, const auto& b) {
                          return a.second != b.second ? a.second > b.second : a.first < b.first;
                      });
    rows.resize(kept);
    return rows;
}

FlameDetails::FlameDetails(FlameView* view, QWidget* parent) : QWidget(parent), m_view(view) {
    setObjectName(QStringLiteral("flameDetails"));
    m_browser = details::makeBrowser(this, QStringLiteral("flameText"), tr("Details of the selected frame"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_browser);
    connect(m_browser, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { follow(url.toString()); });
    connect(view, &FlameView::selectionChanged, this, &FlameDetails::render);
    render();
}

QString FlameDetails::plainText() const {
    return m_browser->toPlainText();
}

void FlameDetails::setWeightName(const QString& name) {
    m_weight = name;
    render();
}

void FlameDetails::setOfBlocks(bool blocks) {
    m_blocks = blocks;
}

void FlameDetails::follow(const QString& link) {
    if (!m_view->tree())
        return;
    if (link == QLatin1String("timeline")) {
        emit timelineRequested(m_view->selected());
    } else if (link == QLatin1String("source")) {
        const FrameId frame = m_view->tree()->nodes[m_view->selected()].frame;
        QDesktopServices::openUrl(QUrl::fromLocalFile(toQString(m_view->tree()->frames->file(frame))));
    } else if (link.startsWith(QLatin1String("frame:"))) {
        m_view->setSearch(toQString(m_view->tree()->frames->name(FrameId{link.mid(6).toUInt()})));
    }
}

void FlameDetails::render() {
    const Theme& theme = Theme::current();
    if (!m_view->tree() || m_view->tree()->nodes.empty()) {
        m_browser->clear();
        return;
    }
    const FlameTree& tree = *m_view->tree();
    const std::uint32_t node = m_view->selected();
    const FlameTree::Node& n = tree.nodes[node];
    const auto share = [](std::int64_t part, std::int64_t whole) {
        return percentText(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
    };
    const auto entry = [](const QString& name, const QString& value) {
        return details::entry(name, value.toHtmlEscaped());
    };
    const auto link = details::link;
    QString html = QStringLiteral("<div style=\"font-weight:600\">%1</div>")
                       .arg(toQString(tree.label(node)).toHtmlEscaped());
    if (n.frame) {
        const Frame& frame = tree.frames->at(n.frame);
        html += QStringLiteral(
                    "<div style=\"margin-top:4px; color:%1\"><span style=\"color:%2\">■</span> %3</div>")
                    .arg(theme.mute.name(), m_view->colorOf(node).name(),
                         toQString(frameKindName(frame.kind)).toHtmlEscaped());
        const QString file = toQString(tree.frames->file(n.frame));
        if (!file.isEmpty()) {
            const QString place = frame.line > 0 ? tr("%1, line %2").arg(file).arg(frame.line) : file;
            // Traces come from other machines as often as not; then the path is all there is.
            html += QStringLiteral("<div style=\"margin-top:4px\">%1</div>")
                        .arg(QFileInfo(file).isFile() ? link(QStringLiteral("source"), place)
                                                      : place.toHtmlEscaped());
        }
    }
    QString rows = entry(m_weight, m_view->weightText(n.total));
    rows += entry(tr("Share of all"), share(n.total, tree.total()));
    if (node != FlameTree::kRoot)
        rows += entry(tree.bottomUp ? tr("Share of its callee") : tr("Share of its caller"),
                      share(n.total, tree.nodes[n.parent].total));
    rows += entry(tr("Itself"), m_view->weightText(n.self));
    rows += entry(tr("Times"), countText(static_cast<std::int64_t>(n.totalCount)));
    if (tree.difference) {
        rows += entry(tr("Before"), m_view->weightText(n.baseTotal));
        rows += entry(tr("Change"), (n.total >= n.baseTotal ? QStringLiteral("+") : QStringLiteral("−")) +
                                        m_view->weightText(std::abs(n.total - n.baseTotal)));
    }
    html += details::table(rows);
    if (node != FlameTree::kRoot)
        html +=
            QStringLiteral("<div style=\"margin-top:4px\">%1</div>")
                .arg(link(QStringLiteral("timeline"),
                          m_blocks ? tr("List its blocks") : tr("Show its longest event in the timeline")));
    const auto heaviest = heaviestBelow(tree, node, kHeaviest);
    if (!heaviest.empty()) {
        html += details::heading(tr("Heaviest below"));
        QString below;
        for (const auto& [frame, weight] : heaviest)
            below += QStringLiteral("<tr><td>%1</td><td align=\"right\">%2</td></tr>")
                         .arg(link(QStringLiteral("frame:%1").arg(frame.value), cutName(*tree.frames, frame)),
                              m_view->weightText(weight).toHtmlEscaped());
        html += details::table(below);
    }
    m_browser->setHtml(html);
}

void FlameDetails::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        render();
}

} // namespace warpline
