// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/flame/flame_view.h"
#include "views/flame/flame_work.h"
#include "views/jobs.h"

#include <QWidget>

#include <optional>

class QCheckBox;
class QHBoxLayout;
class QJsonObject;
class QLabel;
class QLineEdit;
class QStackedLayout;
class QToolButton;

namespace warpline {

class ChoiceButton;
class FlameDetails;

/// Flame graphs of the session: GPU time, CPU time, calls, bytes allocated or live; top-down, bottom-up or by
/// module; of the selected range or everything; of one file or as the difference of two. The frame that is
/// chosen is the document's.
class FlamePanel : public QWidget {
    Q_OBJECT

  public:
    /// `memory` says which allocator and moment bytes are told for; null where none is ever asked for. It
    /// outlives the panel.
    explicit FlamePanel(Document* document, MemoryFocus* memory = nullptr, QWidget* parent = nullptr);

    [[nodiscard]] FlameView* view() const { return m_view; }
    [[nodiscard]] FlameDetails* details() const { return m_details; }
    [[nodiscard]] QLineEdit* searchLine() const { return m_search; }
    [[nodiscard]] LatestJob* job() { return &m_job; }
    void setMeasure(FlameMeasure measure);
    [[nodiscard]] FlameMeasure measure() const;
    /// Chooses what it takes to see the document's frame.
    void showFrame();
    [[nodiscard]] FlameRequest request() const;
    /// How the graph is read, for a session file.
    [[nodiscard]] QJsonObject viewSettings() const;
    void applyViewSettings(const QJsonObject& settings);
    /// The sentence in place of the graph; empty while it is shown.
    [[nodiscard]] QString message() const;
    /// "GPU time 12.8 ms · 99.8 % under a line of the program or a module".
    [[nodiscard]] QString summary() const;
    /// Computes what was put off while the panel could not be seen.
    void catchUp();

  signals:
    /// The blocks that were allocated under the document's frame are to be seen.
    void blocksRequested();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* makeControls();
    QWidget* makePath();
    void takeSession();
    void takeRange();
    void scheduleRefresh();
    void refresh();
    void showControls();
    void showMessage(const QString& sentence);
    void showResult(const Result<FlameData>& result);
    void showTree(const FlameData& shown);
    void showPath();
    /// A frame was chosen in the graph: it becomes the document's.
    void choose(std::uint32_t node);
    /// The document's frame is shown as selected.
    void takeFrame();
    void takeFilter();
    void showSearch();
    void reveal(std::uint32_t node);
    void fillExportMenu();
    void save(const QString& suffix, const QString& filter);
    [[nodiscard]] QString emptyReason(FlameMeasure measure) const;

    Document* m_document;
    MemoryFocus* m_memory;
    FlameView* m_view;
    FlameDetails* m_details;
    ChoiceButton* m_weight = nullptr;
    ChoiceButton* m_shape = nullptr;
    ChoiceButton* m_frames = nullptr;
    ChoiceButton* m_range = nullptr;
    ChoiceButton* m_source = nullptr;
    ChoiceButton* m_against = nullptr;
    QCheckBox* m_merge = nullptr;
    QCheckBox* m_hide = nullptr;
    QCheckBox* m_threads = nullptr;
    QCheckBox* m_backward = nullptr;
    QLineEdit* m_search = nullptr;
    QToolButton* m_export = nullptr;
    QHBoxLayout* m_path = nullptr;
    QLabel* m_found = nullptr;
    QLabel* m_summary;
    QLabel* m_message;
    QStackedLayout* m_stack;
    std::vector<FlameMeasure> m_measures; ///< in the order of the menu
    Selection m_shown;                    ///< what of the selection the graph was made for
    int m_traces = 0;                     ///< sources that are traces; profiles follow
    bool m_stale = true;
    bool m_choosing = false;
    LatestJob m_job{this};
    LatestJob m_revealJob{this};
};

} // namespace warpline
