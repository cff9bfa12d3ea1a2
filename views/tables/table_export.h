// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/tables/table_model.h"

#include <QString>

#include <vector>

namespace warpline {

enum class TableFormat { Csv, Markdown, Json, Tabs };

/// The visible rows of a table as text, with the given columns (all where none is given). CSV (RFC 4180) and
/// JSON hold exact numbers under the columns' keys; Markdown and tabs hold what is seen.
QString exportTable(const TableModel& model, TableFormat format, std::vector<int> columns = {},
                    const std::vector<int>& rows = {});

} // namespace warpline
