// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/kept_comparison.h"

#include "app/view/project/project.h"
#include "core/base/json_member.h"

#include <charconv>
#include <string_view>

namespace fourfold::view {

namespace {
using Folder = std::filesystem::path;
constexpr std::string_view kRun = "run:", kRow = "row:", kLayout = "plan:";

std::string row_text(const std::string& table, int line)
{
    return std::string(kRow) + std::to_string(line) + ":" + table;
}

// Null where it is none.
Json portable_origin(const std::string& origin, const Folder& folder)
{
    const Origin read = read_origin(origin);
    switch (read.kind) {
    case Origin::Kind::run:
        return {{"run", read.text}};
    case Origin::Kind::row:
        return {{"table", portable_path(read.table, folder)}, {"line", read.line}};
    case Origin::Kind::layout:
        if (const Expected<Json> plan = parse_json(read.text, "layout"))
            return {{"layout", *plan}};
        break;
    case Origin::Kind::none:
        break;
    }
    return {};
}

// Empty where it is none.
std::string origin_from(const Json& portable, const Folder& folder)
{
    if (!portable.is_object())
        return {};
    if (const std::string run = member_or(portable, "run", std::string()); !run.empty())
        return origin_of_run(run);
    if (const auto layout = portable.find("layout"); layout != portable.end() && layout->is_object())
        return std::string(kLayout) + layout->dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string table = member_or(portable, "table", std::string());
    return table.empty() ? std::string() : row_text(path_of(table, folder).string(), member_or(portable, "line", 0));
}

std::vector<std::filesystem::path> paths_from(const Json& json, const char* key, const Folder& folder)
{
    std::vector<std::filesystem::path> paths;
    for (const std::string& path : texts_of(json, key))
        paths.push_back(path_of(path, folder));
    return paths;
}

Json portable_paths(const std::vector<std::filesystem::path>& paths, const Folder& folder)
{
    Json json = Json::array();
    for (const std::filesystem::path& path : paths)
        json.push_back(portable_path(path, folder));
    return json;
}

// The objects of a list of an object; none where there is no such list.
Json list_of(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_array() ? *found : Json::array();
}
} // namespace

std::string origin_of_run(const std::string& id)
{
    return std::string(kRun) + id;
}

std::string origin_of_row(const std::filesystem::path& table, int line)
{
    return row_text(std::filesystem::absolute(table).string(), line);
}

std::string origin_of_layout(const ResolvedPlan& plan)
{
    return std::string(kLayout) + to_json(plan, PresetStyle::ids).dump();
}

Origin read_origin(const std::string& origin)
{
    const std::string_view text = origin;
    if (text.starts_with(kRun))
        return {Origin::Kind::run, origin.substr(kRun.size()), {}, 0};
    if (text.starts_with(kLayout))
        return {Origin::Kind::layout, origin.substr(kLayout.size()), {}, 0};
    const std::size_t colon = text.find(':', kRow.size());
    if (!text.starts_with(kRow) || colon == std::string_view::npos)
        return {};
    Origin row{Origin::Kind::row, {}, origin.substr(colon + 1), 0};
    const auto [end, error] = std::from_chars(origin.data() + kRow.size(), origin.data() + colon, row.line);
    return error == std::errc() && end == origin.data() + colon ? row : Origin{};
}

Json to_json(const KeptComparison& comparison, const Folder& folder)
{
    Json json = Json::object();
    if (comparison.plans)
        json["plans"] = portable_paths(*comparison.plans, folder);
    if (!comparison.left_out.empty())
        json["left_out"] = portable_paths(comparison.left_out, folder);
    Json entries = Json::array(), series = Json::array();
    for (const std::string& origin : comparison.entries) {
        if (Json entry = portable_origin(origin, folder); !entry.is_null())
            entries.push_back(std::move(entry));
    }
    for (const SeriesOrigin& one : comparison.series)
        series.push_back({{"table", portable_path(one.table, folder)}, {"job", one.job}});
    if (!entries.empty())
        json["entries"] = std::move(entries);
    if (!series.empty())
        json["series"] = std::move(series);
    if (Json origin = portable_origin(comparison.reference, folder); !origin.is_null())
        json["reference"] = std::move(origin);
    else if (!comparison.reference.empty())
        json["reference"] = comparison.reference;
    if (comparison.differences_only)
        json["differences_only"] = true;
    return json;
}

KeptComparison kept_comparison(const Json& json, const Folder& folder)
{
    KeptComparison comparison;
    if (!json.is_object())
        return comparison;
    if (const auto plans = json.find("plans"); plans != json.end() && plans->is_array())
        comparison.plans = paths_from(json, "plans", folder);
    comparison.left_out = paths_from(json, "left_out", folder);
    for (const Json& entry : list_of(json, "entries")) {
        if (std::string origin = origin_from(entry, folder); !origin.empty())
            comparison.entries.push_back(std::move(origin));
    }
    for (const Json& one : list_of(json, "series")) {
        const std::string table = one.is_object() ? member_or(one, "table", std::string()) : "";
        if (!table.empty())
            comparison.series.push_back({path_of(table, folder), member_or(one, "job", std::string())});
    }
    if (const auto reference = json.find("reference"); reference != json.end())
        comparison.reference = reference->is_string() ? reference->get<std::string>() : origin_from(*reference, folder);
    comparison.differences_only = member_or(json, "differences_only", false);
    return comparison;
}

} // namespace fourfold::view
