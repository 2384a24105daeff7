// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/table/writers.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fourfold {

namespace {

std::string title(const Column& column)
{
    return column.title.empty() ? column.key : column.title;
}

// Numbers are aligned right. A column counts as numbers when it has any and no text.
bool is_numeric(const Table& table, std::size_t column)
{
    bool numbers = false;
    for (const auto& row : table.rows) {
        if (std::holds_alternative<std::string>(row[column]))
            return false;
        numbers = numbers || std::holds_alternative<std::int64_t>(row[column])
            || std::holds_alternative<double>(row[column]);
    }
    return numbers;
}

// Line breaks would break every one of the line-based formats.
std::string one_line(const std::string& text)
{
    return printable(text, kUncut);
}

// "-3.5", "+4.9 %", "-1,234.5 s": nothing in it computes.
bool is_number(std::string_view text)
{
    const auto skip = [&](auto allowed) {
        const auto end = std::find_if_not(text.begin(), text.end(), allowed);
        const bool any = end != text.begin();
        text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
        return any;
    };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    text.remove_prefix(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
    if (!skip([&](char c) { return digit(c) || c == '.' || c == ','; }))
        return false;
    if (text.starts_with('e')) {
        text.remove_prefix(text.starts_with("e-") || text.starts_with("e+") ? 2 : 1);
        if (!skip(digit))
            return false;
    }
    if (text.starts_with(' ')) {
        text.remove_prefix(1);
        skip([&](char c) { return letter(c) || c == '%' || c == '/' || c == ' ' || (c & 0x80) != 0; });
    }
    return text.empty();
}

// The shortest digits that read back as the same value. Figures of a usual size stay without an exponent, which some
// spreadsheets and scripts do not take.
std::string exact(double value)
{
    if (!std::isfinite(value))
        return "";
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-6 && size < 1e15);
    char text[64];
    const auto end
        = std::to_chars(text, text + sizeof text, value, plain ? std::chars_format::fixed : std::chars_format::general)
              .ptr;
    return {text, end};
}

std::string csv_value(const Cell& cell)
{
    struct Visitor {
        std::string operator()(std::monostate) const { return ""; }
        std::string operator()(const std::string& text) const { return csv_field(text); }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(double value) const { return exact(value); }
        std::string operator()(bool value) const { return value ? "true" : "false"; }
    };
    return std::visit(Visitor{}, cell);
}

std::string joined_line(
    const std::vector<std::string>& cells, const char* before, const char* between, const char* after)
{
    std::string line = before;
    for (std::size_t i = 0; i < cells.size(); ++i)
        line += (i == 0 ? "" : between) + cells[i];
    return line + after;
}

} // namespace

std::size_t display_width(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string spreadsheet_text(const std::string& text)
{
    const std::size_t begin = text.find_first_not_of('\'');
    if (begin == std::string::npos || std::string_view("=@+-\t\r\n").find(text[begin]) == std::string_view::npos)
        return text;
    const bool harmless = begin == 0 && (text == "-" || text == "+" || is_number(text));
    return harmless ? text : "'" + text;
}

std::string csv_field(const std::string& field)
{
    const std::string text = spreadsheet_text(printable_lines(field));
    // Some spreadsheets divide at semicolons and tabs as well.
    if (text.find_first_of(",;\t\"\r\n") == std::string::npos)
        return text;
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string markdown_text(const std::string& text)
{
    std::string out;
    for (const char c : one_line(text)) {
        if (std::string_view("\\`*_|<>[]").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

std::string latex_text(const std::string& text)
{
    std::string out;
    for (const char c : one_line(text)) {
        switch (c) {
        case '\\':
            out += "\\textbackslash{}";
            break;
        case '~':
            out += "\\textasciitilde{}";
            break;
        case '^':
            out += "\\textasciicircum{}";
            break;
        case '<':
            out += "\\textless{}";
            break;
        case '>':
            out += "\\textgreater{}";
            break;
        case '&':
        case '%':
        case '$':
        case '#':
        case '_':
        case '{':
        case '}':
            out += '\\';
            out += c;
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string write_text(const Table& table)
{
    const std::size_t count = table.columns.size();
    std::vector<std::vector<std::string>> lines(1);
    std::vector<std::size_t> widths(count);
    std::vector<bool> numeric;
    for (std::size_t i = 0; i < count; ++i) {
        lines[0].push_back(one_line(title(table.columns[i])));
        numeric.push_back(is_numeric(table, i));
    }
    for (const auto& row : table.rows) {
        auto& line = lines.emplace_back();
        for (std::size_t i = 0; i < count; ++i)
            line.push_back(one_line(shown(row[i], table.columns[i])));
    }
    for (const auto& line : lines)
        for (std::size_t i = 0; i < count; ++i)
            widths[i] = std::max(widths[i], display_width(line[i]));
    std::string out;
    for (const auto& line : lines) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string padding(widths[i] - display_width(line[i]), ' ');
            text += i == 0 ? "" : "  ";
            text += numeric[i] ? padding + line[i] : line[i] + padding;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    }
    return out;
}

std::string write_csv(const Table& table)
{
    std::vector<std::string> cells;
    for (const Column& column : table.columns)
        cells.push_back(csv_field(column.key));
    std::string out = joined_line(cells, "", ",", "\r\n");
    for (const auto& row : table.rows) {
        cells.clear();
        for (const Cell& cell : row)
            cells.push_back(csv_value(cell));
        out += joined_line(cells, "", ",", "\r\n");
    }
    return out;
}

std::string write_markdown(const Table& table)
{
    std::vector<std::string> titles, rules;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        titles.push_back(markdown_text(title(table.columns[i])));
        rules.push_back(is_numeric(table, i) ? "---:" : "---");
    }
    std::string out = joined_line(titles, "| ", " | ", " |\n") + joined_line(rules, "| ", " | ", " |\n");
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < row.size(); ++i)
            cells.push_back(markdown_text(shown(row[i], table.columns[i])));
        out += joined_line(cells, "| ", " | ", " |\n");
    }
    return out;
}

std::string write_latex(const Table& table)
{
    std::string alignment;
    std::vector<std::string> titles;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        alignment += is_numeric(table, i) ? 'r' : 'l';
        titles.push_back(latex_text(title(table.columns[i])));
    }
    std::string out = "% needs \\usepackage{booktabs}\n\\begin{tabular}{" + alignment + "}\n\\toprule\n"
        + joined_line(titles, "", " & ", " \\\\\n") + "\\midrule\n";
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < row.size(); ++i)
            cells.push_back(latex_text(shown(row[i], table.columns[i])));
        // A line that begins with "[" would be read as the optional argument of the row before.
        const bool bracket = !cells.empty() && !cells[0].empty() && cells[0][0] == '[';
        out += joined_line(cells, bracket ? "{}" : "", " & ", " \\\\\n");
    }
    return out + "\\bottomrule\n\\end{tabular}\n";
}

} // namespace fourfold
