// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/tables/saved_views.h"

#include "core/base/json_member.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace fourfold::view {

namespace {
constexpr const char *kVersion = "fourfold_views", *kViews = "views";
constexpr std::size_t kLongestName = 100; // characters

Expected<std::string> usable_name(const std::string& text)
{
    std::string name = printable(std::string(trimmed(text)), kLongestName);
    if (name.empty())
        return Problem{ProblemCode::bad_input, "a view has a name", "", ""};
    return name;
}

Expected<Json> read_file(const std::filesystem::path& file)
{
    Expected<Json> kept = read_json_file(file);
    if (!kept && kept.error().code == ProblemCode::not_found)
        return Json{{kVersion, 1}, {kViews, Json::object()}};
    FOURFOLD_TRY(Json all, std::move(kept));
    if (!all.is_object() || member_or(all, kVersion, 0) != 1 || !all.contains(kViews) || !all[kViews].is_object())
        return Problem{ProblemCode::bad_input, "holds no views of tables that this version reads",
            "move it away to begin anew", printable(file.string(), kUncut)};
    return all;
}
} // namespace

Json to_json(const SavedView& view)
{
    Json json{{"columns", view.columns}, {"hidden", view.hidden}};
    if (!view.widths.empty())
        json["widths"] = view.widths;
    json["sorted"] = view.sorted;
    json["falling"] = view.falling;
    json["filter"] = view.filter;
    json["front_only"] = view.front_only;
    json["differences_only"] = view.differences_only;
    return json;
}

SavedView saved_view_from_json(const Json& json)
{
    if (!json.is_object())
        return {};
    SavedView view{texts_of(json, "columns"), texts_of(json, "hidden"), {}, member_or(json, "sorted", std::string()),
        member_or(json, "falling", false), member_or(json, "filter", std::string()),
        member_or(json, "front_only", false), member_or(json, "differences_only", false)};
    constexpr int kWidest = 10'000;
    const auto widths = json.find("widths");
    if (widths == json.end() || !widths->is_object())
        return view;
    for (const auto& [column, width] : widths->items()) {
        if (width.is_number_integer() && width > 0 && width < kWidest)
            view.widths[column] = width.get<int>();
    }
    return view;
}

std::string said(const SavedView& view)
{
    std::vector<std::string> parts;
    if (!view.filter.empty())
        parts.push_back(view.filter);
    if (view.front_only)
        parts.emplace_back("front only");
    if (view.differences_only)
        parts.emplace_back("differences only");
    if (!view.sorted.empty())
        parts.push_back("by " + view.sorted + (view.falling ? ", falling" : ""));
    if (!view.hidden.empty())
        parts.push_back("without " + joined(view.hidden, ", "));
    return joined(parts, "; ");
}

std::string column_name(std::string_view title)
{
    std::string name(title);
    std::ranges::replace(name, '\n', ' ');
    return name.empty() ? "Pin" : name;
}

ViewStore view_file(std::filesystem::path file)
{
    const auto read = [file]() -> Expected<Json> {
        FOURFOLD_TRY(const Json all, read_file(file));
        return all.at(kViews);
    };
    const auto write = [file](const Json& views) -> Expected<void> {
        FOURFOLD_TRY(Json all, read_file(file));
        all[kViews] = views;
        if (const std::error_code error = make_private_folders(file.parent_path()))
            return Problem{ProblemCode::io, error.message(), "", printable(file.parent_path().string(), kUncut)};
        return write_file_atomically(file, all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    };
    return {read, write};
}

SavedViews::SavedViews(std::string table, std::vector<ViewStore> stores)
    : table_(std::move(table))
    , stores_(std::move(stores))
{
}

SavedViews::SavedViews(std::string table, std::filesystem::path file)
    : SavedViews(std::move(table), std::vector{view_file(std::move(file))})
{
}

std::filesystem::path SavedViews::default_file()
{
    return config_folder() / "table-views.json";
}

SavedViews views_beside(const ViewStore& project, std::string table)
{
    std::vector<ViewStore> stores;
    if (project.read)
        stores.push_back(project);
    stores.push_back(view_file(SavedViews::default_file()));
    return {std::move(table), std::move(stores)};
}

Expected<Json> SavedViews::read(const ViewStore& store) const
{
    FOURFOLD_TRY(Json all, store.read());
    if (Json& views = all[table_]; !views.is_object())
        views = Json::object();
    return all;
}

const ViewStore& SavedViews::store_of(const std::string& name) const
{
    for (const ViewStore& store : stores_) {
        if (const Expected<Json> all = read(store); all && (*all)[table_].contains(name))
            return store;
    }
    return stores_.back();
}

Expected<std::vector<std::string>> SavedViews::names() const
{
    std::set<std::string> found;
    std::optional<Problem> problem;
    bool is_read = false;
    for (const ViewStore& store : stores_) {
        const Expected<Json> all = read(store);
        is_read = is_read || all;
        if (!all) {
            problem = all.error();
            continue;
        }
        for (const auto& [name, view] : (*all)[table_].items())
            found.insert(name);
    }
    if (!is_read)
        return *problem;
    std::vector<std::string> names(found.begin(), found.end());
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return lower_case(name); });
    return names;
}

Expected<SavedView> SavedViews::find(const std::string& name) const
{
    FOURFOLD_TRY(const Json all, read(store_of(name)));
    const Json& views = all[table_];
    const auto found = views.find(name);
    if (found == views.end())
        return Problem{ProblemCode::not_found, "there is no view " + in_quotes(name), "", ""};
    return saved_view_from_json(*found);
}

Expected<void> SavedViews::keep(const std::string& name, const SavedView& view) const
{
    FOURFOLD_TRY(const std::string wanted, usable_name(name));
    FOURFOLD_TRY(Json all, read(stores_.front()));
    all[table_][wanted] = to_json(view);
    return stores_.front().write(all);
}

Expected<void> SavedViews::rename(const std::string& name, const std::string& to) const
{
    FOURFOLD_TRY(const std::string wanted, usable_name(to));
    const ViewStore& store = store_of(name);
    FOURFOLD_TRY(Json all, read(store));
    Json& views = all[table_];
    if (!views.contains(name))
        return Problem{ProblemCode::not_found, "there is no view " + in_quotes(name), "", ""};
    if (wanted == name)
        return {};
    if (views.contains(wanted))
        return Problem{ProblemCode::conflict, "there is a view " + in_quotes(wanted) + " already", "", ""};
    views[wanted] = views[name];
    views.erase(name);
    return store.write(all);
}

Expected<void> SavedViews::forget(const std::string& name) const
{
    const ViewStore& store = store_of(name);
    FOURFOLD_TRY(Json all, read(store));
    all[table_].erase(name);
    return store.write(all);
}

} // namespace fourfold::view
