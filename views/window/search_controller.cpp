// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/search_controller.h"

#include "model/query/search.h"
#include "views/text.h"

#include <algorithm>
#include <chrono>

namespace warpline {
namespace {

using namespace std::chrono_literals;

/// All hits of all sources in order of the session's time.
Result<std::vector<SliceRef>> searchAll(const std::vector<Document::Item>& items, const std::string& text,
                                        const std::stop_token& stop) {
    std::vector<SliceRef> hits;
    const auto start = [&](const SliceRef& ref) {
        const Document::Item& item = items[static_cast<std::size_t>(ref.source)];
        return item.trace->slices.start[ref.slice.index()] + item.shift;
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Result<std::vector<SliceId>> found = search(*items[i].trace, SearchQuery{text}, stop);
        if (!found.ok())
            return found.error();
        const auto middle = static_cast<std::ptrdiff_t>(hits.size());
        hits.reserve(hits.size() + found.value().size());
        for (const SliceId slice : found.value())
            hits.push_back({static_cast<int>(i), slice});
        std::inplace_merge(hits.begin(), hits.begin() + middle, hits.end(),
                           [&](const SliceRef& a, const SliceRef& b) { return start(a) < start(b); });
    }
    return hits;
}

} // namespace

SearchController::SearchController(Document* document, QObject* parent)
    : QObject(parent), m_document(document) {
    // Long enough that a fast typist starts one search a word or so, short enough to feel immediate.
    m_delay.setInterval(40ms);
    m_delay.setSingleShot(true);
    connect(&m_delay, &QTimer::timeout, this, &SearchController::run);
    connect(document, &Document::sessionChanged, this, [this] {
        m_current = -1;
        run();
    });
}

void SearchController::setText(const QString& text) {
    if (text == m_text)
        return;
    m_text = text;
    m_stepWhenDone = 0;
    m_delay.start();
    emit changed();
}

void SearchController::run() {
    m_delay.stop();
    m_current = -1;
    m_error.clear();
    if (m_text.trimmed().isEmpty() || m_document->empty()) {
        m_job.cancel();
        m_document->setHits({});
        m_stepWhenDone = 0;
        emit changed();
        emit finished();
        return;
    }
    m_job.start([items = m_document->items(), text = m_text.toStdString()](
                    const std::stop_token& stop) { return searchAll(items, text, stop); },
                [this](Result<std::vector<SliceRef>> result) {
                    if (!result.ok())
                        m_error = toQString(result.error().message);
                    m_document->setHits(result.ok() ? std::move(result).value() : std::vector<SliceRef>());
                    emit changed();
                    emit finished();
                    if (const int by = std::exchange(m_stepWhenDone, 0); by != 0)
                        step(by);
                });
    emit changed();
}

QString SearchController::status() const {
    if (m_text.trimmed().isEmpty() || m_document->empty())
        return {};
    if (!m_error.isEmpty())
        return tr("not readable");
    if (pending())
        return tr("searching…");
    const auto count = static_cast<std::int64_t>(m_document->hits().size());
    if (count == 0)
        return tr("no hits");
    if (m_current < 0)
        return count == 1 ? tr("1 hit") : tr("%1 hits").arg(countText(count));
    return tr("%1 of %2").arg(countText(m_current + 1), countText(count));
}

int SearchController::nearest(int by) const {
    // The first step goes on from what is selected, or else from the left edge of what is seen.
    const auto& hits = m_document->hits();
    const SliceRef selected = m_document->selected();
    const TimeNs from = selected ? m_document->sliceRange(selected).begin : m_document->visible().begin;
    const auto at = std::lower_bound(hits.begin(), hits.end(), from, [this](const SliceRef& ref, TimeNs t) {
        return m_document->sliceRange(ref).begin < t;
    });
    const auto index = static_cast<int>(at - hits.begin());
    const int count = static_cast<int>(hits.size());
    return by > 0 ? index % count : (index - 1 + count) % count;
}

void SearchController::step(int by) {
    if (m_delay.isActive())
        run();
    if (m_job.busy()) {
        m_stepWhenDone = by;
        return;
    }
    const int count = static_cast<int>(m_document->hits().size());
    if (count == 0)
        return;
    m_current = m_current < 0 ? nearest(by) : (m_current + by + count) % count;
    m_document->reveal(m_document->hits()[static_cast<std::size_t>(m_current)]);
    emit stepped(m_current);
    emit changed();
}

} // namespace warpline
