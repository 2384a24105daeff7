// SPDX-License-Identifier: GPL-3.0-or-later
// Runs side by side: one column per run, one row per property, "*" where the runs differ.
#include "app/cli/history/history_view.h"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace fourfold::cli {

namespace {

struct Property {
    std::string name;
    std::vector<Json> values; // one per run
    [[nodiscard]] bool differs() const
    {
        return std::any_of(values.begin(), values.end(), [&](const Json& value) { return value != values.front(); });
    }
};

// Every leaf of a document by its dotted path; lists are leaves.
void flatten(const Json& json, const std::string& path, std::size_t run, std::size_t runs, std::vector<Property>& out)
{
    if (json.is_object() && !json.empty()) {
        for (const auto& [key, value] : json.items())
            flatten(value, path.empty() ? key : path + "." + key, run, runs, out);
        return;
    }
    auto found = std::find_if(out.begin(), out.end(), [&](const Property& property) { return property.name == path; });
    if (found == out.end())
        found = out.insert(out.end(), {path, std::vector<Json>(runs)});
    found->values[run] = json;
}

std::string value_text(const Json& value)
{
    if (value.is_null())
        return "-";
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_float()) {
        const double number = value.get<double>();
        const double size = std::abs(number);
        return size != 0 && (size < 1e-3 || size >= 1e9) ? value.dump() : shown_number(number, size >= 1000 ? 1 : 4);
    }
    return compact(value);
}

std::vector<Property> properties_of(const std::vector<RunDetail>& runs)
{
    std::vector<Property> figures, plan;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Json summary = summary_json(runs[i].summary);
        summary.erase("id");
        summary["headline_rule"] = runs[i].headline_rule;
        summary["hosts"] = runs[i].hosts;
        flatten(summary, "", i, runs.size(), figures);
        flatten(runs[i].plan, "plan", i, runs.size(), plan);
        for (const auto& [key, value] : runs[i].environment.items())
            flatten(value, "environment." + key, i, runs.size(), plan);
        const Json& versions = runs[i].versions;
        if (const auto software = versions.find("software"); software != versions.end())
            flatten(*software, "versions", i, runs.size(), plan);
    }
    // Of the whole plan only what differs is worth a line.
    for (Property& property : plan)
        if (property.differs())
            figures.push_back(std::move(property));
    return figures;
}

Json comparison_json(const std::vector<RunDetail>& runs, const std::vector<Property>& properties)
{
    Json out = {{"runs", Json::array()}, {"differences", Json::array()}};
    for (const RunDetail& run : runs) {
        Json object = summary_json(run.summary);
        object["headline_rule"] = run.headline_rule;
        object["hosts"] = run.hosts;
        out["runs"].push_back(std::move(object));
    }
    for (const Property& property : properties)
        if (property.differs())
            out["differences"].push_back({{"field", property.name}, {"values", property.values}});
    return out;
}

} // namespace

Expected<int> compare_runs(TableFormat format, const std::vector<std::string>& ids)
{
    FOURFOLD_TRY(const auto store, open_history_with_runs());
    std::vector<RunDetail> runs;
    for (const std::string& id : ids) {
        FOURFOLD_TRY(auto run, store.show(id));
        runs.push_back(std::move(run));
    }
    const std::vector<Property> properties = properties_of(runs);
    if (format == TableFormat::json) {
        print_json(comparison_json(runs, properties));
        return kDone;
    }
    Table table;
    table.columns = {{"differs", " "}, {"field", "field"}};
    for (const RunDetail& run : runs)
        table.columns.push_back({run.summary.id});
    for (const Property& property : properties) {
        std::vector<Cell> row{property.differs() ? "*" : "", property.name};
        for (const Json& value : property.values)
            row.emplace_back(value_text(value));
        table.rows.push_back(std::move(row));
    }
    std::cout << table.write(format);
    return kDone;
}

} // namespace fourfold::cli
