// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/window/loader.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace warpline {

/// One line over the views for what must not be overlooked: losses of the import, files that did not open.
class NoticeBar : public QWidget {
    Q_OBJECT

  public:
    explicit NoticeBar(QWidget* parent = nullptr);
    /// The sentence for a session, empty where nothing was lost.
    static QString sentence(const Document& document, const std::vector<OpenFailure>& failures);
    /// Hides the bar where `text` is empty.
    void setText(const QString& text);
    /// Shows a button that ends what the text speaks of.
    void setStoppable(bool stoppable);
    [[nodiscard]] QString text() const;

  signals:
    void logRequested();
    void stopRequested();

  private:
    QLabel* m_label;
    QToolButton* m_stop;
};

} // namespace warpline
