// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"

#include <QString>
#include <QToolButton>
#include <QWidget>

#include <array>

class QLineEdit;

namespace warpline {

class BlocksPanel;

/// One thing that narrows the views. A click, Enter, Space or Delete takes it off; Left and Right go to the
/// chip beside.
class FilterChip : public QToolButton {
    Q_OBJECT

  public:
    explicit FilterChip(QWidget* parent = nullptr);
    /// What it says, before it is cut to the room that there is.
    void setLabel(const QString& label);
    [[nodiscard]] const QString& label() const { return m_label; }
    [[nodiscard]] int naturalWidth() const;
    void fit(int width);

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QString m_label;
};

/// All that narrows the views, a chip each: the range or step, op, kernel, frame, tracks, the search, and the
/// conditions of the list of blocks. What there is no room for is behind the last one.
class FilterChips : public QWidget {
    Q_OBJECT

  public:
    enum class Kind { Range, Op, Kernel, Frame, Tracks, Search, Blocks };
    static constexpr int kKinds = 7;

    FilterChips(Document* document, QLineEdit* search, QWidget* parent = nullptr);
    void setBlocks(BlocksPanel* blocks);

    [[nodiscard]] FilterChip* chip(Kind kind) const { return m_chips[static_cast<std::size_t>(kind)]; }
    /// Whether something of the kind narrows the views.
    [[nodiscard]] bool active(Kind kind) const;
    void takeOff(Kind kind);
    /// The one to the right.
    void takeOffLast();
    void takeOffAll();

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();
    void place();
    [[nodiscard]] QString labelOf(Kind kind) const;
    [[nodiscard]] QString detailOf(Kind kind) const;
    [[nodiscard]] QString tracksText() const;

    Document* m_document;
    QLineEdit* m_search;
    BlocksPanel* m_blocks = nullptr;
    std::array<FilterChip*, kKinds> m_chips{};
    QToolButton* m_more; ///< what there is no room for
};

} // namespace warpline
