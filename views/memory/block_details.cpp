// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/block_details.h"

#include "model/analysis/memory_categories.h"
#include "model/analysis/memory_holders.h"
#include "model/query/memory_blocks.h"
#include "views/tables/details_text.h"
#include "views/text.h"
#include "views/theme.h"

#include <QEvent>
#include <QTextBrowser>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

namespace warpline {

using namespace details;

namespace {

constexpr std::size_t kMostFrames = 60;

} // namespace

BlockDetails::BlockDetails(MemoryFocus* focus, QWidget* parent) : QWidget(parent), m_focus(focus) {
    setObjectName(QStringLiteral("blockDetails"));
    m_browser =
        details::makeBrowser(this, QStringLiteral("blockText"), tr("Details of the block and of the moment"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_browser);
    connect(m_browser, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { follow(url.toString()); });
    for (const auto signal :
         {&MemoryFocus::placeChanged, &MemoryFocus::momentChanged, &MemoryFocus::selectionChanged})
        connect(focus, signal, this, &BlockDetails::render);
    render();
}

QString BlockDetails::plainText() const {
    return m_browser->toPlainText();
}

void BlockDetails::follow(const QString& link) {
    const QStringList parts = link.split(u':');
    if (parts.size() != 3)
        return;
    if (parts[0] == QLatin1String("slice")) {
        m_focus->document().reveal({parts[1].toInt(), SliceId{parts[2].toUInt()}});
    } else if (parts[0] == QLatin1String("moment")) {
        m_focus->setMoment(parts[1].toUInt());
    } else if (parts[0] == QLatin1String("step") && m_focus->hasMemory() && m_focus->item().join) {
        const MemoryItem& item = m_focus->item();
        const Step& step = item.join->trace().steps[parts[1].toUInt()];
        const TimeNs shift = m_focus->document().items()[static_cast<std::size_t>(item.joined)].shift;
        const TimeRange range{step.range.begin + shift, step.range.end + shift};
        m_focus->document().setRange(range, tr("step %1").arg(step.number), ViewKind::Memory);
        m_focus->document().setVisible(range);
    }
}

QString BlockDetails::placeHtml(const QString& title, std::uint32_t event) const {
    const MemoryItem& item = m_focus->item();
    if (!item.join)
        return {};
    const EventPlace place = item.join->place(m_focus->deviceItem().device, event);
    const Trace& trace = item.join->trace();
    const auto slice = [&](SliceId id) {
        return link(QStringLiteral("slice:%1:%2").arg(item.joined).arg(id.value), toQString(trace.name(id)));
    };
    QString rows;
    if (place.step >= 0) {
        const Step& step = trace.steps[static_cast<std::size_t>(place.step)];
        const TimeNs at = m_focus->device().events.time[event] - step.range.begin;
        const double share = step.range.duration() > 0
                                 ? static_cast<double>(at) / static_cast<double>(step.range.duration())
                                 : 0;
        rows += entry(tr("Step"), link(QStringLiteral("step:%1:0").arg(place.step),
                                       tr("%1, %2 in").arg(step.number).arg(percentText(share))));
    }
    if (place.op)
        rows += entry(tr("Op"), slice(place.op));
    if (place.python)
        rows += entry(tr("Python"), slice(place.python));
    const TimeNs when = m_focus->device().events.time[event];
    if (rows.isEmpty() && !trace.extent.contains(when))
        rows = entry(tr("Op"),
                     (when < trace.extent.begin ? tr("before the trace began") : tr("after the trace ended"))
                         .toHtmlEscaped());
    else if (rows.isEmpty())
        rows = entry(tr("Op"), tr("none is known to have been open").toHtmlEscaped());
    else if (place.by == EventPlace::By::OnlyOne)
        rows += entry(tr("Told by"), tr("the only thread with an op open then").toHtmlEscaped());
    return heading(title) + table(rows);
}

QString BlockDetails::blockHtml(BlockId block) const {
    const MemoryHistory& history = *m_focus->item().history;
    const MemoryDevice& device = m_focus->device();
    const MemoryBlockTable& blocks = device.blocks;
    const std::size_t row = block.index();
    const Theme& theme = Theme::current();
    const bool born = blocks.birth[row] != kBeforeHistory;
    const bool dies = blocks.death[row] != kAliveAtEnd;
    QString html = QStringLiteral("<div style=\"font-weight:600\">%1</div>")
                       .arg(tr("Block of %1").arg(bytesText(blocks.size[row])).toHtmlEscaped());
    html += remark(tr("%1: %2").arg(toQString(memoryCategoryName(blocks.category[row])),
                                    toQString(categoryEvidence(history, device, block))));
    const auto moment = [&](Moment m) {
        return link(QStringLiteral("moment:%1:0").arg(m), tr("event %1").arg(countText(std::int64_t{m} - 1)));
    };
    const std::int64_t life = blockLifetime(device, row);
    QString rows = entry(tr("Asked for"), tr("%1 B").arg(countText(blocks.size[row])));
    rows += entry(tr("Allocated"), tr("%1 B").arg(countText(blocks.allocated[row])));
    rows += entry(tr("Born"), born ? moment(blocks.birth[row]) : tr("before the history"));
    if (blocks.freeRequested[row] != kNever)
        rows += entry(tr("Free asked for"), moment(blocks.freeRequested[row]));
    rows += entry(tr("Freed"), dies ? moment(blocks.death[row]) : tr("alive at the end"));
    rows += entry(tr("Lives"), device.hasTimes ? durationText(life) : tr("%1 events").arg(countText(life)));
    rows += entry(tr("Address"), QStringLiteral("0x%1").arg(blocks.address[row], 0, 16));
    rows += entry(tr("Stream"), toQString(device.streamName(blocks.stream[row])).toHtmlEscaped());
    rows += entry(tr("Pool"), toQString(device.poolName(blocks.pool[row])).toHtmlEscaped());
    if (born) {
        const std::size_t event = blocks.birth[row] - 1;
        if (!device.events.compileContext.empty() && device.events.compileContext[event])
            rows +=
                entry(tr("Compiled as"),
                      toQString(history.strings.view(device.events.compileContext[event])).toHtmlEscaped());
        if (!device.events.userMetadata.empty() && device.events.userMetadata[event])
            rows += entry(tr("Metadata"),
                          toQString(history.strings.view(device.events.userMetadata[event])).toHtmlEscaped());
    }
    html += table(rows);
    if (born)
        html += placeHtml(tr("Allocated in"), blocks.birth[row] - 1);
    if (dies)
        html += placeHtml(tr("Freed in"), blocks.death[row] - 1);
    const std::vector<std::string> stack = stackTexts(history, blocks.stack[row]);
    html += heading((blocks.flags[row] & BlockFlag::UnmatchedFree) != 0 ? tr("Stack of its free")
                                                                        : tr("Stack of its allocation"));
    if (stack.empty())
        html +=
            QStringLiteral("<div style=\"color:%1\">%2</div>")
                .arg(theme.mute.name(),
                     tr("The file has none. Record with stacks=\"all\" or context=\"all\".").toHtmlEscaped());
    for (std::size_t i = 0; i < std::min(stack.size(), kMostFrames); ++i)
        html += QStringLiteral("<div>%1</div>").arg(toQString(stack[i]).toHtmlEscaped());
    if (stack.size() > kMostFrames)
        html += QStringLiteral("<div style=\"color:%1\">%2</div>")
                    .arg(theme.mute.name(), tr("and %1 more").arg(stack.size() - kMostFrames));
    return html;
}

void BlockDetails::render() {
    if (!m_focus->hasMemory()) {
        m_browser->clear();
        return;
    }
    const Theme& theme = Theme::current();
    const MemoryItem& item = m_focus->item();
    const MemoryDevice& device = m_focus->device();
    QString html;
    if (m_focus->selected()) {
        html = blockHtml(m_focus->selected());
    } else {
        const Moment moment = m_focus->moment();
        html = heading(tr("At %1").arg(m_focus->momentName()));
        QString rows = entry(tr("Asked for"), bytesText(device.curves.requested[moment]));
        rows += entry(device.curves.allocatedExact ? tr("Allocated") : tr("Allocated, by the rule"),
                      bytesText(device.curves.allocated[moment]));
        rows += entry(tr("Reserved"), bytesText(device.curves.reserved[moment]));
        if (device.hasTimes && device.events.count() > 0)
            rows += entry(tr("Time"), durationText(device.timeOf(moment) - device.extent().begin));
        html += table(rows);
        if (moment > 0)
            html += placeHtml(tr("In the timeline"), moment - 1);
    }
    const auto remark = [&](const QString& text) {
        html += QStringLiteral("<div style=\"margin-top:8px; color:%1\">%2</div>")
                    .arg(theme.mute.name(), text.toHtmlEscaped());
    };
    if (item.join)
        remark(tr("One axis with the trace: %1.").arg(toQString(item.join->evidence())));
    else if (!item.joinError.empty())
        remark(toQString(item.joinError));
    if (!m_focus->selected())
        remark(tr("Click a block for its stack."));
    m_browser->setHtml(html);
}

void BlockDetails::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        render();
}

} // namespace warpline
