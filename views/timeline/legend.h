// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/families.h"
#include "views/timeline/label_font.h"

#include <QWidget>

#include <vector>

namespace warpline {

class TimelineState;

/// What the colours of the lanes mean, in words: the families that the recording has.
class Legend : public QWidget {
    Q_OBJECT

  public:
    static constexpr int kHeight = 28;

    explicit Legend(TimelineState* state, QWidget* parent = nullptr);
    [[nodiscard]] const std::vector<Family>& families() const { return m_families; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void takeSession();

    TimelineState* m_state;
    LabelFont m_font;
    std::vector<Family> m_families;
};

} // namespace warpline
