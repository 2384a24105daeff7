// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/sources.h"
#include "core/base/json_fields.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/calibration/row_cells.h"

#include <algorithm>

namespace fourfold {

namespace {
Expected<std::map<std::string, std::string>> read_texts(const Fields& parent, const std::string& key)
{
    std::map<std::string, std::string> texts;
    if (!parent.has(key))
        return texts;
    FOURFOLD_TRY(const Fields object, parent.object(key));
    for (const auto& [name, value] : object.json().items()) {
        FOURFOLD_TRY(texts[name], object.text(name));
    }
    return texts;
}

// A key that nothing reads is a mistake in writing: it would have no effect, without a word.
Expected<void> check_keys(const Fields& fields, const std::vector<std::string>& known)
{
    for (const auto& [key, value] : fields.json().items()) {
        if (std::ranges::find(known, key) != known.end())
            continue;
        const auto near = nearest_words(key, known);
        return fields.problem(key, "is not known",
            near.empty() ? "expected " + joined(known, ", ") : "did you mean " + near.front() + "?");
    }
    return {};
}

// What is told of rows: no measurement, and nothing that no plan has.
Expected<void> check_told(const std::map<std::string, std::string>& told, const std::string& where)
{
    for (const auto& [field, value] : told) {
        if (auto problem = not_told_beside(field, where))
            return *std::move(problem);
    }
    return {};
}

Expected<void> check_column(const std::string& column, const std::string& where)
{
    if (auto problem = no_column(column, where))
        return *std::move(problem);
    return {};
}

Expected<std::vector<std::string>> read_list(const Fields& parent, const std::string& key)
{
    std::vector<std::string> list;
    if (!parent.has(key))
        return list;
    const Json& json = parent.json()[key];
    if (!json.is_array())
        return parent.wrong(key, "a list of strings");
    for (const Json& item : json) {
        if (!item.is_string())
            return parent.wrong(key, "a list of strings");
        list.push_back(item.get<std::string>());
    }
    return list;
}

Expected<TableSource::Phrase> read_phrase(const Fields& fields)
{
    FOURFOLD_CHECK(check_keys(fields, {"column", "has", "field", "value"}));
    TableSource::Phrase phrase;
    FOURFOLD_TRY(phrase.column, fields.text("column"));
    FOURFOLD_TRY(phrase.has, fields.text("has"));
    FOURFOLD_TRY(phrase.field, fields.text("field"));
    FOURFOLD_TRY(phrase.value, fields.text("value"));
    FOURFOLD_CHECK(check_column(phrase.column, fields.where("column")));
    FOURFOLD_CHECK(check_told({{phrase.field, phrase.value}}, fields.where("field")));
    return phrase;
}

Expected<TableSource::Recipe> read_recipe(const Fields& fields)
{
    FOURFOLD_CHECK(check_keys(fields, {"from", "where", "sets"}));
    TableSource::Recipe recipe;
    FOURFOLD_TRY(recipe.from, fields.text("from"));
    FOURFOLD_TRY(const Fields where, fields.object("where"));
    for (const auto& [column, words] : where.json().items()) {
        FOURFOLD_CHECK(check_column(column, fields.where("where")));
        FOURFOLD_TRY(const auto list, read_list(where, column));
        recipe.where[column] = {list.begin(), list.end()};
    }
    FOURFOLD_TRY(recipe.sets, read_texts(fields, "sets"));
    FOURFOLD_CHECK(check_told(recipe.sets, fields.where("sets")));
    return recipe;
}

// What stands in a list of objects; none where there is no list.
template <typename Read>
auto read_objects(const Fields& parent, const std::string& key, Read&& read)
    -> Expected<std::vector<std::decay_t<decltype(*read(parent))>>>
{
    std::vector<std::decay_t<decltype(*read(parent))>> list;
    if (!parent.has(key))
        return list;
    if (!parent.json()[key].is_array())
        return parent.wrong(key, "a list of objects");
    for (const Json& item : parent.json()[key]) {
        FOURFOLD_TRY(const Fields fields, Fields::of(item, parent.where(key)));
        FOURFOLD_TRY(auto object, read(fields));
        list.push_back(std::move(object));
    }
    return list;
}

Expected<TableSource> read_source(const std::string& id, const Fields& fields)
{
    FOURFOLD_CHECK(check_keys(fields,
        {"name", "stack", "clusters", "table_clusters", "stand_ins", "stand_in_reason", "models", "phrases", "recipes",
            "also_with", "tables_are_releases", "words", "splits", "core", "accepted_anomalies"}));
    TableSource source;
    source.id = id;
    FOURFOLD_TRY(source.name, fields.name_or("name", id));
    FOURFOLD_TRY(source.stack, fields.text("stack"));
    FOURFOLD_TRY(source.clusters, read_texts(fields, "clusters"));
    FOURFOLD_TRY(source.table_clusters, read_texts(fields, "table_clusters"));
    FOURFOLD_TRY(source.stand_ins, read_texts(fields, "stand_ins"));
    FOURFOLD_CHECK(check_told(source.stand_ins, fields.where("stand_ins")));
    FOURFOLD_TRY(source.stand_in_reason, fields.text_or("stand_in_reason", ""));
    FOURFOLD_TRY(source.models, read_texts(fields, "models"));
    FOURFOLD_TRY(source.phrases, read_objects(fields, "phrases", read_phrase));
    FOURFOLD_TRY(source.recipes, read_objects(fields, "recipes", read_recipe));
    FOURFOLD_TRY(source.also_with, read_list(fields, "also_with"));
    FOURFOLD_TRY(source.tables_are_releases, fields.boolean_or("tables_are_releases", false));
    if (fields.has("words")) {
        FOURFOLD_TRY(const Fields words, fields.object("words"));
        for (const auto& [column, value] : words.json().items()) {
            FOURFOLD_CHECK(check_column(column, fields.where("words")));
            FOURFOLD_TRY(source.words[column], read_texts(words, column));
        }
    }
    FOURFOLD_TRY(const auto splits, read_list(fields, "splits"));
    for (const std::string& text : splits) {
        FOURFOLD_TRY(const RowSplit split, from_text<RowSplit>(text, fields.where("splits")));
        source.splits.push_back(split);
    }
    if (source.splits.empty())
        source.splits.push_back(RowSplit::table);
    if (fields.has("core")) {
        FOURFOLD_TRY(const Fields core, fields.object("core"));
        source.core.emplace();
        FOURFOLD_TRY(source.core->tp_at_most, core.small_integer_or("tp_at_most", source.core->tp_at_most));
        FOURFOLD_TRY(source.core->mfu_at_least, core.non_negative_or("mfu_at_least", 0));
    }
    FOURFOLD_TRY(const auto accepted, read_list(fields, "accepted_anomalies"));
    source.accepted_anomalies = {accepted.begin(), accepted.end()};
    return source;
}
} // namespace

Expected<TableSources> TableSources::from_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields file, Fields::of(json, where));
    FOURFOLD_TRY(const Fields list, file.object("sources"));
    TableSources sources;
    for (const auto& [id, value] : list.json().items()) {
        FOURFOLD_TRY(const Fields fields, list.object(id));
        FOURFOLD_TRY(sources.sources_[id], read_source(id, fields));
    }
    return sources;
}

namespace {
Expected<TableSources> sources_of(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const Json json, read_json_file(file));
    return TableSources::from_json(json, file.string());
}

// Whatever stands there, a pipe or a link into nowhere too: who put it there expects it to be read.
std::vector<std::filesystem::path> source_files()
{
    std::vector<std::filesystem::path> files;
    for (const auto& folder : preset_folders()) {
        std::error_code error;
        if (auto file = folder / "published" / "sources.json";
            std::filesystem::exists(std::filesystem::symlink_status(file, error)))
            files.push_back(std::move(file));
    }
    return files;
}
} // namespace

TableSources TableSources::find_readable()
{
    TableSources merged;
    for (const auto& file : source_files()) {
        if (auto found = sources_of(file))
            merged.sources_.merge(found->sources_);
    }
    return merged;
}

Expected<TableSources> TableSources::find()
{
    TableSources merged;
    for (const auto& file : source_files()) {
        FOURFOLD_TRY(TableSources found, sources_of(file));
        merged.sources_.merge(found.sources_);
    }
    if (merged.sources_.empty())
        return Problem{ProblemCode::not_found, "no published/sources.json in any folder of presets",
            "FOURFOLD_PRESETS may name the presets folder", ""};
    return merged;
}

const TableSource* TableSources::source(const std::string& id) const
{
    const auto found = sources_.find(id);
    return found == sources_.end() ? nullptr : &found->second;
}

std::vector<std::string> TableSources::ids() const
{
    std::vector<std::string> out;
    for (const auto& [id, source] : sources_)
        out.push_back(id);
    return out;
}

} // namespace fourfold
