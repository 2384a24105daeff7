// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/row_cells.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace fourfold {

namespace {
constexpr int64_t kMostWhole = int64_t(1) << 40;

const std::vector<std::string>& optional_columns()
{
    static const std::vector<std::string> kColumns{"layers", "hidden", "heads", "kv_heads", "ffn", "gated_mlp", "vocab",
        "seq_len", "gpus_per_node", "dp", "ep", "virtual_stages", "schedule", "sharding", "recompute", "precision",
        "compile", "async_tp", "step_time_s", "memory_gib", "assumed", "anomaly", "notes"};
    return kColumns;
}

// What `assumed` and stand-ins may give beyond the columns: fields of the plan and of the model's shape. `positions`
// are told for people: the cost of a step does not depend on them.
const std::vector<std::string>& plan_keys()
{
    static const std::vector<std::string> kKeys{"stack", "release", "cluster", "model_type", "tied_embeddings",
        "sequence_parallel", "flop_convention", "attention", "cp_method", "grad_dtype", "optimizer",
        "optimizer_state_dtype", "optimizer_in_backward", "offload", "recompute_layers", "head_dim", "experts",
        "experts_per_token", "shared_experts", "first_dense_layers", "dense_ffn", "fp8_recipe", "positions",
        "expert_capacity", "modules_ahead", "etp", "recompute_parts", "offload_layers", "cuda_graphs"};
    return kKeys;
}

bool contains(const std::vector<std::string>& list, const std::string& word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

template <typename Number>
std::optional<Number> parsed(const std::string& text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

const std::vector<std::string>& required_columns()
{
    static const std::vector<std::string> kColumns{"source", "table", "row", "model", "gpu", "gpus", "tp", "cp", "pp",
        "micro_batch", "global_batch", "metric", "value", "status"};
    return kColumns;
}

bool is_known_column(const std::string& column)
{
    return contains(required_columns(), column) || contains(optional_columns(), column)
        || contains(plan_keys(), column);
}

namespace {
Problem unknown(const std::string& what, const std::string& name, const std::string& where)
{
    std::vector<std::string> all = required_columns();
    for (const auto* more : {&optional_columns(), &plan_keys()})
        all.insert(all.end(), more->begin(), more->end());
    const auto near = nearest_words(name, all);
    return {ProblemCode::bad_input, "no " + what + " is called " + in_quotes(name),
        near.empty() ? "" : "did you mean " + joined(near, " or ") + "?", where};
}
} // namespace

std::optional<Problem> not_told_beside(const std::string& field, const std::string& where)
{
    static const std::vector<std::string> kMeasured{"source", "table", "row", "metric", "value", "status",
        "step_time_s", "memory_gib", "assumed", "anomaly", "notes"};
    if (contains(kMeasured, field))
        return Problem{ProblemCode::bad_input, in_quotes(field) + " is what the table itself tells of a row",
            "only fields of the plan and of the model's shape can be told for it", where};
    if (!is_known_column(field))
        return unknown("field", field, where);
    return std::nullopt;
}

std::optional<Problem> no_column(const std::string& column, const std::string& where)
{
    return is_known_column(column) ? std::nullopt : std::optional(unknown("column", column, where));
}

RowCells::RowCells(std::map<std::string, std::string> printed, std::string where)
    : where_(std::move(where))
{
    for (auto& [column, text] : printed) {
        if (std::string value(trimmed(text)); !value.empty())
            cells_[column] = std::move(value);
    }
}

bool RowCells::stand_in(const std::string& column, const std::string& value)
{
    if (!cells_.emplace(column, value).second)
        return false; // what is printed wins
    assumed_.push_back(column + "=" + value);
    return true;
}

bool RowCells::is_assumed(const std::string& column) const
{
    return std::any_of(assumed_.begin(), assumed_.end(),
        [&](const std::string& assumed) { return assumed.starts_with(column + "="); });
}

// What is printed wins, and then what an earlier recipe told.
void RowCells::take_recipe(const TableSource::Recipe& recipe)
{
    const bool matches = std::all_of(recipe.where.begin(), recipe.where.end(),
        [&](const auto& column) { return column.second.contains(text(column.first)); });
    if (!matches)
        return;
    for (const auto& [field, value] : recipe.sets) {
        if (told_.contains(field) || (has(field) && !is_assumed(field)))
            continue;
        std::erase_if(assumed_, [&](const std::string& assumed) { return assumed.starts_with(field + "="); });
        cells_.erase(field);
        stand_in(field, value);
        told_.insert(field);
    }
}

bool RowCells::recompute_untold(const TableSource& source) const
{
    return !source.recipes.empty() && is_assumed("recompute") && !told_.contains("recompute");
}

void RowCells::take_assumed()
{
    std::istringstream items(text("assumed"));
    for (std::string item; std::getline(items, item, ';');) {
        item = std::string(trimmed(item));
        if (item.empty())
            continue;
        const auto equals = item.find('=');
        const std::string key = item.substr(0, equals);
        if (equals == std::string::npos || equals + 1 == item.size()) {
            problem("assumed", "found " + in_quotes(item) + ", expected field=value, separated by semicolons");
        } else if (const auto wrong = not_told_beside(key, "")) {
            problem("assumed", wrong->message, wrong->hint);
        } else {
            stand_in(key, item.substr(equals + 1));
        }
    }
}

void RowCells::take_stand_ins(const TableSource& source)
{
    for (const auto& [column, has, field, value] : source.phrases) // printed: nothing is assumed
        if (text(column).find(has) != std::string::npos)
            cells_.emplace(field, value);
    for (const TableSource::Recipe& recipe : source.recipes)
        take_recipe(recipe);
    for (const auto& [key, value] : source.stand_ins)
        stand_in(key, value);
    for (const auto& [column, words] : source.words) {
        const auto cell = cells_.find(column);
        const auto word = cell == cells_.end() ? words.end() : words.find(cell->second);
        if (word == words.end())
            continue;
        if (word->second.empty())
            cells_.erase(cell);
        else
            cell->second = word->second;
    }
}

std::string RowCells::text(const std::string& column) const
{
    const auto found = cells_.find(column);
    return found == cells_.end() ? std::string() : found->second;
}

std::optional<int64_t> RowCells::whole(const std::string& column)
{
    if (!has(column))
        return std::nullopt;
    const std::string& written = cells_[column];
    auto value = parsed<int64_t>(written);
    // Spreadsheets write whole numbers as 8.0.
    if (!value) {
        if (const auto number = parsed<double>(written);
            number && *number == std::floor(*number) && std::abs(*number) < double(kMostWhole))
            value = static_cast<int64_t>(*number);
    }
    if (value && *value >= 1 && *value <= kMostWhole)
        return value;
    problem(column, "found " + in_quotes(written) + ", expected a whole number of at least 1");
    return std::nullopt;
}

std::optional<double> RowCells::positive(const std::string& column)
{
    if (!has(column))
        return std::nullopt;
    const std::string& written = cells_[column];
    const auto value = parsed<double>(written);
    if (value && std::isfinite(*value) && *value > 0)
        return value;
    problem(column, "found " + in_quotes(written) + ", expected a number above 0");
    return std::nullopt;
}

std::optional<bool> RowCells::flag(const std::string& column)
{
    if (!has(column))
        return std::nullopt;
    const std::string& written = cells_[column];
    if (written == "1" || written == "true")
        return true;
    if (written == "0" || written == "false")
        return false;
    problem(column, "found " + in_quotes(written) + ", expected 0, 1, true or false");
    return std::nullopt;
}

void RowCells::problem(const std::string& column, const std::string& message, const std::string& hint)
{
    const std::string where = where_ + ": " + column;
    // A cell that is read twice is told once.
    if (std::none_of(problems_.begin(), problems_.end(), [&](const Problem& known) { return known.where == where; }))
        problems_.push_back({ProblemCode::bad_input, message, hint, where});
}

void RowCells::missing(const std::string& column, const std::string& expected)
{
    problem(column, "empty, expected " + expected);
}

} // namespace fourfold
