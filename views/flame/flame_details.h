// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/flame/flame_view.h"

#include <QWidget>

class QTextBrowser;

namespace warpline {

/// The selected frame: what it weighs, with what share of all and of its caller, what is heaviest below it,
/// and its source line, which opens in the desktop's editor where the file exists.
class FlameDetails : public QWidget {
    Q_OBJECT

  public:
    explicit FlameDetails(FlameView* view, QWidget* parent = nullptr);
    [[nodiscard]] QString plainText() const;
    void setWeightName(const QString& name);
    /// Whether frames lead to blocks rather than to events.
    void setOfBlocks(bool blocks);

  signals:
    /// The longest event of this frame is to be shown in the timeline.
    void timelineRequested(quint32 node);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void render();
    void follow(const QString& link);

    FlameView* m_view;
    QTextBrowser* m_browser;
    QString m_weight;
    bool m_blocks = false;
};

/// Frames below a node that weigh most themselves, merged by frame: (frame, weight), heaviest first.
std::vector<std::pair<FrameId, std::int64_t>> heaviestBelow(const FlameTree& tree, std::uint32_t node,
                                                            std::size_t most);

} // namespace warpline
