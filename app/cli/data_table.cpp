// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/data_table.h"

#include "model/base/json.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace warpline::cli {

namespace {

/// A cell as one text; empty where the file does not say.
std::string cellText(const Cell& cell) {
    struct Visitor {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool value) const { return value ? "true" : "false"; }
        std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
        std::string operator()(double value) const {
            std::string out;
            appendJsonNumber(out, value);
            return out;
        }
        std::string operator()(const std::string& value) const { return toUtf8(value); }
        std::string operator()(const RawJson& value) const { return value.json; }
    };
    return std::visit(Visitor{}, cell);
}

bool isNumber(const Cell& cell) {
    return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell) ||
           std::holds_alternative<bool>(cell);
}

double number(const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell))
        return static_cast<double>(*integer);
    if (const auto* boolean = std::get_if<bool>(&cell))
        return *boolean ? 1 : 0;
    return std::get<double>(cell);
}

bool before(const Cell& a, const Cell& b) {
    const bool unknownA = std::holds_alternative<std::monostate>(a);
    const bool unknownB = std::holds_alternative<std::monostate>(b);
    if (unknownA || unknownB)
        return !unknownA && unknownB;
    const auto* integerA = std::get_if<std::int64_t>(&a);
    const auto* integerB = std::get_if<std::int64_t>(&b);
    if (integerA != nullptr && integerB != nullptr)
        return *integerA > *integerB;
    if (isNumber(a) && isNumber(b))
        return number(a) > number(b);
    return cellText(a) < cellText(b);
}

} // namespace

void appendCsvField(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out.append(text);
        return;
    }
    out.push_back('"');
    for (const char c : text) {
        if (c == '"')
            out.push_back('"');
        out.push_back(c);
    }
    out.push_back('"');
}

void DataTable::addRow(std::vector<Cell> cells) {
    assert(cells.size() == m_fields.size());
    m_rows.push_back(std::move(cells));
}

std::size_t DataTable::index(std::string_view field) const {
    const auto found = std::find(m_fields.begin(), m_fields.end(), field);
    assert(found != m_fields.end());
    return static_cast<std::size_t>(found - m_fields.begin());
}

const Cell& DataTable::at(std::size_t row, std::string_view field) const {
    return m_rows[row][index(field)];
}

std::int64_t DataTable::integer(std::size_t row, std::string_view field) const {
    const auto* value = std::get_if<std::int64_t>(&at(row, field));
    return value != nullptr ? *value : 0;
}

std::string DataTable::text(std::size_t row, std::string_view field) const {
    return cellText(at(row, field));
}

void DataTable::sortBy(std::string_view field) {
    const std::size_t column = index(field);
    std::stable_sort(m_rows.begin(), m_rows.end(),
                     [&](const auto& a, const auto& b) { return before(a[column], b[column]); });
}

void DataTable::keepFirst(std::size_t rows) {
    if (rows < m_rows.size())
        m_rows.resize(rows);
}

void DataTable::writeJson(JsonWriter& json) const {
    struct Visitor {
        JsonWriter& json;
        void operator()(std::monostate) const { json.null(); }
        void operator()(bool value) const { json.boolean(value); }
        void operator()(std::int64_t value) const { json.integer(value); }
        void operator()(double value) const { json.number(value); }
        void operator()(const std::string& value) const { json.text(value); }
        void operator()(const RawJson& value) const { json.raw(value.json); }
    };
    json.beginArray();
    for (const auto& row : m_rows) {
        json.beginObject();
        for (std::size_t c = 0; c < row.size(); ++c) {
            json.key(m_fields[c]);
            std::visit(Visitor{json}, row[c]);
        }
        json.endObject();
    }
    json.endArray();
}

std::string DataTable::csv() const {
    std::string out;
    const auto line = [&](std::size_t columns, const auto& textOf) {
        for (std::size_t c = 0; c < columns; ++c) {
            if (c > 0)
                out.push_back(',');
            appendCsvField(out, textOf(c));
        }
        out.push_back('\n');
    };
    line(m_fields.size(), [&](std::size_t c) { return m_fields[c]; });
    for (const auto& row : m_rows)
        line(row.size(), [&](std::size_t c) { return cellText(row[c]); });
    return out;
}

std::string rowsJson(const DataTable& table) {
    std::string out;
    JsonWriter json(out, 1);
    json.beginObject().key("rows");
    table.writeJson(json);
    json.endObject();
    out.push_back('\n');
    return out;
}

} // namespace warpline::cli
