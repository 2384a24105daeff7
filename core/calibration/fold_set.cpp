// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fold_set.h"
#include "core/base/json_fields.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fourfold {

namespace {
bool is_constant(const std::string& key)
{
    return std::any_of(kConstantTable.begin(), kConstantTable.end(),
        [&](const ConstantInfo& constant) { return constant.name == key; });
}

Expected<std::map<std::string, double>> read_constants(const Fields& fields)
{
    std::map<std::string, double> constants;
    for (const auto& [key, value] : fields.json().items()) {
        if (!is_constant(key))
            return fields.problem(key, "no constant of the cost model is called so");
        if (!value.is_number() || !std::isfinite(value.get<double>()))
            return fields.wrong(key, "a number");
        constants[key] = value.get<double>();
    }
    return constants;
}

Expected<Fold> read_fold(const Fields& fields)
{
    Fold fold;
    const Json& held_out = fields.has("held_out") ? fields.json()["held_out"] : Json();
    if (!held_out.is_array() || held_out.empty())
        return fields.problem("held_out", "expected a list of group names with at least one");
    for (const Json& group : held_out) {
        if (!group.is_string())
            return fields.problem("held_out", "expected a list of strings");
        fold.held_out.push_back(group.get<std::string>());
    }
    if (fields.has("constants")) {
        FOURFOLD_TRY(const Fields constants, fields.object("constants"));
        FOURFOLD_TRY(fold.constants, read_constants(constants));
    }
    if (fields.has("gpu_constants")) {
        FOURFOLD_TRY(const Fields gpus, fields.object("gpu_constants"));
        for (const auto& [gpu, value] : gpus.json().items()) {
            FOURFOLD_TRY(const Fields constants, gpus.object(gpu));
            FOURFOLD_TRY(fold.gpu_constants[gpu], read_constants(constants));
        }
    }
    return fold;
}

Json json_of(const std::map<std::string, double>& constants)
{
    Json json = Json::object();
    for (const auto& [key, value] : constants)
        json[key] = value;
    return json;
}
} // namespace

const Fold* FoldSet::without(const std::string& group) const
{
    const auto found = std::find_if(folds.begin(), folds.end(), [&](const Fold& fold) {
        return std::find(fold.held_out.begin(), fold.held_out.end(), group) != fold.held_out.end();
    });
    return found == folds.end() ? nullptr : &*found;
}

std::string FoldSet::file_name() const
{
    return table + "." + stack + "." + std::string(name(split)) + ".json";
}

Expected<FoldSet> fold_set_from_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    FoldSet set;
    FOURFOLD_TRY(set.table, fields.text("table"));
    FOURFOLD_TRY(set.table_sha256, fields.text("table_sha256"));
    FOURFOLD_TRY(set.stack, fields.text("stack"));
    FOURFOLD_TRY(const std::string split, fields.text("split"));
    FOURFOLD_TRY(set.split, from_text<RowSplit>(split, fields.where("split")));
    FOURFOLD_TRY(set.date, fields.text_or("date", ""));
    FOURFOLD_TRY(set.fitted, fields.text_or("fitted", ""));
    const Json& folds = fields.has("folds") ? fields.json()["folds"] : Json();
    if (!folds.is_array() || folds.empty())
        return fields.problem("folds", "expected a list of at least one fold");
    std::set<std::string> held_out;
    for (std::size_t i = 0; i < folds.size(); ++i) {
        FOURFOLD_TRY(const Fields fold, Fields::of(folds[i], fields.where("folds[" + std::to_string(i) + "]")));
        FOURFOLD_TRY(set.folds.emplace_back(), read_fold(fold));
        for (const std::string& group : set.folds.back().held_out) {
            if (!held_out.insert(group).second)
                return fold.problem("held_out", "two folds leave out " + in_quotes(group) + ", expected one");
        }
    }
    return set;
}

Json to_json(const FoldSet& set)
{
    Json json{{"table", set.table}, {"table_sha256", set.table_sha256}, {"stack", set.stack},
        {"split", std::string(name(set.split))}, {"date", set.date}, {"fitted", set.fitted}, {"folds", Json::array()}};
    for (const Fold& fold : set.folds) {
        Json entry{
            {"held_out", fold.held_out}, {"constants", json_of(fold.constants)}, {"gpu_constants", Json::object()}};
        for (const auto& [gpu, constants] : fold.gpu_constants)
            entry["gpu_constants"][gpu] = json_of(constants);
        json["folds"].push_back(std::move(entry));
    }
    return json;
}

Expected<FoldSet> read_fold_set(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const Json json, read_json_file(file));
    return fold_set_from_json(json, file.string());
}

Expected<void> write_fold_set(const FoldSet& set, const std::filesystem::path& folder)
{
    FOURFOLD_CHECK(make_folders(folder));
    return write_file_atomically(folder / set.file_name(), to_json(set).dump(2) + "\n");
}

Expected<std::vector<FoldSet>> find_fold_sets(const std::string& table)
{
    std::vector<FoldSet> sets;
    std::set<std::string> seen; // of two files of one name the first folder's holds
    for (const auto& folder : preset_folders()) {
        std::error_code error;
        for (std::filesystem::directory_iterator entry(folder / "folds", error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string file = entry->path().filename().string();
            if (!file.starts_with(table + ".") || !file.ends_with(".json") || !seen.insert(file).second)
                continue;
            FOURFOLD_TRY(sets.emplace_back(), read_fold_set(entry->path()));
        }
    }
    std::sort(
        sets.begin(), sets.end(), [](const FoldSet& a, const FoldSet& b) { return a.file_name() < b.file_name(); });
    return sets;
}

Stack with_fold(Stack stack, const Fold& fold)
{
    for (const auto& [key, value] : fold.constants)
        stack.constants[key] = value;
    for (const auto& [gpu, constants] : fold.gpu_constants) {
        for (const auto& [key, value] : constants)
            stack.gpu_constants[gpu][key] = value;
    }
    return stack;
}

Stack without_generation(Stack stack, const std::string& generation)
{
    std::erase_if(stack.measured, [&](const auto& measured) {
        if (measured.second.generation == generation)
            stack.gpu_constants.erase(measured.first);
        return measured.second.generation == generation;
    });
    return stack;
}

} // namespace fourfold
