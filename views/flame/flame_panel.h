// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/flame.h"
#include "views/document.h"
#include "views/flame/flame_view.h"
#include "views/jobs.h"

#include <QWidget>

#include <optional>

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QStackedLayout;
class QToolButton;

namespace warpline {

class ChoiceButton;
class FlameDetails;

/// What a flame graph is made of, as chosen in the panel.
struct FlameRequest {
    FlameWeight weight = FlameWeight::GpuTime;
    FlameShape shape;
    std::optional<TimeRange> range; ///< session time
    int source = 0;
    int against = -1; ///< a source to take the difference to; -1 = none
};

/// Flame graphs of the session: GPU time, CPU time, calls, bytes; top-down, bottom-up or by module; of the
/// selected range or everything; of one file or as the difference of two.
class FlamePanel : public QWidget {
    Q_OBJECT

  public:
    explicit FlamePanel(Document* document, QWidget* parent = nullptr);

    [[nodiscard]] FlameView* view() const { return m_view; }
    [[nodiscard]] FlameDetails* details() const { return m_details; }
    [[nodiscard]] QLineEdit* searchLine() const { return m_search; }
    [[nodiscard]] LatestJob* job() { return &m_job; }
    void setWeight(FlameWeight weight);
    [[nodiscard]] FlameRequest request() const;
    /// The sentence in place of the graph; empty while it is shown.
    [[nodiscard]] QString message() const;
    /// "GPU time 12.8 ms · 99.8 % under a line of the program or a module".
    [[nodiscard]] QString summary() const;
    /// Computes what was put off while the panel could not be seen.
    void catchUp();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    struct Data {
        FlameTreePtr tree;
        FlameCoverage coverage;
        FlameWeight weight = FlameWeight::GpuTime;
        ProfilePtr profile; ///< null for a trace
    };
    QWidget* makeControls();
    QWidget* makePath();
    void takeSession();
    void takeRange();
    void scheduleRefresh();
    void refresh();
    void showTree(const Data& shown);
    void showProfile(const ProfilePtr& profile, const FlameShape& shape);
    void showPath();
    void showSearch();
    void reveal(std::uint32_t node);
    void fillExportMenu();
    void save(const QString& suffix, const QString& filter);
    [[nodiscard]] QString emptyReason(FlameWeight weight) const;

    Document* m_document;
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
    int m_traces = 0; ///< sources that are traces; profiles follow
    bool m_stale = true;
    LatestJob m_job{this};
    LatestJob m_revealJob{this};
};

} // namespace warpline
