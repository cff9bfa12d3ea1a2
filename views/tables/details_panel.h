// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/jobs.h"
#include "views/tables/slice_details.h"

#include <QWidget>

#include <stop_token>

class QLabel;
class QTextBrowser;
class QToolButton;

namespace warpline {

/// Statistics over the events of the selected slice's name and kind, in the range or in everything.
struct SameName {
    std::uint64_t count = 0;
    TimeNs total = 0, median = 0, min = 0, max = 0;
};
/// Runs in a job.
Result<SameName> sameNameStats(const Document::Item& item, SliceId slice, std::optional<TimeRange> range,
                               const std::stop_token& stop);

/// All about the selected slice. What is linked can be followed by mouse or with Tab and Enter; the whole can
/// be copied as text or JSON.
class DetailsPanel : public QWidget {
    Q_OBJECT

  public:
    explicit DetailsPanel(Document* document, QWidget* parent = nullptr);

    void copyText();
    void copyJson();
    /// If it can be seen: shows what was put off while it could not.
    void catchUp();
    /// What is seen, as plain text.
    [[nodiscard]] QString plainText() const;
    [[nodiscard]] QTextBrowser* browser() const { return m_browser; }

  protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    void refresh();
    void refreshSameName();
    void render();
    void follow(const QString& href);

    Document* m_document;
    QTextBrowser* m_browser;
    QToolButton* m_copy;
    SliceDetails m_details;
    DetailSection m_sameName;
    bool m_stale = false;
    LatestJob m_job{this};
};

} // namespace warpline
