// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/table/table.h"
#include "core/base/text.h"

#include "core/report/table/writers.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

const std::vector<std::string>& table_format_names()
{
    static const std::vector<std::string> names{"text", "json", "csv", "markdown", "latex"};
    return names;
}

Expected<TableFormat> table_format(const std::string& name)
{
    if (name == "text" || name == "table")
        return TableFormat::text;
    if (name == "csv")
        return TableFormat::csv;
    if (name == "markdown")
        return TableFormat::markdown;
    if (name == "latex")
        return TableFormat::latex;
    if (name == "json")
        return TableFormat::json;
    return Problem{ProblemCode::bad_input, "unknown format \"" + name + "\"", "use text, json, csv, markdown or latex",
        "--format"};
}

std::optional<TableFormat> table_format_of_ending(std::string_view ending)
{
    constexpr std::pair<std::string_view, TableFormat> kEndings[]{{".csv", TableFormat::csv},
        {".md", TableFormat::markdown}, {".tex", TableFormat::latex}, {".json", TableFormat::json},
        {".txt", TableFormat::text}};
    const auto* const found = std::ranges::find(kEndings, ending, [](const auto& known) { return known.first; });
    return found == std::end(kEndings) ? std::nullopt : std::optional(found->second);
}

std::string short_time(const std::string& time)
{
    return time.size() >= 16 ? time.substr(0, 10) + " " + time.substr(11, 5) : time;
}

std::string shown_number(double value, int decimals)
{
    if (!std::isfinite(value))
        return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (decimals < 0) {
        const double size = std::abs(value);
        decimals = size == 0 ? 0 : std::clamp(-decimals - 1 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
    }
    std::string digits = text_of("%.*f", decimals, value);
    // "-0.0" would make a reader look for a difference that is none.
    if (digits[0] == '-' && digits.find_first_of("123456789") == std::string::npos)
        digits.erase(0, 1);
    const std::size_t begin = digits[0] == '-' ? 1 : 0;
    std::size_t end = digits.find('.');
    if (end == std::string::npos)
        end = digits.size();
    for (std::size_t at = end; at > begin + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string shown_number(double value)
{
    const double size = std::abs(value);
    return shown_number(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4);
}

std::string shown(const Cell& cell, const Column& column)
{
    struct Visitor {
        const Column& column;
        std::string operator()(std::monostate) const { return "-"; }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(std::int64_t value) const
        {
            return column.factor == 1 ? shown_number(static_cast<double>(value), 0) + column.suffix
                                      : (*this)(static_cast<double>(value));
        }
        std::string operator()(double value) const
        {
            return shown_number(value * column.factor, column.decimals) + column.suffix;
        }
        std::string operator()(bool value) const { return value ? "yes" : "no"; }
    };
    return std::visit(Visitor{column}, cell);
}

std::string spreadsheet_rows(const Table& table)
{
    std::string text;
    const auto add = [&text](const std::string& cell, bool last) {
        text += spreadsheet_text(printable(cell, kUncut)) + (last ? '\n' : '\t');
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Column& column = table.columns[i];
        std::string title = column.title.empty() ? column.key : column.title;
        if (!column.title.empty() && title[0] >= 'a' && title[0] <= 'z') // as the window has them
            title[0] = static_cast<char>(title[0] - 'a' + 'A');
        add(title, i + 1 == table.columns.size());
    }
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            add(shown(row[i], table.columns[i]), i + 1 == row.size());
    }
    return text;
}

Json Table::to_json() const
{
    Json list = Json::array();
    for (const auto& row : rows) {
        Json object = Json::object();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            Json& value = object[columns[i].key];
            std::visit(
                [&](const auto& content) {
                    if constexpr (!std::is_same_v<std::decay_t<decltype(content)>, std::monostate>)
                        value = content;
                },
                row[i]);
        }
        list.push_back(std::move(object));
    }
    return list;
}

std::string Table::write(TableFormat format) const
{
    switch (format) {
    case TableFormat::text:
        return write_text(*this);
    case TableFormat::csv:
        return write_csv(*this);
    case TableFormat::markdown:
        return write_markdown(*this);
    case TableFormat::latex:
        return write_latex(*this);
    case TableFormat::json:
        return to_json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    return {};
}

} // namespace fourfold
