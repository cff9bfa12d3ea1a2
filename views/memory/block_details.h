// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/memory/memory_focus.h"

#include <QWidget>

class QTextBrowser;

namespace warpline {

/// The selected block: what it is and from what that is told, how long it lived, its stack; and where in the
/// timeline it was allocated and freed, with links there. Without a selection the same of the moment.
class BlockDetails : public QWidget {
    Q_OBJECT

  public:
    explicit BlockDetails(MemoryFocus* focus, QWidget* parent = nullptr);
    [[nodiscard]] QString plainText() const;
    [[nodiscard]] QTextBrowser* browser() const { return m_browser; }

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void render();
    [[nodiscard]] QString blockHtml(BlockId block) const;
    /// Step, op and Python line of an event, as links; `title` names it.
    [[nodiscard]] QString placeHtml(const QString& title, std::uint32_t event) const;
    void follow(const QString& link);

    MemoryFocus* m_focus;
    QTextBrowser* m_browser;
};

} // namespace warpline
