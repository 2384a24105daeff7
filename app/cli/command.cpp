// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/base/text.h"

#include <charconv>
#include <cmath>
#include <iostream>
#include <sstream>

namespace fourfold::cli {

namespace {
// A word of the command line may be a file that "$(cat ...)" put there. What is named is at the beginning, a field at
// the end.
std::string without_middle(const std::string& text, std::size_t most)
{
    if (text.size() <= most)
        return text;
    const auto is_inside = [&text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    std::size_t head = most / 2, tail = text.size() - most / 2;
    while (head > 0 && is_inside(head))
        --head;
    while (tail < text.size() && is_inside(tail))
        ++tail;
    return text.substr(0, head) + "..." + text.substr(tail);
}
} // namespace

int fail(const Problem& problem)
{
    constexpr std::size_t kLongestPlace = 400, kLongestMessage = 1200;
    Problem shown = problem;
    shown.where = without_middle(problem.where, kLongestPlace);
    shown.message = without_middle(problem.message, kLongestMessage);
    std::cout.flush();
    std::cerr << "fourfold: " + shown.line() + "\n" << std::flush;
    return problem.exit_status();
}

void warn(const std::string& text)
{
    std::cerr << "fourfold: warning: " + Problem{ProblemCode::failed, text, "", ""}.line() + "\n" << std::flush;
}

std::string compact(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json& json)
{
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

CLI::Validator number_up_to(double most, bool or_zero)
{
    return CLI::Validator(
        [most, or_zero](const std::string& text) -> std::string {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
            if (is_number && value <= most && (or_zero ? value >= 0 : value > 0))
                return {};
            std::ostringstream out;
            out << "found " << in_quotes(text) << ", expected a number " << (or_zero ? "from 0 on" : "above 0")
                << ", at most " << most;
            return out.str();
        },
        "NUMBER");
}

void FormatOptions::add_to(CLI::App& command)
{
    auto* format = command.add_option("--format", name, "text, json, csv, markdown or latex")->type_name("FORMAT");
    command.add_flag("--json", json, "the same as --format json")->excludes(format);
}

Expected<TableFormat> FormatOptions::format() const
{
    return table_format(json ? "json" : name);
}

} // namespace fourfold::cli
