// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/slice_masks.h"
#include "views/tables/table_model.h"

#include <stop_token>

namespace warpline {

/// What the Ops table asks for.
struct OpsRequest {
    OpRows rows = OpRows::Ops;
    OpGroup group = OpGroup::Name;
    std::optional<TimeRange> range; ///< of the session's time
    int source = -1;                ///< -1 = all, rows of equal names summed
    Selection filter;               ///< its op, kernel, frame and tracks count
    FilterPart parts = FilterPart::All;
};

/// A row over all sources asked for.
struct OpsRow {
    QString name;
    QString shape;
    OpRow sums;       ///< its ids mean nothing here
    SliceRef longest; ///< of all sources
    Family family = Family::OtherHost;
};

struct OpsData {
    OpsRequest request;
    std::vector<OpsRow> rows;
    OpTable totals; ///< without rows
};

/// Runs in a job: tables of the sources, joined by name (and shape).
Result<OpsData> computeOps(const std::vector<Document::Item>& items, const OpsRequest& request,
                           const std::stop_token& stop);

/// torch's columns in torch's order, with the union of GPU time beside the sums.
class OpsModel : public TableModel {
    Q_OBJECT

  public:
    explicit OpsModel(QObject* parent = nullptr);

    void set(OpsData data);
    [[nodiscard]] const OpsData& ops() const { return m_data; }
    [[nodiscard]] QString nameAt(int row) const {
        return m_data.rows[static_cast<std::size_t>(sourceRow(row))].name;
    }
    /// ProfilerStep* rows, which hold all others, are left out unless asked for.
    void setStepsShown(bool shown);
    [[nodiscard]] bool stepsShown() const { return m_stepsShown; }
    [[nodiscard]] bool hasSteps() const;
    /// Columns that the data has nothing for.
    [[nodiscard]] QStringList unavailable() const;

    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_data.rows.size()); }
    [[nodiscard]] SliceRef sliceAt(int row) const override;
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;
    [[nodiscard]] bool accepts(int sourceRow) const override;

  private:
    OpsData m_data;
    bool m_stepsShown = false;
};

} // namespace warpline
