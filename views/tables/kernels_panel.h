// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/slice_masks.h"
#include "views/tables/table_panel.h"

#include <stop_token>

namespace warpline {

class ChoiceButton;

/// A kernel, copy or set of one device of one source.
struct KernelsRow {
    QString name;
    QString device;
    QString streams;
    KernelRow sums; ///< its ids are the source's
    int source = -1;
    Family family = Family::OtherKernel;
};

struct KernelsData {
    std::optional<TimeRange> range;
    std::vector<KernelsRow> rows;
    TimeNs total = 0;
};

/// Runs in a job. Shares are of all device work of all sources.
/// `filter`'s op, frame and tracks count.
Result<KernelsData> computeKernels(const std::vector<Document::Item>& items, std::optional<TimeRange> range,
                                   const Selection& filter, const std::vector<QString>& sourceLabels,
                                   const std::stop_token& stop);

class KernelsModel : public TableModel {
    Q_OBJECT

  public:
    explicit KernelsModel(QObject* parent = nullptr);
    void set(KernelsData kernels);
    [[nodiscard]] const KernelsData& kernels() const { return m_data; }
    [[nodiscard]] QString nameAt(int row) const {
        return m_data.rows[static_cast<std::size_t>(sourceRow(row))].name;
    }
    /// Columns that no row has a value for.
    [[nodiscard]] QStringList unavailable() const;
    [[nodiscard]] int sourceRows() const override { return static_cast<int>(m_data.rows.size()); }
    [[nodiscard]] SliceRef sliceAt(int row) const override;
    [[nodiscard]] QString rowKey(int row) const override;

  protected:
    [[nodiscard]] QVariant raw(int sourceRow, int column) const override;
    [[nodiscard]] QString toolTip(int sourceRow, int column) const override;
    [[nodiscard]] QVariant mark(int sourceRow, int column) const override;

  private:
    KernelsData m_data;
};

/// The table of kernels, copies and sets.
class KernelsPanel : public TablePanel {
    Q_OBJECT

  public:
    explicit KernelsPanel(Document* document, QWidget* parent = nullptr);
    [[nodiscard]] KernelsModel* kernelsModel() const { return m_model; }

  protected:
    [[nodiscard]] QString emptyReason() const override;
    void refresh() override;
    void clearRows() override { showRows({}); }

  private:
    void rangeChanged();
    void filterChanged();
    void showRows(KernelsData kernels);

    KernelsModel* m_model;
    ChoiceButton* m_range;
    Selection m_shown; ///< what the rows are narrowed by
};

} // namespace warpline
