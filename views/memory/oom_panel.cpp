// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/oom_panel.h"

#include "model/analysis/memory_holders.h"
#include "views/memory/holders_panel.h"
#include "views/tables/details_text.h"
#include "views/text.h"
#include "views/theme.h"

#include <QEvent>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace warpline {

namespace {

/// Reports worked out at most: a program that retries may be refused thousands of times.
constexpr std::size_t kMostReports = 50;
constexpr std::size_t kMostSegments = 12;
constexpr std::size_t kMostFrames = 16;

QString row(const QString& name, const QString& value, const QString& note = {}) {
    return QStringLiteral("<tr><td style='color:%1'>%2&nbsp;&nbsp;&nbsp;</td><td align='right'>%3</td>"
                          "<td style='color:%1'>&nbsp;&nbsp;&nbsp;%4</td></tr>")
        .arg(Theme::current().mute.name(), name.toHtmlEscaped(), value.toHtmlEscaped(), note.toHtmlEscaped());
}

} // namespace

OomPanel::OomPanel(MemoryFocus* focus, QWidget* parent) : QWidget(parent), m_focus(focus) {
    setObjectName(QStringLiteral("oomPanel"));
    m_browser = details::makeBrowser(this, QStringLiteral("oomText"), tr("Out of memory"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_browser);
    connect(m_browser, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { m_focus->setMoment(url.toString().mid(1).toUInt()); });
    connect(focus, &MemoryFocus::placeChanged, this, [this] {
        m_stale = true;
        m_reports.clear();
        if (isVisible())
            refresh();
        else
            m_job.cancel();
    });
}

void OomPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale)
        refresh();
}

void OomPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        render();
}

QString OomPanel::plainText() const {
    return m_browser->toPlainText();
}

void OomPanel::refresh() {
    m_stale = false;
    if (!m_focus->hasMemory() || m_focus->device().outOfMemory.empty()) {
        m_job.cancel();
        render();
        return;
    }
    using Reports = std::vector<OutOfMemoryReport>;
    m_job.start(
        [history = m_focus->item().history, device = m_focus->deviceItem().device,
         live = m_focus->deviceItem().live](const std::stop_token& stop) -> Result<Reports> {
            Reports reports;
            const MemoryDevice& d = history->devices[device];
            for (std::size_t i = 0; i < std::min(d.outOfMemory.size(), kMostReports); ++i) {
                if (stop.stop_requested())
                    return Error::cancelled();
                reports.push_back(outOfMemoryReport(*history, d, *live, i));
            }
            return reports;
        },
        [this](Result<Reports> result) {
            if (result.ok())
                m_reports = std::move(result).value();
            render();
        });
    render();
}

void OomPanel::render() {
    const Theme& theme = Theme::current();
    if (!m_focus->hasMemory()) {
        m_browser->setPlainText(noMemoryReason(m_focus->document()));
        return;
    }
    const MemoryDevice& device = m_focus->device();
    if (device.outOfMemory.empty()) {
        m_browser->setPlainText(tr("The allocator never ran out of memory in this history."));
        return;
    }
    if (m_reports.empty()) {
        m_browser->setPlainText(tr("Working…"));
        return;
    }
    const MemoryHistory& history = *m_focus->item().history;
    QString html;
    for (const OutOfMemoryReport& r : m_reports) {
        html += QStringLiteral("<p><b>%1</b> &nbsp; <a style='color:%2' href='#%3'>%4</a></p><p>%5</p>")
                    .arg(tr("Out of memory: %1 asked for").arg(bytesText(r.event.requested)).toHtmlEscaped(),
                         theme.accent.name(), QString::number(r.event.event),
                         tr("go to event %1").arg(countText(r.event.event)),
                         toQString(r.sentence).toHtmlEscaped());
        html += QStringLiteral("<table cellspacing='0' cellpadding='2'>");
        if (r.event.deviceFree >= 0)
            html += row(tr("Free on the device"), bytesText(r.event.deviceFree));
        html += row(tr("Reserved"), bytesText(r.reserved));
        html += row(tr("Allocated"), bytesText(r.allocated), tr("asked for: %1").arg(bytesText(r.requested)));
        html += row(tr("Reserved, in no block"), bytesText(r.reservedFree));
        if (r.pending > 0)
            html += row(tr("Waiting for a stream"), bytesText(r.pending),
                        tr("freed, but another stream may still use it"));
        for (const OutOfMemoryReport::Unusable& u : r.unusable)
            html += row(toQString(unusableReasonName(u.reason)), bytesText(u.bytes),
                        tr("in %1 pieces, the largest %2")
                            .arg(countText(static_cast<std::int64_t>(u.pieces)), bytesText(u.largest)));
        html += QStringLiteral("</table>");
        if (!r.segments.empty()) {
            html += QStringLiteral("<p style='color:%1'>%2</p><table cellspacing='0' cellpadding='2'>")
                        .arg(theme.mute.name(), tr("Segments with free memory").toHtmlEscaped());
            for (std::size_t i = 0; i < std::min(r.segments.size(), kMostSegments); ++i) {
                const OutOfMemoryReport::Segment& s = r.segments[i];
                html +=
                    row(QStringLiteral("0x%1").arg(s.address, 0, 16), bytesText(s.free),
                        tr("of %1, largest piece %2, %3, pool %4: %5")
                            .arg(bytesText(s.size), bytesText(s.largestFree),
                                 toQString(device.streamName(s.stream)), toQString(device.poolName(s.pool)),
                                 toQString(unusableReasonName(s.reason))));
            }
            html += QStringLiteral("</table>");
            if (r.segments.size() > kMostSegments)
                html += QStringLiteral("<p style='color:%1'>%2</p>")
                            .arg(theme.mute.name(), tr("and %1 more").arg(r.segments.size() - kMostSegments));
        }
        const std::vector<std::string> stack = stackTexts(history, r.stack);
        if (!stack.empty()) {
            html += QStringLiteral("<p style='color:%1'>%2</p><p>").arg(theme.mute.name(), tr("Asked from"));
            for (std::size_t i = 0; i < std::min(stack.size(), kMostFrames); ++i)
                html += toQString(stack[i]).toHtmlEscaped() + QStringLiteral("<br>");
            html += QStringLiteral("</p>");
        }
    }
    if (device.outOfMemory.size() > m_reports.size())
        html += tr("<p>and %1 more refusals</p>").arg(device.outOfMemory.size() - m_reports.size());
    m_browser->setHtml(html);
}

} // namespace warpline
