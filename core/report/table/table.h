// SPDX-License-Identifier: GPL-3.0-or-later
// A small table and its writers: aligned text, CSV (RFC 4180), Markdown, LaTeX and JSON.
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fourfold {

enum class TableFormat { text, csv, markdown, latex, json };
// "text", "csv", "markdown", "latex", "json"; "table" is another word for text.
Expected<TableFormat> table_format(const std::string& name);
const std::vector<std::string>& table_format_names();
// Of a file by the ending of its name: ".csv", ".md", ".tex", ".json" or ".txt".
std::optional<TableFormat> table_format_of_ending(std::string_view ending);

// Empty = not known.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;
// A cell of what may be unknown.
template <typename T>
Cell cell(const std::optional<T>& value)
{
    return value ? Cell(*value) : Cell();
}

// A cell of a text that is empty where it is not known.
inline Cell text_cell(const std::string& text)
{
    return text.empty() ? Cell() : Cell(text);
}
// "2026-01-01 12:34" of an ISO time; lists need no seconds.
std::string short_time(const std::string& time);

struct Column {
    std::string key; // in JSON objects and as the CSV's first line: "tps_per_gpu"
    std::string title{}; // for people: "TPS/GPU"; empty = the key
    // How people see numbers: digits after the point (negative: so many significant digits), factor and suffix ({1,
    // 100, " %"} shows 0.049 as "4.9 %"). CSV and JSON carry the full value.
    int decimals = 0;
    double factor = 1;
    std::string suffix{};
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows; // each as long as `columns`

    [[nodiscard]] std::string write(TableFormat format) const;
    // One object a row; unknown = null.
    [[nodiscard]] Json to_json() const;
};

// How people see one value of a column: "7,598", "4.9 %", "-" for unknown. Numbers have thousands separators.
std::string shown(const Cell& cell, const Column& column);
std::string shown_number(double value, int decimals);
// Three significant digits or so.
std::string shown_number(double value);

// What a spreadsheet takes for text: an apostrophe stands before what it would run as a formula ("=1+1", "@x", and what
// begins with a sign but is no number). The CSV reader (core/calibration/csv.h) takes it away again.
std::string spreadsheet_text(const std::string& text);
// A table for the clipboard: a line of titles and a line a row as people see them, between tabs; each cell is a line of
// its own and text (spreadsheet_text()).
std::string spreadsheet_rows(const Table& table);
// Escapes for one cell.
std::string csv_field(const std::string& field);
std::string markdown_text(const std::string& text);
std::string latex_text(const std::string& text);

// Columns that a terminal uses for UTF-8 text: one a code point (no wide letters in Fourfold's tables).
std::size_t display_width(const std::string& text);

} // namespace fourfold
