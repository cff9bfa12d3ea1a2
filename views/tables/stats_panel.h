// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/query/range_stats.h"
#include "views/tables/table_panel.h"

#include <stop_token>

namespace warpline {

/// Statistics of one name in one source.
struct StatsRow {
    QString name;
    NameStats stats; ///< its ids are the source's
    int source = -1;
    Family family = Family::OtherHost;
    SliceRef longest;
};

struct StatsData {
    std::optional<TimeRange> range;
    std::vector<StatsRow> rows;
    std::vector<QString> devices; ///< one sentence each: busy, idle, gaps
    std::int64_t bytesAllocated = 0;
    std::int64_t bytesFreed = 0;
    std::uint64_t slices = 0;
};

/// Runs in a job: over the range, or over everything where there is none.
Result<StatsData> computeStats(const std::vector<Document::Item>& items, std::optional<TimeRange> range,
                               const std::vector<QString>& sourceLabels, const std::stop_token& stop);

class StatsModel : public TableModel {
    Q_OBJECT

  public:
    explicit StatsModel(QObject* parent = nullptr);
    void set(StatsData stats, std::vector<QString> sourceLabels);
    [[nodiscard]] const StatsData& stats() const { return m_data; }
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_data.rows.size()); }
    [[nodiscard]] SliceRef sliceAt(int row) const override;
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;

  private:
    StatsData m_data;
    std::vector<QString> m_sourceLabels;
};

/// What lies in the selected range: counts and times per name, how busy the devices are, bytes allocated and
/// freed. Without a selection, of the whole.
class StatsPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit StatsPanel(Document* document, QWidget* parent = nullptr);
    [[nodiscard]] StatsModel* statsModel() const { return m_model; }
    [[nodiscard]] QString summary() const;

  protected:
    [[nodiscard]] QString emptyReason() const override;
    void refresh() override;
    void clearRows() override { showRows({}); }

  private:
    void showRows(StatsData stats);

    StatsModel* m_model;
    QLabel* m_title;
};

} // namespace warpline
