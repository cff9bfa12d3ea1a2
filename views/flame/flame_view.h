// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "model/query/flame_layout.h"
#include "views/timeline/label_font.h"

#include <QAbstractScrollArea>
#include <QColor>
#include <QTimer>

#include <memory>
#include <optional>

namespace warpline {

using FlameTreePtr = std::shared_ptr<const FlameTree>;

/// A flame tree as an icicle (the root on top) or a flame (the root below): width is weight. Click or Enter
/// zooms to a frame, Escape back; the arrows walk through the frames. A frame too narrow to draw is part of a
/// grey box that says how many are in it.
class FlameView : public QAbstractScrollArea {
    Q_OBJECT

  public:
    static constexpr int kRowHeight = 18;

    explicit FlameView(QWidget* parent = nullptr);
    ~FlameView() override;

    /// Shows another tree; zoom and selection stay where the same frames are.
    void setTree(FlameTreePtr tree);
    [[nodiscard]] const FlameTreePtr& tree() const { return m_tree; }
    [[nodiscard]] std::uint32_t zoomed() const { return m_zoomed; }
    void zoomTo(std::uint32_t node);
    /// The selected node; the root where nothing is.
    [[nodiscard]] std::uint32_t selected() const { return m_selected; }
    void select(std::uint32_t node);
    void setIcicle(bool icicle);
    [[nodiscard]] bool icicle() const { return m_icicle; }
    /// Marks the frames whose name holds the text (case does not count).
    void setSearch(const QString& text);
    [[nodiscard]] const QString& search() const { return m_search; }
    struct Matches {
        std::int64_t total = 0; ///< what they weigh; one below another counts once
        std::size_t places = 0;
    };
    [[nodiscard]] const Matches& matches() const { return m_matches; }
    /// Why the search cannot be read; empty if it can.
    [[nodiscard]] const QString& searchError() const { return m_searchError; }

    [[nodiscard]] const FlameLayout& layout();
    /// The node at a place of the viewport.
    [[nodiscard]] std::optional<std::uint32_t> nodeAt(const QPointF& position);
    /// Where a node is drawn, in the viewport; none if it is too narrow or outside of the zoom.
    [[nodiscard]] std::optional<QRectF> rectOf(std::uint32_t node);
    /// What a weight is in words: "8.68 ms", "1.20 GiB", "18 calls".
    [[nodiscard]] QString weightText(std::int64_t weight) const;
    [[nodiscard]] QColor colorOf(std::uint32_t node) const;

  signals:
    void zoomChanged();
    void selectionChanged();
    void activated(quint32 node);
    /// Selected by the user's own click or key.
    void chosen(quint32 node);
    void searchChanged();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void dropLayout();
    void paintBox(QPainter& painter, const FlameBox& box);
    [[nodiscard]] double yOf(std::uint32_t depth) const;
    [[nodiscard]] std::string labelOf(std::uint32_t node) const;
    void choose(std::uint32_t node);
    void walk(int key);
    void keepInView(std::uint32_t node);
    [[nodiscard]] QString toolTip(std::uint32_t node) const;
    void describe();

    FlameTreePtr m_tree;
    std::unique_ptr<FlameLayout> m_layout; ///< of the zoom and the width; made when asked for
    std::vector<char> m_marked;            ///< by node: its name matches
    LabelFont m_font;
    QString m_search;
    QString m_searchError;
    Matches m_matches;
    std::uint32_t m_zoomed = 0;
    std::uint32_t m_selected = 0;
    std::optional<std::uint32_t> m_hovered;
    std::optional<std::uint32_t> m_pressed;
    bool m_icicle = true;
};

} // namespace warpline
