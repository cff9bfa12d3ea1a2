// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/json_writer.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpline::cli {

/// A value that is JSON already: a list, a shape.
struct RawJson {
    std::string json;
};
/// One exact value; monostate = the file does not say.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string, RawJson>;

/// Rows of named, exact values: what --json and --csv write, and what the text for people is made of.
class DataTable {
  public:
    explicit DataTable(std::vector<std::string> fields) : m_fields(std::move(fields)) {}

    void addRow(std::vector<Cell> cells);
    [[nodiscard]] std::size_t size() const { return m_rows.size(); }
    [[nodiscard]] const Cell& at(std::size_t row, std::string_view field) const;
    [[nodiscard]] std::int64_t integer(std::size_t row, std::string_view field) const;
    [[nodiscard]] std::string text(std::size_t row, std::string_view field) const;

    /// Numbers from the largest down, texts from A up, what is not known last; equal ones stay in order.
    void sortBy(std::string_view field);
    void keepFirst(std::size_t rows);

    void writeJson(JsonWriter& json) const;
    /// A header and the rows; fields that hold a comma, a quote or a line break are quoted (RFC 4180).
    [[nodiscard]] std::string csv() const;

  private:
    [[nodiscard]] std::size_t index(std::string_view field) const;

    std::vector<std::string> m_fields;
    std::vector<std::vector<Cell>> m_rows;
};

/// {"rows": [...]}: the JSON document of a command that has nothing but a table.
[[nodiscard]] std::string rowsJson(const DataTable& table);

/// One field of a sheet, quoted where it needs it.
void appendCsvField(std::string& out, std::string_view text);

} // namespace warpline::cli
