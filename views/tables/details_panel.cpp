// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/details_panel.h"

#include "views/tables/details_text.h"
#include "views/text.h"
#include "views/theme.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace warpline {

Result<SameName> sameNameStats(const Document::Item& item, SliceId slice, std::optional<TimeRange> range,
                               const std::stop_token& stop) {
    const Trace& trace = *item.trace;
    const StringId name = trace.slices.name[slice.index()];
    const SliceKind kind = trace.kind(slice);
    std::vector<TimeNs> durations;
    SameName out;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
        if ((row & 0xffff) == 0 && stop.stop_requested())
            return Error::cancelled();
        if (trace.slices.name[row] != name || trace.kind(row) != kind)
            continue;
        if (range && !range->contains(trace.slices.start[row] + item.shift))
            continue;
        durations.push_back(trace.slices.duration[row]);
        out.total += durations.back();
    }
    out.count = durations.size();
    if (durations.empty())
        return out;
    const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
    out.min = *least;
    out.max = *most;
    const std::size_t middle = durations.size() / 2;
    std::nth_element(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(middle),
                     durations.end());
    out.median = durations[middle];
    if (durations.size() % 2 == 0) {
        const TimeNs below =
            *std::max_element(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(middle));
        out.median = below + (out.median - below) / 2;
    }
    return out;
}

DetailsPanel::DetailsPanel(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    setObjectName(QStringLiteral("detailsPanel"));
    m_browser = details::makeBrowser(this, QStringLiteral("details"), tr("Details of the selected event"));
    connect(m_browser, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { follow(url.toString()); });

    m_copy = new QToolButton(this);
    m_copy->setObjectName(QStringLiteral("choice"));
    m_copy->setText(tr("Copy ▾"));
    m_copy->setAccessibleName(tr("Copy the details"));
    m_copy->setPopupMode(QToolButton::InstantPopup);
    m_copy->setAutoRaise(true);
    auto* menu = new QMenu(m_copy);
    connect(menu->addAction(tr("Copy as text")), &QAction::triggered, this, &DetailsPanel::copyText);
    connect(menu->addAction(tr("Copy as JSON")), &QAction::triggered, this, &DetailsPanel::copyJson);
    m_copy->setMenu(menu);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_browser, 1);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(8, 3, 8, 3);
    row->addStretch(1);
    row->addWidget(m_copy);
    layout->addLayout(row);

    connect(document, &Document::selectionChanged, this, &DetailsPanel::refresh);
    connect(document, &Document::rangeChanged, this, &DetailsPanel::refreshSameName);
    connect(document, &Document::sessionChanged, this, &DetailsPanel::refresh);
    refresh();
}

void DetailsPanel::refresh() {
    m_sameName = {};
    m_stale = visibleRegion().isEmpty();
    if (m_stale && m_document->selected()) {
        m_job.cancel();
        return;
    }
    m_details = describeSlice(*m_document, m_document->selected());
    render();
    refreshSameName();
}

void DetailsPanel::catchUp() {
    if (m_stale && !visibleRegion().isEmpty())
        refresh();
}

void DetailsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    QTimer::singleShot(0, this, &DetailsPanel::catchUp);
}

void DetailsPanel::refreshSameName() {
    const SliceRef ref = m_document->selected();
    if (!ref || m_stale) {
        m_job.cancel();
        return;
    }
    const Document::Item& item = m_document->items()[static_cast<std::size_t>(ref.source)];
    const std::optional<TimeRange> range = m_document->range();
    m_job.start(
        [item, ref, range](const std::stop_token& stop) {
            return sameNameStats(item, ref.slice, range, stop);
        },
        [this, range](const Result<SameName>& result) {
            m_sameName = {};
            if (result.ok()) {
                const SameName& s = result.value();
                const QString where = !range                              ? tr("the whole trace")
                                      : m_document->rangeName().isEmpty() ? tr("the selection")
                                                                          : m_document->rangeName();
                m_sameName.title = tr("Same name in %1").arg(where);
                m_sameName.entries = {
                    {tr("Count"), countText(static_cast<std::int64_t>(s.count)), {}, {}},
                    {tr("Total"), durationText(s.total), exactDurationText(s.total), {}},
                    {tr("Median"), durationText(s.median), exactDurationText(s.median), {}},
                    {tr("Range"), durationText(s.min) + QStringLiteral(" – ") + durationText(s.max), {}, {}}};
            }
            render();
        });
}

void DetailsPanel::render() {
    const Theme& theme = Theme::current();
    m_copy->setVisible(!m_details.name.isEmpty());
    if (m_details.name.isEmpty() && !m_document->selected()) {
        const QString text =
            m_document->empty()
                ? tr("Nothing is open. Open a trace with Ctrl+O.")
                : tr("Nothing is selected. Click an event in the timeline, or step to one with the "
                     "arrow keys.");
        m_browser->setHtml(
            QStringLiteral("<p style=\"color:%1\">%2</p>").arg(theme.mute.name(), text.toHtmlEscaped()));
        return;
    }
    const QString mute = theme.mute.name();
    QString html =
        QStringLiteral("<div style=\"font-weight:600\">%1</div>").arg(m_details.name.toHtmlEscaped());
    html +=
        QStringLiteral(
            "<div style=\"margin-top:4px; margin-bottom:4px; color:%1\"><span style=\"color:%2\">■</span> "
            "%3 · %4</div>")
            .arg(mute, theme.color(m_details.family).name(), m_details.kind.toHtmlEscaped(),
                 QString::fromLatin1(familyName(m_details.family)).toHtmlEscaped());
    const auto section = [&](const DetailSection& s) {
        if (s.entries.empty())
            return;
        if (!s.title.isEmpty())
            html += QStringLiteral("<hr/><div style=\"font-weight:600; margin-bottom:2px\">%1</div>")
                        .arg(s.title.toHtmlEscaped());
        const bool links = std::all_of(s.entries.begin(), s.entries.end(), [](const DetailEntry& entry) {
            return static_cast<bool>(entry.link);
        });
        html += QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\">");
        for (const DetailEntry& entry : s.entries) {
            QString value = entry.value.toHtmlEscaped();
            value.replace(u'\n', QStringLiteral("<br/>"));
            if (entry.link)
                value =
                    QStringLiteral("<a style=\"color:%1; text-decoration:none\" href=\"slice:%2:%3\">%4</a>")
                        .arg(theme.accent.name())
                        .arg(entry.link.source)
                        .arg(entry.link.slice.value)
                        .arg(value);
            // Short values stand right under one another; long ones and lists of links read from the left.
            const bool number = !links && entry.value.size() <= 24;
            html += QStringLiteral("<tr><td style=\"color:%1; padding-right:10px; "
                                   "white-space:nowrap\">%2</td><td align=\"%3\" "
                                   "title=\"%4\">%5</td></tr>")
                        .arg(mute, entry.label.toHtmlEscaped(),
                             number ? QStringLiteral("right") : QStringLiteral("left"),
                             entry.exact.toHtmlEscaped(), value);
        }
        html += QStringLiteral("</table>");
    };
    for (std::size_t i = 0; i < m_details.sections.size(); ++i) {
        if (m_details.sections[i].title == tr("Arguments"))
            section(m_sameName);
        section(m_details.sections[i]);
    }
    m_browser->setHtml(html);
}

void DetailsPanel::follow(const QString& href) {
    const QStringList parts = href.split(u':');
    if (parts.size() != 3 || parts[0] != QLatin1String("slice"))
        return;
    m_document->reveal({parts[1].toInt(), SliceId{parts[2].toUInt()}});
}

void DetailsPanel::copyText() {
    if (m_document->selected())
        QGuiApplication::clipboard()->setText(
            detailsText(describeSlice(*m_document, m_document->selected())));
}

void DetailsPanel::copyJson() {
    if (m_document->selected())
        QGuiApplication::clipboard()->setText(sliceJson(*m_document, m_document->selected()));
}

QString DetailsPanel::plainText() const {
    return m_browser->toPlainText();
}

void DetailsPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_browser != nullptr)
        render();
}

} // namespace warpline
