// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include <iostream>

namespace fourfold::cli {

int fail(const Problem& problem)
{
    std::cout.flush();
    std::cerr << "fourfold: " + problem.line() + "\n" << std::flush;
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
