// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpline::cli {

/// An aligned table for people. Texts are made printable as they come in.
class TextTable {
  public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Right;
        /// Texts that may be shortened in the middle: names.
        bool flexible = false;
        /// Where the width does not do, columns with the highest number here go first; 0 = never.
        int dispensable = 0;
    };

    explicit TextTable(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void addRow(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const { return m_rows.empty(); }

    /// The table, each line behind `indent` spaces, in at most `width` columns where that can be; 0 = as wide
    /// as it is.
    [[nodiscard]] std::string render(std::size_t width, std::size_t indent = 0) const;

  private:
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace warpline::cli
