// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/memory_oom.h"
#include "views/jobs.h"
#include "views/memory/memory_focus.h"

#include <QWidget>

#include <vector>

class QTextBrowser;

namespace warpline {

/// When the allocator said no: what was asked for, what was free, why it did not fit.
class OomPanel : public QWidget {
    Q_OBJECT

  public:
    explicit OomPanel(MemoryFocus* focus, QWidget* parent = nullptr);
    [[nodiscard]] QString plainText() const;
    [[nodiscard]] LatestJob* job() { return &m_job; }

  protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    void refresh();
    void render();

    MemoryFocus* m_focus;
    QTextBrowser* m_browser;
    std::vector<OutOfMemoryReport> m_reports;
    bool m_stale = true;
    LatestJob m_job{this};
};

} // namespace warpline
