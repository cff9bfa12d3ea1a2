// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QLineEdit>
#include <QWidget>

class QHBoxLayout;
class QMenuBar;

namespace warpline {

class FilterChips;
class SearchController;

/// The search field with its count inside. Enter and Shift+Enter step, Escape clears and then leaves.
class SearchField : public QLineEdit {
    Q_OBJECT

  public:
    explicit SearchField(SearchController* search, QWidget* parent = nullptr);

  signals:
    void left();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void refresh();
    SearchController* m_search;
};

/// The strip at the top: the name, the menus, the files, what narrows the views, the search.
class TopBar : public QWidget {
    Q_OBJECT

  public:
    TopBar(Document* document, SearchController* search, QWidget* parent = nullptr);

    [[nodiscard]] QMenuBar* menuBar() const { return m_menuBar; }
    [[nodiscard]] SearchField* searchField() const { return m_search; }
    [[nodiscard]] FilterChips* chips() const { return m_chips; }

  signals:
    void closeRequested();
    void reloadRequested();
    void recordRequested();

  private:
    void fillFiles();

    Document* m_document;
    QMenuBar* m_menuBar;
    QHBoxLayout* m_files;
    FilterChips* m_chips;
    SearchField* m_search;
};

} // namespace warpline
